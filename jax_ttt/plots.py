"""Pictures, as SVG files. They need the extra `plots` (matplotlib)."""

from pathlib import Path
from typing import Any

import numpy as np

from jax_ttt import games
from jax_ttt.config import ENUMERABLE, LEARNED, RATES, Config, EnvId
from jax_ttt.crosstable import CrossTable


def training(rows: list[dict[str, Any]], title: str, path: Path) -> None:
    """Draw a run's results over its games, from the rows of its metrics.

    Above, how the games of the training ended: wins of the agent against an opponent,
    of the first player in self-play. Below, the exact results against random.
    """
    from matplotlib.figure import Figure

    # Red, grey and blue that the colour-blind can tell apart.
    styles = {"wins": "#0072b2", "draws": "#808080", "losses": "#d55e00"}
    chunks = [row for row in rows if row["event"] == "chunk"]
    ends = np.array(
        [[0, 0, 0], *((r["games"], r["wins"], r["losses"]) for r in chunks)]
    )
    # In at most 50 blocks, so that a block holds enough games.
    ends = ends[np.unique(np.linspace(0, len(ends) - 1, 51).astype(int))]
    played, wins, losses = np.diff(ends, axis=0).T
    some = played > 0
    shares = np.stack([wins, played - wins - losses, losses])[:, some] / played[some]
    graded = [row for row in rows if row["event"] == "evaluation"]
    graded = [row for row in graded if "exact" in row or "sampled" in row]
    with _style():
        figure = Figure(figsize=(7, 6), layout="constrained")
        above, below = figure.subplots(2, sharex=True)
        for (name, colour), share in zip(styles.items(), shares, strict=True):
            above.plot(ends[1:, 0][some], 100 * share, color=colour, label=name)
        for (name, colour), rate in zip(styles.items(), RATES, strict=True):
            values = [100 * (r.get("exact") or r["sampled"])[rate] for r in graded]
            at = [row["games"] for row in graded]
            below.plot(at, values, color=colour, marker="o", ms=3, label=name)
        above.set_title(title)
        above.set_ylabel("% of the training games")
        below.set_ylabel("% against random")
        below.set_xlabel("games played")
        for axes in (above, below):
            axes.set_ylim(-2, 102)
            axes.grid(alpha=0.3)
            axes.legend(loc="center right")
        figure.savefig(path, format="svg", metadata={"Date": None})


def _style() -> Any:  # noqa: ANN401
    """Return the settings under which the same data give the same file."""
    import matplotlib as mpl

    return mpl.rc_context({"svg.hashsalt": "jax_ttt", "svg.fonttype": "none"})


def cross_table(table: CrossTable, env_id: EnvId, path: Path) -> None:
    """Draw a cross table as a heat map of the first player's mean score."""
    from matplotlib.figure import Figure

    size = len(table.names)
    score = table.rates @ [1, 0.5, 0]
    first, second = games.seat_names(env_id)
    with _style():
        figure = Figure(figsize=(3 + 1.1 * size, 2 + 0.75 * size), layout="constrained")
        axes = figure.subplots()
        image = axes.imshow(score, cmap="cividis", vmin=0, vmax=1, aspect="auto")
        for row, column in np.ndindex(size, size):
            mark = "~" if table.sampled[row, column] else ""
            text = mark + "\n".join(f"{100 * x:.1f}" for x in table.rates[row, column])
            dark = score[row, column] < 0.5
            colour = "white" if dark else "black"
            axes.text(column, row, text, ha="center", va="center", color=colour)
        axes.set_xticks(range(size), table.names, rotation=30, ha="right")
        axes.set_yticks(range(size), table.names)
        axes.set_xlabel(f"plays {second}")
        axes.set_ylabel(f"plays {first}")
        axes.set_title(f"% {first} wins, draws, {second} wins (~ sampled)")
        figure.colorbar(image, label=f"{first}'s mean score")
        figure.savefig(path, format="svg", metadata={"Date": None})


