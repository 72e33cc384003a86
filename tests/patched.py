"""The fixture `monkeypatch`, which knows what is traced."""

import os

import pytest

from jax_ttt.runtime import kept_files

KEEP_IN = kept_files.keep_in
FOLDERS = ("dqn", "envs", "networks", "solver", "players", "evaluation")
TRACED = (*(f"jax_ttt.{name}." for name in FOLDERS), "jax_ttt.training.functions")
"""The modules whose functions are parts of compiled programs."""


class Patch(pytest.MonkeyPatch):
    """Traces every program anew once something that may be traced is replaced.

    The key of a traced program is that of the sources, which stay the same.
    """

    def setattr(self, target, *args, **kwargs):
        _trace_anew(target)
        super().setattr(target, *args, **kwargs)

    def delattr(self, target, *args, **kwargs):
        _trace_anew(target)
        super().delattr(target, *args, **kwargs)

    def setitem(self, dic, name, value):
        if dic is not os.environ:
            KEEP_IN(None)
        super().setitem(dic, name, value)


def _trace_anew(target):
    """Keep no traced programs if the target is a module, or from one, of `TRACED`."""
    if not isinstance(target, str):
        target = getattr(target, "__module__", None) or getattr(target, "__name__", "")
    if f"{target}.".startswith(TRACED):
        KEEP_IN(None)
