"""The benchmark compares like with like, and counts a proof only if it stays."""

import dataclasses
import functools
import itertools
import json
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import get_args

import jax
import numpy as np
import pytest
from flax import nnx

from jax_ttt import bench
from jax_ttt.benchmarks import (
    growth,
    plain_loop,
    proof_rows,
    startup,
    time_to_proof,
    timed_run,
    timing,
    updates,
)
from jax_ttt.benchmarks.time_to_proof import Spent
from jax_ttt.config.presets import PRESETS
from jax_ttt.dqn import learner
from jax_ttt.dqn.opponents import SelfPlay
from jax_ttt.evaluation import evaluation
from jax_ttt.evaluation.statistics import wilson_interval
from jax_ttt.players.network import network_of
from jax_ttt.reports import charts

SMALL = dataclasses.replace(
    PRESETS["article"],
    num_envs=32,
    hidden_size=16,
    num_updates=24,
    eval_every=10,
    eval_games=2048,
)


def assert_close(a, b):
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_allclose(x, y, atol=1e-5)


def test_the_plain_loop_computes_each_update_of_the_compiled_program():
    key, games = jax.random.key(5), 0
    network = network_of(SMALL)
    state = learner.init(SMALL, network, key, SelfPlay())
    for moment in itertools.islice(plain_loop.train(SMALL, key), 24):
        state, metrics = learner.train_chunk(
            SMALL, network_of(SMALL), state, 1, SelfPlay()
        )
        games += int(metrics.games)
        assert_close(nnx.state(moment.network), state.params)
        assert_close(nnx.state(moment.target_network), state.target_params)
        assert_close(moment.env_state.observation, state.env_state.observation)
        assert moment.loss == pytest.approx(float(metrics.loss), abs=1e-5)
    assert games >= 64  # two batches were played out, and a third begun


def test_the_plain_loops_evaluation_agrees_with_the_exact_one(tree):
    network = next(plain_loop.train(SMALL, jax.random.key(2))).network
    counts = plain_loop.evaluate(SMALL, network, jax.random.key(3))
    assert sum(counts) == 2048
    config = dataclasses.replace(SMALL, eval_games=0)
    key, params = jax.random.key(0), nnx.state(network, nnx.Param)
    report = evaluation.evaluate(network_of(config), params, key, tree).exact
    assert report is not None
    for count, *rates in zip(counts, *(seat.random for seat in report), strict=True):
        low, high = wilson_interval(count, 2048, z=4.0)
        assert low <= np.mean(rates) <= high


