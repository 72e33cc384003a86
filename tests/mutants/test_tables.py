"""Every mutant still applies to the source; the faults are different ones."""

import collections

import pytest

from mutants import tables
from mutants.mutant import ROOT, Mutant

MUTANTS = list(tables.all_mutants())


def test_every_mutant_changes_one_place_of_the_source():
    """After a change of the source, correct the mutant or the tests that kill it."""
    for mutant in MUTANTS:
        text = (ROOT / mutant.file).read_text("utf-8")
        changed = mutant.applied(text)
        assert changed != text
        if mutant.file.endswith(".py"):
            compile(changed, mutant.file, "exec")


def test_the_tests_of_every_mutant_are_there():
    named = {name for mutant in MUTANTS for name in mutant.tests}
    assert named
    for name in named:
        path, _, test = name.partition("::")
        assert f"def {test}" in (ROOT / "tests" / path).read_text("utf-8")


def test_no_mutant_is_listed_twice():
    changes = collections.Counter((m.file, m.old, m.new) for m in MUTANTS)
    assert changes.most_common(1)[0][1] == 1


def test_there_are_mutants_of_everything_that_decides():
    """The folders whose faults could make a weak agent, or a wrong claim."""
    folders = {mutant.folder for mutant in MUTANTS}
    assert {"dqn", "envs", "networks", "solver", "evaluation", "players"} < folders
    assert {"training", "scaling", "serving", "sessions", "config"} < folders
    assert len(MUTANTS) >= 150


@pytest.mark.parametrize("old", ["a", "x", "b = 2"])
def test_a_text_that_is_not_there_once_is_no_mutant(old):
    mutant = Mutant("file", old, "b = 2", "a fault", ())
    with pytest.raises(ValueError, match="file"):
        mutant.applied("a = 1\na = 1\nb = 2\n")
    assert mutant._replace(old="b").applied("b = 1") == "b = 2 = 1"
