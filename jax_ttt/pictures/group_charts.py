"""Charts of many agents and players; they need the extra `plots` (matplotlib)."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from jax_ttt.config.game_facts import LETTERS, SEATS, Seat
from jax_ttt.config.grade import Rates, by_file_note
from jax_ttt.config.settings import Config
from jax_ttt.files.metrics_rows import AgentResult, source_of_rates
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.grading.agent_groups import GroupResult, MeanAndRange
from jax_ttt.pictures import picture as pictures
from jax_ttt.pictures.axes import (
    add_legend_below,
    break_name,
    draw_heat_map,
    new_figure,
    set_name_ticks,
    set_whole_ticks,
)
from jax_ttt.runtime.words import count_phrase
from jax_ttt.text.grade_text import pair_text, seat_phrase

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def cross_table_chart(
    names: Sequence[str], pairs: Sequence[Sequence[Rates]], theme: Theme = "light"
) -> Picture:
    """Draw a cross table as a heat map of the first player's mean score."""
    size = len(names)
    score = np.array([[pair.rates for pair in row] for row in pairs]) @ [1, 0.5, 0]
    first, second = LETTERS
    with pictures.theme_style(theme):
        figure = new_figure(5 + 1.1 * size, 3 + 0.8 * size)
        texts = [[pair_text(pair, "\n") for pair in row] for row in pairs]
        scale = f"{first}'s mean score"
        axes = draw_heat_map(figure, score, texts, names, names, scale)
        axes.set_xlabel(f"plays {second}")
        axes.set_ylabel(f"plays {first}")
        figure.suptitle(f"% {first} wins, draws, {second} wins (~ sampled)")
        return pictures.figure_picture(figure, theme)


def agents_chart(
    config: Config, rows: Sequence[AgentResult], title: str, theme: Theme = "light"
) -> Picture:
    """Draw each agent's wins against random by seat; crosses are not proven."""
    graded = {
        row.seed: row.grade.rates
        for row in rows
        if row.grade is not None and row.grade.mean_rates(config.seats)
    }
    seeds = np.array([*graded])
    proven = np.array([row.is_proven for row in rows if row.seed in graded], bool)
    provable = config.can_be_proven
    source = source_of_rates([row.grade for row in rows if row.grade], config.seats)
    colours = dict(zip(SEATS, pictures.colours(theme)[::2], strict=True))
    with pictures.theme_style(theme):
        figure = new_figure(7, 4.4)
        axes = figure.subplots()
        for seat in config.seats:
            wins = np.array([100 * rates[seat].win_rate for rates in graded.values()])
            for selected, marker, note in (
                (proven, "o", ""),
                (~proven, "x", ", not proven" if provable else ""),
            ):
                label = f"{seat_phrase(seat)}{note}"
                if selected.any():
                    axes.scatter(
                        seeds[selected],
                        wins[selected],
                        label=label,
                        s=18,
                        marker=marker,
                        color=colours[seat],
                    )
        proofs = f"{proven.sum()} of {len(rows)} proven unbeatable"
        result = proofs if provable else count_phrase(len(rows), "agent")
        result += by_file_note([row.grade for row in rows])
        figure.suptitle(break_name(f"{title}: {result}", 60))
        axes.set_xlabel("seed")
        axes.set_ylabel(f"% wins against random, {source}")
        axes.grid(alpha=0.3)
        all_seeds = [row.seed for row in rows]  # also those without a grade
        axes.set_xlim(min(all_seeds) - 0.5, max(all_seeds) + 0.5)
        set_whole_ticks(axes.xaxis, max(all_seeds), 6, "{x:.0f}")
        if graded:
            add_legend_below(figure, axes)
        else:
            axes.set_ylim(0, 100)
        return pictures.figure_picture(figure, theme)


def _with_varied_settings(groups: Sequence[GroupResult]) -> list[GroupResult]:
    """Return the groups with the settings that differ; if none does, with the first."""
    names = [*groups[0].settings]
    varied = [
        name for name in names if len({group.settings[name] for group in groups}) > 1
    ]
    return [
        dataclasses.replace(
            group, settings={name: group.settings[name] for name in varied or names[:1]}
        )
        for group in groups
    ]


