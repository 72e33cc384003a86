"""The moves in many positions of a search: the player's move, or all moves.

The player's one move is computed where it is to move, and all legal moves where its
opponent is, as `current_player` says: a player may move twice, or pass. Then each of
these moves is played, by PGX's rules.

Axes: `P` positions of a level, `B` positions of a batch, `W` words or bytes of a key,
`A` actions, `N` moves of a batch.
"""

import dataclasses
import functools
from collections.abc import Iterator
from typing import Generic

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jaxtyping import Array, Bool, Int, Shaped

from jax_ttt.config.game_facts import GAMES, EnvId
from jax_ttt.games import pgx_games, position_keys, state_keys
from jax_ttt.games.pgx_games import ChooseFn
from jax_ttt.games.position_keys import PositionKeys
from jax_ttt.games.state_keys import OPEN, AfterMoves
from jax_ttt.games.stone_boards import LeafT
from jax_ttt.solver import batches
from jax_ttt.solver.asked_moves import AskedMoves
from jax_ttt.solver.batches import IllegalMoveError, MarkFn, Moves, SearchedPlayer

Batches = Iterator[tuple[slice, Moves]]
"""The places of a batch in its level, and the moves there."""
_Marks = Iterator[tuple[slice, Bool[np.ndarray, "B A"], bool]]
"""The places of a batch, its moves, and whether the player breaks symmetry there."""


def expand_level(
    player: SearchedPlayer, keys: PositionKeys, level_size: int | None = None
) -> Batches:
    """Yield the player's moves where it is to move, and all moves elsewhere.

    `level_size` is the number of the level's positions where `keys` are only some of
    them: the player's moves are then computed by the programs of the whole level, with
    the same rounding, so they are the same moves.

    Raises:
        ChangedAnswerError: the player is asked, and an answer differs the second time.
        IllegalMoveError: the player's move is not legal, or depends on who is player 0.
        Refused: a position breaks a rule of users' games; or an answer of a player who
            is asked is missing or illegal.
    """
    asked = player.asked
    choices = functools.partial(
        turns_of,
        player.env_id,
        player.number,
        choose=player.choose if player.may_play is None and asked is None else None,
        may_play=player.may_play,
        sees_images=player.merge_symmetric and not player.is_symmetric,
        sees_state=player.sees_state,
        with_states=asked is not None,
    )

    def marks() -> _Marks:
        for places, turns in batches.in_batches(player, choices, keys, level_size):
            _check_turns(turns)
            moves = turns.moves
            if asked is not None:
                moves = _with_answers(asked, keys[places], turns)
            yield places, moves, bool(turns.breaks_symmetry.any())

    played = _play_marked(player, keys, marks())
    return played if asked is None else _with_lines(asked, keys, played)


def _with_answers(
    asked: AskedMoves, keys: PositionKeys, turns: "Turns[np.ndarray]"
) -> Bool[np.ndarray, "B A"]:
    """Return the moves of `turns`, of the player's own ones those that it answers."""
    own = np.flatnonzero(turns.is_own)
    states = jax.tree.map(lambda leaf: leaf[own], turns.states)
    other_states = jax.tree.map(lambda leaf: leaf[own], turns.other_states)
    moves = turns.moves.copy()
    moves[own] = False
    moves[own, asked.choose(keys[own], states, other_states)] = True
    return moves


def _with_lines(asked: AskedMoves, keys: PositionKeys, played: Batches) -> Batches:
    """Yield the moves, and let the player know the lines that they lead to."""
    for places, moves in played:
        before = keys[places].tolist()
        is_open = moves.result == OPEN
        columns = (moves.row, moves.action, moves.keys)
        rows = zip(*(column[is_open].tolist() for column in columns), strict=True)
        for row, action, after in rows:
            asked.add_line(before[row], action, after)
        yield places, moves


