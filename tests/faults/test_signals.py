"""Signals before and within a save, and a reader of the output that ends.

Those in other phases: `test_train.py`, `training/test_resume.py`, `test_interrupts.py`.
"""

import contextlib
import io
import signal
import subprocess
import sys

import as_users
import commands
import pytest
import tiny

import jax_ttt

pytestmark = pytest.mark.fault

TRAIN = f"train {' '.join(tiny.flags())} --run-dir"
SMALL = " ".join(tiny.flags("num_envs", "hidden_size", "eval_games"))
ENDLESS = f"train {SMALL} --num-updates 1000000000 --run-dir run"


class TerminatedWhenWriting(io.StringIO):
    """Standard output; SIGTERM comes when the folder of a run is named."""

    def write(self, text):
        if "writing to" in text:
            signal.raise_signal(signal.SIGTERM)
        return super().write(text)


def test_a_signal_before_the_training_saves_the_untrained_agent(tmp_path, capsys):
    words = [*tiny.flags(), "--run-dir", str(tmp_path / "run")]
    with contextlib.redirect_stdout(TerminatedWhenWriting()):
        assert commands.exit_code(commands.module_of("train"), words) == 143
    assert capsys.readouterr().err.startswith("interrupted at update 0: saved ")
    assert jax_ttt.load(tmp_path / "run").num_updates == 0


SIGNALS = """
import os, runpy, signal, sys, time
from jax_ttt.runtime import interrupts

name, numbers, *sys.argv[1:] = sys.argv[1:]
replace = os.replace

def signal_and_replace(source, target):
    if name in os.path.basename(target):
        for number in numbers.split(","):
            signal.raise_signal(int(number))
            time.sleep(1.2 * interrupts.SAME_REQUEST)
    replace(source, target)

os.replace = signal_and_replace
runpy.run_module("jax_ttt.train", run_name="__main__", alter_sys=True)
"""
"""Trains; signals come before a file gets its name."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "numbers", "code"),
    [
        ("checkpoint", "2", 0),  # the run had ended
        ("checkpoint", "15,2", -2),
        ("agent", "15,2", -2),
    ],
)
def test_a_signal_within_a_save_leaves_whole_files(name, numbers, code, tmp_path):
    run = tmp_path / "run"
    command, *words = f"{TRAIN} {run}".split()
    done = subprocess.run(
        [sys.executable, "-c", SIGNALS, name, numbers, *words],
        env=as_users.environment(),
        capture_output=True,
        text=True,
    )
    assert (command, done.returncode) == ("train", code), done
    assert "Traceback" not in done.stderr
    if name == "agent":  # so the folder is free
        assert not (run / "agent.safetensors").exists()
        assert as_users.run_here(TRAIN, run).code == 0
    assert jax_ttt.load(run).num_updates == 4
    if any(run.glob("checkpoint-*.safetensors")):
        line = "train --quiet --num-updates 6 --resume"
        assert as_users.run_here(line, run).code == 0


@pytest.mark.slow
def test_a_run_whose_reader_ends_ends_without_a_word(shell, tmp_path):
    done = shell(f"(jax_ttt {ENDLESS} 2>err; echo $? >code) | head -1")
    assert done.out.count("\n") == 1, (tmp_path / "err").read_text()
    assert (tmp_path / "code").read_text() == "141\n"
    assert (tmp_path / "err").read_text() == ""