def grid_chart(
    groups: Sequence[GroupResult], title: str, theme: Theme = "light"
) -> Picture:
    """Draw the results of a grid of one or two settings.

    With one setting, they are points over its values: for each learned seat the wins,
    mean and range of the agents, and the share that is proven with its interval. With
    two settings, they are a heat map of that share, or of the mean wins if some agents
    can't be proven. A setting that has one value in all groups does not count.
    """
    groups = _with_varied_settings(groups)
    grades = [a.grade for group in groups for a in group.agents if a.grade]
    seats: list[Seat] = [
        seat for seat in SEATS if any(seat in group.win_rates for group in groups)
    ]
    source = source_of_rates(grades, seats)
    with pictures.theme_style(theme):
        if len(groups[0].settings) > 1:
            return pictures.figure_picture(_grid_map(groups, title, source), theme)
        colours = dict(zip(SEATS, pictures.colours(theme)[::2], strict=True))
        panels = [
            _Panel(
                label=f"% wins {seat_phrase(seat)}, {source}",
                note="mean and range",
                colour=colours[seat],
                points=[group.win_rates.get(seat) for group in groups],
            )
            for seat in seats
        ]
        if all(group.proven is not None for group in groups):
            panels.append(
                _Panel(
                    label=f"% proven unbeatable{by_file_note(grades)}",
                    note="share and 95% interval",
                    colour=pictures.colours(theme)[1],
                    points=[_proven_share(group) for group in groups],
                )
            )
        figure = _points_over_values(groups, panels, title)
        return pictures.figure_picture(figure, theme)


class _Panel(NamedTuple):
    """One measure of each group: None for a group whose agents all diverged."""

    label: str
    note: str
    colour: str
    points: list[MeanAndRange | None]


def _proven_share(group: GroupResult) -> MeanAndRange | None:
    """Return the share of proven agents and the ends of its interval."""
    if group.proven is None or group.interval is None:
        return None
    low, high = group.interval
    return group.proven / group.num_agents, low, high


def _points_over_values(
    groups: Sequence[GroupResult], panels: Sequence[_Panel], title: str
) -> "Figure":
    """Draw the panels side by side, over the values of the only setting."""
    (setting,) = groups[0].settings
    values = [str(group.settings[setting]) for group in groups]
    figure = new_figure(max(len(panels), 1) * (2.2 + 0.5 * len(values)), 4.2)
    if not panels:  # all agents diverged
        figure.subplots()
    for number, panel in enumerate(panels, start=1):
        axes = figure.add_subplot(1, len(panels), number)
        points = {
            place: point
            for place, point in enumerate(panel.points)
            if point is not None
        }
        means, lows, highs = 100 * np.array([*points.values()]).T
        axes.errorbar(
            [*points],
            means,
            # Not below 0, as a mean of equal rates may be rounded.
            yerr=np.maximum([means - lows, highs - means], 0),
            fmt="o",
            capsize=4,
            color=panel.colour,
        )
        axes.set_title(panel.note, fontsize="small")
        axes.set_ylabel(panel.label)
        axes.set_xlabel(setting)
        axes.set_xlim(-0.5, len(values) - 0.5)
        margin = max(0.08 * (highs.max() - lows.min()), 0.5)
        axes.set_ylim(max(lows.min() - margin, -3), min(highs.max() + margin, 103))
        axes.ticklabel_format(axis="y", useOffset=False)
        set_name_ticks(axes, values)
        axes.grid(alpha=0.3)
    agents = {group.num_agents for group in groups}
    count = " to ".join(map(str, sorted({min(agents), max(agents)})))
    text = f"{title}: against random, {count} agents for each {setting}"
    figure.suptitle(break_name(text, 60))
    return figure


def _grid_map(groups: Sequence[GroupResult], title: str, source: str) -> "Figure":
    """Draw a heat map whose rows and columns are the values of two settings."""
    points = [group.settings for group in groups]
    down, across = points[0]
    rows, columns = (
        list(dict.fromkeys(point[name] for point in points)) for name in (down, across)
    )
    share = np.full((len(rows), len(columns)), np.nan)
    texts = [[""] * len(columns) for _ in rows]
    provable = all(group.proven is not None for group in groups)
    for point, group in zip(points, groups, strict=True):
        row, column = rows.index(point[down]), columns.index(point[across])
        if provable:
            share[row, column] = (group.proven or 0) / group.num_agents
            texts[row][column] = f"{group.proven} of {group.num_agents}"
        elif group.win_rates:  # not all agents diverged
            wins = [mean for mean, _, _ in group.win_rates.values()]
            share[row, column] = np.mean(wins)
            texts[row][column] = f"{100 * share[row, column]:.0f}%"
    figure = new_figure(4.5 + 1.1 * len(columns), 3 + 0.75 * len(rows))
    axes = draw_heat_map(
        figure,
        share,
        texts,
        rows=[str(value) for value in rows],
        columns=[str(value) for value in columns],
        scale="share of the agents" if provable else source,
    )
    axes.set_xlabel(across)
    axes.set_ylabel(down)
    measure = "proven unbeatable" if provable else "mean wins against random"
    measure += by_file_note([a.grade for group in groups for a in group.agents])
    figure.suptitle(break_name(f"{title}: {measure}", 40))
    return figure
