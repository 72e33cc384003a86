"""Rows of `metrics.jsonl` and of sweeps: counts and grades."""

from collections.abc import Sequence
from typing import Literal, cast

import msgspec

from jax_ttt.config.game_facts import SEATS, Seat
from jax_ttt.config.grade import Grade
from jax_ttt.files import json_records

Event = Literal["chunk", "evaluation"]


class TrainingCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of an agent's training.

    On one CPU, the settings and the seed decide all of them but `seconds`.
    """

    update: int
    """Updates done."""
    games: int
    """Training games that have ended."""
    wins: int
    """Of these, games won by the agent; in self-play, by the player who moves first.

    With `--start-share`, games that began at counterexamples count too.
    """
    losses: int
    """Of these, games lost by the same player."""
    env_steps: int
    """Moves made in training games."""
    seconds: float
    """Time spent training, excluding compilation and evaluation."""

    def __repr__(self) -> str:
        fields = msgspec.structs.asdict(self)
        fields.pop("grade", None)  # it prints as a report
        text = ", ".join(f"{name}={value!r}" for name, value in fields.items())
        return f"{type(self).__name__}({text})"


class _Row(TrainingCounts, frozen=True, kw_only=True, tag_field="event"):
    @property
    def event(self) -> Event:
        """The kind of row."""
        return cast("Event", self.__struct_config__.tag)


class Trained(_Row, frozen=True, kw_only=True, tag="chunk"):
    """A row of `metrics.jsonl` of updates, usually 50, after the last chunk of them."""

    loss: float
    """Loss, mean of the row's updates."""
    grad_norm: float
    """L2 norm of the whole gradient, mean of the row's updates."""
    mean_max_q: float
    """Value of the best legal move, mean over games and updates."""
    epsilon: float
    """Probability of a random move, at the end of the row."""
    learning_rate: float
    """Step size, at the end of the row."""
    rows: int
    """Entries of a table that this run visited so far; 0 for a network. Those that an
    agent of --start-agent visited before are not counted: its file does not say."""


class Evaluated(_Row, frozen=True, kw_only=True, tag="evaluation"):
    """A row of `metrics.jsonl` after an evaluation."""

    grade: Grade
    """The agent's grade."""


Row = Trained | Evaluated
"""A row of `metrics.jsonl`."""


class AgentResult(TrainingCounts, frozen=True, kw_only=True):
    """The result of one agent among many; each has an equal share of the seconds."""

    seed: int
    """Seed of all random numbers."""
    diverged: bool
    """Whether a loss, a gradient, a weight or an action value was not finite."""
    grade: Grade | None = None
    """Its grade; None if it diverged."""

    @property
    def is_proven(self) -> bool:
        """Whether the agent is proven unbeatable in the seats that it learned."""
        return self.grade is not None and self.grade.unbeatable is True


def read_row(line: str | bytes) -> Row:
    """Return the row in a line of the metrics.

    Raises:
        ValueError: it is not JSON, or a field is missing or has the wrong type.
    """
    return json_records.from_json(cast("type[Row]", Row), line)


def numbers_in(row: Row) -> dict[str, int | float]:
    """Return the numbers of a row by names such as `grade/first/win_rate`.

    Its update and numbers in lists are left out; booleans become 0 or 1.
    """
    fields = json_records.flatten_record(json_records.to_dict(row), "/")
    return {
        name: int(value) if isinstance(value, bool) else value
        for name, value in fields.items()
        if isinstance(value, int | float) and name != "update"
    }


def evaluated_rows(
    rows: Sequence[Row], seats: Sequence[Seat] = SEATS
) -> list[Evaluated]:
    """Return the last row of each update that has rates against random in these seats.

    The page evaluates an update again after a person's game that the agent learns from.
    """
    graded = {
        row.update: row
        for row in rows
        if isinstance(row, Evaluated) and row.grade.mean_rates(seats) is not None
    }
    return [*graded.values()]


def source_of_rates(grades: Sequence[Grade], seats: Sequence[Seat] = SEATS) -> str:
    """Return "exact", "partly sampled" or "sampled" for grades' rates in these seats.

    It is "sampled" too if there are no rates.
    """
    rates_by_seat = (pair for grade in grades for pair in grade.rates.items())
    exact = [rates.is_exact for seat, rates in rates_by_seat if seat in seats]
    if not any(exact):
        return "sampled"
    return "exact" if all(exact) else "partly sampled"


def searched_rows(rows: Sequence[Row]) -> list[Evaluated]:
    """Return the last row of each update that has results of a search."""
    searched = {
        row.update: row
        for row in rows
        if isinstance(row, Evaluated) and row.grade.searched
    }
    return [*searched.values()]
