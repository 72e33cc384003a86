"""The table that `make faults` prints."""

import os
import re
import subprocess
import sys
from pathlib import Path

import fault_table
import pytest

PROGRAM = """
import pytest

@pytest.mark.fault("F10", "the tenth")
@pytest.mark.parametrize("number", [1, 2, 3])
def test_ten(number):
    if number == 3:
        pytest.skip("not here")

@pytest.mark.fault("F2", "the second")
@pytest.mark.parametrize("number", [1, 2])
def test_two(number):
    assert number == 1

@pytest.fixture
def broken():
    raise OSError

@pytest.mark.fault("F3", "before the test")
@pytest.mark.fault("F4", "two at once")
def test_three(broken):
    pass

def test_other():
    assert False
"""


@pytest.mark.slow
def test_the_table_has_a_row_for_each_fault_and_what_became_of_it(tmp_path):
    """In a process of its own, whose workers send their reports."""
    (tmp_path / "test_some.py").write_text(PROGRAM)
    marker = "fault(name, what): a fault"
    (tmp_path / "pytest.ini").write_text(f"[pytest]\nmarkers = {marker}\n")
    flags = "-p fault_table -p no:cacheprovider -m fault -n 1"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *flags.split()],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    rows = re.findall(r"^(F\d+) +(.*?)  +(.*)$", done.stdout, re.MULTILINE)
    assert rows == [
        ("F2", "the second", "FAILED: test_two[2]"),
        ("F3", "before the test", "FAILED: test_three"),
        ("F4", "two at once", "FAILED: test_three"),
        ("F10", "the tenth", "survived (2 cases, 1 skipped)"),
    ]


def test_a_verdict_counts_the_cases():
    passed = dict.fromkeys("abc", "passed")
    assert fault_table.verdict(passed) == "survived (3 cases)"
    assert fault_table.verdict({"a": "passed"}) == "survived (1 case)"
    assert fault_table.verdict({"a": "skipped"}) == "not tested here, 1 skipped"
    failed = passed | dict.fromkeys("cd", "failed")
    assert fault_table.verdict(failed) == "FAILED: c and 1 more"


def test_a_long_text_is_wrapped():
    what = "a word " * 20
    lines = fault_table.table({("F1", what.strip()): {"a": "passed"}}).splitlines()
    assert lines[1].endswith("  survived (1 case)")
    assert (
        " ".join("".join(f"{x[:70]} " for x in lines[1:]).split()).count("word") == 20
    )
