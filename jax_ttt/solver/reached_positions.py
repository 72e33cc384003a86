"""The positions that a deterministic player reaches against every opponent.

A player and any opponent reach a small part of a game. That part can be enumerated
level by level where the whole tree can't: the player's one move where it is to move,
all legal moves where its opponent is. Positions are merged by their keys. Different
positions have different keys (`games.position_keys`), so no line of play is left out:
the results are exact, and if the search ends without a lost game, no opponent beats
the player, which is a proof.

Axes: `P` positions of a level, `B` positions of a batch, `K` moves of a position.
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from jax_ttt.config.game_facts import EnvId
from jax_ttt.games import pgx_games, position_keys
from jax_ttt.solver import losing_lines, merged_positions, successors
from jax_ttt.solver.merged_positions import LevelBuilder, PositionLevel
from jax_ttt.solver.successors import (
    DRAWN,
    ILLEGAL,
    LOST,
    OPEN,
    WON,
    Moves,
    SearchedPlayer,
)


class SymmetryError(ValueError):
    """The player plays another move on a symmetric board."""


class IllegalMoveError(ValueError):
    """The player plays a move that is not legal."""


@dataclasses.dataclass
class Ends:
    """Ends of games with one result for the player."""

    moves: int = 0  # pairs of a position and the move that ends the game
    lines: int = 0  # lines of play
    chance: float = 0.0  # against an opponent that plays at random


class Results(NamedTuple):
    """The ends of games by result."""

    won: Ends
    drawn: Ends
    lost: Ends


def _no_results() -> Results:
    return Results(won=Ends(), drawn=Ends(), lost=Ends())


@dataclasses.dataclass
class Reach:
    """What a player reaches, as far as it is enumerated."""

    player: SearchedPlayer
    keys: list[np.ndarray] = dataclasses.field(default_factory=list)
    """(P,) uint64 keys of each level in which games go on, ascending."""
    num_expanded: int = 0  # levels whose moves are played
    num_drawn: int = 0  # positions in which a game ended as a draw
    open_chance: float = 1.0  # of games that go on after the expanded levels
    ends: Results = dataclasses.field(default_factory=_no_results)
    losing_line: tuple[int, ...] | None = None  # actions of a shortest one
    is_complete: bool = False  # every line of play is followed to its end

    @property
    def num_positions(self) -> int:
        """Positions in which nobody has won, including those that ended as draws."""
        return sum(map(len, self.keys)) + self.num_drawn


OnBatch = Callable[[Reach, int, int], None]
"""A function of a search, a level, and how many of the level's positions are done.