def test_the_plain_loop_trains_evaluates_and_saves(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(PRESETS, "article", SMALL)
    assert plain_loop.main([str(tmp_path / "weights.npz")]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split(":")[0] for row in rows] == ["10", "20", "24"]
    with np.load(tmp_path / "weights.npz") as saved:
        shapes = sorted(saved[name].shape for name in saved.files)
    assert shapes == [(9,), (9, 16), (16,), (16,), (16, 9), (16, 16)]


def test_an_update_of_the_article_takes_301_million_operations():
    sizes = updates.layer_sizes(PRESETS["article"])
    assert sizes == [9, 128, 128, 9]
    # Forward, target's forward, weights' gradients: 3 x (1,152 + 16,384 + 1,152)
    # products a board; inputs' gradients, not of the first layer: 16,384 + 1,152.
    assert 2 * 2048 * (3 * 18_688 + 17_536) == 301_465_600
    assert updates.update_flops(sizes, 2048) == 301_465_600


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

    summary = lambda config, found: {"exact": found}  # noqa: E731
    monkeypatch.setattr(time_to_proof, "train", train)
    monkeypatch.setattr(time_to_proof, "summary", summary)
    found = list(time_to_proof.evaluations(PRESETS["default"], 3))
    assert [result for _, result in found] == ["some"] * 3
    ends = [(spent.seconds, spent.updates, spent.games) for spent, _ in found]
    assert ends == [(0, 0, 0), (10, 2, 18), (10, 2, 18)]
    assert found[0][0].cpu_seconds == 0 < found[-1][0].cpu_seconds < 0.05


def test_seeds_that_fail_are_named_and_the_rate_has_its_interval(capsys):
    rows = [{"seed": s, "kept": None if s in (5, 8) else True} for s in range(1, 11)]
    figures = proof_rows.pass_rate("article", rows)
    assert figures["proven"] == 8
    # Wilson's interval for 8 of 10, as the textbooks have it.
    np.testing.assert_allclose(figures["interval"], [49.0, 94.3], atol=0.05)
    out = capsys.readouterr().out
    assert "article: 8 of 10 seeds (1 to 10)" in out
    assert "(95 % interval: 49.0 to 94.3 %); not proven: 5, 8\n" in out


def test_runs_are_timed_in_turn_after_each_has_run_once():
    calls = []
    runs = [lambda: calls.append("a"), lambda: calls.append("b")]
    times = timing.in_turn(runs, 2)
    assert "".join(calls) == "ab" + "abab"
    assert [(len(t.wall), len(t.cpu)) for t in times] == [(2, 2), (2, 2)]


def test_a_line_has_median_unit_spread_and_cpu_beside_wall_seconds(capsys):
    timed = timing.Timed(9.0, [2.0, 1.0, 4.0], [0.5, 0.7, 0.3])
    row = timing.show_rate("it", 4000, timed, "moves/s")
    assert row == {
        "unit": "moves/s",
        "min": 1000,
        "median": 2000,
        "max": 4000,
        "wall_seconds": 2.0,
        "cpu_seconds": 0.5,
    }
    words = " ".join(capsys.readouterr().out.split())
    assert words == "it 2,000 moves/s (1,000 to 4,000) 0.5 CPU s in 2 s"
    assert timing.show_ms("it", timed, count=10)["median"] == 200


def test_the_median_of_an_even_number_is_between_the_middle_ones():
    assert timing.spread([3.0, 1.0, 2.0, 10.0]) == {
        "min": 1,
        "median": 2.5,
        "max": 10,
    }


def test_parts_of_a_run_count_no_moment_twice():
    spans = {name: [] for name in timed_run.ORDER}
    spans["imports"] = [(0.0, 4.0), (1.0, 2.0), (3.0, 6.0)]  # nested, and overlapping
    spans["compile"] = [(5.0, 8.0), (6.0, 7.0)]
    spans["train"] = [(7.0, 10.0), (20.0, 21.0)]
    assert timed_run.attribute(spans) == {
        "compile": 3,
        "imports": 5,
        "train": 3,
        "evaluate": 0,
        "write": 0,
    }


def test_steps_of_a_run_are_noted_as_training_or_evaluating():
    spans = {name: [] for name in timed_run.ORDER}
    steps = [SimpleNamespace(evaluation=e) for e in (1, None, None, 1)]
    assert list(timed_run.watched(iter(steps), spans)) == steps
    assert (len(spans["train"]), len(spans["evaluate"])) == (2, 2)


def test_a_process_is_not_charged_with_its_parents_memory():
    parents = np.ones(2**25)  # 256 MiB
    code = "from jax_ttt import measures_child as m; print(m.peak_mib())"
    run = functools.partial(subprocess.run, check=True, capture_output=True)
    done = run([sys.executable, "-c", code])
    assert 2 < float(done.stdout) < 128 < timed_run.peak_mib()
    del parents


@pytest.mark.parametrize("cache", ["programs", None])
def test_a_process_has_the_cache_that_it_is_given(cache, monkeypatch, tmp_path):
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "mine")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("JAX_ENABLE_COMPILATION_CACHE", "false")
    names = ["JAX_COMPILATION_CACHE_DIR", "JAX_ENABLE_COMPILATION_CACHE"]
    source = f"import os, sys\nprint(*map(os.environ.get, {names}), sys.argv[1:])"
    (tmp_path / "told.py").write_text(source)
    child = startup.run("told", ["a"], cache and tmp_path / cache)
    enabled = "true" if cache else "false"
    assert child.output == f"{cache and tmp_path / cache} {enabled} ['a']\n"
    assert child.wall > 0
    assert child.cpu > 0
    with pytest.raises(RuntimeError, match="no_such_module"):
        startup.run("no_such_module", [], None)


def test_a_run_is_proven_if_its_last_evaluation_says_so_and_it_is_saved(tmp_path):
    def end(unbeatable):
        chunk = {"event": "chunk", "games": 1, "wins": 1, "losses": 0}
        row = {"event": "evaluation", "exact": {"unbeatable": unbeatable}}
        text = "".join(json.dumps(r) + "\n" for r in (chunk, row))
        (tmp_path / "metrics.jsonl").write_text(text)

    end(True)
    assert not startup.proven(tmp_path)  # nothing is saved
    (tmp_path / "agent.safetensors").touch()
    assert startup.proven(tmp_path)
    end(False)
    assert not startup.proven(tmp_path)


@pytest.mark.parametrize("proven", [True, False])
def test_a_run_that_did_not_end_proven_is_reported_as_such(proven, monkeypatch, capsys):
    child = startup.Child(2.0, 3.0, "", proven)
    parts: dict[str, float] = dict.fromkeys(startup.PARTS, 0.5)
    parted = startup.Parted(parts, 100.0, proven)
    monkeypatch.setattr(startup, "train", lambda *args: child)
    monkeypatch.setattr(startup, "train_in_parts", lambda *args: parted)
    figures = startup.startup(2, False)
    assert figures["train_cold"]["median"] == 2
    assert figures["proven_cold"] == {"proven": 4 * proven, "num_runs": 4}
    out = capsys.readouterr().out
    assert ("start to proven and saved" in out) == proven
    assert ("train, warm cache, not proven: 4 of 4\n" in out) != proven


