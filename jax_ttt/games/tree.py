"""The whole tree of a small game, enumerated by playing every move in PGX.

The positions are sorted by level, so a position's successors come after it. The first
player makes the first move ("X"). Outcomes are the first player's.

Axes: `P` positions, `A` actions, `D` decisions (positions with a move to choose), `L`
levels (moves played), `B` moves, `N` board numbers.
"""

import dataclasses
import functools
import textwrap
import time
from collections.abc import Callable, Sequence
from typing import Generic

import jax
import numpy as np
import pgx
from jaxtyping import Array, Bool, Int

from jax_ttt.config.errors import GameError
from jax_ttt.config.game_facts import GAMES, EnvId, Seat
from jax_ttt.games import board_index, pgx_games, stone_boards
from jax_ttt.games.board_index import PositionIndex
from jax_ttt.games.stone_boards import Classes, LeafT, Views
from jax_ttt.games.user_rules import UserRules
from jax_ttt.runtime import standard_streams
from jax_ttt.runtime.compiling import Program
from jax_ttt.runtime.words import count_phrase

MAX_POSITIONS = 100_000
"""Maximum number of positions of an enumerated game."""
MAX_MOVES = 1000
"""Maximum number of moves in a user's game."""
_SECONDS = 5
"""Seconds between two lines of progress, where an enumeration takes so long."""
_BATCH = 2048
"""Moves played at once. Every batch has this size, so one program serves all levels."""


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=[
        "env_state",
        "legal_action_mask",
        "successor",
        "first_to_move",
        "terminal",
        "outcome",
        "decisions",
        "representative",
        "classes",
    ],
    meta_fields=["level_start"],
)
@dataclasses.dataclass(frozen=True)
class Tree(Generic[LeafT]):
    """Every reachable position of a game, with its moves.

    It is a pytree: pass it to compiled functions as an argument. As a constant of the
    program, it would make compilation slow.
    """

    env_state: pgx.State  # (P, ...)
    legal_action_mask: LeafT  # (P, A) bool; all False if the game is over
    successor: LeafT  # (P, A) int32 position after the move; unused 0 if illegal
    first_to_move: LeafT  # (P,) bool
    terminal: LeafT  # (P,) bool
    # (P,) int32: -1 if the first player lost, 1 if it won, 0 if it drew or the game
    # goes on.
    outcome: LeafT
    decisions: LeafT  # (D,) int32 positions with a move to choose, ascending
    representative: LeafT  # (P,) int32 first position with the same canonical board
    classes: Classes[LeafT] | None  # of the decisions; None without listed symmetries
    level_start: tuple[int, ...]  # (L + 1,) each level's first position, then P

    @property
    def obs(self) -> LeafT:
        """The observations of the player to move, `(P, ...)`."""
        return self.env_state.observation

    @property
    def num_positions(self) -> int:
        """The number of positions, including those where the game is over."""
        return self.level_start[-1]

    def to_move(self, position: int) -> Seat:
        """Return the seat to move in a position."""
        return "first" if np.asarray(self.first_to_move)[position] else "second"

    def turns_of(self, seat: Seat) -> LeafT:
        """Return the positions in which this seat is to move, `(P,)` bool."""
        xp = stone_boards.array_module(self.first_to_move)
        return xp.equal(self.first_to_move, seat == "first")

    def lost_by(self, seat: Seat) -> LeafT:
        """Return the positions in which this seat has lost, `(P,)` bool."""
        xp = stone_boards.array_module(self.outcome)
        return xp.equal(self.outcome, -1 if seat == "first" else 1)


def game_tree(env_id: EnvId) -> Tree[jax.Array] | None:
    """Return the game's tree of JAX arrays; None if the game is too large.

    Each call copies the host's tree to the device.
    """
    return jax.device_put(host_tree(env_id))  # None, a pytree without arrays, stays


