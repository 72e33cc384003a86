"""Pictures of many agents and players; they need the extra `plots` (matplotlib)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jax_ttt.config.catalogue import GAMES, SEATS, EnvId, seat_name
from jax_ttt.config.settings import Config
from jax_ttt.evaluation.crosstable import CrossTable
from jax_ttt.reports import pictures
from jax_ttt.reports.pictures import Picture, Theme
from jax_ttt.results.commands import GroupResult
from jax_ttt.results.rows import AgentResult


def cross_table_chart(
    table: CrossTable, env_id: EnvId, theme: Theme = "light"
) -> Picture:
    """Draw a cross table as a heat map of the first player's mean score."""
    from matplotlib.figure import Figure

    size = len(table.names)
    score = table.rates @ [1, 0.5, 0]
    first, second = GAMES[env_id].seats
    with pictures.style(theme):
        figure = Figure(figsize=(3 + 1.1 * size, 2 + 0.75 * size), layout="constrained")
        texts = [
            [_cell(rates, bool(known)) for rates, known in zip(*row, strict=True)]
            for row in zip(table.rates, ~table.sampled, strict=True)
        ]
        axes = pictures.heat_map(figure, score, texts, table.names, table.names)
        axes.set_xlabel(f"plays {second}")
        axes.set_ylabel(f"plays {first}")
        axes.set_title(f"% {first} wins, draws, {second} wins (~ sampled)")
        axes.images[0].colorbar.set_label(f"{first}'s mean score")
        return pictures.figure_picture(figure)


def _cell(rates: np.ndarray, known: bool) -> str:
    """Return wins, draws and losses in %, marked where they were sampled."""
    return ("" if known else "~") + "\n".join(f"{100 * rate:.1f}" for rate in rates)


def agents_chart(config: Config, rows: Sequence[AgentResult], title: str) -> Picture:
    """Draw each agent's wins against random by seat, and who is not proven."""
    from matplotlib.figure import Figure

    graded = [(row, grades) for row in rows if (grades := row.best_known)]
    seeds = np.array([row.seed for row, _ in graded])
    proven = np.array([row.is_proven for row, _ in graded], bool)
    exact = GAMES[config.env_id].enumerable
    colours = dict(zip(SEATS, pictures.colours("light")[::2], strict=True))
    with pictures.style("light"):
        figure = Figure(figsize=(7, 4), layout="constrained")
        axes = figure.subplots()
        for seat in config.seats:
            wins = np.array([100 * grades.seat(seat).win_rate for _, grades in graded])
            for shown, marker, note in (
                (proven, "o", ""),
                (~proven, "x", ", not proven" if exact else ""),
            ):
                label = (
                    f"as {seat_name(config.env_id, seat)}{note}"
                    if shown.any()
                    else None
                )
                style = {"s": 18, "marker": marker, "color": colours[seat]}
                axes.scatter(seeds[shown], wins[shown], label=label, **style)
        told = (
            f"{proven.sum()} of {len(rows)} proven unbeatable" if exact else "sampled"
        )
        axes.set_title(f"{title}: {told}")
        axes.set_xlabel("seed")
        axes.set_ylabel("% wins against random")
        axes.grid(alpha=0.3)
        if graded:
            axes.legend()
        return pictures.figure_picture(figure)


def _share(group: GroupResult) -> float:
    """Return the share that is proven; where nothing can be, the mean of the wins."""
    if group.proven is not None:
        return group.proven / group.num_agents
    return float(np.mean([rates.mean for rates in group.win_rates.values()]))


def grid_chart(groups: Sequence[GroupResult], title: str) -> Picture:
    """Draw the share of proven agents over one or two settings, as a heat map."""
    from matplotlib.figure import Figure

    points = [group.settings for group in groups]
    across, *down = list(points[0])[::-1]
    columns = list(dict.fromkeys(point[across] for point in points))
    rows = list(dict.fromkeys(tuple(point[name] for name in down) for point in points))
    share = np.full((len(rows), len(columns)), np.nan)
    texts = [[""] * len(columns) for _ in rows]
    for point, group in zip(points, groups, strict=True):
        row = rows.index(tuple(point[name] for name in down))
        column = columns.index(point[across])
        share[row, column] = _share(group)
        texts[row][column] = f"{100 * share[row, column]:.0f} %"
        if group.proven is not None:
            texts[row][column] = f"{group.proven} of {group.num_agents}"
    with pictures.style("light"):
        size = (3 + 1.1 * len(columns), 2 + 0.75 * len(rows))
        figure = Figure(figsize=size, layout="constrained")
        downwards, sideways = [str(*row) for row in rows], [str(c) for c in columns]
        axes = pictures.heat_map(figure, share, texts, downwards, sideways)
        axes.set_xlabel(across)
        axes.set_ylabel("".join(down))
        exact = groups[0].proven is not None
        what = "proven unbeatable" if exact else "mean wins against random"
        axes.set_title(f"{title}: {what}")
        label = "share of the agents" if exact else "sampled"
        axes.images[0].colorbar.set_label(label)
        return pictures.figure_picture(figure)


def growth_chart(figures: Mapping[str, Any], title: str) -> Picture:
    """Draw how an update's time grows, from the benchmark's figures of it."""
    from matplotlib.figure import Figure

    seeds = figures["num_seeds"]
    panels = {
        "games in the batch": {"one agent": figures["num_envs"]},
        "neurons in a hidden layer": {"one agent": figures["hidden_size"]},
        "agents": {
            "one after another": seeds["loop"],
            "in one program": seeds["vmap"],
        },
    }
    with pictures.style("light"):
        figure = Figure(figsize=(11, 4), layout="constrained")
        every = figure.subplots(1, len(panels))
        for axes, (label, lines) in zip(every, panels.items(), strict=True):
            for name, rows in lines.items():
                fields = ("size", "min", "median", "max")
                sizes, *spread = ([row[field] for row in rows] for field in fields)
                pictures.band(axes, sizes, spread, name, marker="o", ms=4)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_xlabel(label)
            axes.grid(alpha=0.3, which="both")
        every[0].set_ylabel("ms an update of one agent")
        every[-1].legend()
        figure.suptitle(title)
        return pictures.figure_picture(figure)
