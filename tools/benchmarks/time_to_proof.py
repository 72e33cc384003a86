"""The time until agents are proven unbeatable, and the share of proven agents."""

import dataclasses
import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from jax_ttt.config.game_facts import SEATS, Seat
from jax_ttt.config.grade import Grade, wilson_interval
from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.config.settings import Config
from jax_ttt.files import json_records
from jax_ttt.games import tree as trees
from jax_ttt.runtime.words import count_phrase
from jax_ttt.solver import policies
from jax_ttt.training import agent_batch, loop, run_start, run_state
from tools.benchmarks.progress import Steps, say
from tools.benchmarks.timing import Figures, Timed, show

EVAL_EVERY = 25
"""Updates between two evaluations of an agent."""


@dataclasses.dataclass(frozen=True)
class Spent:
    """The costs of training so far, excluding compilation and evaluation."""

    seconds: float
    cpu_seconds: float
    updates: int
    games: int  # finished


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProofRow:
    """The costs of an agent at its proofs and at its end, and its last grade."""

    seed: int
    first_proven: Spent | None  # at the first evaluation that proves it
    proven_from: Spent | None  # at the evaluation from which all prove it
    end: Spent
    grade: Grade  # at the end


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


def train_until_end(seed: int, evaluations: Iterable[tuple[Spent, Grade]]) -> ProofRow:
    """Train one agent and return its costs and last grade.

    Raises:
        ValueError: there is no evaluation.
    """
    first = proven_from = end = grade = None
    for end, grade in evaluations:
        if not grade.unbeatable:
            proven_from = None
        elif proven_from is None:
            proven_from = end
        first = first or proven_from
    if end is None or grade is None:
        raise ValueError(f"seed {seed}: no evaluation")
    return ProofRow(
        seed=seed, first_proven=first, proven_from=proven_from, end=end, grade=grade
    )


def show_agents(name: str, rows: Sequence[ProofRow], end: str) -> Figures:
    """Print and return how many agents were proven, and at which costs.

    `end` describes the whole training.
    """
    failed = [row.seed for row in rows if row.proven_from is None]
    figures = show_pass_rate(name, [row.seed for row in rows], failed)
    figures |= show_ceiling(name, {row.seed: row.grade for row in rows})
    moments = {
        "first_proven": "until first proven",
        "proven_from": "until it stays proven",
        "end": end,
    }
    for moment, text in moments.items():
        spent = [s for row in rows if (s := getattr(row, moment)) is not None]
        counted = () if moment == "end" else ("updates", "games")
        figures[moment] = show_spent(f"{name}, {text}", spent, counted)
    return figures | {"agents": [json_records.to_dict(row) for row in rows]}


def show_pass_rate(name: str, seeds: Sequence[int], failed: Sequence[int]) -> Figures:
    """Print and return how many agents ended proven, and which did not."""
    proven = len(seeds) - len(failed)
    low, high = (100 * end for end in wilson_interval(proven, len(seeds)))
    say(
        f"{name}: {proven:,} of {count_phrase(len(seeds), 'seed')} ({seeds[0]} to "
        f"{seeds[-1]}) proven unbeatable (95% interval: {low:.1f}% to "
        f"{high:.1f}%); not proven: {', '.join(map(str, failed)) or 'none'}"
    )
    figures: Figures = {"proven": proven, "num_seeds": len(seeds)}
    return figures | {"interval": [low, high], "not_proven": list(failed)}


def show_ceiling(name: str, grades: Mapping[int, Grade]) -> Figures:
    """Print and return the agents' win rates, and which seeds miss the ceiling.

    An agent is at the ceiling if it is unbeatable and, in each seat, wins as often
    against random as a player that never loses can.
    """
    tree = trees.enumerated("tic_tac_toe")
    most: dict[Seat, float] = {seat: policies.most_wins(tree, seat) for seat in SEATS}
    wins = {seed: 100 * grade.win_rate for seed, grade in grades.items()}
    below = {
        seed: wins[seed]
        for seed, grade in grades.items()
        if not _is_at_ceiling(grade, most)
    }
    figures: Figures = {"ceiling": 50 * sum(most.values())}
    figures |= {"at_ceiling": len(grades) - len(below), "below_ceiling": below}
    figures["wins"] = show(f"{name}, mean wins vs. random", list(wins.values()), "%", 3)
    below_text = ", ".join(f"{seed} ({rate:.3f})" for seed, rate in below.items())
    say(
        f"{name}, at the ceiling of {figures['ceiling']:.4f}%: "
        f"{figures['at_ceiling']:,} of {len(grades):,}; "
        f"below it: {(below_text or 'none') if figures['at_ceiling'] else 'all'}"
    )
    return figures


def _is_at_ceiling(grade: Grade, most: Mapping[Seat, float]) -> bool:
    """Return whether an agent is at the ceiling, `most` wins in each seat."""
    # Win rates are multiples of 1/384 as X and of 1/945 as O: 1e-5 covers rounding.
    near = all(grade.rates[seat].win_rate > most[seat] - 1e-5 for seat in SEATS)
    return grade.unbeatable is True and near


def show_spent(text: str, spent: Sequence[Spent], units: Sequence[str]) -> Figures:
    """Print and return the costs of agents, in seconds and in each of the units."""
    if not spent:
        return {}
    timed = Timed(0.0, [s.seconds for s in spent], [s.cpu_seconds for s in spent])
    figures = {"seconds": show(text, timed.wall, "s", 2, timed)}
    for unit in units:
        values = [float(getattr(moment, unit)) for moment in spent]
        figures[unit] = show(text, values, unit, 0)
    return figures