The level is the latest one of the search; an earlier one while the losing lines are
marked; or a later one of a sample, which is not in the search.
"""
OnLatestBatch = Callable[[Reach, int], None]
"""A function of a search, and how many positions of its latest level are done."""


def follow_all_lines(
    reach: Reach,
    max_positions: int,
    on_batch: OnLatestBatch = lambda reach, num_done: None,
) -> None:
    """Find, level by level, what the player reaches, and write it into a new `reach`.

    The search ends early, with `is_complete` False, where there are more than
    `max_positions`. `on_batch` is called after each batch of positions. After an
    exception `reach` holds the levels until then.

    Raises:
        SymmetryError: with the player's `merge_symmetric`, its move on a symmetric
            board is another one.
        IllegalMoveError: the player plays a move that is not legal.
        ValueError: positions of the game have no keys.
    """
    player = reach.player
    position_keys.check_packed(player.env_id)
    level = first_level(player.env_id)
    parents: list[np.ndarray] = []
    while len(level.keys):
        reach.keys.append(merged_positions.spill_to_disk(level.keys))
        parents.append(merged_positions.spill_to_disk(level.parent))
        if reach.num_positions > max_positions:
            return
        moves = _play_level(reach, level, max_positions, on_batch)
        if moves is None:
            return
        if moves.first_losing is not None and reach.losing_line is None:
            reach.losing_line = losing_lines.losing_line_to(
                player, reach.keys, parents, moves.first_losing
            )
            if player.near_best is not None:
                return  # its one use is whether a line loses
        if reach.losing_line is not None:
            parents.clear()  # their only use is the first losing line
        level = moves.open
        reach.ends = moves.ends
        reach.num_drawn += moves.num_drawn
        reach.open_chance = float(level.chance.sum())
        reach.num_expanded += 1
    reach.is_complete = True


def first_level(env_id: EnvId) -> PositionLevel:
    """Return the level of the position before the first move."""
    start = pgx_games.init(pgx_games.make_env(env_id), jax.random.key(0), 1)
    words = np.asarray(position_keys.keys_of(env_id, start))
    return PositionLevel(
        keys=position_keys.keys_to_numbers(words),
        chance=np.ones(1),
        lines=np.ones(1, "u8"),
        parent=np.zeros(1, "u4"),
    )


class _LevelMoves(NamedTuple):
    """The moves in the positions of a level, by what they lead to."""

    ends: Results  # of all levels so far
    num_drawn: int  # positions in which the game ends as a draw
    open: PositionLevel  # positions in which the game goes on
    first_losing: int | None  # the level's first position with a move that loses


def _play_level(
    reach: Reach,
    level: PositionLevel,
    max_positions: int,
    on_batch: OnLatestBatch,
) -> _LevelMoves | None:
    """Play the moves of the latest level; None if they lead to too many positions."""
    player, number = reach.player, reach.num_expanded
    is_own = player.moves_at(number)
    # A move's result is the mover's. These are the player's win, draw and loss.
    won, drawn, lost = (WON, DRAWN, LOST) if is_own else (LOST, DRAWN, WON)
    # A copy, so that `reach` has the ends of whole levels only if an exception
    # interrupts this level.
    ends = Results(*(dataclasses.replace(end) for end in reach.ends))
    open_level, drawn_level = LevelBuilder(level.keys), LevelBuilder(level.keys)
    first_losing = None
    for places, after in successors.expand_level(player, number, level.keys):
        _check(is_own and player.near_best is None, after)
        # A random opponent plays all legal moves with equal probability. In the
        # player's turn `after` has one move (K = 1), and the chance stays the same.
        num_legal = (after.result != ILLEGAL).sum(axis=1)
        chance = level.chance[places] / num_legal
        for result, end in zip((won, drawn, lost), ends, strict=True):
            row, _ = np.nonzero(after.result == result)
            end.moves += len(row)
            end.lines += int(level.lines[places][row].sum())
            end.chance += float(chance[row].sum())
        loses = (after.result == lost).any(axis=1)
        if first_losing is None and loses.any():
            first_losing = places.start + int(loses.argmax())
        open_level.add(_positions_after(level, places, chance, after, OPEN))
        drawn_level.add(_positions_after(level, places, chance, after, DRAWN))
        on_batch(reach, places.stop)
        # `min_positions` is a lower bound: only a search that is too large ends here.
        if open_level.min_positions > max_positions - reach.num_positions:
            return None
    return _LevelMoves(
        ends=ends,
        num_drawn=len(drawn_level.build().keys),
        open=open_level.build(),
        first_losing=first_losing,
    )


def _check(is_own: bool, after: Moves) -> None:
    """Raise `SymmetryError` or `IllegalMoveError` if a move of the player is wrong."""
    if after.breaks_symmetry.any():
        raise SymmetryError("the player plays another move on a symmetric board")
    if is_own and (after.result == ILLEGAL).any():
        action = after.action[after.result == ILLEGAL][0]
        raise IllegalMoveError(f"the player plays {action}, which is not legal")


def _positions_after(
    level: PositionLevel,
    places: slice,
    chance: Float[np.ndarray, " B"],
    after: Moves,
    result: int,
) -> PositionLevel:
    """Return the positions that moves of this result lead to.

    Equal ones are merged where they have one key in `after`. `places` are the positions
    of the batch in the level, and `chance` has the probability of each of their moves.
    """
    row, move = np.nonzero(after.result == result)
    place = after.place[row, move]
    chance, lines = chance[row], level.lines[places][row]
    parent = (places.start + row).astype("u4")
    if len(after.keys) < after.place.size:
        return merged_positions.merge_at_places(
            keys=after.keys, place=place, chance=chance, lines=lines, parent=parent
        )
    return PositionLevel(
        keys=after.keys[place], chance=chance, lines=lines, parent=parent
    )
