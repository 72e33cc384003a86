"""The positions that a deterministic player reaches against every opponent.

A player and any opponent reach a small part of a game. It can be enumerated level by
level where the whole tree can't: one move where the player is to move, all moves where
the opponent is. So the results are exact, and that no line loses is a proof.

Axes: `B` positions of a batch, `P` positions of a level, `K` moves.
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np

from jax_ttt.config.game_facts import EnvId
from jax_ttt.games import packing, pgx_games
from jax_ttt.solver import losing_lines, position_levels, successors
from jax_ttt.solver.position_levels import Collected, Level
from jax_ttt.solver.successors import (
    DRAWN,
    ILLEGAL,
    LOST,
    OPEN,
    WON,
    SearchedPlayer,
    Successors,
)


class DiffersError(ValueError):
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

    def copied(self) -> "Results":
        """Return a copy, to be added to."""
        return Results(*(dataclasses.replace(ends) for ends in self))


@dataclasses.dataclass
class Reach:
    """What a player reaches, as far as it is enumerated."""

    subject: SearchedPlayer
    keys: list[np.ndarray] = dataclasses.field(default_factory=list)
    """(P,) uint64 keys of each level in which games go on, ascending."""
    num_expanded: int = 0  # levels whose moves are played
    num_drawn: int = 0  # positions in which a game ended as a draw
    open_chance: float = 1.0  # of games that go on after the expanded levels
    ends: Results = Results(Ends(), Ends(), Ends())  # noqa: RUF009, never changed
    losing_line: tuple[int, ...] | None = None  # actions of a shortest one
    is_complete: bool = False  # every line of play is followed to its end

    @property
    def num_positions(self) -> int:
        """Positions in which nobody has won, with those that ended as draws."""
        return sum(map(len, self.keys)) + self.num_drawn


OnBatch = Callable[[Reach, int, int], None]
"""A function of what is found so far, a level, and how many of its positions are done.

The level is the latest one, an earlier one when the losing lines are searched, or a
later one of a sample, which is not in what is found.
"""


class _Moves(NamedTuple):
    """The moves in the positions of a level, by what they lead to."""

    ends: Results
    drawn: Level
    open: Level
    losing: int | None  # the first position that a move loses


def follow(
    reach: Reach,
    max_positions: int,
    on_batch: Callable[[Reach, int], None] = lambda reach, done: None,
) -> None:
    """Find, level by level, what the player reaches; `reach` is new, and filled.

    It ends early, with `is_complete` False, where there are more than `max_positions`.
    `on_batch` gets the number of positions of the latest level whose moves are played.
    After an exception `reach` holds the levels until then.

    Raises:
        DiffersError: `merged`, but a move is another one on a symmetric board.
        IllegalMoveError: the player plays a move that is not legal.
        ValueError: positions of the game have no keys.
    """
    subject = reach.subject
    packing.check_packed(subject.env_id)
    level = _first(subject.env_id)
    parents: list[np.ndarray] = []
    while len(level.keys):
        reach.keys.append(position_levels.moved(level.keys))
        parents.append(position_levels.moved(level.parent))
        if reach.num_positions > max_positions:
            return
        moves = _play(reach, level, max_positions, on_batch)
        if moves is None:
            return
        if moves.losing is not None and reach.losing_line is None:
            line = losing_lines.line_to(subject, reach.keys, parents, moves.losing)
            reach.losing_line = line
        if reach.losing_line is not None:
            parents.clear()
        level = moves.open
        reach.ends = moves.ends
        reach.num_drawn += len(moves.drawn.keys)
        reach.open_chance = float(level.chance.sum())
        reach.num_expanded += 1
    reach.is_complete = True


def _first(env_id: EnvId) -> Level:
    start = pgx_games.init(pgx_games.make_env(env_id), jax.random.key(0), 1)
    numbers = packing.keys_to_numbers(np.asarray(packing.keys_of(env_id, start)))
    return Level(numbers, np.ones(1), np.ones(1, "u8"), np.zeros(1, "u4"))


def _play(
    reach: Reach,
    level: Level,
    max_positions: int,
    on_batch: Callable[[Reach, int], None],
) -> _Moves | None:
    """Play the moves of the latest level; None if they lead to too many positions."""
    subject, number = reach.subject, reach.num_expanded
    own = subject.is_own(number)
    results = (WON, DRAWN, LOST) if own else (LOST, DRAWN, WON)
    ends = reach.ends.copied()
    found, drawn, losing = Collected(level.keys), Collected(level.keys), None
    for rows, after in successors.expand(subject, number, level.keys):
        _check(own, after)
        legal = after.result != ILLEGAL
        share = level.chance[rows] / legal.sum(axis=1)
        for result, end in zip(results, ends, strict=True):
            where = np.nonzero(after.result == result)[0]
            end.moves += len(where)
            end.lines += int(level.lines[rows][where].sum())
            end.chance += float(share[where].sum())
        if losing is None and (lost := (after.result == results[2]).any(axis=1)).any():
            losing = rows.start + int(lost.argmax())
        found.add(_led_to(level, rows, share, after, OPEN))
        drawn.add(_led_to(level, rows, share, after, DRAWN))
        on_batch(reach, rows.stop)
        if found.num_merged > max_positions - reach.num_positions:
            return None
    return _Moves(ends, drawn.merged(), found.merged(), losing)


def _led_to(
    level: Level,
    rows: slice,
    share: np.ndarray,
    after: Successors[np.ndarray],
    result: int,
) -> Level:
    """Return the positions that moves of this result lead to, not merged."""
    row, move = np.nonzero(after.result == result)
    keys = packing.keys_to_numbers(after.keys[row, move])
    parent = (rows.start + row).astype("u4")
    return Level(keys, share[row], level.lines[rows][row], parent)


def _check(own: bool, after: Successors[np.ndarray]) -> None:
    if after.differs.any():
        raise DiffersError("the player plays another move on a symmetric board")
    if own and (after.result == ILLEGAL).any():
        action = after.action[after.result == ILLEGAL][0]
        raise IllegalMoveError(f"the player plays {action}, which is not legal")
