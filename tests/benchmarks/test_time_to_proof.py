"""The costs of training an agent until it is proven, and the agents that are."""

import time
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import made
import pytest

from jax_ttt.benchmarks import time_to_proof
from jax_ttt.config.presets import PRESETS
from jax_ttt.results.grades import Grades

AS_FIRST = Fraction(191, 192), Fraction(1, 192)
AS_SECOND = Fraction(866, 945), Fraction(79, 945)


def test_the_costs_exclude_evaluation(monkeypatch):
    def train(config, seed, tree):
        for update in (0, 1, 2, 2):
            row = SimpleNamespace(update=update, games=9 * update, seconds=5.0 * update)
            row.evaluation = None if row.update == 1 else "some"
            if row.evaluation:
                end = time.process_time() + 0.05
                while time.process_time() < end:
                    pass
            yield row

    exact = made.exact((0.5,), (0.25,))
    summary = lambda found: Grades(exact=exact)  # noqa: E731
    monkeypatch.setattr(time_to_proof, "train_from_scratch", train)
    monkeypatch.setattr(time_to_proof, "summary", summary)
    found = list(time_to_proof.agent_evaluations(PRESETS["default"], 3))
    assert [result for _, result in found] == [exact] * 3
    ends = [(spent.seconds, spent.updates, spent.games) for spent, _ in found]
    assert ends == [(0, 0, 0), (10, 2, 18), (10, 2, 18)]
    assert found[0][0].cpu_seconds == 0 < found[-1][0].cpu_seconds < 0.05


def test_agents_differ_only_in_precision_and_seed(monkeypatch):
    monkeypatch.setattr(time_to_proof.many_agents, "train_jobs", iter)
    for precision in ("float32", "bfloat16"):
        jobs: list[Any] = list(time_to_proof.agents_of(precision, range(7, 10)))
        assert [job.seed for job in jobs] == [7, 8, 9]
        for job in jobs:
            assert job.config == PRESETS["default"].replace(precision=precision)


@pytest.mark.usefixtures("host_tree")
def test_seeds_that_fail_or_miss_the_ceiling_are_named(monkeypatch, capsys):
    perfect = made.exact(AS_FIRST, AS_SECOND, unbeatable=True)
    safe = made.exact((0.98958, 0.01042), AS_SECOND, unbeatable=True)
    beatable = made.exact(AS_FIRST, (0.93, 0.06), unbeatable=False)

    def agents_of(precision, seeds):
        others = {"float32": safe, "bfloat16": beatable}[precision]
        for seed in seeds:
            exact = {8: others, 9: None}.get(seed, perfect)
            yield made.agent(seed, exact, seconds=seed / 10)

    monkeypatch.setattr(time_to_proof, "agents_of", agents_of)
    figures = time_to_proof.measure_ceiling(range(6, 10))
    safe, beatable = figures["float32"], figures["bfloat16"]
    assert (safe["proven"], safe["not_proven"], safe["at_ceiling"]) == (3, [9], 2)
    assert (beatable["proven"], beatable["not_proven"]) == (2, [8, 9])
    assert beatable["at_ceiling"] == 2, "more wins than the ceiling, but a loss"
    assert safe["below_ceiling"].keys() == beatable["below_ceiling"].keys() == {8, 9}
    assert safe["wins"]["min"] == pytest.approx(95.299, abs=1e-3)
    assert safe["wins"]["max"] == pytest.approx(95.5597, abs=1e-4)
    assert safe["ceiling"] == pytest.approx(95.5597, abs=1e-4)
    assert safe["seconds"]["median"] == pytest.approx(0.75)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert (
        "default in float32, at the ceiling of 95.5597 %: 2 of 4; "
        "below it: 8 (95.299), 9 (diverged)" in lines
    )
    assert any(
        line.startswith("default in bfloat16: 2 of 4 seeds (6 to 9) proven unbeatable")
        and line.endswith("not proven: 8, 9")
        for line in lines
    )
