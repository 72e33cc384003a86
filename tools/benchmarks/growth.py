"""The time of an update by batch size, network width and number of seeds."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.dqn.metrics import Metrics
from jax_ttt.files.picture_file import Picture
from jax_ttt.pictures import picture as pictures
from jax_ttt.pictures.axes import break_name, new_figure
from jax_ttt.training import run_start
from jax_ttt.training.agent_batch import run_keys
from tools.benchmarks.timing import Figures, in_turn, show, show_ms
from tools.benchmarks.updates import continued, fused

# Each size needs two compilations, which take most of the time.
NUM_ENVS = (64, 256, 1024, 2048, 16384)
HIDDEN_SIZES = (32, 128, 512)
NUM_SEEDS = (1, 4, 64)
SEED_UPDATES = 25
"""Updates of each agent in a round, if several are trained."""
ROUNDS = 3


def measure_growth(quick: bool) -> Figures:
    """Time the default preset's updates for all sizes; `quick` uses two of each."""
    selected = slice(None, 2 if quick else None)
    config = PRESETS["default"]
    return {
        "num_envs": measure_setting(config, "num_envs", NUM_ENVS[selected]),
        "hidden_size": measure_setting(config, "hidden_size", HIDDEN_SIZES[selected]),
        "num_seeds": measure_seeds(config, NUM_SEEDS[selected]),
    }


def measure_setting(config: Config, field: str, sizes: Sequence[int]) -> list[Figures]:
    """Time an update with each size of the setting `field`."""
    configs = [config.replace(**{field: size}) for size in sizes]
    counts = [min(max(2**16 // c.num_envs, 10), 200) for c in configs]
    runs = [fused(c, count) for c, count in zip(configs, counts, strict=True)]
    rows = zip(sizes, counts, in_turn(runs, ROUNDS), strict=True)
    return [
        {"size": size}
        | show_ms(f"{field} {size:,}", timed, num_updates, "ms/update")
        | {"compile_seconds": timed.first}
        for size, num_updates, timed in rows
    ]


def measure_seeds(config: Config, sizes: Sequence[int]) -> Figures:
    """Time the update of one of several agents, and return agents per minute.

    The agents train one after another with one compiled program, or all in one program.
    """
    ways = {"loop": train_one_by_one, "vmap": train_together}
    runs = [way(config, num_seeds) for num_seeds in sizes for way in ways.values()]
    timings = iter(in_turn(runs, ROUNDS))
    figures: Figures = {way: [] for way in ways}
    for num_seeds in sizes:
        for way, rows in figures.items():
            text = f"agents {num_seeds}, {way}: each one's"
            count = num_seeds * SEED_UPDATES
            row = show_ms(text, next(timings), count, "ms/update")
            rows.append({"size": num_seeds} | row)
    return figures | agents_a_minute(config, figures)


def agents_a_minute(config: Config, figures: Figures) -> Figures:
    """Print and return the agents trained per minute, at the best number of seeds.

    It is computed from the time of an update and excludes compilation and evaluation.
    """
    updates, rows = config.num_updates, figures["loop"]
    results = {
        "one_run": show(
            f"one training run ({updates:,} x the update's time)",
            [rows[0][name] * updates / 1000 for name in ("min", "median", "max")],
            "s",
        )
    }
    for way in ("loop", "vmap"):
        best = min(figures[way], key=lambda row: row["median"])
        rates = [60_000 / (best[x] * updates) for x in ("min", "median", "max")]
        text = f"agents {best['size']}, {way}: the most a minute"
        row = show(text, rates, "agents/min", 0)
        results[f"agents_a_minute_{way}"] = {"num_seeds": best["size"]} | row
    return results


def train_one_by_one(config: Config, num_seeds: int) -> Callable[[], list[Metrics]]:
    """Return a function that trains agents in turn with one compiled program."""
    learner = run_start.make_learner([config], seeds=[0])
    runs = [
        continued(learner, run_keys([seed]), SEED_UPDATES) for seed in range(num_seeds)
    ]
    return lambda: [run() for run in runs]


def train_together(config: Config, num_seeds: int) -> Callable[[], Metrics]:
    """Return a function that trains agents at once in one program."""
    seeds = range(num_seeds)
    learner = run_start.make_learner([config] * num_seeds, seeds)
    return continued(learner, run_keys(seeds), SEED_UPDATES)


def growth_chart(figures: Mapping[str, Any], title: str) -> Picture:
    """Draw the time of an update by three sizes, with one panel for each."""
    seeds = figures["num_seeds"]
    panels = {
        "games in the batch": {"one agent": figures["num_envs"]},
        "neurons in a hidden layer": {"one agent": figures["hidden_size"]},
        "agents": {
            "one after another": seeds["loop"],
            "in one program": seeds["vmap"],
        },
    }
    with pictures.theme_style("light"):
        figure = new_figure(11, 4)
        all_axes = figure.subplots(1, len(panels))
        for axes, (label, lines) in zip(all_axes, panels.items(), strict=True):
            for name, rows in lines.items():
                sizes, low, middle, high = (
                    np.array([row[key] for row in rows])
                    for key in ("size", "min", "median", "max")
                )
                (line,) = axes.plot(sizes, middle, label=name, marker="o", ms=4)
                colour = line.get_color()
                axes.fill_between(sizes, low, high, color=colour, alpha=0.2, lw=0)
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_formatter("{x:,.0f}")
            axes.set_yscale("log")
            axes.set_xlabel(label)
            axes.grid(alpha=0.3, which="both")
        all_axes[0].set_ylabel("ms per update of one agent")
        all_axes[2].legend(loc="lower center", bbox_to_anchor=(0.5, 1))
        figure.suptitle(break_name(title, 80))
        return pictures.figure_picture(figure, "light")
