"""Charts of many agents and players; they need the extra `plots` (matplotlib)."""

from collections.abc import Sequence

import numpy as np

from jax_ttt.config.game_facts import LETTERS, SEATS, Seat, seat_name
from jax_ttt.config.settings import Config
from jax_ttt.files.metrics_rows import AgentResult, source_of_rates
from jax_ttt.grading.agent_groups import GroupResult
from jax_ttt.grading.round_robin import RoundRobinTable
from jax_ttt.pictures import picture as pictures
from jax_ttt.pictures.axes import (
    add_legend_below,
    break_name,
    draw_heat_map,
    new_figure,
    set_whole_ticks,
)
from jax_ttt.pictures.picture import Picture, Theme
from jax_ttt.runtime.words import count_phrase


def cross_table_chart(table: RoundRobinTable, theme: Theme = "light") -> Picture:
    """Draw a cross table as a heat map of the first player's mean score."""
    size = len(table.names)
    score = table.rates @ [1, 0.5, 0]
    first, second = LETTERS
    with pictures.theme_style(theme):
        figure = new_figure(5 + 1.1 * size, 3 + 0.8 * size)
        texts = [
            [
                _cell_text(rates, bool(sampled))
                for rates, sampled in zip(*row, strict=True)
            ]
            for row in zip(table.rates, table.sampled, strict=True)
        ]
        scale = f"{first}'s mean score"
        axes = draw_heat_map(figure, score, texts, table.names, table.names, scale)
        axes.set_xlabel(f"plays {second}")
        axes.set_ylabel(f"plays {first}")
        figure.suptitle(f"% {first} wins, draws, {second} wins (~ sampled)")
        return pictures.figure_picture(figure, theme)


def _cell_text(rates: np.ndarray, sampled: bool) -> str:
    """Return wins, draws and losses in %, with `~` if they were sampled."""
    return ("~" if sampled else "") + "\n".join(f"{100 * rate:.1f}" for rate in rates)


def agents_chart(config: Config, rows: Sequence[AgentResult], title: str) -> Picture:
    """Draw each agent's wins against random by seat; crosses are not proven."""
    graded = {
        row.seed: row.grade.rates
        for row in rows
        if row.grade is not None and row.grade.mean_rates(config.seats)
    }
    seeds = np.array([*graded])
    proven = np.array([row.is_proven for row in rows if row.seed in graded], bool)
    provable = config.run.can_be_proven
    source = source_of_rates([row.grade for row in rows if row.grade], config.seats)
    colours = dict(zip(SEATS, pictures.colours("light")[::2], strict=True))
    with pictures.theme_style("light"):
        figure = new_figure(7, 4.4)
        axes = figure.subplots()
        for seat in config.seats:
            wins = np.array([100 * rates[seat].win_rate for rates in graded.values()])
            for selected, marker, note in (
                (proven, "o", ""),
                (~proven, "x", ", not proven" if provable else ""),
            ):
                label = f"as {seat_name(seat)}{note}"
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
        return pictures.figure_picture(figure, "light")


def grid_chart(groups: Sequence[GroupResult], title: str) -> Picture:
    """Draw the share of proven agents over one or two settings, as a heat map.

    If agents of a group can't be proven, it shows the mean win rate instead.
    """
    points = [group.settings for group in groups]
    across, *down = list(points[0])[::-1]
    columns = list(dict.fromkeys(point[across] for point in points))
    rows = list(dict.fromkeys(tuple(point[name] for name in down) for point in points))
    share = np.full((len(rows), len(columns)), np.nan)
    texts = [[""] * len(columns) for _ in rows]
    provable = all(group.proven is not None for group in groups)
    for point, group in zip(points, groups, strict=True):
        row = rows.index(tuple(point[name] for name in down))
        column = columns.index(point[across])
        if provable:
            share[row, column] = (group.proven or 0) / group.num_agents
            texts[row][column] = f"{group.proven} of {group.num_agents}"
        elif group.win_rates:  # not all agents diverged
            wins = [rates.mean for rates in group.win_rates.values()]
            share[row, column] = np.mean(wins)
            texts[row][column] = f"{100 * share[row, column]:.0f}%"
    with pictures.theme_style("light"):
        figure = new_figure(4.5 + 1.1 * len(columns), 3 + 0.75 * len(rows))
        downwards, sideways = [str(*row) for row in rows], [str(c) for c in columns]
        grades = [a.grade for group in groups for a in group.agents if a.grade]
        learned: set[Seat] = {seat for group in groups for seat in group.win_rates}
        source = source_of_rates(grades, [*learned])
        scale = "share of the agents" if provable else source
        axes = draw_heat_map(figure, share, texts, downwards, sideways, scale)
        axes.set_xlabel(across)
        axes.set_ylabel("".join(down))
        measure = "proven unbeatable" if provable else "mean wins against random"
        figure.suptitle(break_name(f"{title}: {measure}", 40))
        return pictures.figure_picture(figure, "light")
