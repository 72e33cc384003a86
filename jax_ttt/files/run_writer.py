"""The writer of a run's files."""

import contextlib
import dataclasses
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from jax_ttt.config.errors import Refused
from jax_ttt.config.settings import Config
from jax_ttt.files import json_records
from jax_ttt.files.json_records import JsonObject, Versioned
from jax_ttt.files.metrics_rows import Evaluated, Row, read_row
from jax_ttt.files.run_folder import (
    RUNS,
    Lock,
    Plan,
    RunFolder,
    Settings,
    snapshots_in,
)
from jax_ttt.runtime import atomic_files, standard_streams
from jax_ttt.runtime.atomic_files import WriteError


@dataclasses.dataclass(frozen=True, kw_only=True)
class DeviceFacts:
    """The device that a run was trained on."""

    platform: str
    """`cpu`, `gpu` or `tpu`."""
    kind: str
    """Its name in JAX."""
    platform_version: str
    """The version of what JAX computes with: on a GPU that of CUDA."""
    count: int
    """Devices that JAX saw."""
    cpu_count: int | None
    """Cores that the process could use."""
    NPROC: str | None
    """The environment variable, which sets the number of threads."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConfigFile(Settings, Versioned):
    """`config.json`: the settings of a run, and where it was trained."""

    command: tuple[str, ...]
    """The command line."""
    device: DeviceFacts
    """The device that the program ran on."""
    python: str
    """Version of Python."""
    versions: dict[str, str]
    """Versions of jax_ttt and of the libraries."""
    XLA_FLAGS: str | None
    """The environment variable."""


MAX_SNAPSHOTS = 32
"""About the most snapshots of a run, whatever the number of its evaluations."""
_DAMAGED = ".damaged"
"""The ending of a damaged checkpoint's new name, under which it is no longer read."""


class RunWriter:
    """Writes the files of one run, whose folder it locks.

    If several processes train one run, only one of them writes. The others have a
    writer that writes nothing (`writes` is False), so that all run the same code.
    """

    def __init__(self, run: RunFolder, *, writes: bool = True) -> None:
        """Make the folder if it is missing, and lock it.

        Raises:
            InUseError: another process is writing to it.
            OSError: it can't be made.
        """
        self.run, self._writes = run, writes
        self._lock: Lock | None = None
        if writes:
            run.path.mkdir(parents=True, exist_ok=True)
            self._lock = Lock(run.lock)
            atomic_files.remove_temporary(run.path)
            atomic_files.remove_temporary(run.snapshots)

    def begin(self, plan: Plan, environment: JsonObject) -> None:
        """Remove the files of a run that can't be continued, and write the settings.

        `environment` has the versions, the device and the threads of the new run.
        """
        if self._writes and self.run.clear():
            reason = "it left neither an agent nor a checkpoint"
            standard_streams.print_stderr(
                f"replacing the run in {self.run.path}: {reason}"
            )
        self.write_settings(plan, environment)

    def resume(self, update: int, evaluated: int, damaged: Iterable[Path]) -> None:
        """Remove the rows and snapshots after the checkpoint that the run starts from.

        It is the one after `update`, whose last evaluation was at `evaluated`. The
        `damaged` newer ones are renamed.

        Raises:
            Refused: the file of metrics can't be read.
        """
        if not self._writes:
            return
        lines = []
        for line in self._metric_lines():
            try:
                row = read_row(line)
            except ValueError as error:
                standard_streams.print_stderr(
                    f"warning: {self.run.metrics}: dropped a row: {error}"
                )
                continue
            # An interruption adds an evaluation, which the checkpoint does not have.
            last_update = evaluated if isinstance(row, Evaluated) else update
            if row.update <= last_update:
                lines.append(line + b"\n")
        for path in damaged:
            path.replace(path.with_name(path.name + _DAMAGED))
        self._write_file(self.run.metrics, b"".join(lines))
        for snapshot_update, path in snapshots_in(self.run.snapshots).items():
            if snapshot_update > evaluated:
                path.unlink()

    def _metric_lines(self) -> list[bytes]:
        """Return the lines of the metrics; a missing file is a warning."""
        path = self.run.metrics
        if not path.exists():
            standard_streams.print_stderr(
                f"warning: {path}: no such file, so earlier rows are lost"
            )
            return []
        try:
            return self.run.lines()
        except atomic_files.UnreadableError as error:
            raise Refused(f"{path}: {error}") from None

    def write_settings(self, plan: Plan, environment: JsonObject) -> None:
        """Write the settings, the seed, the command and the environment."""
        fields = json_records.to_dict(plan)
        fields |= {"command": sys.orig_argv, **environment}
        record = json_records.from_dict(ConfigFile, fields)
        text = json.dumps(json_records.to_dict(record), indent=2) + "\n"
        self._write_file(self.run.config, text.encode())

    def write_row(self, row: Row) -> None:
        """Append a row to the metrics.

        It is in the file when the method returns, though not yet on the disk.
        """
        if not self._writes:
            return
        try:
            with self.run.metrics.open("a", encoding="utf-8") as file:
                file.write(json_records.to_json(row) + "\n")
        except OSError as error:
            path = str(self.run.metrics)
            raise WriteError(error.errno, error.strerror, path) from None

    def save_agent(self, content: bytes) -> None:
        """Write the agent's file, replacing an earlier one."""
        self._write_file(self.run.agent, content)

    def save_snapshot(self, update: int, content: bytes) -> None:
        """Write the agent's file after so many updates; a failure is only a warning."""
        path = self.run.snapshot(update)
        try:
            if self._writes:
                path.parent.mkdir(exist_ok=True)
            self._write_file(path, content)
        except OSError as error:
            standard_streams.print_stderr(f"warning: {error}")

    def save_checkpoint(self, update: int, content: bytes, keep: int) -> Path:
        """Write a checkpoint, then remove all but the latest `keep`; return its path.

        Raises:
            OSError: it can't be written.
        """
        path = self.run.checkpoint(update)
        self._write_file(path, content)
        if self._writes:
            for old in self.run.checkpoints()[keep:]:
                with contextlib.suppress(OSError):  # an old file only takes space
                    old.unlink()
        return path

    def _write_file(self, path: Path, content: bytes) -> None:
        if self._writes:
            atomic_files.write_atomic(path, content)

    def close(self) -> None:
        """Unlock the folder."""
        if self._lock is not None:
            self._lock.close()


def is_snapshot_kept(config: Config, update: int) -> bool:
    """Return whether the snapshot of a regular evaluation at this update is kept.

    If a run has more evaluations than `MAX_SNAPSHOTS`, only the snapshots of every
    second, fourth, eighth, ... evaluation and of the last one are kept.
    """
    every = config.eval_every
    step = 1
    while config.num_updates // (every * step) >= MAX_SNAPSHOTS:
        step *= 2
    return update % (every * step) == 0 or update == config.num_updates


def make_run_folder(preset: str, seed: int) -> RunFolder:
    """Make the folder `<time>-<preset>-seed<seed>` in `runs`.

    A number is added to the name if there is such a folder.

    Raises:
        Refused: it can't be made.
    """
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{preset}-seed{seed}"
    try:
        RUNS.mkdir(parents=True, exist_ok=True)
        for count in range(1, 1000):
            path = RUNS / (name if count == 1 else f"{name}.{count}")
            with contextlib.suppress(FileExistsError):
                path.mkdir()
                return RunFolder(path)
    except OSError as error:
        raise Refused(f"{RUNS / name}: {error.strerror}") from None
    raise Refused(f"{RUNS / name}: too many runs of this name")
