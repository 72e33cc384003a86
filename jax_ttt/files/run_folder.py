"""A run's folder: its files, its lock, and the folders of all runs.

| file | holds |
|---|---|
| `config.json` | the plan: the settings, the seed, the command and the environment |
| `metrics.jsonl` | a row after every 50 updates or so, and each evaluation |
| `checkpoint-N.safetensors` | the state after N updates, to continue from |
| `snapshots/N.safetensors` | the agent at an evaluation, after N updates |
| `agent.safetensors` | the trained agent |
| `tensorboard/`, `wandb/` | what these loggers write |
| `.lock` | the number of the process that is writing to the folder, while it does |
"""

import contextlib
import dataclasses
import hashlib
import itertools
import json
import os
import re
import shlex
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import filelock

from jax_ttt.config.errors import AgentError, Refused, SettingError, choice_error
from jax_ttt.config.grade import Grade
from jax_ttt.config.presets import PRESETS, TABLES, Preset
from jax_ttt.config.ranges import Seed
from jax_ttt.config.settings import Config
from jax_ttt.files import json_records
from jax_ttt.files.json_records import Versioned
from jax_ttt.files.metrics_rows import Evaluated, Row, read_row
from jax_ttt.runtime import atomic_files

AGENT_NAME = "agent.safetensors"
"""The name of the trained agent's file in a run's folder."""
RUNS = Path("runs")
"""Where `train` makes its folders."""
MAX_METRICS = 2**31
"""Bytes of the longest metrics that are read: some millions of rows."""
_LOCK_SECONDS = 0.2
"""Longest time that a process waits for a lock."""
_CHECKPOINT = re.compile(r"checkpoint-(\d{1,10})\.safetensors", re.ASCII)
_SNAPSHOT = re.compile(r"(\d{1,10})\.safetensors", re.ASCII)


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
class Plan(Versioned):
    """`config.json`: what a run is to do, and where it was trained.

    A file made by hand needs the version, the settings, the preset and the seed only.
    """

    config: Config
    """The settings."""
    preset: Preset
    """The preset that the settings started from."""
    seed: Seed
    """Seed of all random numbers."""
    files: dict[str, str] | None = None
    """The SHA-256 of the files of the saved agents that the settings name, by their
    names; absent without any."""
    until_proven: bool = False
    """Whether the run ends at the first proof."""
    snapshots: bool = False
    """Whether it keeps the agents of its evaluations."""
    tensorboard: bool = False
    """Whether it writes for TensorBoard."""
    wandb: str | None = None
    """The id of its run at Weights & Biases."""
    command: tuple[str, ...] | None = None
    """The command line."""
    device: DeviceFacts | None = None
    """The device that the program ran on."""
    python: str | None = None
    """Version of Python."""
    versions: dict[str, str] | None = None
    """Versions of jax_ttt and of the libraries."""
    XLA_FLAGS: str | None = None
    """The environment variable."""
    random_numbers: str | None = None
    """JAX's generator of random numbers, such as `threefry2x32`."""

    def settings_checksum(self) -> str:
        """Return the SHA-256 of what stays the same in a run that continues.

        These are the seed, and the settings but for the number of updates. Settings
        that have their defaults are left out, so that a later version may have more.
        """
        defaults = Config().as_dict()
        fields: dict[str, object] = {
            name: value
            for name, value in self.config.as_dict().items()
            if value != defaults.get(name) and name != "num_updates"
        }
        fields["seed"] = self.seed
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunSummary:
    """A saved run in short: its game, its preset, and its last evaluation if any."""

    run_dir: str
    """The run's folder."""
    env_id: str
    """The game."""
    preset: str
    """The preset that the settings started from."""
    seed: int
    """Seed of all random numbers."""
    saved: bool
    """Whether the folder has an agent's file."""
    update: int | None = None
    """Updates done at the last evaluation."""
    seconds: float | None = None
    """Time spent training by then, excluding compilation and evaluation."""
    grade: Grade | None = None
    """The last evaluation."""
    win_rate: float | None = dataclasses.field(init=False, default=None)
    """Its win rate against random, the mean of the graded seats, 0 to 1."""

    def __post_init__(self) -> None:
        rates = None if self.grade is None else self.grade.mean_rates()
        object.__setattr__(self, "win_rate", None if rates is None else rates[0])


