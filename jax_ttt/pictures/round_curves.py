"""Curves of a run in rounds of counterexamples; need the extra `plots`."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from jax_ttt.config.catalogue import seat_name
from jax_ttt.config.settings import Config
from jax_ttt.files.rows import Row, searches
from jax_ttt.grading.grade import SeatGrade
from jax_ttt.pictures import picture as pictures
from jax_ttt.pictures import themes
from jax_ttt.pictures.axes import legend_below, new_figure, shortened, whole_numbers
from jax_ttt.pictures.picture import Picture
from jax_ttt.pictures.themes import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def round_curves(
    rows: Sequence[Row], title: str, config: Config, theme: Theme = "light"
) -> Picture:
    """Draw by round and seat the positions that the agent reaches, and its losing ends.

    A triangle marks a search that was cut: there may be more. A line marks the first
    round that proves the agent unbeatable.
    """
    grades = [row.grade for row in searches(rows)]
    proofs = [place for place, grade in enumerate(grades) if grade.unbeatable]
    with themes.style(theme):
        figure = new_figure(10, 4)
        positions, ends = figure.subplots(1, 2)
        for number, seat in enumerate(config.seats):
            name = f"as {seat_name(config.env_id, seat)}"
            searched = {
                place: grade.searched[seat]
                for place, grade in enumerate(grades)
                if seat in grade.searched
            }
            colour = themes.colours(theme)[2 * number]
            _line(positions, searched, _positions, name, colour)
            _line(ends, searched, _losing_ends, name, colour)
        if proofs:
            grey = themes.colours(theme)[1]
            label = f"proven in round {proofs[0]}"
            ends.axvline(proofs[0], color=grey, lw=1, label=label)
        positions.set(title="positions reached", ylim=(0, None))
        ends.set_title("losing ends")
        ends.set_yscale("symlog", linthresh=1)  # linear from 0 to 1
        counts = [
            seat.losing_ends or 0
            for grade in grades
            for seat in grade.searched.values()
        ]
        ends.set_ylim(-0.3, 2 * max(counts, default=1) + 1)
        for axis in (positions.yaxis, ends.yaxis):
            axis.set_major_formatter("{x:,.0f}")
        for axes in (positions, ends):
            axes.grid(visible=True)
            axes.set_xlabel("round")
            whole_numbers(axes.xaxis, max(len(grades) - 1, 1), 4.2)
        legend_below(figure, ends)
        figure.suptitle(shortened(title, 80))
        return pictures.figure_picture(figure, theme)


def _line(
    axes: "Axes",
    searched: Mapping[int, SeatGrade],
    number: Callable[[SeatGrade], int],
    label: str,
    colour: str,
) -> None:
    """Draw a number by round, with a triangle where the search was cut."""
    numbers = [number(seat) for seat in searched.values()]
    axes.plot([*searched], numbers, label=label, color=colour, marker="o", ms=3)
    cut = {n: number(seat) for n, seat in searched.items() if not seat.complete}
    axes.plot([*cut], [*cut.values()], ls="", marker="^", ms=6, color=colour)


def _positions(searched: SeatGrade) -> int:
    return searched.num_positions or 0


def _losing_ends(searched: SeatGrade) -> int:
    return searched.losing_ends or 0
