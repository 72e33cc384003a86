"""Processes that train from their start: their cache, and what came of them."""

import json
from pathlib import Path

import made
import pytest

from jax_ttt.benchmarks import startup
from jax_ttt.results import plain


@pytest.mark.parametrize("cache", ["programs", None])
def test_a_process_has_the_cache_that_it_is_given(cache, monkeypatch, tmp_path):
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "mine")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("JAX_ENABLE_COMPILATION_CACHE", "false")
    names = ["JAX_COMPILATION_CACHE_DIR", "JAX_ENABLE_COMPILATION_CACHE"]
    source = f"import os, sys\nprint(*map(os.environ.get, {names}), sys.argv[1:])"
    (tmp_path / "told.py").write_text(source)
    child = startup.run_module("told", ["a"], cache and tmp_path / cache)
    enabled = "true" if cache else "false"
    assert child.output == f"{cache and tmp_path / cache} {enabled} ['a']\n"
    assert child.wall > 0
    assert child.cpu > 0
    with pytest.raises(RuntimeError, match="no_such_module"):
        startup.run_module("no_such_module", [], None)


def test_a_run_is_proven_if_its_last_evaluation_says_so_and_it_is_saved(tmp_path):
    def end(unbeatable):
        row = made.evaluated(1, exact=made.exact((1,), (1,), unbeatable))
        rows = made.chunk(1), row
        text = "".join(json.dumps(plain.to_dict(r)) + "\n" for r in rows)
        (tmp_path / "metrics.jsonl").write_text(text)

    end(True)
    assert not startup.proven(tmp_path)  # nothing is saved
    (tmp_path / "agent.safetensors").touch()
    assert startup.proven(tmp_path)
    end(False)
    assert not startup.proven(tmp_path)


def test_a_runs_parts_are_read_from_its_folder_and_add_up(monkeypatch, tmp_path):
    def run(module, args, cache):
        assert (module, cache) == ("jax_ttt.train", tmp_path / "cache")
        seconds = {"compile": 3.0, "imports": 2.0, "train": 1.0}
        about = {"seconds": seconds, "total_seconds": 7.0, "peak_memory_mib": 9.0}
        (tmp_path / "times.json").write_text(json.dumps(about))
        row = made.evaluated(1, exact=made.exact((1,), (1,), unbeatable=True))
        (tmp_path / "metrics.jsonl").write_text(json.dumps(plain.to_dict(row)))
        return startup.Child(8.0, 9.0, "")

    monkeypatch.setattr(startup, "run_module", run)
    found = startup.run_train_command(tmp_path, tmp_path / "cache")
    assert found.parts == {"compile": 3, "imports": 2, "train": 1, "other": 2}
    assert (found.peak_mib, found.proven) == (9.0, False)  # nothing is saved


@pytest.mark.parametrize("proven", [True, False])
def test_a_run_that_did_not_end_proven_is_reported_as_such(proven, monkeypatch, capsys):
    child = startup.Child(2.0, 3.0, "")
    parts: dict[str, float] = dict.fromkeys(startup.PARTS, 0.5)
    found = startup.Run(child, parts, 100.0, proven)
    monkeypatch.setattr(startup, "run_train_command", lambda *args: found)
    monkeypatch.setattr(startup, "import_seconds", lambda: 0.01)
    figures = startup.measure_startup(4, False)
    assert figures["train_cold"]["median"] == 2
    assert figures["cold"]["peak_memory"]["median"] == 100
    assert figures["proven_cold"] == {"proven": 4 * proven, "num_runs": 4}
    out = capsys.readouterr().out
    assert ("start to proven and saved" in out) == proven
    assert ("train, warm cache, not proven: 4 of 4\n" in out) != proven


def test_importing_the_package_takes_under_a_tenth_of_a_second(monkeypatch):
    root = str(Path(startup.__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", root)
    # The least of three: the machine may be busy.
    assert min(startup.import_seconds() for _ in range(3)) < 0.1
