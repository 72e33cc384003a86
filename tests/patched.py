"""A `monkeypatch` that turns off the kept programs when traced code is replaced."""

import contextlib

import pytest

from jax_ttt.runtime import kept_files

KEEP_IN = kept_files.keep_in
FOLDERS = ("dqn", "envs", "networks", "solver", "players", "evaluation")
MODULES = ("training.functions", "training.keys", "runtime.named_arrays")
TRACED = tuple(f"jax_ttt.{name}." for name in ("config", *FOLDERS, *MODULES))
"""What compiled programs are made of: folders, and modules of others."""


class Patch:
    """A `pytest.MonkeyPatch` for tests in a process that keeps traced programs.

    The key of a kept program has the sources in it, which a replacement does not
    change. So once something of `TRACED`, or an item of a dictionary, is replaced, no
    program is read from the disk or kept there until the test ends.
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

    def delitem(self, *args, **kwargs):
        KEEP_IN(None)
        self._patch.delitem(*args, **kwargs)


def _trace_anew(target):
    """Keep no traced programs if the target is a module, or from one, of `TRACED`."""
    if not isinstance(target, str):
        target = getattr(target, "__module__", None) or getattr(target, "__name__", "")
    if f"{target}.".startswith(TRACED):
        KEEP_IN(None)