def growth_figures():
    """Return figures as `growth` gives them, an update of 2 ms where not told."""

    def rows(*medians):
        return [
            {"size": 4**i, "min": m / 2, "median": m, "max": 2 * m}
            for i, m in enumerate(medians)
        ]

    return {
        "num_envs": rows(2.0, 2.0),
        "hidden_size": rows(2.0, 2.0),
        "num_seeds": {"loop": rows(2.0, 3.0), "vmap": rows(2.0, 0.5)},
    }


def test_agents_a_minute_are_those_of_the_best_number_of_seeds():
    config = dataclasses.replace(PRESETS["default"], num_updates=600)
    seeds = growth_figures()["num_seeds"]
    found = growth.agents_a_minute(config, seeds)
    assert found["one_run"]["median"] == pytest.approx(1.2)
    loop, vmap = found["agents_a_minute_loop"], found["agents_a_minute_vmap"]
    assert (loop["num_seeds"], loop["median"]) == (1, pytest.approx(50))
    assert (vmap["num_seeds"], vmap["median"]) == (4, pytest.approx(200))


@pytest.mark.slow
def test_both_ways_of_training_many_train_the_same(monkeypatch):
    monkeypatch.setattr(growth, "SEED_UPDATES", 3)
    loop = growth.one_by_one(SMALL, 2)()
    together = growth.together(SMALL, 2)()
    for agent, state in enumerate(loop):
        params = jax.tree.map(lambda x, agent=agent: x[agent], together.params)
        assert state.update == 3
        assert_close(state.params, params)


def test_growth_is_drawn_with_a_panel_for_each_size(tmp_path):
    text = charts.growth(growth_figures(), "on a machine").svg
    labels = ("games in the batch", "neurons in a hidden layer", "agents")
    for words in (*labels, "one after another", "in one program", "on a machine"):
        assert f">{words}<" in text


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        ("--num-seeds 0", ["--num-seeds", "from 1 to 65,536", "got 0"]),
        ("--rounds 0", ["--rounds", "from 1 to 1,000", "got 0"]),
        ("--first-seed -1", ["--first-seed", "got -1"]),
        ("--first-seed 4294967295", ["at most 4,294,967,288", "got 4294967295"]),
        ("--only all", ["'all'", *get_args(bench.Part)]),
        ("--presets best", ["'best'", "default", "article", "table"]),
        ("--json no/such/file", ["--json", "no folder no/such"]),
        ("--svg no/such/file", ["--svg", "no folder no/such"]),
        ("--only proof --svg a.svg", ["--svg", "growth", "--only"]),
    ],
)
def test_bad_flags_are_refused(flags, named, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench, "parts", None)  # nothing is measured
    try:
        code = bench.main(flags.split())
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert not [words for words in named if words not in err], err


def test_flags_are_read_without_jax():
    code = "import sys, jax_ttt.bench; sys.exit('jax' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_parts_that_are_finished_outlive_ctrl_c(monkeypatch, tmp_path, capsys):
    def interrupt():
        raise KeyboardInterrupt

    runs = {"updates": lambda: {"ratio": 3}, "proof": interrupt, "steps": interrupt}
    monkeypatch.setattr(bench, "parts", lambda args: runs)
    file = tmp_path / "figures.json"
    assert bench.main(["--json", str(file)]) == 130
    figures = json.loads(file.read_text(encoding="utf-8"))
    assert figures["parts"] == {"updates": {"ratio": 3}}
    assert "interrupted" in capsys.readouterr().err


def test_a_part_prints_its_figures_and_writes_them(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(PRESETS, "default", SMALL)
    file = tmp_path / "figures.json"
    flags = ["--only", "evaluation", "--quick", "--json", str(file)]
    assert bench.main(flags) == 0
    out = capsys.readouterr().out
    assert "device: cpu" in out
    assert "\nexact evaluation " in out
    figures = json.loads(file.read_text(encoding="utf-8"))
    assert figures["device"].startswith("cpu")
    assert f"jax {jax.__version__}" in figures["versions"]
    assert figures["quick"] is True
    assert figures["parts"].keys() == {"evaluation"}
    row = figures["parts"]["evaluation"]["exact"]
    assert row["unit"] == "ms"
    assert 0 < row["min"] <= row["median"] <= row["max"]
    assert row["cpu_seconds"] > 0


@pytest.mark.slow
@pytest.mark.usefixtures("optimized")
def test_every_part_runs(tmp_path):
    file, svg = tmp_path / "figures.json", tmp_path / "growth.svg"
    flags = ["--presets", "table", "--json", str(file), "--svg", str(svg)]
    assert bench.main(["--quick", *flags]) == 0
    figures = json.loads(file.read_text(encoding="utf-8"))["parts"]
    assert figures.keys() == set(get_args(bench.Part)) - {"openspiel"}
    assert figures["tabular"]["games"] == 14_016
    cold, warm = (figures["startup"][cache]["compile"] for cache in ("cold", "warm"))
    assert warm["median"] < cold["median"] / 2
    parts = figures["startup"]["cold"]
    assert parts.keys() == {*startup.PARTS, "peak_memory"}
    assert parts["compile"]["median"] > parts["write"]["median"] > 0
