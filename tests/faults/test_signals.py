"""Signals in each phase of a run, and a reader of its output that ends."""

import signal
import subprocess
import time

import commands
import pytest
import tiny

import jax_ttt

train = commands.module_of("train")

SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
CODES = [code for _, code in SIGNALS]
SOON = 5
"""Seconds within which a process ends after a signal."""
TINY = " ".join(tiny.flags("num_envs", "hidden_size", "eval_games"))
ENDLESS = f"train {TINY} --num-updates 1000000000 --eval-every 1000000000"


def wait_for(process, words):
    """Read lines of the output until one has the words."""
    while words not in (line := process.stdout.readline()):
        assert line, process.stderr.read()


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.parametrize(("number", "code"), SIGNALS, ids=CODES)
def test_a_signal_while_programs_are_compiled_saves_the_untrained_agent(
    number, code, start, tmp_path
):
    process = start(f"{ENDLESS} --no-compile-cache --run-dir run")
    wait_for(process, "writing to")
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    assert process.returncode == code
    assert err.startswith("interrupted at update 0: saved ")
    assert jax_ttt.load(tmp_path / "run").num_updates == 0


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.parametrize(("number", "code"), SIGNALS, ids=CODES)
def test_a_run_that_is_interrupted_is_saved_and_continues(
    number, code, start, tmp_path
):
    process = start(f"{ENDLESS} --run-dir run")
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


SAVING = """
import importlib, os, signal, sys
train = importlib.import_module("jax_ttt.train")
name, numbers, real = sys.argv.pop(1), eval(sys.argv.pop(1)), os.replace
def replace(source, target):
    if name in os.path.basename(target):
        for number in numbers:
            os.kill(os.getpid(), number)
            import time
            time.sleep(0.3)
    real(source, target)
os.replace = replace
sys.exit(train.run_command(train.COMMAND))
"""


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.parametrize("name", ["agent", "checkpoint"])
@pytest.mark.parametrize(
    "numbers", [[signal.SIGINT], [signal.SIGTERM, signal.SIGINT]], ids=["one", "two"]
)
def test_a_signal_within_a_save_leaves_whole_files(name, numbers, python, tmp_path):
    program, env = python
    words = [name, repr([int(number) for number in numbers]), *tiny.flags()]
    line = [program, "-c", SAVING, *words, "--quiet", "--run-dir", "run"]
    done = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    names = {path.name for path in (tmp_path / "run").iterdir()}
    if len(numbers) == 1:  # the run had ended, so nothing was interrupted
        assert done.returncode == 0, done.stderr
        assert jax_ttt.load(tmp_path / "run").num_updates == 4
    else:
        assert done.returncode == 130, done.stderr
        whole = "agent.safetensors" in names
        assert whole == (name == "checkpoint")
    # Whatever it left, the folder is of use.
    more = ["--resume", "run", "--num-updates", "6"]
    more = more if any("checkpoint" in name for name in names) else None
    if more is not None:
        line = [program, "-m", "jax_ttt.train", "--quiet", *more]
        again = subprocess.run(
            line, cwd=tmp_path, env=env, capture_output=True, text=True
        )
        assert again.returncode == 0, again.stderr
    elif "agent.safetensors" not in names:
        argv = [*tiny.flags(), "--quiet", "--run-dir", str(tmp_path / "run")]
        assert commands.run(train, argv) == 0


@pytest.mark.slow
@pytest.mark.fault
def test_a_run_whose_reader_ends_is_in_nobodys_way(python, tmp_path):
    program, env = python
    code = f'"{program}" -m jax_ttt.{ENDLESS} --run-dir run 2>err'
    script = f"({code}; echo $? >code) | head -1"
    done = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, env=env, capture_output=True, timeout=120
    )
    assert done.stdout.count(b"\n") == 1, (tmp_path / "err").read_text()
    assert (tmp_path / "code").read_text() == "141\n"
    assert (tmp_path / "err").read_text() == ""
    if not (tmp_path / "run/agent.safetensors").exists():  # it had not begun to train
        argv = [*tiny.flags(), "--quiet", "--run-dir", str(tmp_path / "run")]
        assert commands.run(train, argv) == 0


@pytest.mark.fault
def test_a_program_that_calls_us_keeps_its_handlers(tmp_path):
    before = [signal.getsignal(number) for number, _ in SIGNALS]
    flags = [*tiny.flags(), "--quiet", "--run-dir", str(tmp_path / "x")]
    assert commands.run(train, flags) == 0
    assert [signal.getsignal(number) for number, _ in SIGNALS] == before