def expand_all_moves(player: SearchedPlayer, keys: PositionKeys) -> Batches:
    """Yield all moves in each position."""
    turns = _turns_of_all_moves(player, keys)
    marks = ((places, here.moves, False) for places, here in turns)
    return _play_marked(player, keys, marks)


def expand_given_moves(
    player: SearchedPlayer, keys: PositionKeys, actions: Int[np.ndarray, " P"]
) -> Batches:
    """Yield one given move in each position."""
    every_action = np.arange(pgx_games.sizes(player.env_id).num_actions)
    level = range(0, len(keys), player.batch)
    parts = (slice(begin, min(begin + player.batch, len(keys))) for begin in level)
    marks = ((places, actions[places, None] == every_action, False) for places in parts)
    return _play_marked(player, keys, marks)


def has_choice(player: SearchedPlayer, keys: PositionKeys) -> Bool[np.ndarray, " P"]:
    """Return in which positions the player is to move, with several legal moves."""
    chooses = np.zeros(len(keys), bool)
    for places, here in _turns_of_all_moves(player, keys):
        chooses[places] = here.is_own & (here.moves.sum(axis=1) > 1)
    return chooses


def _turns_of_all_moves(
    player: SearchedPlayer, keys: PositionKeys
) -> Iterator[tuple[slice, "Turns[np.ndarray]"]]:
    choices = functools.partial(turns_of, player.env_id, player.number)
    return batches.in_batches(player, choices, keys)


def _play_marked(player: SearchedPlayer, keys: PositionKeys, marks: _Marks) -> Batches:
    """Yield the marked moves, played; the next batch is computed meanwhile.

    Raises:
        Refused: a position breaks a rule of users' games.
    """
    program = functools.partial(
        play, player.env_id, player.number, player.merge_symmetric
    )

    def start() -> Iterator[tuple[slice, bool, tuple[np.ndarray, np.ndarray], list]]:
        for places, moves, breaks_symmetry in marks:
            row, action = np.nonzero(moves)
            columns = keys[places][row], action.astype(np.int32)
            calls = [*batches.calls(player, program, *columns)]
            yield places, breaks_symmetry, (row, action), calls

    for places, breaks_symmetry, (row, action), calls in batches.ahead(start(), num=1):
        parts = [batches.fetch(after, part) for part, after in calls]
        after = jax.tree.map(lambda *columns: np.concatenate(columns), *parts)
        if after.broken is not None and (after.broken >= 0).any():
            raise state_keys.broken_rule(player.env_id, after)
        yield (
            places,
            Moves(
                row=row,
                action=action,
                result=after.result,
                keys=position_keys.keys_to_numbers(after.keys),
                breaks_symmetry=breaks_symmetry,
            ),
        )


@functools.partial(jax.jit, static_argnames=("env_id", "merge_symmetric"))
def play(
    env_id: EnvId,
    number: Int[Array, ""] | np.int32,
    merge_symmetric: bool,
    keys: Shaped[Array, "B W"],
    action: Int[Array, " B"],
) -> AfterMoves:
    """Return the positions after a move in each, and the results to this player.

    With `merge_symmetric`, the key of a board is the least key of its images. That is
    right only if the player moves alike on all of them.
    """
    if GAMES[env_id].packing is None:
        return state_keys.play_pairs(env_id, number, keys, action)
    before = position_keys.states_of(env_id, keys)
    after, _ = pgx_games.step(pgx_games.make_env(env_id), before, action, 1.0)
    pack = position_keys.pack_least if merge_symmetric else position_keys.pack
    return AfterMoves(
        keys=pack(env_id, position_keys.stones_of(after)),
        result=state_keys.result_of(after, number),
    )


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Turns(Generic[LeafT]):
    """The moves that are played in each position."""

    moves: LeafT  # (B, A) bool
    is_own: LeafT  # (B,) bool: the player is to move
    action: LeafT  # (B,) int32: what it chooses
    is_wrong: LeafT  # (B,) bool: its choice is not legal, or depends on a number
    breaks_symmetry: LeafT  # (B,) bool: on an image, it moves elsewhere
    states: pgx.State | None = None  # (B, ...), for a player who is asked on the host
    other_states: pgx.State | None = None  # where player 1 began, if these are others