@pgx_games.cache_of_games
def host_tree(env_id: EnvId) -> Tree[np.ndarray] | None:
    """Return the game's tree of NumPy arrays; None if the game is too large.

    Use it for computations in float64 and for loops in Python.
    """
    if not GAMES[env_id].enumerable:
        return None
    game, views = GAMES[env_id], pgx_games.symmetric_views(env_id)
    try:
        tree = enumerate_positions(
            env=pgx_games.make_env(env_id),
            max_positions=MAX_POSITIONS,
            views=views,
            max_moves=game.max_moves or MAX_MOVES,
        )
        if game.user_env is not None and views is not None:
            _check_boards(tree)
        elif game.user_env is not None:
            _index_observations(tree)  # they may hide a part of the state
    except GameError as error:
        raise GameError(f"{env_id}: {error}") from None
    return tree


def _check_boards(tree: Tree[np.ndarray]) -> None:
    """Raise `GameError` unless a position follows from its stones, up to symmetry."""
    cells = stone_boards.cells(tree.obs)
    _, first, place = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    num_stones = tree.obs.sum(axis=-1).reshape(cells.shape)
    faults = {
        "an observation must be stones": (num_stones > 1).any(axis=1),
        "the moves and the result must follow from the stones": (
            first[place.reshape(-1)] != np.arange(len(cells))
        ),
        "symmetric boards must have the same legal moves and results": (
            _differs_from_symmetric(tree)
        ),
    }
    for rule, is_broken in faults.items():
        if is_broken.any():
            level = np.searchsorted(tree.level_start, is_broken.argmax(), "right") - 1
            moves = count_phrase(int(level), "move")
            raise GameError(f"with `like`, {rule}; after {moves} it does not hold")


def _differs_from_symmetric(tree: Tree[np.ndarray]) -> Bool[np.ndarray, " P"]:
    """Return which positions differ from their canonical boards."""
    board = tree.representative
    outcome, terminal = (x[board] for x in (tree.outcome, tree.terminal))
    differs = (tree.outcome != outcome) | (tree.terminal != terminal)
    if tree.classes is not None and not differs.any():
        canonical = tree.classes.boards[tree.classes.row]
        after = np.where(tree.legal_action_mask, board[tree.successor], -1)
        image = np.take_along_axis(after[canonical], tree.classes.actions, axis=1)
        differs[tree.decisions] = (image != after[tree.decisions]).any(axis=1)
    return differs


def enumerated(env_id: EnvId) -> Tree[np.ndarray]:
    """Return the game's tree of NumPy arrays, as `host_tree` does, but never None.

    Raises:
        ValueError: the game is too large to enumerate.
    """
    tree = host_tree(env_id)
    if tree is None:
        raise ValueError(f"{env_id} is too large to enumerate")
    return tree


@pgx_games.cache_of_games
def position_index(env_id: EnvId) -> PositionIndex[np.ndarray]:
    """Return the index by which the positions of an enumerable game are found."""
    tree = enumerated(env_id)
    if GAMES[env_id].symmetries:
        return board_index.index_stones(tree.obs)
    return _index_observations(tree)


def _index_observations(tree: Tree[np.ndarray]) -> board_index.ObservationIndex:
    """Return the index by which the positions are found by what players see."""
    num_moves = tree.env_state._step_count
    return board_index.index_observations(tree.obs, num_moves, tree.terminal)


