"""The benchmark compares like with like, and counts a proof only if it stays."""

import dataclasses
import json
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from jax_ttt import baseline, bench, learner, measures
from jax_ttt.presets import PRESETS


def test_the_plain_loop_computes_what_the_compiled_program_does():
    config = dataclasses.replace(
        PRESETS["article"], num_envs=32, hidden_size=16, num_updates=24
    )
    key = jax.random.key(5)
    loop = baseline.train(config, key)
    slow = [next(loop) for _ in range(24)][-1]
    fast, metrics = learner.train_chunk(config, learner.init(config, key), 24)
    assert metrics.games >= 64  # two batches were played out, and a third begun
    for a, b in zip(jax.tree.leaves(slow), jax.tree.leaves(fast.params), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


@pytest.mark.parametrize(
    ("proofs", "kept", "seconds"),
    [
        ([False, True, True], 1, 10.0),
        ([True, False, True], 2, 20.0),
        ([True, True, False], None, None),
    ],
)
def test_a_proof_counts_from_where_it_stays(monkeypatch, proofs, kept, seconds):
    def evaluations(preset, seed):
        for update, proven in enumerate(proofs):
            progress = SimpleNamespace(update=update, seconds=10.0 * update)
            yield progress, {"unbeatable": proven, "win_rate": update / 10}

    monkeypatch.setattr(bench, "evaluations", evaluations)
    row = bench.proven_when("default", 7)
    assert row == {
        "seed": 7,
        "kept": kept,
        "seconds": seconds,
        "win_rate": 0.2,
        "total_seconds": 20.0,
    }


def test_runs_are_timed_in_turn_after_each_has_run_once():
    calls = []
    runs = [lambda: calls.append("a"), lambda: calls.append("b")]
    times = measures.in_turn(runs, 2)
    assert "".join(calls) == "ab" + "abab"
    assert [len(row) for row in times] == [2, 2]


def test_the_spread_is_least_median_and_greatest():
    assert measures.spread([3.0, 1.0, 2.0, 10.0]) == {
        "min": 1,
        "median": 2.5,
        "max": 10,
    }


@pytest.mark.parametrize("flags", [["--num-seeds", "0"], ["--first-seed", "-1"]])
def test_bad_flags_are_refused(flags, capsys):
    assert bench.main(flags) == 2
    assert flags[0] in capsys.readouterr().err


@pytest.mark.slow
def test_a_part_prints_its_figures_and_writes_them(tmp_path, capsys):
    file = tmp_path / "figures.json"
    flags = ["--only", "evaluation", "tabular", "--quick", "--json", str(file)]
    assert bench.main(flags) == 0
    out = capsys.readouterr().out
    assert "exact evaluation" in out
    assert "14,016 games of tictac-q, CPU" in out
    assert json.loads(file.read_text(encoding="utf-8")).keys() == {flags[1], flags[2]}
