"""The whole tree of a small game, enumerated by playing every move in PGX.

The positions are sorted by level, so a position's successors come after it. The first
player makes the first move ("X"). Outcomes are the first player's.

Axes: `P` positions, `A` actions, `D` decisions (positions with a move to choose), `L`
levels (moves played), `B` moves.
"""

import dataclasses
import textwrap
import time
from collections.abc import Sequence
from typing import Any, Generic

import jax
import numpy as np
import pgx
from jaxtyping import Array, Int, Shaped

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import GAMES, MAX_TREE_POSITIONS, EnvId, Seat
from jax_ttt.games import board_index, pgx_games, stone_boards, user_rules
from jax_ttt.games.board_index import PositionIndex
from jax_ttt.games.stone_boards import (
    Classes,
    LeafT,
    Views,
    to_canonical_actions,
)
from jax_ttt.games.user_rules import UserRules
from jax_ttt.runtime import standard_streams
from jax_ttt.runtime.compiling import Program
from jax_ttt.runtime.words import count_phrase

MAX_MOVES = 1000
"""Maximum number of moves in a user's game."""
_SECONDS = 5
"""Seconds between two lines of progress, where an enumeration takes so long."""
_BATCH = 2048
"""Moves played at once. Every batch has this size, so one program serves all levels."""


@jax.tree_util.register_dataclass
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
    # (L + 1,) each level's first position, then P.
    level_start: tuple[int, ...] = dataclasses.field(metadata={"static": True})

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
    game = GAMES[env_id]
    if not game.enumerable:
        return None
    if isinstance(game.user_env, UserRules):
        tree = game.user_env.tree
    else:
        found = enumerate_positions(pgx_games.make_env(env_id))
        if not found.is_whole:
            raise Refused(f"{env_id}: more than {MAX_TREE_POSITIONS:,} positions")
        tree = found.tree()
    views = pgx_games.symmetric_views(env_id)
    return tree if views is None else with_symmetries(tree, views)


def with_symmetries(tree: Tree[np.ndarray], views: Views) -> Tree[np.ndarray]:
    """Return a tree with its symmetric boards in classes, in order of their first ones.

    No two positions after the same number of moves have the same board.

    Raises:
        ValueError: the views are not symmetries of the game.
    """
    cells, decisions = stone_boards.cells(tree.obs), tree.decisions
    least = stone_boards.least_views(cells, views)
    level = np.repeat(np.arange(len(tree.level_start) - 1), np.diff(tree.level_start))
    seen = np.take_along_axis(cells, views.cells[least.argmax(axis=1)], axis=1)
    first, class_of = unique_rows(level, seen)
    # A class's canonical board is the position that is seen as it is.
    boards = np.full(len(first), -1)
    boards[class_of[least[:, 0]]] = np.flatnonzero(least[:, 0])
    if (boards < 0).any():
        raise ValueError("the canonical view of a position is not in the tree")
    representative = first[class_of].astype(np.int32)
    class_firsts, row = np.unique(representative[decisions], return_inverse=True)
    classes = Classes(
        boards=boards[class_of[class_firsts]].astype(np.int32),
        row=row.astype(np.int32),
        actions=to_canonical_actions(views, least[decisions]).astype(np.int32),
    )
    canonical = classes.boards[classes.row]
    after = np.where(tree.legal_action_mask, representative[tree.successor], -1)
    image = np.take_along_axis(after[canonical], classes.actions, axis=1)
    if (
        (tree.outcome != tree.outcome[representative]).any()
        or (tree.terminal != tree.terminal[representative]).any()
        or (image != after[tree.decisions]).any()
    ):
        raise ValueError("symmetric boards differ in their moves or results")
    return dataclasses.replace(tree, representative=representative, classes=classes)


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
    return index_of_tree(enumerated(env_id))


def index_of_tree(tree: Tree[np.ndarray]) -> PositionIndex[np.ndarray]:
    """Return the index by which a tree's positions are found by what players see.

    Raises:
        Refused: two positions look alike.
    """
    num_moves = tree.env_state._step_count
    return board_index.index_positions(tree.obs, num_moves, tree.terminal)


