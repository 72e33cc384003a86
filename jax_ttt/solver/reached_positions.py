"""The positions that a deterministic player reaches against every opponent.

A player and any opponent reach a small part of a game. That part can be enumerated
level by level where the whole tree can't: the player's one move where it is to move,
all legal moves where its opponent is. Positions are merged by their keys. Different
positions have different keys (`games.position_keys`), so no line of play is left out:
the results are exact, and if the search ends without a lost game, no opponent beats
the player, which is a proof.

Axes: `P` positions of a level.
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jax_ttt.config.errors import Refused
from jax_ttt.games import position_keys
from jax_ttt.games.state_keys import DRAWN, LOST, OPEN, WON
from jax_ttt.games.tree import MAX_MOVES
from jax_ttt.solver import losing_lines, merged_positions, successors
from jax_ttt.solver.batches import SearchedPlayer
from jax_ttt.solver.merged_positions import LevelBuilder, PositionLevel, plain_rows

_MOST_LINES = 2.0**63
"""Lines of play of a level that can be counted."""


class SymmetryError(ValueError):
    """The player plays another move on a symmetric board."""


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


@dataclasses.dataclass
class Reach:
    """What a player reaches, as far as it is enumerated."""

    player: SearchedPlayer
    keys: list[np.ndarray] = dataclasses.field(default_factory=list)
    """(P,) keys of each level in which games go on, ascending: numbers or bytes."""
    num_expanded: int = 0  # levels whose moves are played
    num_drawn: int = 0  # positions in which a game ended as a draw
    open_chance: float = 1.0  # of games that go on after the expanded levels
    ends: Results = dataclasses.field(
        default_factory=lambda: Results(Ends(), Ends(), Ends())
    )
    losing_line: tuple[int, ...] | None = None  # actions of a shortest one
    counts_lines: bool = True  # until they are too many for 64 bits
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


def follow_all_lines(
    reach: Reach,
    max_positions: int,
    on_batch: OnBatch = lambda reach, level, num_done: None,
) -> None:
    """Find, level by level, what the player reaches, and write it into a new `reach`.

    The search ends early, with `is_complete` False, where there are more than
    `max_positions`. `on_batch` is called after each batch of positions. After an
    exception `reach` holds the levels until then.

    Raises:
        SymmetryError: with the player's `merge_symmetric`, its move on a symmetric
            board is another one.
        IllegalMoveError: the player plays a move that is not legal.
        Refused: a position breaks a rule of users' games.
    """
    player = reach.player
    start = position_keys.first_number(player.env_id)
    level = plain_rows(start)._replace(chance=np.ones(1), lines=np.ones(1, "u8"))
    parents: list[np.ndarray] = []
    while len(level.keys):
        if reach.num_expanded >= MAX_MOVES:
            rule = f"a game must end after at most {MAX_MOVES:,} moves"
            raise Refused(f"{player.env_id}: {rule}")
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
            if player.may_play is not None:
                return  # its one use is whether a line loses
        if reach.losing_line is not None:
            parents.clear()  # their only use is the first losing line
        level = moves.open
        reach.ends = moves.ends
        reach.num_drawn += moves.num_drawn
        reach.open_chance = float(level.chance.sum())
        reach.num_expanded += 1
    reach.is_complete = True


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
    on_batch: OnBatch,
) -> _LevelMoves | None:
    """Play the moves of the latest level; None if they lead to too many positions."""
    player = reach.player
    # A copy, so that `reach` has the ends of whole levels only if an exception
    # interrupts this level.
    ends = Results(*(dataclasses.replace(end) for end in reach.ends))
    open_level, drawn_level = LevelBuilder(level.keys), LevelBuilder(level.keys)
    first_losing, num_lines = None, 0.0
    for places, after in successors.expand_level(player, level.keys):
        if after.breaks_symmetry:
            raise SymmetryError("the player plays another move on a symmetric board")
        # A random opponent plays all legal moves with equal probability. In the
        # player's turn there is one move, and the chance stays the same.
        num_moves = np.bincount(after.row)
        rows = PositionLevel(
            keys=after.keys,
            chance=(level.chance[places] / num_moves)[after.row],
            lines=level.lines[places][after.row],
            parent=(places.start + after.row).astype("u4"),
        )
        for result, end in zip((WON, DRAWN, LOST), ends, strict=True):
            ended = rows.where(after.result == result)
            end.moves += len(ended.keys)
            end.lines += int(ended.lines.sum())
            end.chance += float(ended.chance.sum())
            if result == LOST and first_losing is None and len(ended.keys):
                first_losing = int(ended.parent[0])
            if result == DRAWN:
                drawn_level.add(ended)
        open_level.add(rows.where(after.result == OPEN))
        num_lines += float(rows.lines.sum(dtype=float))
        on_batch(reach, reach.num_expanded, places.stop)
        # `min_positions` is a lower bound: only a search that is too large ends here.
        if open_level.min_positions > max_positions - reach.num_positions:
            return None
    if num_lines > _MOST_LINES:
        reach.counts_lines = False
    return _LevelMoves(
        ends=ends,
        num_drawn=len(drawn_level.build().keys),
        open=open_level.build(),
        first_losing=first_losing,
    )
