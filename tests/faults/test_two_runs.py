"""Two processes that want one folder, or one sweep's file: the second is refused."""

import os
import signal
import time

import as_users
import pytest
import tiny

pytestmark = [pytest.mark.slow, pytest.mark.fault]

SMALL = f"--quiet {' '.join(tiny.flags('num_envs', 'hidden_size', 'eval_games'))}"
ENDLESS = f"train {SMALL} --num-updates 100000000 --eval-every 1000 --run-dir run"
SWEEP = "sweep --preset table --num-envs 8 --num-updates 20 --num-seeds 5000"


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a command, and returns it once a file grows."""
    processes = []

    def start(line, pattern):
        def num_lines():
            return sum(p.read_bytes().count(b"\n") for p in tmp_path.glob(pattern))

        before = num_lines()
        process = as_users.start(line, cwd=tmp_path)
        processes.append(process)
        end = time.monotonic() + 120
        while num_lines() < before + 3:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            time.sleep(0.02)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_a_folder_belongs_to_one_run(start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = start(f"{ENDLESS} --checkpoint-every 0.05", "run/metrics.jsonl")
    for line in (
        "train --quiet --resume run",
        f"train {SMALL} --num-updates 4 --run-dir run",
    ):
        as_users.assert_refused(as_users.run_here(line), "run", str(first.pid))
        assert first.poll() is None
    assert as_users.run_here("runs").code == 0  # reading disturbs nobody
    first.kill()
    first.wait()
    # The folder of a killed process is free.
    resumed = start("train --quiet --resume run", "run/metrics.jsonl")
    refused = as_users.run_here("train --quiet --resume run")
    as_users.assert_refused(refused, str(resumed.pid))
    resumed.send_signal(signal.SIGTERM)
    resumed.communicate(timeout=60)
    assert resumed.returncode == 143
    assert not (tmp_path / "run/.lock").exists()


def test_one_of_two_runs_that_start_together_is_refused(tmp_path):
    """Whichever comes second; the other one ends as if it had been alone."""
    # Tests compute in float32, where a process of a user may choose another precision.
    precision = "--precision float32"
    line = f"train {SMALL} {precision} --num-updates 3000 --eval-every 1000 --run-dir"
    both = [as_users.start(f"{line} run", cwd=tmp_path) for _ in range(2)]
    texts = [process.communicate(timeout=120) for process in both]
    codes = [process.returncode for process in both]
    assert sorted(codes) == [0, 2], texts
    as_users.assert_refused(as_users.Done(2, *texts[codes.index(2)]), "run")
    assert not (tmp_path / "run/.lock").exists()
    assert as_users.run_here(line, tmp_path / "alone").code == 0
    agents = [tmp_path / name / "agent.safetensors" for name in ("run", "alone")]
    assert agents[0].read_bytes() == agents[1].read_bytes()


def test_a_sweep_belongs_to_one_process(start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = start(SWEEP, "runs/*.jsonl")
    (path,) = tmp_path.glob("runs/*.jsonl")
    before = path.read_bytes()
    as_users.assert_refused(as_users.run_here("sweep --resume", path), path.name)
    assert first.poll() is None
    assert path.read_bytes().startswith(before)