@functools.partial(
    jax.jit,
    static_argnames=("env_id", "sees_images", "sees_state", "with_states"),
)
def turns_of(
    env_id: EnvId,
    number: Int[Array, ""] | np.int32,
    keys: Shaped[Array, "B W"],
    choose: ChooseFn | None = None,
    may_play: MarkFn | None = None,
    sees_images: bool = False,
    sees_state: bool = True,
    with_states: bool = False,
) -> Turns[jax.Array]:
    """Return the player's moves where it is to move, and all moves elsewhere.

    They are those that `choose` plays or `may_play` marks; without both, all moves.
    With `sees_images`, the player may move differently on the images of a board. With
    `sees_state`, it may move differently where player 1 began, if a position is two
    states: it must choose the same move in both, and the moves marked in one count.
    """
    is_pair = sees_state and GAMES[env_id].packing is None
    other_states = state_keys.states(env_id, keys, began=1) if is_pair else None
    states = position_keys.states_of(env_id, keys)
    legal = states.legal_action_mask
    is_own = pgx_games.is_turn(states, jnp.asarray(number))
    nowhere = jnp.zeros(len(keys), bool)
    moves, action = legal, jnp.zeros(len(keys), jnp.int32)
    is_wrong, breaks_symmetry = nowhere, nowhere
    if may_play is not None:
        marked = may_play(states)
        if other_states is not None:
            marked |= may_play(other_states)
        moves = jnp.where(is_own[:, None], marked & legal, legal)
        is_illegal = marked & ~legal
        action = is_illegal.argmax(axis=1).astype(jnp.int32)
        is_wrong = is_own & (is_illegal.any(axis=1) | ~moves.any(axis=1))
    elif choose is not None:

        def chosen(states: pgx.State) -> Int[Array, " B"]:
            # The player is deterministic, so any key will do. Nobody needs its moves
            # where only its opponent is to move.
            return jax.lax.cond(
                is_own.any(),
                lambda: choose(jax.random.key(0), states).astype(jnp.int32),
                lambda: jnp.zeros(len(keys), jnp.int32),
            )

        action = chosen(states)
        is_chosen = jnp.arange(legal.shape[1])[None] == action[:, None]
        moves = jnp.where(is_own[:, None], is_chosen & legal, legal)
        is_wrong = ~moves.any(axis=1)
        if other_states is not None:
            is_wrong |= is_own & (action != chosen(other_states))
        if sees_images:
            stones = position_keys.unpack(env_id, keys)
            after = play(env_id, number, True, keys, action)
            views = [*zip(*pgx_games.views_of(GAMES[env_id].symmetries), strict=True)]
            for cells, actions in views[1:]:
                image = position_keys.stones_in_view(stones, cells)
                there = chosen(position_keys.to_states(env_id, image))
                # The move on the image, as a move on the board itself.
                image_action = jnp.asarray(actions)[there]
                other = play(env_id, number, True, keys, image_action)
                differs = (other.keys != after.keys).any(axis=1)
                breaks_symmetry |= is_own & (differs | (other.result != after.result))
    return Turns(
        moves=moves,
        is_own=is_own,
        action=action,
        is_wrong=is_wrong,
        breaks_symmetry=breaks_symmetry,
        states=states if with_states else None,
        other_states=other_states if with_states else None,
    )


def _check_turns(turns: Turns) -> None:
    """Raise `IllegalMoveError` if a choice is wrong, and the same on all images."""
    if turns.is_wrong.any() and not turns.breaks_symmetry.any():
        place = int(turns.is_wrong.argmax())
        reason = "which is not legal"
        if turns.moves[place].any():
            reason = "and another move where player 1 began the game"
        raise IllegalMoveError(f"the player plays {turns.action[place]}, {reason}")
