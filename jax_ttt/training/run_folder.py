"""A run's folder: its settings, metrics, agent and times.

`config.json` holds the settings and the environment of the run, `metrics.jsonl` a row
for each chunk and each evaluation, `snapshots.safetensors` the agents at evaluations,
`agent.safetensors` the trained agent, and `times.json` the seconds of the run's parts.
"""

import contextlib
import json
import os
import sys
import time
from pathlib import Path

from jax_ttt import __version__
from jax_ttt.config.settings import FORMAT_VERSION, Config
from jax_ttt.players import agents
from jax_ttt.results import free_folders
from jax_ttt.results.rows import Row
from jax_ttt.runtime import devices, files, process, streams
from jax_ttt.runtime.time_spans import TimeSpans
from jax_ttt.training.run_state import Progress
from jax_ttt.training.snapshots import SnapshotFile


class RunFolder:
    """Writes the files of one run."""

    def __init__(
        self, path: Path, times: TimeSpans | None = None, continues: bool = False
    ) -> None:
        """Make the folder, or reuse that of one that left no agent or checkpoint.

        `times` are the run's; the time of writing is added to them. If the run in the
        folder `continues`, its files stay; see `cut_metrics`.

        Raises:
            FileExistsError: the folder holds an agent, a checkpoint, or a file of
                another program.
            BlockingIOError: another run is writing to it.
            OSError: it can't be made.
        """
        if not continues:
            path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.times = times or TimeSpans()
        self._snapshots: SnapshotFile | None = None
        self._lock = free_folders.FolderLock(path)
        try:
            files.remove_leftovers(path)
            if not continues:
                free_folders.check_free(path)
                self.replaced = self._remove_old()
            self._metrics = files.to_append(path / "metrics.jsonl")
        except OSError:
            self._lock.close()
            raise

    def _remove_old(self) -> bool:
        """Remove the files of a run without an agent; return whether there are any."""
        config = self.path / "config.json"
        found = config.exists()
        (self.path / "metrics.jsonl").unlink(missing_ok=True)
        for old in self.path.glob(free_folders.EVENTS.format("*")) if found else ():
            old.unlink()
        for name in free_folders.LATER if found else ():
            (self.path / name).unlink(missing_ok=True)
        config.unlink(missing_ok=True)
        return found

    def cut_metrics(self, size: int) -> None:
        """Remove the rows after the first `size` bytes."""
        if (missing := size - self.num_bytes) > 0:
            path = self.path / "metrics.jsonl"
            streams.tell(f"warning: {path}: {missing:,} bytes of earlier rows are lost")
        else:
            self._metrics.truncate(size)

    @property
    def num_bytes(self) -> int:
        """The size of the metrics written so far, in bytes."""
        return os.fstat(self._metrics.fileno()).st_size

    @property
    def agent_path(self) -> Path:
        """The path of the agent's file."""
        return self.path / "agent.safetensors"

    @property
    def times_path(self) -> Path:
        """The path of the seconds of the run's parts."""
        return self.path / "times.json"

    def write_config(self, config: Config, seed: int, preset: str) -> None:
        """Write the settings, seed, versions, device and command of the run."""
        about = {
            "format_version": FORMAT_VERSION,
            "config": config.as_dict(),
            "preset": preset,
            "seed": seed,
            "command": sys.orig_argv,
            "device": devices.described(),
            "python": sys.version.split()[0],
            "versions": {"jax_ttt": __version__} | process.versions(),
        }
        text = json.dumps(about, indent=2) + "\n"
        with self.times.recording("write"):
            files.write_atomic(self.path / "config.json", text.encode())

    def write_row(self, row: Row) -> None:
        """Append a row to the metrics and hand it to the system."""
        with self.times.recording("write"):
            try:
                self._metrics.write(records.to_json(row) + "\n")
                self._metrics.flush()
            except OSError as error:
                path = str(self.path / "metrics.jsonl")
                raise files.WriteError(error.errno, error.strerror, path) from None

    def keep_snapshots(
        self, config: Config, seed: int, before: tuple[int, int] | None = None
    ) -> None:
        """Keep a snapshot of the agent at each evaluation from now on.

        A run that continues gives `before`: the number of its evaluations so far, and
        the update of the last one.
        """
        self._snapshots = SnapshotFile(self.path, config, seed)
        if before is not None:
            self._snapshots.restore(*before)

    def add_snapshot(self, progress: Progress) -> None:
        """Add the agent of an evaluation to the snapshots, if they are kept."""
        if self._snapshots is not None and progress.evaluation is not None:
            with self.times.recording("write"):
                self._snapshots.add(progress.update, progress.params)

    def sync(self) -> None:
        """Wait until all rows and snapshots so far are on the disk."""
        os.fsync(self._metrics.fileno())
        if self._snapshots is not None:
            self._snapshots.write()

    def save_agent(self, agent: agents.Agent) -> None:
        """Write the agent, replacing an earlier one, and snapshots not yet written."""
        with self.times.recording("write"):
            agents.save_agent(agent, self.agent_path)
            if self._snapshots is not None:
                self._snapshots.write()

    def save_best(self, agent: agents.Agent) -> None:
        """Write the best agent so far, replacing an earlier one."""
        with self.times.recording("write"):
            agents.save_agent(agent, self.path / free_folders.BEST)

    def write_times(self) -> None:
        """Write the seconds of the run's parts, their total, and the peak memory."""
        about = {
            "seconds": self.times.seconds(),
            "total_seconds": self.times.total(),
            "peak_memory_mib": process.peak_mib(),
        }
        text = json.dumps(about, indent=2) + "\n"
        files.write_atomic(self.times_path, text.encode())

    def close(self) -> None:
        """Close the metrics, and unlock the folder."""
        with contextlib.suppress(OSError):  # a row that `write_row` could not write
            self._metrics.close()
        self._lock.close()


def make_folder(
    path: Path | None, preset: str, seed: int, times: TimeSpans | None = None
) -> RunFolder:
    """Make the folder of a run: `path`, or a new one below `runs`.

    Raises:
        UsageError: it can't be made, or it holds a run.
    """
    try:
        if path is None:
            return new_folder(Path("runs"), preset, seed, times)
        return RunFolder(path, times)
    except OSError as error:
        raise free_folders.not_free(path or Path("runs"), error) from None


def new_folder(
    parent: Path, preset: str, seed: int, times: TimeSpans | None = None
) -> RunFolder:
    """Make `<time>-<preset>-seed<seed>` in `parent`; a number is added if it exists."""
    parent.mkdir(parents=True, exist_ok=True)
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{preset}-seed{seed}"
    for count in range(2, 1000):
        try:
            (parent / name).mkdir()
            return RunFolder(parent / name, times)
        except FileExistsError:
            name = f"{name.rsplit('.', 1)[0]}.{count}"
    raise FileExistsError(f"{parent / name}")
