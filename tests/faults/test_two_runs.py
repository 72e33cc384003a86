"""Two processes that want one folder, or one sweep's file: the second is refused."""

import os
import signal
import time

import as_users
import pytest
import tiny

pytestmark = pytest.mark.fault

SMALL = f"--quiet {' '.join(tiny.flags('num_envs', 'hidden_size', 'eval_games'))}"
ENDLESS = f"train {SMALL} --num-updates 100000000 --eval-every 1000 --run-dir run"
SWEEP = "sweep --preset table --num-envs 8 --num-updates 20 --num-seeds 5000"


@pytest.fixture
def going(tmp_path):
    """Return a function that starts a command, and returns it once a file grows."""
    started = []

    def begin(line, pattern):
        def num_lines():
            return sum(p.read_bytes().count(b"\n") for p in tmp_path.glob(pattern))

        before = num_lines()
        process = as_users.start(line, cwd=tmp_path)
        started.append(process)
        end = time.monotonic() + 120
        while num_lines() < before + 3:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            time.sleep(0.02)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def killed(process):
    process.kill()
    process.communicate()


@pytest.mark.slow
def test_a_folder_belongs_to_one_run(going, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = going(f"{ENDLESS} --checkpoint-every 0.05", "run/metrics.jsonl")
    assert (tmp_path / "run/.lock").exists()
    for line in (
        "train --quiet --resume run",
        f"train {SMALL} --num-updates 4 --run-dir run",
        "train --resume run --num-updates 200000000",
    ):
        second = as_users.run_here(line)
        as_users.assert_refused(second, "run", str(first.pid))
        assert first.poll() is None
    as_users.assert_refused(as_users.run("train --resume run", cwd=tmp_path), "run")
    assert as_users.run_here("runs").code == 0  # reading disturbs nobody
    killed(first)
    # The folder of a process that is gone is free.
    resumed = going("train --quiet --resume run", "run/metrics.jsonl")
    as_users.assert_refused(
        as_users.run_here("train --quiet --resume run"), str(resumed.pid)
    )
    resumed.send_signal(signal.SIGTERM)
    resumed.communicate(timeout=60)
    assert resumed.returncode == 143
    assert not (tmp_path / "run/.lock").exists()


@pytest.mark.slow
def test_one_of_two_runs_that_start_together_is_refused(tmp_path):
    """Whichever comes second; the other one ends as if it had been alone."""
    line = f"train {SMALL} --num-updates 3000 --eval-every 1000 --run-dir run"
    both = [as_users.start(line, cwd=tmp_path) for _ in range(2)]
    told = [process.communicate(timeout=120) for process in both]
    codes = [process.returncode for process in both]
    assert sorted(codes) == [0, 2], told
    second = codes.index(2)
    as_users.assert_refused(as_users.Done(2, *told[second]), "run")
    assert not (tmp_path / "run/.lock").exists()
    done = as_users.run(line.removesuffix("run") + "alone", cwd=tmp_path)
    assert done.code == 0
    run, alone = (as_users.contents(tmp_path / name) for name in ("run", "alone"))
    assert run["agent.safetensors"] == alone["agent.safetensors"]


@pytest.mark.slow
def test_a_sweep_belongs_to_one_process(going, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = going(SWEEP, "runs/*.jsonl")
    (path,) = tmp_path.glob("runs/*.jsonl")
    before = path.read_bytes()
    for _ in range(2):
        second = as_users.run_here("sweep --resume", path)
        as_users.assert_refused(second, path.name)
        assert first.poll() is None
    assert path.read_bytes().startswith(before)
    killed(first)
    resumed = going(f"sweep --resume {path}", "runs/*.jsonl")
    third = as_users.run("sweep --resume", path, cwd=tmp_path)
    as_users.assert_refused(third, path.name)
    killed(resumed)
