"""The tables of a run's evaluations, narrower than 80 columns."""

import re
import sys
from collections.abc import Sequence

from jax_ttt.config.game_facts import GAMES, SEATS
from jax_ttt.config.grade import Grade
from jax_ttt.config.settings import Config
from jax_ttt.text import grade_text, screen
from jax_ttt.text.tables import fitted_text

_COLOURS = {"unbeatable": "green", "beatable": "red"}


class ProgressTable:
    """The head and the rows of the table of a run, a row for each evaluation."""

    def __init__(self, config: Config, coloured: bool) -> None:
        """Begin the table.

        With `coloured`, the proof has a colour, and a cell that is equal to the cell
        above it is dim.
        """
        self._config = config
        self._coloured = coloured
        width = max(len("update"), len(f"{config.num_updates:,}"))
        columns = [f"{{:>{width}}}", *["{:>7}"] * 3, *["  {:<14}"] * 2, "  {:<10}"]
        self._columns = columns
        self._above = [""] * len(columns)  # the cells of the last row

    def head(self) -> str:
        """Return a caption and the columns' names."""
        env_id, seats = self._config.env_id, self._config.seats
        exact = GAMES[env_id].enumerable
        last = "proof" if exact else "games"
        if exact and len(seats) == 1:
            last += f" {grade_text.seat_phrase(*seats)}"
        names = [grade_text.seat_phrase(seat) for seat in SEATS]
        source = "exact" if exact else "sampled"
        return (
            f"results against a random player in %, {source}; "
            "by seat: wins/draws/losses\n"
            + self._line(["update", "wins", "draws", "losses", *names, last])
        )

    def row(self, update: int, grade: Grade) -> str:
        """Return the row of an evaluation."""
        mean = grade.mean_rates()
        if mean is None:
            return self._line([f"{update:,}", *"-" * 6])
        rates = [f"{100 * rate:.2f}" for rate in mean]
        seats = [
            grade_text.rates_text(grade.rates[seat]) if seat in grade.rates else "-"
            for seat in SEATS
        ]
        last = grade_text.verdict_word(grade)
        if grade.unbeatable is None and grade.sampled is not None:
            last = f"{grade.sampled.both.num_games:,}"
        cells = [f"{update:,}", *rates, *seats, last]
        styles = [
            f"{'dim' if cell == above else ''} {_COLOURS.get(cell, '')}".strip()
            for cell, above in zip(cells, self._above, strict=True)
        ]
        self._above = cells
        return self._line(cells, styles)

    def _line(self, cells: list[str], styles: Sequence[str] = ()) -> str:
        """Return cells as a line, in these styles of `screen.styled_text` if given."""
        texts = [
            column.format(cell)
            for column, cell in zip(self._columns, cells, strict=True)
        ]
        if styles and self._coloured:
            texts = [
                text.replace(cell, screen.styled_text(cell, style)) if style else text
                for text, cell, style in zip(texts, cells, styles, strict=True)
            ]
        return "".join(texts).rstrip()


class RoundTable:
    """The table of a run that trains on counterexamples, a row for each evaluation."""

    def __init__(self, config: Config, coloured: bool) -> None:
        """Begin the table; with `coloured`, the verdict has a colour."""
        self._config = config
        self._coloured = coloured

    def head(self) -> str:
        """Return a caption and the columns' names."""
        seats = "".join(f" {grade_text.seat_phrase(seat):<26}" for seat in SEATS)
        names = f" {'positions':>10}{'winning replies':>16}" * len(SEATS)
        return (
            "all that the agent reaches against every opponent\n"
            f"{'':14}{seats}".rstrip()
            + f"\n{'round':>5}{'update':>9}{names}{'proof':>12}"
        )

    def row(self, update: int, grade: Grade) -> str:
        """Return the row of an evaluation."""
        number = update // self._config.eval_every
        line = f"{number:>5}{update:>9,}"
        for seat in SEATS:
            if seat not in grade.searched:  # not learned, or Ctrl-C ended the search
                line += f" {'-':>10}{'-':>16}"
                continue
            searched = grade.searched[seat]
            at_least = "" if searched.complete else "+"
            positions = f"{searched.num_positions:,}{at_least}"
            replies = f"{searched.losing_ends:,}{at_least}"
            line += f" {positions:>10}{replies:>16}"
        verdict = grade_text.verdict_word(grade)
        text = f"{verdict:>12}"
        if self._coloured and verdict in _COLOURS:
            text = text.replace(verdict, screen.styled_text(verdict, _COLOURS[verdict]))
        return line + text


def coloured_verdict(text: str) -> str:
    """Return text with a colour for a verdict at a line's start, for a terminal."""
    for word, colour in _COLOURS.items():
        styled = screen.styled_text(word, f"bold {colour}")
        text = re.sub(rf"(?m)^{word}(?=:)", styled, text)
    return text


def report_for_stdout(text: str) -> str:
    """Return a report that fits the terminal, with a colour for its verdict there."""
    text = fitted_text(text)
    return coloured_verdict(text) if screen.is_coloured(sys.stdout) else text