def enumerate_positions(
    env: pgx.Env,
    max_positions: int,
    views: Views | None,
    max_moves: int | None = None,
    num_lines: int | None = None,
) -> Tree[np.ndarray]:
    """Return the tree of NumPy arrays, found by playing every line from the start.

    The game must have two players, no chance moves and no hidden information. States
    that are equal, byte for byte, are one position. A position of `UserRules` is two
    states: one reached where player 0 began, and one where player 1 began. With
    `num_lines`, at most so many moves are played at each level, drawn at random.

    Raises:
        GameError: there is no legal move at the start, there are more than
            `max_positions` positions, a game has more than `max_moves` moves, the views
            are not symmetries of the game, or a position breaks a rule of users' games.
    """
    rules, rng = env if isinstance(env, UserRules) else None, np.random.default_rng(0)
    starts = jax.device_get(_init(env)) if rules is None else rules.starts  # (S, ...)
    level = jax.tree_util.tree_map(lambda x: x[None], starts)  # (P, S, ...)
    levels, level_start, moves = [], [0], []
    shown = time.monotonic()

    def show_progress(num_positions: int) -> None:
        nonlocal shown
        if time.monotonic() - shown > _SECONDS:
            shown = time.monotonic()
            phrase = count_phrase(num_positions, "position")
            standard_streams.print_stderr(f"enumerating the game: {phrase} so far")

    while True:
        levels.append(level)
        begin, end = level_start[-1], level_start[-1] + len(level.terminated)
        level_start.append(end)
        if end > max_positions:
            raise GameError(f"more than {max_positions:,} positions: too many")
        if rules is not None:
            _check_level(level, begin, moves)
        state = jax.tree_util.tree_map(lambda x: x[:, 0], level)
        over = state.terminated | state.truncated
        parent, action = np.nonzero(state.legal_action_mask & ~over[:, None])
        if not len(action):
            break
        if max_moves is not None and len(moves) >= max_moves:
            raise GameError(f"a game must end after at most {max_moves:,} moves")
        if num_lines is not None:
            drawn = rng.permutation(len(action))[:num_lines]
            parent, action = parent[drawn], action[drawn]
        after = _play(
            env=env,
            env_state=level,
            parent=parent,
            action=action,
            batch_size=num_lines or _BATCH,
            max_positions=max_positions - end,
            on_batch=functools.partial(show_progress, end),
        )
        level, child = _remove_duplicates(after)
        # `parent` and `child` are rows of their levels; the tree numbers all positions.
        moves.append((begin + parent, action, end + child))
    if not moves:
        raise GameError("there must be a legal move at the start")
    env_state = jax.tree_util.tree_map(lambda x: x[:, 0], _join(levels))
    first_player = env_state.current_player[0]
    parent, action, child = (np.concatenate(part) for part in zip(*moves, strict=True))
    successor = np.zeros(env_state.legal_action_mask.shape, np.int32)
    successor[parent, action] = child
    terminal = env_state.terminated | env_state.truncated
    outcome = np.sign(np.where(terminal, env_state.rewards[:, first_player], 0))
    decisions = np.flatnonzero(~terminal).astype(np.int32)
    representative, classes = np.arange(len(terminal), dtype=np.int32), None
    if views is not None:
        cells = stone_boards.cells(env_state.observation)
        try:
            representative, classes = stone_boards.symmetry_classes(
                cells, level_start, decisions, views
            )
        except ValueError as error:
            raise GameError(str(error)) from None
    return Tree(
        env_state=env_state,
        legal_action_mask=env_state.legal_action_mask & ~terminal[:, None],
        successor=successor,
        first_to_move=env_state.current_player == first_player,
        terminal=terminal,
        outcome=outcome.astype(np.int32),
        decisions=decisions,
        representative=representative,
        classes=classes,
        level_start=tuple(level_start),
    )


def _check_level(
    pairs: pgx.State, begin: int, moves: Sequence[tuple[np.ndarray, ...]]
) -> None:
    """Raise `GameError` if a position of a level breaks a rule of users' games.

    `pairs` are the two states of each position, and `begin` is the number of the first
    position. `moves` are the parents, actions and children of each level before it.
    """
    num_moves = len(moves)
    first, second = (
        jax.tree_util.tree_map(lambda x, began=began: x[:, began], pairs)
        for began in (0, 1)
    )
    over, rewards = first.terminated | first.truncated, first.rewards
    differs = {
        "the rewards": rewards != second.rewards[:, ::-1],
        "the end of a game": over != (second.terminated | second.truncated),
        "the legal moves": first.legal_action_mask != second.legal_action_mask,
        "the observation": first.observation != second.observation,
        "truncated": first.truncated != second.truncated,
    }
    in_turn = pairs.current_player == (num_moves + np.arange(2)) % 2
    faults = {
        f"{name} must not depend on whether player 0 or 1 begins: use "
        "state.current_player, not the number 0 or 1": is_wrong
        for name, is_wrong in differs.items()
    } | {
        "the players must take turns (to let one move again, give the other a turn in "
        "which its only legal action is a pass)": ~over[:, None] & ~in_turn,
        "a move must not change _step_count": first._step_count != num_moves,
        "the rewards must add up to 0": rewards.sum(axis=1) != 0,
        "a reward must be from -1 to 1": ~(abs(rewards) <= 1),
        # Compiled programs take smaller numbers for 0.
        "a reward must be 0 or a normal number": (rewards != 0)
        & (abs(rewards) < np.finfo(np.float32).tiny),
        "only the last move may give a reward": ~over[:, None] & (rewards != 0),
        "there must be a legal move": ~over & ~first.legal_action_mask.any(axis=1),
    }
    for rule, is_broken in faults.items():
        if is_broken.any():
            position, line = begin + np.argwhere(is_broken)[0, 0], []
            for parent, action, child in reversed(moves):
                row = np.argmax(child == position)
                position = parent[row]
                line.insert(0, str(action[row]))
            actions = textwrap.shorten(f": actions {' '.join(line)}", 200)
            moves_played = count_phrase(num_moves, "move")
            raise GameError(
                f"{rule}; after {moves_played} it does not hold{actions * bool(line)}"
            )


