"""The fixture `monkeypatch`, which knows what is traced."""

import contextlib

import pytest

from jax_ttt.runtime import kept_files

KEEP_IN = kept_files.keep_in
FOLDERS = ("dqn", "envs", "networks", "solver", "players", "evaluation")
TRACED = (*(f"jax_ttt.{name}." for name in FOLDERS), "jax_ttt.training.functions")
"""The modules whose functions are parts of compiled programs."""


class Patch:
    """A `pytest.MonkeyPatch` after which programs are traced anew.

    That is so once something was replaced that may be traced: the key of a traced
    program is that of the sources, which stay the same.
    """

    def __init__(self):
        self._patch = pytest.MonkeyPatch()

    def __getattr__(self, name):
        return getattr(self._patch, name)

    @contextlib.contextmanager
    def context(self):
        patch = Patch()
        try:
            yield patch
        finally:
            patch.undo()

    def setattr(self, target, *args, **kwargs):
        _trace_anew(target)
        self._patch.setattr(target, *args, **kwargs)

    def delattr(self, target, *args, **kwargs):
        _trace_anew(target)
        self._patch.delattr(target, *args, **kwargs)

    def setitem(self, *args):
        KEEP_IN(None)
        self._patch.setitem(*args)


def _trace_anew(target):
    """Keep no traced programs if the target is a module, or from one, of `TRACED`."""
    if not isinstance(target, str):
        target = getattr(target, "__module__", None) or getattr(target, "__name__", "")
    if f"{target}.".startswith(TRACED):
        KEEP_IN(None)
