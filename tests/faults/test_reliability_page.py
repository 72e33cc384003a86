"""The page on reliability names each fault that a test causes, and where."""

import itertools
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "reliability.md"
ROW = re.compile(r'^\| .* \| (F\d.*?) \| .* \| `make faults ARGS="(.*)"` \|$', re.M)


def caused_below(path):
    """Return the names of the faults that the tests of a file or a folder cause."""
    files = [path] if path.is_file() else path.rglob("test_*.py")
    texts = [
        file.read_text("utf-8") for file in files if "fault_table" not in str(file)
    ]
    return {f for text in texts for f in re.findall(r'\bfault\(\s*"(F\d+)"', text)}


def named(cell):
    """Return the names of a cell such as `F1, F7` or `F17 to F24`."""
    numbers = [int(number) for number in re.findall(r"F(\d+)", cell)]
    if " to " in cell:
        first, last = numbers
        numbers = range(first, last + 1)
    return {f"F{number}" for number in numbers}


def test_each_row_names_the_tests_that_cause_its_faults():
    rows = ROW.findall(PAGE.read_text("utf-8"))
    assert len(rows) > 10
    for cell, words in rows:
        found = [caused_below(TESTS.parent / word) for word in words.split()]
        assert named(cell) <= set().union(*found), cell
        assert all(named(cell) & some for some in found), f"{words}: one is in vain"


def test_every_fault_has_a_row():
    rows = ROW.findall(PAGE.read_text("utf-8"))
    listed = set(itertools.chain(*(named(cell) for cell, _ in rows)))
    assert listed == caused_below(TESTS)
    assert listed == {f"F{number}" for number in range(1, 26)}