def agents(config: Config, rows: list[dict[str, Any]], title: str, path: Path) -> None:
    """Draw the wins of every agent against random, by seat; who is not proven, apart.

    `rows` are those of `fleet.train`.
    """
    from matplotlib.figure import Figure

    graded = [row for row in rows if not row["diverged"]]
    seeds = np.array([row["seed"] for row in graded])
    grades = [row.get("exact") or row["sampled"] for row in graded]
    proven = np.array([bool(grade.get("unbeatable")) for grade in grades], bool)
    exact = config.env_id in ENUMERABLE
    names = dict(zip(LEARNED["both"], games.seat_names(config.env_id), strict=True))
    colours = dict(zip(names, ("#0072b2", "#d55e00"), strict=True))
    with _style():
        figure = Figure(figsize=(7, 4), layout="constrained")
        axes = figure.subplots()
        for seat in LEARNED[config.seat]:
            wins = np.array([100 * grade[seat]["win_rate"] for grade in grades])
            for shown, marker, note in (
                (proven, "o", ""),
                (~proven, "x", ", not proven" if exact else ""),
            ):
                label = f"as {names[seat]}{note}" if shown.any() else None
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
        figure.savefig(path, format="svg", metadata={"Date": None})


def _share(group: dict[str, Any]) -> float:
    """Return the share that is proven; where nothing can be, the mean of the wins."""
    if group["proven"] is not None:
        return group["proven"] / group["num_agents"]
    return float(np.mean([seat["mean"] for seat in group["wins"].values()]))


def grid(
    points: list[dict[str, Any]], found: list[dict[str, Any]], title: str, path: Path
) -> None:
    """Draw the share of proven agents over one or two settings, as a heat map.

    `points` are the combinations of a grid, `found` what `fleet.summary` says of each.
    """
    from matplotlib.figure import Figure

    across, *down = list(points[0])[::-1]
    columns = list(dict.fromkeys(point[across] for point in points))
    rows = list(dict.fromkeys(tuple(point[name] for name in down) for point in points))
    share = np.full((len(rows), len(columns)), np.nan)
    with _style():
        size = (3 + 1.1 * len(columns), 2 + 0.75 * len(rows))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        for point, group in zip(points, found, strict=True):
            row = rows.index(tuple(point[name] for name in down))
            column = columns.index(point[across])
            share[row, column] = _share(group)
            text = f"{100 * share[row, column]:.0f} %"
            if group["proven"] is not None:
                text = f"{group['proven']} of {group['num_agents']}"
            colour = "white" if share[row, column] < 0.5 else "black"
            axes.text(column, row, text, ha="center", va="center", color=colour)
        image = axes.imshow(share, cmap="cividis", vmin=0, vmax=1, aspect="auto")
        axes.set_xticks(range(len(columns)), map(str, columns))
        axes.set_yticks(range(len(rows)), [str(*row) for row in rows])
        axes.set_xlabel(across)
        axes.set_ylabel("".join(down))
        exact = found[0]["proven"] is not None
        what = "proven unbeatable" if exact else "mean wins against random"
        axes.set_title(f"{title}: {what}")
        figure.colorbar(image, label="share of the agents" if exact else "sampled")
        figure.savefig(path, format="svg", metadata={"Date": None})


def growth(figures: dict[str, Any], title: str, path: Path) -> None:
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
    with _style():
        figure = Figure(figsize=(11, 4), layout="constrained")
        every = figure.subplots(1, len(panels))
        for axes, (label, lines) in zip(every, panels.items(), strict=True):
            for name, rows in lines.items():
                _band(axes, name, rows)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_xlabel(label)
            axes.grid(alpha=0.3, which="both")
        every[0].set_ylabel("ms an update of one agent")
        every[-1].legend()
        figure.suptitle(title)
        figure.savefig(path, format="svg", metadata={"Date": None})


def _band(axes: Any, name: str, rows: list[dict[str, Any]]) -> None:  # noqa: ANN401
    """Draw medians over sizes, and their spread."""
    sizes, low, middle, high = (
        [row[field] for row in rows] for field in ("size", "min", "median", "max")
    )
    (drawn,) = axes.plot(sizes, middle, marker="o", ms=4, label=name)
    axes.fill_between(sizes, low, high, color=drawn.get_color(), alpha=0.2, lw=0)