def _new_game(env: pgx.Env) -> pgx.State:
    """Return one game before its first move, with an axis of length 1."""
    return jax.tree.map(lambda x: x[None], env.init(jax.random.key(0)))


def _step_games(
    env: pgx.Env,
    env_state: pgx.State,
    action: Int[Array, " B"] | Int[np.ndarray, " B"],
) -> pgx.State:
    """Return the games, `(B, S, ...)`, after one move in each."""
    return jax.vmap(jax.vmap(env.step, in_axes=(0, None)))(env_state, action)


# They run for a fraction of a second, so they are compiled with few optimizations. A
# user's game may take longer.
_init = Program(_new_game, static_argnames=["env"], level="0")
_step = Program(_step_games, static_argnames=["env"], level="0")
_step_users_games = Program(_step_games, static_argnames=["env"])


def _play(
    env: pgx.Env,
    env_state: pgx.State,
    parent: Int[np.ndarray, " B"],
    action: Int[np.ndarray, " B"],
    batch_size: int,
    max_positions: int,
    on_batch: Callable[[], None],
) -> pgx.State:
    """Return the states after each `action` in the state `parent`, a row number.

    Only the first ones are returned if they are more than `max_positions` positions.
    """
    num_moves, parts = len(action), []
    step = _step_users_games if isinstance(env, UserRules) else _step
    for begin in range(0, num_moves, batch_size):
        batch = np.arange(begin, begin + batch_size).clip(max=num_moves - 1)
        before = jax.tree_util.tree_map(
            lambda x, rows=parent[batch]: x[rows], env_state
        )
        after = step(env, before, action[batch].astype(np.int32))
        parts.append(jax.device_get(after))
        on_batch()
        if len(parts) >= 16 and len(parts).bit_count() == 1:
            states, _ = _remove_duplicates(_join(parts))
            if len(states.terminated) > max_positions:
                return states
    return jax.tree_util.tree_map(lambda x: x[:num_moves], _join(parts))


def _join(parts: Sequence[pgx.State]) -> pgx.State:
    """Return the states of all parts, one after the other."""
    return jax.tree_util.tree_map(lambda *leaves: np.concatenate(leaves), *parts)


def _remove_duplicates(
    env_state: pgx.State,
) -> tuple[pgx.State, Int[np.ndarray, " B"]]:
    """Return the states without duplicates, and the row of each given state in them."""
    leaves = [
        np.ascontiguousarray(leaf).reshape(len(leaf), -1).view(np.uint8)
        for leaf in jax.tree_util.tree_leaves(env_state)
    ]
    rows = np.concatenate(leaves, axis=1)
    # Viewed as one raw value a row, the rows are sorted 20 times as fast as rows of
    # numbers.
    states = rows.view((np.void, rows.shape[1]))[:, 0]
    _, first, index = np.unique(states, return_index=True, return_inverse=True)
    return jax.tree_util.tree_map(lambda x: x[first], env_state), index
