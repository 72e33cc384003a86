"""Which replacements turn off the kept programs."""

import os
import sys

import patched
import pytest

from jax_ttt.dqn import losses, rollout
from jax_ttt.dqn.metrics import Metrics
from jax_ttt.runtime import kept_files
from jax_ttt.training import loop
from jax_ttt.training.programs import Programs


@pytest.fixture
def kept_in():
    """Return the folders in which programs are kept, before and after a replacement."""
    folders = [*kept_files._FOLDERS]
    assert len(folders) == 1
    yield kept_files._FOLDERS
    patched.KEEP_IN(folders[0])


@pytest.mark.parametrize(
    "replace",
    [
        lambda patch: patch.setattr(rollout, "scored", None),
        lambda patch: patch.setattr(Metrics, "of_chunk", None, raising=False),
        lambda patch: patch.setattr("jax_ttt.training.keys.keys", None),
        lambda patch: patch.delattr(losses, "td_targets"),
        lambda patch: patch.setitem(losses.COSTS, "huber", None),
        lambda patch: patch.delitem(losses.COSTS, "huber"),
    ],
)
def test_after_a_traced_function_is_replaced_no_program_is_kept(replace, kept_in):
    patch = patched.Patch()
    with patch.context() as inner:
        replace(inner)
        assert not kept_in


def test_other_replacements_change_nothing(kept_in, tmp_path):
    with patched.Patch().context() as patch:
        patch.setattr(sys, "stdin", None)
        patch.setattr(Programs, "updates", None)
        patch.setattr(loop, "make_opponent", None)
        patch.setenv("NPROC", "1")
        patch.chdir(tmp_path)
        assert len(kept_in) == 1
        assert os.environ["NPROC"] == "1"


@pytest.mark.parametrize("number", [1, 2])
def test_the_next_test_keeps_programs_again(number, monkeypatch):
    assert len(kept_files._FOLDERS) == 1, number
    monkeypatch.setattr(rollout, "scored", None)
    assert not kept_files._FOLDERS
