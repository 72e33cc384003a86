"""The flags of a run on many devices or many hosts. Imports no JAX."""

import dataclasses
import re
from typing import Annotated

import tyro

from jax_ttt.config.errors import SettingError, UsageError
from jax_ttt.config.ranges import Range
from jax_ttt.config.settings import Config

_PROCESSES = Range(int, 1, 100_000, optional=True)
_IDS = Range(int, 0, 99_999, optional=True)
_ADDRESS = re.compile(r"(.+):(\d{1,5})")
_NEEDED = ("coordinator", "num_processes", "process_id")


@dataclasses.dataclass(frozen=True, kw_only=True)
class DeviceFlags:
    """Over which devices of a host a command spreads its work.

    Raises:
        SettingError: the flag can't be followed.
    """

    devices: str | None = None
    """Devices to spread the work over, a number or all: the games of a run, the agents
    of a sweep, the positions that a player reaches. By default one;
    with --distributed, which train and sweep have, all."""

    def __post_init__(self) -> None:
        text = self.devices
        if text in (None, "all"):
            return
        if not text.isascii() or not text.isdigit() or not 1 <= int(text) < 10**6:
            raise SettingError("devices", "a number from 1, or all", text)

    def check_shares(self, config: Config) -> None:
        """Raise `SettingError` if the devices can't share a run's games evenly.

        It is not known yet how many devices `all` are; see `mesh.check_even_split`.
        """
        if self.devices not in (None, "all"):
            check_shares(config, int(self.devices))


@dataclasses.dataclass(frozen=True, kw_only=True)
class DistributedFlags(DeviceFlags):
    """Over which devices and hosts a command spreads its work.

    Raises:
        Refused: the flags can't be followed, or don't fit together.
    """

    distributed: tyro.conf.FlagCreatePairsOff[bool] = False
    """Join the processes on several hosts that run this same command. SLURM, Open MPI,
    Kubernetes and TPU pods are found; elsewhere the next three flags are needed."""
    coordinator: str | None = None
    """Address of process 0, which the others connect to."""
    num_processes: Annotated[int | None, _PROCESSES] = None
    """Processes in all."""
    process_id: Annotated[int | None, _IDS] = None
    """The number of this process, from 0. Only 0 prints and writes files."""

    @property
    def is_spread(self) -> bool:
        """Whether more than one device may be used."""
        return self.distributed or self.devices is not None

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [name for name in _NEEDED if getattr(self, name) is not None]
        if not self.distributed:
            for name in given:
                raise SettingError(name, "used with --distributed", getattr(self, name))
            return
        if self.devices not in (None, "all"):
            rule = "all, or left out, with --distributed"
            raise SettingError("devices", rule, self.devices)
        if given and len(given) < len(_NEEDED):
            missing = sorted({*_NEEDED} - {*given})
            flags = " and ".join(f"--{name.replace('_', '-')}" for name in missing)
            raise UsageError(f"--{given[0].replace('_', '-')} needs {flags} too")
        if given:
            self._check_address()

    def _check_address(self) -> None:
        match = _ADDRESS.fullmatch(self.coordinator or "")
        if not match or not 0 < int(match[2]) < 2**16:
            raise SettingError("coordinator", "HOST:PORT", self.coordinator)
        if (self.process_id or 0) >= (self.num_processes or 0):
            rule = f"less than --num-processes {self.num_processes}"
            raise SettingError("process_id", rule, self.process_id)


def check_shares(config: Config, num_devices: int) -> None:
    """Raise `SettingError` if devices can't share a run's games and moves evenly."""
    shared = {
        "num_envs": config.run.num_envs,
        "replay_capacity": config.replay.replay_capacity,
    }
    for field, number in shared.items():
        if rest := number % num_devices:
            near = [n for n in (number - rest, number - rest + num_devices) if n]
            sizes = " or ".join(f"{n:,}" for n in near)
            rule = f"a multiple of the {num_devices:,} devices, such as {sizes}"
            raise SettingError(field, rule, number)
