"""Processes that train from their start: their cache, and what came of them."""

import json

import pytest

from jax_ttt.benchmarks import (
    startup,
)


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
