"""Snapshots of a run: its agent at the evaluations, with weights in float16.

The file has the tensors of an agent's file as a stack (see `_stacked`): the
first axis is the snapshots', and rows of a table that no snapshot changed are left out.
"""

import dataclasses
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from flax import nnx
from numpy.typing import DTypeLike

from jax_ttt import __version__
from jax_ttt.config.ranges import SEED_RANGE, Range
from jax_ttt.config.settings import FORMAT_VERSION, Config
from jax_ttt.players import agents
from jax_ttt.players.agents import Agent
from jax_ttt.results import free_folders, plain, tensor_files
from jax_ttt.results.tensor_files import AgentError, TensorSpec
from jax_ttt.runtime import files, streams

FILE = free_folders.SNAPSHOTS
"""The file's name in a run's folder."""
MOST = 32
"""Most snapshots of a run. When there are more, every other one is dropped."""
_SECONDS = 1.0
"""Least time between two writes during a run, since each waits for the disk."""
_KIND = "snapshots"
_ROWS = ".rows"
_LARGEST = float(np.finfo(np.float16).max)


class _Snapshot(NamedTuple):
    update: int
    tensors: dict[str, np.ndarray]  # as in an agent's file, but float16


@dataclasses.dataclass(frozen=True)
class Snapshots:
    """The agents of a run at its evaluations."""

    path: Path
    config: Config
    seed: int
    updates: tuple[int, ...]  # of each snapshot, ascending
    tensors: dict[str, np.ndarray]  # those of the file
    every: int = 1  # of how many evaluations one was kept, besides the last

    def tensors_at(self, update: int) -> dict[str, np.ndarray]:
        """Return the rounded tensors of an agent after this many updates."""
        blank = np.float16(self.config.network.initial_value)
        place = self.updates.index(update)
        return _one_of_stack(self.tensors, place, blank)

    def agent(self, update: int) -> Agent:
        """Return the agent as it was after this many updates, with rounded weights.

        Raises:
            AgentError: there is no such snapshot, or its weights don't fit the network.
        """
        if update not in self.updates:
            known = ", ".join(map(str, self.updates))
            raise AgentError(
                f"{self.path}: no snapshot at update {update}, only {known}"
            )
        named = self.tensors_at(update)
        tensors = {name: leaf.astype(np.float32) for name, leaf in named.items()}
        params = agents.params_of(self.path, self.config, tensors)
        return Agent(self.config, params, self.seed, update)


class SnapshotFile:
    """Collects the snapshots of a run, and writes them to its folder."""

    def __init__(self, folder: Path, config: Config, seed: int) -> None:
        self.path = folder / FILE
        self._config, self._seed = config, seed
        self._kept: dict[int, _Snapshot] = {}  # by the number of the evaluation
        self._number, self._every = 0, 1
        self._is_written, self._last_write = True, -math.inf

    def restore(self, number: int, update: int) -> None:
        """Take over those of the first `number` evaluations from the file.

        `update` is that of the last of these. A file that can't be read is a warning.
        """
        self._number = number
        try:
            found = read_snapshots(self.path)
        except AgentError as error:
            streams.tell(f"warning: {error}; its snapshots are lost")
            return
        self._every = found.every
        for place, at in enumerate(found.updates):
            if at <= update:
                count = number - 1 if at == update else place * found.every
                self._kept[count] = _Snapshot(at, found.tensors_at(at))

    def add(self, update: int, params: nnx.State) -> None:
        """Add a copy of these weights; write the file unless it was just written.

        Weights that are not finite are not added.
        """
        tensors = agents.tensors_of(params)
        if not all(np.isfinite(tensor).all() for tensor in tensors.values()):
            return
        self._thin()  # the last snapshot is kept whatever its number
        if len(self._kept) == MOST:
            self._every *= 2
            self._thin()
        rounded = {name: _rounded(tensor) for name, tensor in tensors.items()}
        self._kept[self._number] = _Snapshot(update, rounded)
        self._number += 1
        self._is_written = False
        if time.monotonic() - self._last_write >= _SECONDS:
            self.write()

    def _thin(self) -> None:
        self._kept = {n: s for n, s in self._kept.items() if n % self._every == 0}

    def write(self) -> None:
        """Write the file, unless it is up to date; a failure is only a warning."""
        if self._is_written:
            return
        kept = self._kept.values()
        about = {
            "format_version": FORMAT_VERSION,
            "version": __version__,
            "kind": _KIND,
            "config": self._config.as_dict(),
            "seed": self._seed,
            "updates": [snapshot.update for snapshot in kept],
            "every": self._every,
        }
        blank = np.float16(self._config.network.initial_value)
        tensors = _stacked([s.tensors for s in kept], blank)
        try:
            files.write_atomic(self.path, tensor_files.as_bytes(about, tensors))
        except OSError as error:
            streams.tell(f"warning: {self.path}: {error.strerror}")
        self._is_written, self._last_write = True, time.monotonic()


