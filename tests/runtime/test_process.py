"""The age, memory and library versions of the process."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from jax_ttt.runtime import process


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_a_process_knows_its_age():
    code = """
import time
from jax_ttt.runtime import process
first = process.age()
time.sleep(0.1)
print(first, process.age())
"""
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    wall = time.perf_counter() - begin
    first, second = map(float, done.stdout.split())
    assert 0 <= first < second - 0.09
    assert second < wall + 0.02  # the system counts in 10 ms


def test_without_proc_the_age_is_unknown(monkeypatch, tmp_path):
    monkeypatch.setattr(process, "Path", lambda name: tmp_path / "absent")
    assert process.age() is None
    peak = process.peak_mib()  # from getrusage
    assert peak is not None
    assert peak > 2


@pytest.mark.slow
def test_the_peak_memory_excludes_that_of_the_parent():
    parents = np.ones(2**25)  # 256 MiB
    code = "from jax_ttt.runtime import process; print(process.peak_mib())"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    own = process.peak_mib()
    assert own is not None
    assert 2 < float(done.stdout) < 128 < own
    del parents


def test_a_process_ends_with_its_code_after_what_is_registered():
    code = """
import atexit, threading, time
from jax_ttt.runtime import process
atexit.register(print, "registered")
printed = threading.Event()
def work():
    printed.wait()
    time.sleep(0.05)
    print("thread", end=", ")
threading.Thread(target=work).start()
print("main", end=", ")
printed.set()
process.end(7)
"""
    run, env = [sys.executable, "-c", code], os.environ | {"PYTHONUNBUFFERED": ""}
    done = subprocess.run(run, capture_output=True, text=True, timeout=30, env=env)
    assert (done.returncode, done.stderr) == (7, "")
    assert done.stdout == "main, thread, registered\n"
    shell = ["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *run]  # no stdout, no stderr
    assert subprocess.run(shell, timeout=30).returncode == 7
