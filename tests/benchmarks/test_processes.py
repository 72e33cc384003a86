"""Processes use the given cache and are timed until they print a text."""

import time

import pytest

from jax_ttt.benchmarks import processes


@pytest.fixture
def script(monkeypatch, tmp_path):
    """Return a function that writes the module `given` with these lines."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def write(*lines):
        (tmp_path / "given.py").write_text("\n".join(lines))

    return write


@pytest.mark.parametrize("cache", ["programs", None])
def test_a_process_uses_the_given_cache(cache, script, monkeypatch, tmp_path):
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "mine")
    monkeypatch.setenv("JAX_ENABLE_COMPILATION_CACHE", "false" if cache else "true")
    names = ["JAX_COMPILATION_CACHE_DIR", "JAX_ENABLE_COMPILATION_CACHE"]
    script("import os, sys", f"print(*map(os.environ.get, {names}), sys.argv[1:])")
    child = processes.run_module("given", ["a"], cache and tmp_path / cache)
    enabled = "true" if cache else "false"
    assert child.output == f"{cache and tmp_path / cache} {enabled} ['a']\n"
    assert child.wall > 0
    assert child.cpu > 0


def test_a_process_that_fails_is_reported_with_its_errors(script):
    with pytest.raises(RuntimeError, match="no_such_module"):
        processes.run_module("no_such_module", [], None)
    script("import sys", "print('asks')", "sys.exit('it broke')")
    with pytest.raises(RuntimeError, match="it broke"):
        processes.run_module("given", [], None, until="asks")


def test_a_process_that_waits_is_timed_until_it_asks(script):
    script(
        "import sys, time",
        "print('a board', end=' ', flush=True)",
        "time.sleep(0.1)",
        "print('asks', flush=True)",
        "answer = sys.stdin.read()",
        "time.sleep(0.2)",
        "print('left', repr(answer))",
    )
    begin = time.perf_counter()
    child = processes.run_module("given", [], None, until="asks")
    whole = time.perf_counter() - begin
    assert child.output == "a board asks\nleft ''\n"
    assert 0.1 < child.wall < whole - 0.15


def test_a_process_that_never_asks_is_refused(script):
    script("print('a board')")
    with pytest.raises(RuntimeError, match="given failed"):
        processes.run_module("given", [], None, until="asks")


def test_a_process_has_the_variables_that_are_added(script, monkeypatch):
    monkeypatch.setenv("KEPT", "1")
    monkeypatch.setenv("CHANGED", "1")
    script("import os", "print(os.environ['KEPT'], os.environ['CHANGED'])")
    child = processes.run_module("given", [], None, also={"CHANGED": "2"})
    assert child.output == "1 2\n"
