"""The flags of a run on many devices or many hosts."""

import dataclasses
import re
from typing import Annotated

import tyro
from msgspec import Meta

from jax_ttt.config.errors import Refused, SettingError, flag_name

_ADDRESS = re.compile(r"(.+):(\d{1,5})")
_CLUSTER_FIELDS = ("coordinator", "num_processes", "process_id")


@dataclasses.dataclass(frozen=True, kw_only=True)
class DeviceFlags:
    """The devices of one host over which a command spreads its work.

    Raises:
        SettingError: the flag is not a number of devices.
    """

    devices: str | None = None
    """Devices to spread the work over, a number or all: the agents of a sweep, and the
    positions that a player reaches. One agent trains on one device. By default one;
    with --distributed, which train and sweep have, all."""

    def __post_init__(self) -> None:
        text = self.devices
        if text in (None, "all"):
            return
        if not text.isascii() or not text.isdigit() or not 1 <= int(text) < 10**6:
            raise SettingError("devices", "a number from 1, or all", text)


@dataclasses.dataclass(frozen=True, kw_only=True)
class DistributedFlags(DeviceFlags):
    """The devices and hosts over which a command spreads its work.

    Raises:
        Refused: a flag has a wrong value, or needs another flag.
    """

    distributed: tyro.conf.FlagCreatePairsOff[bool] = False
    """Join the processes on several hosts that run this same command. They share the
    agents of a sweep; a single agent is trained by each. JAX detects SLURM, Open MPI,
    Kubernetes and TPU pods; elsewhere the next three flags are needed."""
    coordinator: str | None = None
    """Address of process 0, HOST:PORT, which the others connect to."""
    num_processes: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    """The number of processes."""
    process_id: Annotated[int, Meta(ge=0, le=99_999)] | None = None
    """The number of this process, from 0. Only 0 prints and writes files."""

    @property
    def is_spread(self) -> bool:
        """Whether more than one device may be used."""
        return self.distributed or self.devices is not None

    def __post_init__(self) -> None:
        super().__post_init__()
        fields = [name for name in _CLUSTER_FIELDS if getattr(self, name) is not None]
        if not self.distributed:
            for name in fields:
                raise SettingError(name, "used with --distributed", getattr(self, name))
            return
        if self.devices not in (None, "all"):
            rule = "all, or left out, with --distributed"
            raise SettingError("devices", rule, self.devices)
        if fields and len(fields) < len(_CLUSTER_FIELDS):
            missing = sorted({*_CLUSTER_FIELDS} - {*fields})
            missing_flags = " and ".join(map(flag_name, missing))
            raise Refused(f"{flag_name(fields[0])} needs {missing_flags} too")
        if fields:
            self._check_address()

    def _check_address(self) -> None:
        match = _ADDRESS.fullmatch(self.coordinator or "")
        if not match or not 0 < int(match[2]) < 2**16:
            raise SettingError("coordinator", "HOST:PORT", self.coordinator)
        if (self.process_id or 0) >= (self.num_processes or 0):
            rule = f"less than --num-processes {self.num_processes}"
            raise SettingError("process_id", rule, self.process_id)