@dataclasses.dataclass
class Enumeration:
    """Positions of a game, level by level, and the moves between them.

    A position is one state or, in `UserRules`, two: one reached where player 0 began,
    and one where player 1 began.
    """

    levels: list[pgx.State] = dataclasses.field(default_factory=list)  # (P, S, ...)
    level_start: list[int] = dataclasses.field(default_factory=lambda: [0])
    # Parents, actions and children of each level's moves; positions are numbered
    # through all levels.
    moves: list[tuple[np.ndarray, ...]] = dataclasses.field(default_factory=list)
    is_whole: bool = False  # all positions of the game are here

    def states(self, number: int) -> pgx.State:
        """Return the states `(P, ...)` of all positions in which this player began."""
        return jax.tree_util.tree_map(lambda x: x[:, number], _join(self.levels))

    def tree(self) -> Tree[np.ndarray]:
        """Return the positions as a tree, without symmetries."""
        env_state: Any = self.states(0)
        first_player = env_state.current_player[0]
        moves = zip(*self.moves, strict=True)
        parent, action, child = (np.concatenate(part) for part in moves)
        successor = np.zeros(env_state.legal_action_mask.shape, np.int32)
        successor[parent, action] = child
        terminal = env_state.terminated | env_state.truncated
        outcome = np.sign(np.where(terminal, env_state.rewards[:, first_player], 0))
        return Tree(
            env_state=env_state,
            legal_action_mask=env_state.legal_action_mask & ~terminal[:, None],
            successor=successor,
            first_to_move=env_state.current_player == first_player,
            terminal=terminal,
            outcome=outcome.astype(np.int32),
            decisions=np.flatnonzero(~terminal).astype(np.int32),
            representative=np.arange(len(terminal), dtype=np.int32),
            classes=None,
            level_start=tuple(self.level_start),
        )


def enumerate_positions(
    env: pgx.Env, max_positions: int = MAX_TREE_POSITIONS, num_lines: int | None = None
) -> Enumeration:
    """Return the positions, found by playing every move from the start.

    States that are equal, byte for byte, are one position. If there are more than
    `max_positions`, the levels until then are returned, at least two. With
    `num_lines`, at most so many moves are played at each level, drawn at random.

    Raises:
        Refused: there is no legal move at the start, a game has more than `MAX_MOVES`
            moves, or a position breaks a rule of users' games.
    """
    rules, rng = env if isinstance(env, UserRules) else None, np.random.default_rng(0)
    if rules is None:
        starts = jax.device_get(pgx_games.init(env, jax.random.key(0), 1))
    else:
        starts = rules.starts  # (S, ...)
    level = jax.tree_util.tree_map(lambda x: x[None], starts)  # (P, S, ...)
    found = Enumeration()
    shown = time.monotonic()
    while True:
        begin, end = found.level_start[-1], found.level_start[-1] + len(level.rewards)
        if end > max_positions and len(found.levels) > 1:
            found.moves.pop()  # they lead to this level
            return found
        found.levels.append(level)
        found.level_start.append(end)
        if time.monotonic() - shown > _SECONDS:
            shown = time.monotonic()
            phrase = count_phrase(end, "position")
            standard_streams.print_stderr(f"enumerating the game: {phrase} so far")
        if rules is not None:
            _check_level(level, begin, found.moves)
        state = jax.tree_util.tree_map(lambda x: x[:, 0], level)
        over = state.terminated | state.truncated
        parent, action = np.nonzero(state.legal_action_mask & ~over[:, None])
        if not len(action):
            break
        if len(found.moves) >= MAX_MOVES:
            raise Refused(f"a game must end after at most {MAX_MOVES:,} moves")
        if num_lines is not None:
            drawn = rng.permutation(len(action))[:num_lines]
            parent, action = parent[drawn], action[drawn]
        after = _play(
            env=env,
            env_state=level,
            parent=parent,
            action=action,
            batch_size=num_lines or _BATCH,
            max_positions=max_positions - end if found.moves else 2**31,
        )
        if after is None:
            return found
        level, child = _remove_duplicates(after)
        # `parent` and `child` are rows of their levels; all positions are numbered.
        found.moves.append((begin + parent, action, end + child))
    if not found.moves:
        raise Refused("there must be a legal move at the start")
    found.is_whole = num_lines is None
    return found