@contextlib.contextmanager
def refused_errors(name: str) -> Iterator[None]:
    """Turn an `OSError` into `Refused`, whose message begins with `name`."""
    try:
        yield
    except OSError as error:
        raise Refused(f"{name}: {error.strerror or error}") from None


class Lock:
    """A lock that one process has at a time, until it closes the lock or ends."""

    def __init__(self, path: Path) -> None:
        """Make a file with the number of this process, and lock it.

        Raises:
            OSError: another process has locked it, which the message names by its
                number; or the file can't be made.
        """
        self._path = path
        # `is_in_training` locks it for a moment, which must refuse nobody.
        self._lock = filelock.FileLock(path, timeout=_LOCK_SECONDS)
        try:
            self._lock.acquire()
        except filelock.Timeout:
            raise OSError(f"in use by {_lock_holder(path)}") from None
        with contextlib.suppress(OSError):  # a full disk: the number only informs
            path.write_text(f"{os.getpid()}\n", "ascii")

    def close(self) -> None:
        """Unlock and remove the file."""
        # Removed first: once it is unlocked, another process may have locked it.
        with contextlib.suppress(OSError):  # Windows can't remove an open file
            self._path.unlink()
        self._lock.release()


def _lock_holder(lock: Path) -> str:
    """Return the process that holds a lock, by its number if the file has it."""
    try:
        return f"process {int(lock.read_text('ascii'))}"
    except (OSError, ValueError):  # not written yet, or just removed
        return "another process"


