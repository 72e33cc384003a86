"""Variables, streams, devices and clocks that a command does not expect."""

import itertools
import json
import time

import as_users
import pytest
import tiny

pytestmark = [pytest.mark.slow, pytest.mark.fault]

TRAIN = f"train {' '.join(tiny.flags())} --seed 3 --run-dir run"


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        ("JAX_ENABLE_X64=1", "PGX needs 32-bit numbers: unset JAX_ENABLE_X64"),
        (
            "JAX_DISABLE_JIT=1",
            "training needs compiled programs: unset JAX_DISABLE_JIT",
        ),
        (
            "JAX_PLATFORMS=banana",
            "JAX_PLATFORMS must name platforms that this machine has",
        ),
    ],
)
def test_a_variable_that_prevents_training_is_named(variable, message, tmp_path):
    name, _, value = variable.partition("=")
    done = as_users.run(TRAIN, cwd=tmp_path, **{name: value})
    as_users.assert_refused(done)
    assert done.err.count("\n") == 1
    assert done.err.startswith(f"error: {message}")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "variables",
    [
        {
            **{"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "TERM": "dumb"},
            **{"COLUMNS": "1", "HOME": None, "XDG_CACHE_HOME": None, "TZ": "Nowhere"},
        },
        {"HOME": "/nonexistent", "PYTHONWARNINGS": "error", "PYTHONOPTIMIZE": "2"},
    ],
    ids=["C", "errors"],
)
def test_a_run_works_with_unusual_variables(variables, tmp_path):
    done = as_users.run(TRAIN, cwd=tmp_path, **variables)
    assert done.code == 0, done
    assert "Traceback" not in done.err
    assert "beatable" in done.out
    assert (tmp_path / "run/agent.safetensors").exists()


def test_unknown_flags_of_xla_are_named(tmp_path):
    """XLA itself ends the process, and names the flag."""
    done = as_users.run(TRAIN, cwd=tmp_path, XLA_FLAGS="--xla_nonsense=1")
    assert done.code != 0
    assert "xla_nonsense" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("closed", "text"), [(">&- 2>&- <&-", ""), ("<&-", "beatable")]
)
def test_streams_may_be_closed(closed, text, shell, tmp_path):
    done = shell(f"exec {closed}; jax_ttt {TRAIN}")
    assert (done.code, done.err) == (0, "")
    assert text in done.out
    assert (tmp_path / "run/agent.safetensors").exists()


def test_a_clock_that_jumps_back_changes_no_seconds(tmp_path, monkeypatch):
    back = itertools.count(2_000_000_000, -1_000_000)
    monkeypatch.setattr(time, "time", lambda: next(back))
    done = as_users.run_here(f"{TRAIN.removesuffix('run')}{tmp_path / 'run'}")
    assert done.code == 0, done
    lines = (tmp_path / "run/metrics.jsonl").read_text().splitlines()
    seconds = [json.loads(line)["seconds"] for line in lines]
    assert seconds == sorted(seconds)
    assert seconds[0] >= 0
    times = json.loads((tmp_path / "run/times.json").read_text())
    assert min(times["seconds"].values()) >= 0
    assert sum(times["seconds"].values()) <= times["total_seconds"] < 600
