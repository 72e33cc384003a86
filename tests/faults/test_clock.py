"""Clocks that jump, files whose times are wrong, and other time zones."""

import itertools
import json
import os
import time

import as_users
import commands
import pytest
import tiny

train = commands.module_of("train")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return the folder of a run with its last two checkpoints."""
    path = tmp_path_factory.mktemp("clock") / "run"
    argv = [*tiny.flags(), "--quiet", "--checkpoint-every", "0.000001"]
    assert commands.run(train, [*argv, "--run-dir", str(path)]) == 0
    return path


@pytest.mark.slow
@pytest.mark.fault
def test_the_latest_checkpoint_has_the_most_updates(run):
    """It is that of the run's end, from which nothing is left to do."""
    checkpoints = sorted(run.glob("checkpoint-*"))
    assert len(checkpoints) == 2
    for place, path in enumerate(reversed(checkpoints)):
        os.utime(path, (place * 10**9, place * 10**9))
    before = as_users.contents(run)
    assert as_users.run_here("train --quiet --resume", run).code == 0
    assert as_users.contents(run) == before


@pytest.mark.slow
@pytest.mark.fault
def test_seconds_are_not_those_of_the_clock(tmp_path, monkeypatch):
    back = itertools.count(2_000_000_000, -1_000_000)
    monkeypatch.setattr(time, "time", lambda: next(back))
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    monkeypatch.chdir(tmp_path)
    time.tzset()
    try:
        for _ in range(2):
            assert commands.run(train, [*tiny.flags(), "--quiet"]) == 0
            monkeypatch.setenv("TZ", "Pacific/Pago_Pago")
            time.tzset()
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()
    runs = list((tmp_path / "runs").iterdir())
    assert len(runs) == 2
    for path in runs:
        rows = [
            json.loads(x) for x in (path / "metrics.jsonl").read_text().split("\n")[:-1]
        ]
        seconds = [row["seconds"] for row in rows]
        assert seconds == sorted(seconds)
        assert seconds[0] >= 0
        times = json.loads((path / "times.json").read_text())
        assert min(times["seconds"].values()) >= 0
        assert sum(times["seconds"].values()) <= times["total_seconds"] < 600
