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
from collections.abc import Callable
from typing import Protocol, runtime_checkable

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


@runtime_checkable  # the tests check the types of arguments
class ExactPlay(Protocol):
    """Whoever knows which moves keep a goal."""

    first_level: int
    """The number of stones from which it is asked."""

    @property
    def num_nodes(self) -> int:
        """Nodes searched so far."""
        ...

    def keeping_moves(
        self, keys: UInt64[np.ndarray, " B"], order: Int[np.ndarray, "B A"]
    ) -> Int8[np.ndarray, " B"]:
        """Return the first action in each order that keeps the goal; -1 without one."""
        ...


class TreePlay:
    """Exact play in an enumerated game, by minimax."""

    first_level = 0
    num_nodes = 0

    def __init__(self, env_id: EnvId, tree: Tree[np.ndarray], goal: Goal) -> None:
        """Compute for every position and move whether it keeps the goal."""
        worth = policies.values_to_mover(tree, policies.minimax_values(tree))
        at_least = 1.0 if goal == "win" else 0.0
        decisions = np.asarray(tree.decisions)
        keys = position_keys.numbers_of(env_id, tree.env_state)[decisions]
        order = np.argsort(keys)
        self._keys = keys[order]
        self._keeps = (worth >= at_least)[decisions][order]

    def keeping_moves(
        self, keys: UInt64[np.ndarray, " B"], order: Int[np.ndarray, "B A"]
    ) -> Int8[np.ndarray, " B"]:
        """Return the first action in each order that keeps the goal; -1 without one."""
        keeps = self._keeps[np.searchsorted(self._keys, keys)]
        return first_of_order(order, keeps)


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


@dataclasses.dataclass
class Search:
    """A search for corrections, as far as it is."""

    player: SearchedPlayer
    levels: list[LevelCounts] = dataclasses.field(default_factory=list)
    keys: list[np.ndarray] = dataclasses.field(default_factory=list)
    """(C,) uint64 keys of the corrections of each level."""
    actions: list[np.ndarray] = dataclasses.field(default_factory=list)
    """(C,) uint8 actions, in the same way."""
    num_restarts: int = 0

    @property
    def num_corrections(self) -> int:
        """Corrections found so far."""
        return sum(map(len, self.keys))

    def corrections(self) -> tuple[UInt64[np.ndarray, " C"], UInt8[np.ndarray, " C"]]:
        """Return the keys, ascending, and the actions."""
        keys = np.concatenate([np.zeros(0, "u8"), *self.keys])
        actions = np.concatenate([np.zeros(0, "u1"), *self.actions])
        order = np.argsort(keys)
        return keys[order], actions[order]


OnBatch = Callable[[Search, int, int, int], None]
"""A function of a search, the number of stones of its latest level, the number of its
positions, and how many of these are done."""


class ExactPlayError(RuntimeError):
    """Exact play contradicts itself, or the goal can't be reached from the start."""


def find_corrections(
    player: SearchedPlayer,
    order_fn: Partial,
    exact: ExactPlay,
    goal: Goal,
    on_batch: OnBatch = lambda search, num_stones, num_positions, num_done: None,
) -> Search:
    """Return the corrections with which the player reaches the goal.

    `order_fn` returns all actions in the player's order of preference `(B, A)` for a
    batch of states, the illegal ones last.

    Raises:
        ExactPlayError: no move of the player keeps the goal from the start.
    """
    refused = np.zeros(0, "u8")
    num_restarts = 0
    while True:
        search = Search(player, num_restarts=num_restarts)
        wrong = _search_once(search, order_fn, exact, goal, refused, on_batch)
        if wrong is None:
            return search
        if np.isin(wrong, refused).all():
            raise ExactPlayError("the goal can't be reached")
        refused = np.union1d(refused, wrong)
        num_restarts += 1


def _search_once(
    search: Search,
    order_fn: Partial,
    exact: ExactPlay,
    goal: Goal,
    refused: PositionKeys,
    on_batch: OnBatch,
) -> PositionKeys | None:
    """Enumerate what the player reaches; it never moves to a refused position.

    Returns the positions that it must not move to either, since it could not keep the
    goal there; None if it keeps the goal on all lines.
    """
    player = search.player
    before = np.zeros(0, "u8")
    keys = position_keys.first_number(player.env_id)
    num_stones = 0
    while len(keys):
        done = functools.partial(on_batch, search, num_stones, len(keys))
        if player.moves_at(num_stones):
            is_asked = num_stones >= exact.first_level
            actions, preferred = _choose_moves(
                player, order_fn, exact if is_asked else None, refused, keys, done
            )
            if (actions < 0).any():
                lost = keys[actions < 0]
                leads, _ = _split_moves(player, before, lost)
                return before[leads.any(axis=1)]
            is_corrected = actions != preferred
            search.keys.append(keys[is_corrected])
            search.actions.append(actions[is_corrected].astype(np.uint8))
            search.levels.append(
                LevelCounts(
                    seat=player.seat,
                    num_stones=num_stones,
                    num_positions=len(keys),
                    num_corrections=int(is_corrected.sum()),
                )
            )
            batches = successors.expand_given_moves(player, keys, actions)
        else:
            batches = successors.expand_all_moves(player, keys)
        builder = LevelBuilder(keys)
        bad = []
        for places, after in batches:
            bad_results = (LOST, DRAWN) if goal == "win" else (LOST,)
            is_bad = np.isin(after.result, bad_results)
            if is_bad.any():
                bad.append(keys[places][np.unique(after.row[is_bad])])
            builder.add(plain_rows(after.keys[after.result == OPEN]))
            done(places.stop)
        if bad:
            if player.moves_at(num_stones) or num_stones > exact.first_level:
                raise ExactPlayError(f"exact play errs with {num_stones} stones")
            return np.concatenate(bad)
        before = keys
        keys = builder.build().keys
        num_stones += 1
    return None


def _choose_moves(
    player: SearchedPlayer,
    order_fn: Partial,
    exact: ExactPlay | None,
    refused: PositionKeys,
    keys: PositionKeys,
    done: Callable[[int], None],
) -> tuple[Int8[np.ndarray, " P"], Int8[np.ndarray, " P"]]:
    """Return the move to play in each position, -1 without one, and the preferred one.

    Exact play says which moves keep the goal. Without it, a move does unless it leads
    to a refused position.
    """
    actions = np.empty(len(keys), np.int8)
    preferred = np.empty(len(keys), np.int8)
    compute = functools.partial(_ordered_actions, player.env_id, order_fn)
    for places, order in in_batches(player, compute, keys):
        preferred[places] = order[:, 0]
        if exact is not None:
            actions[places] = exact.keeping_moves(keys[places], order)
        else:
            _, allowed = _split_moves(player, keys[places], refused)
            actions[places] = first_of_order(order, allowed)
        done(places.stop)
    return actions, preferred


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
