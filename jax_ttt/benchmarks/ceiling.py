"""The shares of agents that end proven and at the ceiling, in each precision."""

from collections.abc import Iterator

from jax_ttt.benchmarks.progress import Steps
from jax_ttt.benchmarks.proof_rows import at_ceiling, pass_rate
from jax_ttt.benchmarks.timing import Figures, show
from jax_ttt.config.choices import Precision
from jax_ttt.config.presets import PRESETS
from jax_ttt.results.rows import AgentResult
from jax_ttt.training import many_agents

PRECISIONS: tuple[Precision, ...] = ("float32", "bfloat16")


def measure_ceiling(seeds: range) -> Figures:
    """Train one agent of the default preset per seed, in each precision."""
    return {precision: of_precision(precision, seeds) for precision in PRECISIONS}


def of_precision(precision: Precision, seeds: range) -> Figures:
    """Train one agent per seed; print which are not proven or miss the ceiling."""
    name = f"default in {precision}"
    with Steps(len(seeds), "agent", name) as bar:
        found = []
        for row in agents_of(precision, seeds):
            found.append(row)
            bar.set_postfix(proven=sum(one.is_proven for one in found), refresh=False)
            bar.update()
    failed = [row.seed for row in found if not row.is_proven]
    figures = pass_rate(name, list(seeds), failed)
    figures |= at_ceiling(name, {row.seed: row.exact for row in found})
    seconds = [row.seconds for row in found]
    return figures | {"seconds": show(f"{name}, training one agent", seconds, "s")}


def agents_of(precision: Precision, seeds: range) -> Iterator[AgentResult]:
    """Train one agent per seed, graded at its end."""
    config = PRESETS["default"].replace(precision=precision)
    return many_agents.train_jobs([many_agents.Job(config, seed) for seed in seeds])
