"""Find positions, with moves in place of a player's own, so that it reaches a goal.

The positions that the player reaches are enumerated level by level. Where it is to
move, exact play says which moves keep the goal, and the player makes the first of them
in its own order of preference. If that is not the move that it prefers, the position
and the move are a correction. Their number is an upper bound: with another move that
keeps the goal, the player might need fewer later.

Exact play is too slow for boards with few stones. There the preferred move is taken as
it is. If a later position turns out to have no move that keeps the goal, then a move
before it was wrong: it is refused, and the search begins again.

Nothing here is a proof: `reached_positions` gives it, without exact play, for the
player with its corrections.

Axes: `P` positions of a level, `B` positions of a batch, `A` actions, `C` corrections.
"""

import dataclasses
import functools
from collections.abc import Callable, Generator, Iterator
from typing import NamedTuple

import jax
import numpy as np
from jax.tree_util import Partial
from jaxtyping import Array, Bool, Int, Int8, UInt8, UInt32, UInt64

from jax_ttt.config.game_facts import EnvId, Goal, Seat
from jax_ttt.games import pgx_games, position_keys
from jax_ttt.games.position_keys import PositionKeys
from jax_ttt.games.state_keys import DRAWN, LOST, OPEN
from jax_ttt.games.tree import Tree
from jax_ttt.solver import policies, successors
from jax_ttt.solver.batches import SearchedPlayer, in_batches
from jax_ttt.solver.merged_positions import LevelBuilder, plain_rows


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExactPlay:
    """The moves that keep a goal."""

    keeping_moves: Callable[
        [UInt64[np.ndarray, " B"], Int[np.ndarray, "B A"]], Int8[np.ndarray, " B"]
    ]
    """The function of the keys of boards, and of all actions in an order of preference,
    that returns the first action in each order that keeps the goal; -1 without one."""
    first_level: int = 0
    """The number of stones from which it is asked."""
    num_nodes: Callable[[], int] = lambda: 0
    """The number of nodes that a solver has searched so far."""


def tree_play(env_id: EnvId, tree: Tree[np.ndarray], goal: Goal) -> ExactPlay:
    """Return exact play in an enumerated game, by minimax."""
    worth = policies.values_to_mover(tree, policies.minimax_values(tree))
    at_least = 1.0 if goal == "win" else 0.0
    decisions = np.asarray(tree.decisions)
    decision_keys = position_keys.numbers_of(env_id, tree.env_state)[decisions]
    by_key = np.argsort(decision_keys)
    ordered_keys = decision_keys[by_key]
    keeps = (worth >= at_least)[decisions][by_key]

    def keeping_moves(
        keys: UInt64[np.ndarray, " B"], order: Int[np.ndarray, "B A"]
    ) -> Int8[np.ndarray, " B"]:
        return first_of_order(order, keeps[np.searchsorted(ordered_keys, keys)])

    return ExactPlay(keeping_moves=keeping_moves)


def first_of_order(
    order: Int[np.ndarray, "B A"], is_allowed: Bool[np.ndarray, "B A"]
) -> Int8[np.ndarray, " B"]:
    """Return the first allowed action of each order; -1 where none is allowed."""
    in_order = np.take_along_axis(is_allowed, order, axis=1)
    first = np.take_along_axis(order, in_order.argmax(axis=1)[:, None], axis=1)[:, 0]
    return np.where(in_order.any(axis=1), first, -1).astype(np.int8)


@dataclasses.dataclass(frozen=True, kw_only=True)
class LevelCounts:
    """A level of the game in which the player is to move."""

    seat: Seat
    """The player's seat."""
    num_stones: int
    """Moves made."""
    num_positions: int
    """Positions that it reaches; mirror images count once where it plays alike on
    them."""
    num_corrections: int
    """Those of them that have a correction."""


class CorrectedLevel(NamedTuple):
    """A level, with its corrections: the keys of positions, and the moves there."""

    counts: LevelCounts
    keys: UInt64[np.ndarray, " C"]
    actions: UInt8[np.ndarray, " C"]


class SearchProgress(NamedTuple):
    """What a search for corrections has found, and how far it is in a level."""

    levels: tuple[CorrectedLevel, ...]  # in which the player is to move
    num_stones: int  # of the latest level
    num_positions: int  # in that level
    num_done: int  # of these

    @property
    def num_corrections(self) -> int:
        """Corrections found so far."""
        return sum(len(level.keys) for level in self.levels)


