"""Chart of the corrections of agents: by level, and during a training."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jax_ttt.config.game_facts import SEATS, Seat, seat_name
from jax_ttt.config.grade import SeatGrade
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.pictures import picture as pictures
from jax_ttt.pictures.axes import add_legend_below, new_figure, set_whole_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Counts = Mapping[Seat, int]
"""The number of an agent's corrections, by seat."""


def corrections_picture(
    agent: str,
    first: SeatGrade,
    run: str,
    by_update: Mapping[int, Counts],
    theme: Theme = "light",
) -> Picture:
    """Draw one agent's corrections by level, and those of a run's agents by update.

    `first` is the corrected agent's grade moving first. Below its corrections are the
    positions in which it is to move. `agent` and `run` are titles.
    """
    with pictures.theme_style(theme):
        figure = new_figure(11, 4.8)
        panels = figure.subplot_mosaic(
            "AC;BC", height_ratios=(2.2, 1), width_ratios=(1.35, 1)
        )
        _plot_levels(panels["A"], panels["B"], first, theme)
        panels["A"].set_title(f"{agent}: {first.num_corrections:,} corrections")
        _plot_training(panels["C"], by_update, theme)
        panels["C"].set_title(f"{run}: corrections")
        add_legend_below(figure, panels["C"])
        return pictures.figure_picture(figure, theme)


def _plot_levels(
    corrections: "Axes", positions: "Axes", first: SeatGrade, theme: Theme
) -> None:
    """Plot corrections and positions at the levels in which the first player moves."""
    from matplotlib.ticker import EngFormatter

    assert first.corrections is not None
    assert first.positions is not None
    counts, sizes = first.corrections[::2], first.positions[::2]
    blue, grey, _ = pictures.colours(theme)
    bars = corrections.bar(range(0, 2 * len(counts), 2), counts, 1.5, color=blue)
    corrections.bar_label(
        bars, [f"{count:,}" if count else "" for count in counts], padding=1, fontsize=8
    )
    corrections.margins(y=0.12)
    positions.bar(range(0, 2 * len(sizes), 2), sizes, 1.5, color=grey)
    title = f"positions where it is to move: {sum(sizes):,}"
    positions.set_title(title, fontsize=11)
    positions.yaxis.set_major_formatter(EngFormatter(sep=" "))
    positions.set_xlabel("stones on the board")
    positions.sharex(corrections)
    set_whole_ticks(corrections.yaxis, max(counts), 2.5)
    set_whole_ticks(corrections.xaxis, 2 * len(counts), 5)
    corrections.tick_params(labelbottom=False)
    positions.grid(visible=True, axis="y")
    positions.set_axisbelow(True)


def _plot_training(axes: "Axes", by_update: Mapping[int, Counts], theme: Theme) -> None:
    """Plot the corrections of each seat by update; logarithmic above 1."""
    for number, seat in enumerate(SEATS):
        counts = [counts[seat] for counts in by_update.values()]
        axes.plot(
            [*by_update],
            counts,
            label=f"as {seat_name(seat)}",
            color=pictures.colours(theme)[2 * number],
            ls="-" if number == 0 else "--",
            marker="o",
            ms=4,
        )
    axes.set_yscale("symlog", linthresh=1)  # linear from 0 to 1
    most = max(count for counts in by_update.values() for count in counts.values())
    axes.set_ylim(-0.15, 2 * most + 1)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    set_whole_ticks(axes.xaxis, max(by_update), 4.4)
    axes.set_xlabel("updates")
    axes.grid(visible=True)
