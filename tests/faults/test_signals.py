"""Signals in each phase of a run, and a reader of its output that ends."""

import signal
import subprocess
import sys
import time

import as_users
import pytest
import tiny

import jax_ttt

pytestmark = pytest.mark.fault

SOON = 5
"""Seconds within which a process ends after a signal."""
TINY = " ".join(tiny.flags("num_envs", "hidden_size", "eval_games"))
ENDLESS = f"train {TINY} --num-updates 1000000000 --eval-every 1000000000 --run-dir run"
SMALL = f"train {' '.join(tiny.flags())} --quiet --run-dir"


@pytest.fixture
def endless(tmp_path):
    """Return a function that starts a run that never ends."""
    processes = []

    def start(*flags):
        processes.append(as_users.start(ENDLESS, *flags, cwd=tmp_path))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_a_signal_while_programs_are_compiled_saves_the_untrained_agent(
    endless, tmp_path
):
    process = endless("--no-compile-cache")
    while "writing to" not in (line := process.stdout.readline()):
        assert line, process.stderr.read()
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 143
    assert err.startswith("interrupted at update 0: saved ")
    assert jax_ttt.load(tmp_path / "run").num_updates == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGHUP, 129)]
)
def test_a_run_that_is_interrupted_ends_soon_and_is_saved(
    number, code, endless, tmp_path
):
    process = endless()
    metrics = tmp_path / "run/metrics.jsonl"
    while not metrics.exists() or '"chunk"' not in metrics.read_text():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.1)
    begin = time.monotonic()
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert time.monotonic() - begin < SOON
    assert process.returncode == code
    update = jax_ttt.load(tmp_path / "run").num_updates
    assert err.startswith(f"interrupted at update {update:,}: saved ")
    assert (tmp_path / f"run/checkpoint-{update}.safetensors").exists()


# Sends itself signals before a file gets its name.
SAVING = """
import importlib, os, sys, time
train = importlib.import_module("jax_ttt.train")
name, numbers, real = sys.argv.pop(1), eval(sys.argv.pop(1)), os.replace
def replace(source, target):
    if name in os.path.basename(target):
        for number in numbers:
            os.kill(os.getpid(), number)
            time.sleep(0.3)
    real(source, target)
os.replace = replace
sys.exit(train.run_command(train.COMMAND))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "numbers", "code"),
    [
        ("checkpoint", [signal.SIGINT], 0),  # the run had ended
        ("checkpoint", [signal.SIGTERM, signal.SIGINT], 130),
        ("agent", [signal.SIGTERM, signal.SIGINT], 130),
    ],
)
def test_a_signal_within_a_save_leaves_whole_files(name, numbers, code, tmp_path):
    run = tmp_path / "run"
    words = [name, repr([*map(int, numbers)]), *tiny.flags(), "--run-dir", str(run)]
    done = subprocess.run(
        [sys.executable, "-c", SAVING, *words],
        env=as_users.environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == code, done
    assert "Traceback" not in done.stderr
    if name == "agent":  # so the folder is free
        assert not (run / "agent.safetensors").exists()
        assert as_users.run_here(SMALL, run).code == 0
    assert jax_ttt.load(run).num_updates == 4
    if any(run.glob("checkpoint-*")):
        line = "train --quiet --num-updates 6 --resume"
        assert as_users.run_here(line, run).code == 0


@pytest.mark.slow
def test_a_run_whose_reader_ends_ends_without_a_word(shell, tmp_path):
    done = shell(f"(jax_ttt {ENDLESS} 2>err; echo $? >code) | head -1")
    assert done.out.count("\n") == 1, (tmp_path / "err").read_text()
    assert (tmp_path / "code").read_text() == "141\n"
    assert (tmp_path / "err").read_text() == ""


def test_a_program_that_calls_us_keeps_its_handlers(tmp_path):
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    assert as_users.run_here(SMALL, tmp_path / "run").code == 0
    assert [signal.getsignal(number) for number in numbers] == before
