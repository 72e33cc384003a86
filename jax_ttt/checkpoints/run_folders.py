"""The folder of a run: a new one, one that it continues in, or none to write to."""

from pathlib import Path

from jax_ttt.checkpoints import saved
from jax_ttt.checkpoints.saved import Found
from jax_ttt.config.errors import UsageError
from jax_ttt.config.settings import Config
from jax_ttt.players.agents import Agent
from jax_ttt.results.rows import Row
from jax_ttt.runtime.time_spans import TimeSpans
from jax_ttt.scaling import processes
from jax_ttt.training import run_folder
from jax_ttt.training.run_folder import RunFolder
from jax_ttt.training.run_state import Progress


def folder_of(
    found: Found | None, path: Path | None, preset: str, seed: int, times: TimeSpans
) -> RunFolder:
    """Return the folder of a run that begins, or that continues from `found`.

    Raises:
        UsageError: it can't be made, or another process writes to it.
    """
    if not processes.writes():
        return Unwritten(path or Path(), times)
    if found is not None:
        return reopened(found, times)
    return run_folder.make_folder(path, preset, seed, times)


def reopened(found: Found, times: TimeSpans) -> RunFolder:
    """Return the run's folder, locked; its files are as they were.

    Raises:
        UsageError: another process writes to it, or has done so meanwhile.
    """
    checkpoint = found.checkpoint
    try:
        folder = RunFolder(found.run, times, continues=True)
    except OSError as error:
        raise UsageError(f"--resume {found.run}: {error.strerror}") from None
    try:
        known = [*found.damaged, found.path]
        if saved.paths(found.run)[: len(known)] != known:
            raise UsageError(f"--resume {found.run}: another process has continued it")
    except BaseException:
        folder.close()
        raise
    times.include(**checkpoint.times)
    return folder


class Unwritten(RunFolder):
    """The folder of a process that writes no files, since another one does."""

    def __init__(self, path: Path, times: TimeSpans) -> None:
        """Neither make nor lock it."""
        self.path, self.times, self.replaced = path, times, False

    @property
    def num_bytes(self) -> int:
        """Nothing was written."""
        return 0

    def cut_metrics(self, size: int) -> None:
        """Leave the rows to the other process; so do all the others."""

    def write_config(self, config: Config, seed: int, preset: str) -> None:
        """Write nothing."""

    def write_row(self, row: Row) -> None:
        """Write nothing."""

    def keep_snapshots(
        self, config: Config, seed: int, before: tuple[int, int] | None = None
    ) -> None:
        """Keep nothing."""

    def add_snapshot(self, progress: Progress) -> None:
        """Add nothing."""

    def sync(self) -> None:
        """Wait for nothing."""

    def save_agent(self, agent: Agent) -> None:
        """Write nothing."""

    def save_best(self, agent: Agent) -> None:
        """Write nothing."""

    def write_times(self) -> None:
        """Write nothing."""

    def close(self) -> None:
        """Close nothing."""
