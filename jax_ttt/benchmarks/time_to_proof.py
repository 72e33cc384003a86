"""The time until agents are proven unbeatable, and the share that is proven."""

import itertools
import time
from collections.abc import Iterator, Mapping

from jax_ttt.benchmarks.progress import Steps
from jax_ttt.benchmarks.proof_rows import Spent, proven_when, show_agents
from jax_ttt.benchmarks.timing import Figures
from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.config.settings import Config
from jax_ttt.envs import tree as trees
from jax_ttt.evaluation.evaluation import summary
from jax_ttt.results.counting import counted
from jax_ttt.results.grades import Exact
from jax_ttt.training.loop import train_from_scratch

EVAL_EVERY = 25
"""Updates between two evaluations of an agent."""


def measure_proof(seeds: Mapping[Preset, range]) -> Figures:
    """Train one agent per seed of each preset; return when each was proven."""
    return {name: of_preset(name, numbers) for name, numbers in seeds.items()}


def of_preset(preset: Preset, seeds: range) -> Figures:
    """Train one agent per seed; print and return how many were proven, and when."""
    config = PRESETS[preset].replace(eval_games=0, eval_every=EVAL_EVERY)
    for _ in itertools.islice(agent_evaluations(config, seeds[0]), 2):
        pass  # compile before timing
    with Steps(len(seeds), "agent") as bar:
        rows = [
            bar.step(preset, proven_when, seed, agent_evaluations(config, seed))
            for seed in seeds
        ]
    end = f"all {counted(config.run.num_updates, 'update')}"
    return show_agents(preset, rows, end, ("updates", "games"))


def agent_evaluations(config: Config, seed: int) -> Iterator[tuple[Spent, Exact]]:
    """Train one agent, yielding its exact evaluations with the costs so far."""
    steps = train_from_scratch(config, seed, trees.game_tree(config.env_id))
    cpu_seconds = 0.0
    while True:
        begin = time.process_time()
        progress = next(steps, None)
        if progress is None:
            return
        if progress.evaluation is None:
            cpu_seconds += time.process_time() - begin
            continue
        spent = Spent(
            progress.seconds, cpu_seconds, progress.update, int(progress.games)
        )
        if (exact := summary(progress.evaluation).exact) is not None:
            yield spent, exact
