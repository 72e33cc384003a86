"""The time until agents are proven unbeatable, and the share of proven agents."""

import itertools
import time
from collections.abc import Iterator, Mapping

from jax_ttt.config.grade import Grade
from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.config.settings import Config
from jax_ttt.runtime.words import count_phrase
from jax_ttt.training import agent_batch, loop, run_start, run_state
from tools.benchmarks.progress import Steps
from tools.benchmarks.proof_rows import Spent, show_agents, train_until_end
from tools.benchmarks.timing import Figures

EVAL_EVERY = 25
"""Updates between two evaluations of an agent."""


def measure_proof(seeds: Mapping[Preset, range]) -> Figures:
    """Train one agent per seed of each preset; return when each was proven."""
    return {name: measure_preset(name, numbers) for name, numbers in seeds.items()}


def measure_preset(preset: Preset, seeds: range) -> Figures:
    """Train one agent per seed; print and return how many were proven, and when."""
    config = PRESETS[preset].replace(eval_games=0, eval_every=EVAL_EVERY)
    for _ in itertools.islice(agent_evaluations(config, seeds[0]), 2):
        pass  # compile before timing
    with Steps(len(seeds), "agent") as bar:
        rows = [
            bar.step(preset, train_until_end, seed, agent_evaluations(config, seed))
            for seed in seeds
        ]
    end = f"all {count_phrase(config.num_updates, 'update')}"
    return show_agents(preset, rows, end)


def agent_evaluations(config: Config, seed: int) -> Iterator[tuple[Spent, Grade]]:
    """Train one agent, yielding its exact evaluations with the costs so far."""
    learner = run_start.make_learner([config], [seed])
    state = run_start.first_state(learner, agent_batch.run_keys([seed]))
    steps = loop.training_steps(learner, state)
    cpu_seconds = 0.0
    while True:
        begin = time.process_time()
        step = next(steps, None)
        if step is None:
            return
        if step.evaluation is None:
            cpu_seconds += time.process_time() - begin
            continue
        counts = step.state.counts_of()
        spent = Spent(counts.seconds, cpu_seconds, counts.update, counts.games)
        yield spent, run_state.grade_of(config, step.evaluation)
