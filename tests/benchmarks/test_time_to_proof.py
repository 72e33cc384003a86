"""The costs of training an agent until it is proven."""

import time
from types import SimpleNamespace

import made

from jax_ttt.benchmarks import time_to_proof
from jax_ttt.config.presets import PRESETS
from jax_ttt.results.grades import Grades


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