class RunFolder:
    """The files of one run: their paths, of which any may be missing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.json"
        self.metrics = path / "metrics.jsonl"
        self.agent = path / AGENT_NAME
        self.tensorboard = path / "tensorboard"
        self.lock = path / ".lock"
        self.snapshots = path / "snapshots"

    def snapshot(self, update: int) -> Path:
        """Return the path of the agent after this many updates."""
        return self.snapshots / f"{update:05}.safetensors"

    def checkpoint(self, update: int) -> Path:
        """Return the path of the state after this many updates."""
        return self.path / f"checkpoint-{update}.safetensors"

    def checkpoints(self) -> list[Path]:
        """Return the paths of the run's checkpoints, the one with most updates first.

        The times of the files don't count: clocks may jump, and copies have new times.
        """
        numbered = _numbered_files(self.path, _CHECKPOINT)
        return [path for _, path in sorted(numbered.items(), reverse=True)]

    def files(self) -> list[str]:
        """Return the names of the files that are not hidden, sorted."""
        return sorted(path.name for path in self.path.glob("[!.]*"))

    def lines(self) -> list[bytes]:
        """Return the lines of the metrics; an incomplete last one is left out.

        Raises:
            UnreadableError: the file can't be read.
        """
        return atomic_files.read_lines(self.metrics, MAX_METRICS)

    def rows(self) -> list[Row]:
        """Return the rows of metrics.

        Raises:
            ValueError: there are none, or a line is not a row.
        """
        return [read_row(line) for line in self.lines()]

    def summary(self) -> RunSummary:
        """Return the run in short.

        Raises:
            Refused: the settings are missing, or they or the metrics can't be read.
        """
        plan = read_settings(self.config)
        last = None
        try:
            # A run writes its first row after it is compiled.
            for line in reversed(self.lines() if self.metrics.exists() else []):
                if isinstance(row := read_row(line), Evaluated):
                    last = row
                    break
        except ValueError as error:
            raise Refused(f"{self.metrics}: {error}") from None
        return RunSummary(
            run_dir=str(self.path),
            saved=self.agent.exists(),
            env_id=plan.config.env_id,
            preset=plan.preset,
            seed=plan.seed,
            update=last and last.update,
            seconds=last and last.seconds,
            grade=last and last.grade,
        )

    def resume_command(self) -> str:
        """Return the command that continues the run, for a shell."""
        command = f"python -m jax_ttt.train --resume {shlex.quote(str(self.path))}"
        with contextlib.suppress(ValueError):  # without readable settings, no flag
            command += read_settings(self.config).config.file_flags
        return command

    def how_to_continue(self) -> str:
        """Return how to continue the run, if it has a checkpoint."""
        if self.checkpoints():
            return f"to continue: {self.resume_command()}"
        return "there is no checkpoint, so the run can't be continued"

    def check_unlocked(self, flag: str) -> None:
        """Raise `Refused` if a process writes to the folder, which `flag` names."""
        with refused_errors(f"{flag} {self.path}"):
            if self.lock.exists():
                Lock(self.lock).close()

    def is_in_training(self) -> bool:
        """Return whether a process is writing to the folder."""
        try:
            if self.lock.exists():
                with filelock.FileLock(self.lock, timeout=0):
                    return False
        except filelock.Timeout:
            return True
        except PermissionError:  # to lock the file of another user
            return True
        except OSError:  # no file can have this name, or it has just gone
            return False
        return False

    def files_to_replace(self) -> list[Path]:
        """Return the files that a new run in the folder replaces.

        A run that saved neither an agent nor a checkpoint may be replaced. It is known
        by its settings, which come last: if a process is killed as it removes the
        files, what is left is still known as a run.

        Raises:
            Refused: the folder holds a run, or files that are not known as a run's.
        """
        paths = [
            self.metrics,
            *snapshots_in(self.snapshots).values(),
            *self.tensorboard.glob("events.out.tfevents.*"),
            self.config,
        ]
        files = [path for path in paths if os.path.lexists(path)]
        if self.checkpoints():
            reason = f"it holds a run; to continue it: {self.resume_command()}"
        elif os.path.lexists(self.agent):
            reason = f"{self.agent} exists"
        elif files and not self._has_settings():
            reason = f"{files[0]} exists"
        else:
            return files
        rule = "a folder that holds no run"
        raise Refused(f"--run-dir must be {rule}, got '{self.path}': {reason}")

    def _has_settings(self) -> bool:
        try:
            read_settings(self.config)
        except Refused:
            return False
        return True


def agent_path(path: Path) -> Path:
    """Return the path of an agent's file; `path` may be the folder of its run.

    Raises:
        AgentError: the folder is not that of one run, but holds runs.
    """
    if not path.is_dir():
        return path
    file = path / AGENT_NAME
    if not file.exists() and (hint := runs_hint(file)):
        raise AgentError(f"{path}: not a run's folder{hint}")
    return file


def runs_hint(file: Path) -> str:
    """Return the end of an error about a run's missing file, if there are runs below.

    It names the run with the last name.
    """
    agents = [] if file.exists() else sorted(file.parent.glob(f"*/{AGENT_NAME}"))
    return f"; it holds runs, for instance {agents[-1].parent}" if agents else ""


def _numbered_files(folder: Path, name: re.Pattern[str]) -> dict[int, Path]:
    """Return the files of a folder whose names match, by the number in their names."""
    if not folder.is_dir():
        return {}
    matches = {path: name.fullmatch(path.name) for path in folder.iterdir()}
    numbered = {int(match[1]): path for path, match in matches.items() if match}
    return dict(sorted(numbered.items()))


def snapshots_in(folder: Path) -> dict[int, Path]:
    """Return the agents in a folder of snapshots, by their updates, ascending."""
    return _numbered_files(folder, _SNAPSHOT)


def read_settings(path: Path) -> Plan:
    """Return what a run is to do, by its `config.json`; `path` may be its folder.

    Raises:
        Refused: there is no such file, or it is not a run's settings.
    """
    path = RunFolder(path).config if path.is_dir() else path
    try:
        text = atomic_files.read_bounded(path, json_records.MAX_FILE_BYTES)
        return json_records.from_json(Plan, text)
    except atomic_files.UnreadableError as error:
        raise Refused(f"{path}: {error}{runs_hint(path)}") from error
    except ValueError as error:
        raise Refused(f"{path}: not a run's settings ({error})") from None


def is_own_settings(name: str) -> bool:
    """Return whether this names a TOML file, with settings of a user's own."""
    return name.lower().endswith(".toml") and not Path(name).is_dir()