def find_corrections(
    player: SearchedPlayer, order_fn: Partial, exact: ExactPlay, goal: Goal
) -> Iterator[SearchProgress]:
    """Yield after each batch of positions what is found; at last, what suffices.

    With the corrections of the last `SearchProgress` the player reaches the goal.
    `order_fn` returns all actions in the player's order of preference `(B, A)` for a
    batch of states, the illegal ones last.

    Raises:
        RuntimeError: exact play contradicts itself, or by it no move of the player
            keeps the goal from the start.
    """
    refused = np.zeros(0, "u8")
    while True:
        wrong = yield from _search_once(player, order_fn, exact, goal, refused)
        if wrong is None:
            return
        if np.isin(wrong, refused).all():
            raise RuntimeError("by exact play, the goal can't be reached")
        refused = np.union1d(refused, wrong)


def _search_once(
    player: SearchedPlayer,
    order_fn: Partial,
    exact: ExactPlay,
    goal: Goal,
    refused: PositionKeys,
) -> Generator[SearchProgress, None, PositionKeys | None]:
    """Enumerate what the player reaches; it never moves to a refused position.

    Returns the positions that it must not move to either, since it could not keep the
    goal there; None if it keeps the goal on all lines.
    """
    levels: tuple[CorrectedLevel, ...] = ()
    before = np.zeros(0, "u8")
    keys = position_keys.first_number(player.env_id)
    num_stones = 0
    bad_results = (LOST, DRAWN) if goal == "win" else (LOST,)
    while len(keys):
        if player.moves_at(num_stones):
            actions = np.empty(len(keys), np.int8)
            preferred = np.empty(len(keys), np.int8)
            compute = functools.partial(_ordered_actions, player.env_id, order_fn)
            for places, order in in_batches(player, compute, keys):
                preferred[places] = order[:, 0]
                if num_stones >= exact.first_level:
                    actions[places] = exact.keeping_moves(keys[places], order)
                else:
                    # Any move, unless it leads to a refused position.
                    _, allowed = _split_moves(player, keys[places], refused)
                    actions[places] = first_of_order(order, allowed)
                yield SearchProgress(levels, num_stones, len(keys), places.stop)
            if (actions < 0).any():
                lost = keys[actions < 0]
                leads, _ = _split_moves(player, before, lost)
                return before[leads.any(axis=1)]
            is_corrected = actions != preferred
            counts = LevelCounts(
                seat=player.seat,
                num_stones=num_stones,
                num_positions=len(keys),
                num_corrections=int(is_corrected.sum()),
            )
            level = CorrectedLevel(
                counts=counts,
                keys=keys[is_corrected],
                actions=actions[is_corrected].astype(np.uint8),
            )
            levels += (level,)
            batches = successors.expand_given_moves(player, keys, actions)
        else:
            batches = successors.expand_all_moves(player, keys)
        builder = LevelBuilder(keys)
        bad = []
        for places, after in batches:
            is_bad = np.isin(after.result, bad_results)
            if is_bad.any():
                bad.append(keys[places][np.unique(after.row[is_bad])])
            builder.add(plain_rows(after.keys[after.result == OPEN]))
            yield SearchProgress(levels, num_stones, len(keys), places.stop)
        if bad:
            if player.moves_at(num_stones) or num_stones > exact.first_level:
                raise RuntimeError(f"exact play errs with {num_stones} stones")
            return np.concatenate(bad)
        before = keys
        keys = builder.build().keys
        num_stones += 1
    return None


@functools.partial(jax.jit, static_argnames="env_id")
def _ordered_actions(
    env_id: EnvId, order_fn: Partial, words: UInt32[Array, "B 2"]
) -> Int[Array, "B A"]:
    return order_fn(position_keys.states_of(env_id, words))


def _split_moves(
    player: SearchedPlayer, keys: PositionKeys, targets: PositionKeys
) -> tuple[Bool[np.ndarray, "P A"], Bool[np.ndarray, "P A"]]:
    """Return the legal moves that lead to one of the targets, and the others."""
    shape = len(keys), pgx_games.sizes(player.env_id).num_actions
    leads, others = np.zeros(shape, bool), np.zeros(shape, bool)
    for places, after in successors.expand_all_moves(player, keys):
        is_target = np.isin(after.keys, targets) & (after.result == OPEN)
        leads[places.start + after.row, after.action] = is_target
        others[places.start + after.row, after.action] = ~is_target
    return leads, others
