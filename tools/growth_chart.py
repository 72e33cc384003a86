"""A chart of the published systems: their wins, and ours, by the games played."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from jax_ttt.config.game_facts import SEATS
from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.pictures import curves
from jax_ttt.pictures import picture as pictures
from jax_ttt.pictures.axes import new_figure
from jax_ttt.pictures.curves import Rows
from jax_ttt.text.grade_text import seat_phrase
from tools.published_systems import SYSTEMS


def growth_curves(
    runs: Mapping[Preset, Sequence[Rows]], theme: Theme = "light"
) -> Picture:
    """Draw how the published systems' wins against random grow with the games played.

    Each system has a panel with the exact wins of our agents by seat, as mean and range
    of the runs. Points show what its authors published or its original code printed.
    """
    with pictures.theme_style(theme):
        columns = 4
        rows = math.ceil(len(runs) / columns)
        figure = new_figure(3 * columns, 2.4 * rows + 0.5)
        all_axes = np.ravel(figure.subplots(rows, columns, sharex=True, sharey=True))
        for axes, (preset, group) in zip(all_axes, runs.items(), strict=False):
            _plot_growth(axes, preset, group, pictures.colours(theme)[1])
        for axes in all_axes[len(runs) :]:
            axes.set_axis_off()
        labels = {str(x.get_label()): x for axes in all_axes for x in axes.lines}
        figure.legend(
            labels.values(),
            labels.keys(),
            loc="outside upper center",
            ncols=len(labels),
        )
        figure.supxlabel("games played")
        figure.supylabel("% wins against random")
        return pictures.figure_picture(figure, theme)


def _plot_growth(axes: Axes, preset: Preset, group: Sequence[Rows], grey: str) -> None:
    """Draw one system's panel."""
    common = curves.common_evaluations(group, PRESETS[preset].seats)
    # The axis is logarithmic, so it has no place for 0 games.
    common = [rows for rows in common if all(row.games for row in rows)]
    played = np.array([[row.games for row in rows] for rows in common]).mean(axis=1)
    for seat in PRESETS[preset].seats:
        wins, number = curves.win_percents(common, seat), SEATS.index(seat)
        curves.plot_range(axes, played, wins, f"jax_ttt {seat_phrase(seat)}", number)
    if points := SYSTEMS[preset].curve:
        axes.plot(*zip(*points, strict=True), "o", ms=4, color=grey, label="original")
    axes.set(title=preset, xscale="log", ylim=(20, 102))
    axes.grid(visible=True)
