"""Variables, streams, devices and clocks that a command does not expect."""

import itertools
import json
import time

import as_users
import pytest
import tiny

pytestmark = [pytest.mark.slow, pytest.mark.fault]

TRAIN = f"train {' '.join(tiny.flags())} --seed 3 --run-dir run"


def test_an_absent_platform_is_refused(tmp_path):
    done = as_users.run(TRAIN, cwd=tmp_path, JAX_PLATFORMS="banana")
    as_users.assert_refused(done, "JAX_PLATFORMS must name platforms that this machine")
    assert "got 'banana': unset it, or set it to cpu" in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_run_works_with_unusual_variables(tmp_path):
    variables = {
        "LANG": "C",
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "TERM": "dumb",
        "COLUMNS": "1",
        "HOME": None,
        "XDG_CACHE_HOME": None,
        "TZ": "Nowhere",
        "PYTHONWARNINGS": "error",
        "PYTHONOPTIMIZE": "2",
    }
    done = as_users.run(TRAIN, cwd=tmp_path, **variables)
    assert done.code == 0, done
    assert "Traceback" not in done.err
    assert "beatable" in done.out
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
    assert seconds[-1] < 600
