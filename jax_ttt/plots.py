"""Pictures, as SVG files. They need the extra `plots` (matplotlib)."""

from pathlib import Path
from typing import Any

import numpy as np

from jax_ttt import games
from jax_ttt.config import EnvId
from jax_ttt.crosstable import CrossTable
from jax_ttt.grading import RATES


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