def _check_level(
    pairs: pgx.State, begin: int, moves: Sequence[tuple[np.ndarray, ...]]
) -> None:
    """Raise `Refused` if a position of a level breaks a rule of users' games.

    `pairs` are the two states of each position, and `begin` is the number of the first
    position. `moves` are the parents, actions and children of each level before it.
    """
    num_moves = len(moves)
    for rule, is_broken in user_rules.broken_rules(pairs, num_moves).items():
        if is_broken.any():
            position, line = begin + int(is_broken.argmax()), []
            for parent, action, child in reversed(moves):
                row = np.argmax(child == position)
                position = parent[row]
                line.insert(0, str(action[row]))
            actions = textwrap.shorten(f": actions {' '.join(line)}", 200)
            raise user_rules.broken(rule, num_moves, actions * bool(line))


def _step_games(
    env: pgx.Env,
    env_state: pgx.State,
    action: Int[Array, " B"] | Int[np.ndarray, " B"],
) -> pgx.State:
    """Return the games, `(B, S, ...)`, after one move in each."""
    return jax.vmap(jax.vmap(env.step, in_axes=(0, None)))(env_state, action)


# With the optimizations of the programs that play: others would round floats of an
# observation in another way, and positions are found by their observations.
_step = Program(_step_games, static_argnames=["env"])


def _play(
    env: pgx.Env,
    env_state: pgx.State,
    parent: Int[np.ndarray, " B"],
    action: Int[np.ndarray, " B"],
    batch_size: int,
    max_positions: int,
) -> pgx.State | None:
    """Return the states after each `action` in the state `parent`, a row number.

    None if they are more than `max_positions` positions.
    """
    num_moves, parts = len(action), []
    for begin in range(0, num_moves, batch_size):
        batch = np.arange(begin, begin + batch_size).clip(max=num_moves - 1)
        before = jax.tree_util.tree_map(
            lambda x, rows=parent[batch]: x[rows], env_state
        )
        after = _step(env, before, action[batch].astype(np.int32))
        parts.append(jax.device_get(after))
        is_large = len(parts) * batch_size > max_positions
        if is_large and len(parts).bit_count() == 1:
            states, _ = _remove_duplicates(_join(parts))
            if len(states.terminated) > max_positions:
                return None
    return jax.tree_util.tree_map(lambda x: x[:num_moves], _join(parts))


def _join(parts: Sequence[pgx.State]) -> pgx.State:
    """Return the states of all parts, one after the other."""
    return jax.tree_util.tree_map(lambda *leaves: np.concatenate(leaves), *parts)


def _remove_duplicates(
    env_state: pgx.State,
) -> tuple[pgx.State, Int[np.ndarray, " B"]]:
    """Return the states without duplicates, and the row of each given state in them."""
    first, index = unique_rows(*jax.tree_util.tree_leaves(env_state))
    return jax.tree_util.tree_map(lambda x: x[first], env_state), index


def unique_rows(
    *columns: Shaped[np.ndarray, "P ..."],
) -> tuple[Int[np.ndarray, " N"], Int[np.ndarray, " P"]]:
    """Return the first of each different row, in order of bytes, and each row's place.

    The rows are those of all `columns`, byte for byte.
    """
    parts = [
        np.ascontiguousarray(part).reshape(len(part), -1).view(np.uint8)
        for part in columns
    ]
    rows = np.concatenate(parts, axis=1)
    # Without the bytes that are equal in all rows, and viewed as one raw value a row,
    # rows are sorted 20 times as fast.
    varying = rows[:, (rows != rows[0]).any(axis=0)]
    if not varying.shape[1]:
        return np.zeros(1, int), np.zeros(len(rows), int)
    values = np.ascontiguousarray(varying).view((np.void, varying.shape[1]))[:, 0]
    _, first, index = np.unique(values, return_index=True, return_inverse=True)
    return first, index
