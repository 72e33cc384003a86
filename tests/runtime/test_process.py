"""The age, memory and library versions of the process."""

import subprocess
import sys
import time

import jax
import numpy as np
import pytest

from jax_ttt.runtime import process


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_a_process_knows_its_age():
    code = """
import time
from jax_ttt.runtime import process
first = process.age()
time.sleep(0.2)
print(first, process.age())
"""
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    wall = time.perf_counter() - begin
    first, second = map(float, done.stdout.split())
    assert 0 <= first < second - 0.19
    assert second < wall + 0.02  # the system counts in 10 ms


def test_without_proc_the_age_is_unknown(monkeypatch, tmp_path):
    monkeypatch.setattr(process, "Path", lambda name: tmp_path / "absent")
    assert process.age() is None
    peak = process.peak_mib()  # from getrusage
    assert peak is not None
    assert peak > 2


def test_the_peak_memory_excludes_that_of_the_parent():
    parents = np.ones(2**25)  # 256 MiB
    code = "from jax_ttt.runtime import process; print(process.peak_mib())"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    own = process.peak_mib()
    assert own is not None
    assert 2 < float(done.stdout) < 128 < own
    del parents


def test_the_versions_are_those_of_the_libraries_in_use():
    assert process.versions()["jax"] == jax.__version__
    assert process.versions()["numpy"] == np.__version__


def test_the_free_memory_is_the_least_of_all_limits(monkeypatch, tmp_path):
    monkeypatch.setattr(process, "_GROUP", tmp_path)
    usual = process.free_bytes()
    assert usual is not None
    assert 2**24 < usual < 2**50
    (tmp_path / "memory.current").write_text("1000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert process.free_bytes() > 2**24
    (tmp_path / "memory.max").write_text("5000\n")
    assert process.free_bytes() == 4000
    (tmp_path / "memory.max").write_text("500\n")
    assert process.free_bytes() == 0


def test_a_limit_of_the_address_space_counts(monkeypatch):
    import resource

    used = process._kib("/proc/self/status", "VmSize")
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (used + 2**20, -1))
    free = process.free_bytes()
    assert free is not None
    assert free <= 2**20


def test_without_lists_of_the_system_the_free_memory_is_unknown(monkeypatch, tmp_path):
    def unknown(path, name):
        raise OSError

    monkeypatch.setattr(process, "_GROUP", tmp_path)
    monkeypatch.setattr(process, "_kib", unknown)
    assert process.free_bytes() is None
