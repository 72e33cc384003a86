"""When a proof counts, what it costs, and how often there is one."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

from jax_ttt.benchmarks import (
    time_to_proof,
)
from jax_ttt.benchmarks.time_to_proof import Spent
from jax_ttt.config.presets import PRESETS


@pytest.mark.parametrize(
    ("proofs", "first", "kept"),
    [
        ([False, True, True], 1, 1),
        ([True, False, True], 0, 2),
        ([False, True, False], 1, None),
        ([False, False, False], None, None),
    ],
)
def test_a_proof_counts_from_where_it_stays(proofs, first, kept):
    costs = [Spent(10.0 * i, 15.0 * i, 25 * i, 99 * i) for i in range(3)]
    seats = {"as_first": {"win_rate": 0.6}, "as_second": {"win_rate": 0.4}}
    grades = [
        seats | {"unbeatable": proven, "win_rate": spent.updates / 100}
        for spent, proven in zip(costs, proofs, strict=True)
    ]
    evaluations = zip(costs, grades, strict=True)
    assert time_to_proof.proven_when(7, evaluations) == {
        "seed": 7,
        "first": None if first is None else costs[first],
        "kept": None if kept is None else costs[kept],
        "end": costs[2],
        "win_rate": 0.5,
        "as_first_win_rate": 0.6,
        "as_second_win_rate": 0.4,
    }


def test_a_proofs_costs_are_those_of_training_alone(monkeypatch):
    def train(config, seed, tree):
        for update in (0, 1, 2, 2):
            row = SimpleNamespace(update=update, games=9 * update, seconds=5 * update)
            row.evaluation = None if row.update == 1 else "some"
            if row.evaluation:
                end = time.process_time() + 0.05
                while time.process_time() < end:
                    pass
            yield row

    summary = lambda found: {"exact": found}  # noqa: E731
    monkeypatch.setattr(time_to_proof, "train", train)
    monkeypatch.setattr(time_to_proof, "summary", summary)
    found = list(time_to_proof.evaluations(PRESETS["default"], 3))
    assert [result for _, result in found] == ["some"] * 3
    ends = [(spent.seconds, spent.updates, spent.games) for spent, _ in found]
    assert ends == [(0, 0, 0), (10, 2, 18), (10, 2, 18)]
    assert found[0][0].cpu_seconds == 0 < found[-1][0].cpu_seconds < 0.05


def test_seeds_that_fail_are_named_and_the_rate_has_its_interval(capsys):
    rows = [{"seed": s, "kept": None if s in (5, 8) else True} for s in range(1, 11)]
    figures = time_to_proof.pass_rate("article", rows)
    assert figures["proven"] == 8
    # Wilson's interval for 8 of 10, as the textbooks have it.
    np.testing.assert_allclose(figures["interval"], [49.0, 94.3], atol=0.05)
    out = capsys.readouterr().out
    assert "article: 8 of 10 seeds (1 to 10)" in out
    assert "(95 % interval: 49.0 to 94.3 %); not proven: 5, 8\n" in out
