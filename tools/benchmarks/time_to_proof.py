"""The time until agents are proven unbeatable, and the share of proven agents."""

import itertools
import time
from collections.abc import Iterator, Mapping

from jax_ttt.config.grade import Grade
from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.config.settings import Config, Precision
from jax_ttt.files.metrics_rows import AgentResult
from jax_ttt.runtime.words import count_phrase
from jax_ttt.training import agent_batch, loop, many_agents, run_start, run_state
from tools.benchmarks.progress import Steps
from tools.benchmarks.proof_rows import (
    Spent,
    show_agents,
    show_ceiling,
    show_pass_rate,
    train_until_end,
)
from tools.benchmarks.timing import Figures, show

EVAL_EVERY = 25
"""Updates between two evaluations of an agent."""
PRECISIONS: tuple[Precision, ...] = ("float32", "bfloat16")


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


def measure_ceiling(seeds: range) -> Figures:
    """Train one agent of the default preset per seed, in each precision."""
    return {precision: measure_precision(precision, seeds) for precision in PRECISIONS}


def measure_precision(precision: Precision, seeds: range) -> Figures:
    """Train one agent per seed; print which are not proven or miss the ceiling."""
    name = f"default in {precision}"
    with Steps(len(seeds), "agent", name) as bar:
        agents = []
        for row in train_agents(precision, seeds):
            agents.append(row)
            bar.set_postfix(proven=sum(one.is_proven for one in agents), refresh=False)
            bar.update()
    failed = [row.seed for row in agents if not row.is_proven]
    figures = show_pass_rate(name, list(seeds), failed)
    figures |= show_ceiling(name, {row.seed: row.grade for row in agents})
    seconds = [row.seconds for row in agents]
    return figures | {"seconds": show(f"{name}, training one agent", seconds, "s")}


def train_agents(precision: Precision, seeds: range) -> Iterator[AgentResult]:
    """Train one agent per seed, graded at its end."""
    config = PRESETS["default"].replace(precision=precision)
    jobs = [many_agents.Job(config, seed) for seed in seeds]
    for block in many_agents.train_blocks(jobs):
        yield from block.results()