def own_fields(path: Path) -> dict[str, Any]:
    """Return the settings of a TOML file by their names, and `base` if it is there.

    The file has them as a table of `presets.toml` has them, with or without the table's
    name.

    Raises:
        Refused: there is no such file, or it is not TOML.
    """
    try:
        text = atomic_files.read_bounded(path, json_records.MAX_FILE_BYTES)
        fields = tomllib.loads(text.decode("utf-8-sig"))
    except atomic_files.UnreadableError as error:
        raise Refused(f"{path}: {error}") from None
    except (ValueError, RecursionError) as error:  # also of a text that is not UTF-8
        raise Refused(f"{path}: not TOML ({error})") from None
    if any(isinstance(table, dict) for table in fields.values()):
        if len(fields) > 1:
            raise Refused(f"{path}: has more than one table; leave the others out")
        (fields,) = fields.values()
    for name in ("seed", "preset"):
        if name in fields:
            rule = "name the preset by base" if name == "preset" else "use --seed"
            raise Refused(f"{path}: {name} is not a setting; {rule}")
    return fields


def read_own_settings(path: Path) -> tuple[Preset, Config]:
    """Return the settings of a TOML file, and the preset that they change.

    It is the one that `base` names; without it, or if it is another table of
    `presets.toml`, `plain`, whose settings are the defaults.

    Raises:
        Refused: there is no such file, or its settings are not allowed.
    """
    fields = own_fields(path)
    base = fields.pop("base", "plain")
    try:
        if base not in [*TABLES]:
            raise choice_error("base", TABLES, base)
        config = TABLES[base].replace(**fields)
        config.check_changes(TABLES[base])
    except SettingError as error:
        raise Refused(f"{path}: {error}") from None
    return base if base in PRESETS else "plain", config


def runs_in(folder: Path = RUNS) -> list[RunFolder]:
    """Return the runs in a folder, the newest last.

    A run is as old as its agent or, without one, as its settings.
    """
    times: dict[RunFolder, float] = {}
    for path in folder.glob("*/"):
        run = RunFolder(path)
        for file in (run.agent, run.config):
            try:
                times.setdefault(run, file.stat().st_mtime)
            except OSError:  # missing, or without permission
                continue
    return sorted(times, key=lambda run: (times[run], run.path.name))


def make_new(
    make: Callable[[Path], object] | None, name: str, ending: str = ""
) -> Path:
    """Make a file or a folder in `runs` by `make`, and return its path.

    Its name begins with the time. A number is added if the name is taken. Without
    `make` nothing is made.

    Raises:
        Refused: it can't be made.
    """
    path = RUNS / f"{time.strftime('%Y%m%d-%H%M%S')}-{name}{ending}"
    if make is None:
        return path
    try:
        RUNS.mkdir(parents=True, exist_ok=True)
        for count in itertools.count(2):
            with contextlib.suppress(FileExistsError):
                make(path)
                break
            path = path.with_name(f"{path.name.split('.')[0]}.{count}{ending}")
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from None
    return path


def newest_run(folder: Path = RUNS) -> RunFolder:
    """Return the run whose agent was saved last.

    Raises:
        Refused: no agent is saved there.
    """
    saved = [run for run in runs_in(folder) if run.agent.exists()]
    if not saved:
        raise Refused(f"no agent below {folder}/: train one, or name another folder")
    return saved[-1]


def run_summaries(folder: Path = RUNS) -> tuple[list[RunSummary], list[Refused]]:
    """Return a summary of each run, the newest last, and why other runs have none.

    Folders without settings are ignored.
    """
    summaries, reasons = [], []
    for run in runs_in(folder):
        if run.config.exists():
            try:
                summaries.append(run.summary())
            except Refused as error:
                reasons.append(error)
    return summaries, reasons


def player_or_newest_run(
    name: str | None, quiet: bool = False, otherwise: str = ""
) -> str:
    """Return the name of a player, by default the name of the newest run.

    The newest run is printed unless `quiet`; without a run, `otherwise` is returned.

    Raises:
        Refused: there is no run, and no name in `otherwise`.
    """
    if name is not None:
        return name
    try:
        newest = str(newest_run().path)
    except Refused:
        if otherwise:
            return otherwise
        raise
    if not quiet:
        print(f"the newest run: {newest}", flush=True)
    return newest
