"""The moves of a player who is asked for them on the host, kept by position.

A program or a function on the host is asked with a line of play, or the state after it.
The walk over the positions that it reaches finds a line to each, and asks once for a
move there: the player that is walked plays these moves, also in a later walk.

Axes: `B` positions of a batch.
"""

import dataclasses
from collections.abc import Callable, Sequence

import jax
import numpy as np
import pgx
from jaxtyping import Int

from jax_ttt.games.position_keys import PositionKeys
from jax_ttt.solver.proof import Line

AskFn = Callable[
    [Sequence[Line], Sequence[Line], pgx.State, pgx.State | None], Sequence[int]
]
"""A function `(lines, other lines, states, other states) -> legal moves`.

The other lines lead to the same positions, and so do the other states, of games that
player 1 began; None in games in which that is the same.
"""


class ChangedAnswerError(ValueError):
    """The player answers with another move where it is asked again."""


@dataclasses.dataclass(eq=False)
class AskedMoves:
    """A player's answers in a seat, and lines of play to positions.

    Attributes:
        ask: Asks for moves.
        first_line: A line to each position found; its key is a number, or bytes.
        last_line: The line to it that was found last.
        action: The move in each position that was asked for.
    """

    ask: AskFn
    first_line: dict[int | bytes, Line]
    last_line: dict[int | bytes, Line]
    action: dict[int | bytes, int] = dataclasses.field(default_factory=dict)

    @classmethod
    def from_start(cls, ask: AskFn, start: PositionKeys) -> "AskedMoves":
        """Return what is known of a player before the first position, `start`."""
        (key,) = start.tolist()
        return cls(ask, {key: ()}, {key: ()})

    def choose(
        self, keys: PositionKeys, states: pgx.State, other_states: pgx.State | None
    ) -> Int[np.ndarray, " B"]:
        """Return the moves in positions to which a line was found; ask for new ones.

        The states are as those of `AskFn`.

        Raises:
            ChangedAnswerError: an answer differs where it is asked again.
            Refused: an answer is missing or illegal.
        """
        places_of_new = {
            key: place
            for place, key in enumerate(keys.tolist())
            if key not in self.action
        }
        if places_of_new:
            places = [*places_of_new.values()]
            answers = self.ask(
                [self.first_line[key] for key in places_of_new],
                [self.last_line[key] for key in places_of_new],
                jax.tree.map(lambda leaf: leaf[places], states),
                jax.tree.map(lambda leaf: leaf[places], other_states),
            )
            self.action |= zip(places_of_new, answers, strict=True)
        return np.array([self.action[key] for key in keys.tolist()], np.int32)

    def add_line(self, before: int | bytes, action: int, after: int | bytes) -> None:
        """Remember that this move leads from one position to another."""
        self.first_line.setdefault(after, (*self.first_line[before], action))
        self.last_line[after] = (*self.last_line[before], action)