def read_snapshots(path: Path) -> Snapshots:
    """Return the snapshots of a file or of a run's folder.

    Raises:
        AgentError: the file is missing or damaged, another program or version wrote it,
            or its weights don't fit the network of its settings.
    """
    path = path / FILE if path.is_dir() else path
    with tensor_files.open_tensors(path) as file:
        about = file.about
        if about.get("kind") != _KIND:
            raise AgentError(f"{path}: not the snapshots of a run")
        with tensor_files.describing(path):
            config = agents.settings_of(about)
            SEED_RANGE.check("seed", about["seed"])
            seed = plain.field(about, "seed", int)
            updates = _updates(about["updates"])
            # Files of earlier versions lack it.
            every = plain.field({"every": 1} | about, "every", int)
            Range(int, 1, agents.UPDATES_DONE.high).check("every", every)
        shapes = _item_shapes(file.specs, np.float16, len(updates))
        if shapes is None:
            raise _misfit(path, updates)
        wanted = {n: TensorSpec(np.dtype(np.float32), s) for n, s in shapes.items()}
        agents.check_specs(path, config, wanted)
        tensors = file.tensors()
    if not _has_its_rows(tensors):
        raise _misfit(path, updates)
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            raise AgentError(f"{path}: {name} has a weight that is not finite")
    found = Snapshots(path, config, seed, updates, tensors, every)
    found.agent(updates[-1])  # refused if the weights don't fit
    return found


def _misfit(path: Path, updates: tuple[int, ...]) -> AgentError:
    number = len(updates)
    return AgentError(f"{path}: its tensors are not those of {number} agents")


def _updates(value: object) -> tuple[int, ...]:
    """Return the updates of a description; raises `ValueError` if they are none."""
    if not isinstance(value, list):
        raise ValueError("updates must be a list")
    for update in value:
        agents.UPDATES_DONE.check("updates", update)
    if not value or list(value) != sorted({*value}):
        raise ValueError("updates are not ascending")
    return tuple(value)


def _rounded(tensor: np.ndarray) -> np.ndarray:
    """Return a tensor as float16; weights too large for it become its largest one."""
    return tensor.clip(-_LARGEST, _LARGEST).astype(np.float16)


def _stacked(
    several: Sequence[dict[str, np.ndarray]], blank: np.generic
) -> dict[str, np.ndarray]:
    """Return NumPy arrays of the same names and shapes, stacked to `(N, rows, ...)`.

    Rows that are `blank` in all of them are left out. If an array has such rows,
    `<name>.rows` is a mask of those that are there.
    """
    arrays: dict[str, np.ndarray] = {}
    for name in several[0]:
        every = np.stack([named[name] for named in several])
        rows = (every != blank).reshape(*every.shape[:2], -1).any(axis=(0, 2))
        arrays[name] = np.ascontiguousarray(every[:, rows])
        if not rows.all():
            arrays[name + _ROWS] = rows
    return arrays


def _one_of_stack(
    stack: dict[str, np.ndarray], place: int, blank: np.generic
) -> dict[str, np.ndarray]:
    """Return the arrays that were the item `place` of those that were stacked."""
    arrays: dict[str, np.ndarray] = {}
    for name in stack:
        if name.endswith(_ROWS):
            continue
        arrays[name] = stack[name][place]
        if (rows := stack.get(name + _ROWS)) is not None:
            whole = np.full((len(rows), *arrays[name].shape[1:]), blank)
            whole[rows] = arrays[name]
            arrays[name] = whole
    return arrays


def _item_shapes(
    stack: Mapping[str, TensorSpec | np.ndarray], dtype: DTypeLike, number: int
) -> dict[str, tuple[int, ...]] | None:
    """Return the shapes of an item of a stack, with all its rows.

    Only the dtypes and shapes are read. None if arrays of these can't be the result of
    `_stacked`, of `number` items of this dtype.
    """
    masks = {name: leaf for name, leaf in stack.items() if name.endswith(_ROWS)}
    if any(leaf.dtype != bool or len(leaf.shape) != 1 for leaf in masks.values()):
        return None
    arrays: dict[str, tuple[int, ...]] = {}
    for name in stack.keys() - masks.keys():
        leaf = stack[name]
        if leaf.dtype != dtype or len(leaf.shape) < 2 or leaf.shape[0] != number:
            return None
        mask = masks.pop(name + _ROWS, None)
        rows = leaf.shape[1] if mask is None else mask.shape[0]
        if rows < leaf.shape[1]:
            return None
        arrays[name] = rows, *leaf.shape[2:]
    return None if masks else arrays


def _has_its_rows(stack: dict[str, np.ndarray]) -> bool:
    """Return whether the masks of a stack, whose shapes fit, mark as many rows."""
    return all(
        np.count_nonzero(mask) == stack[name.removesuffix(_ROWS)].shape[1]
        for name, mask in stack.items()
        if name.endswith(_ROWS)
    )
