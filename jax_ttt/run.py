"""A run's folder: its settings, its metrics, its agent.

`config.json` says what was run and where, `metrics.jsonl` has a row for each chunk of
training and each evaluation, `agent.safetensors` is the result.
"""

import dataclasses
import errno
import json
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax

from jax_ttt import __version__, agents, devices
from jax_ttt.config import Config

_LIBRARIES = ("jax", "jaxlib", "flax", "optax", "pgx", "numpy")


class RunFolder:
    """Writes one run's files, and nothing else."""

    def __init__(self, path: Path) -> None:
        """Make the folder.

        Raises:
            FileExistsError: there is a run in it already.
            OSError: it can't be made.
        """
        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        for taken in (self.agent_path, path / "metrics.jsonl"):
            if taken.exists():
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), taken)
        # "x": two runs that start in one folder can't both have it.
        self._config = (path / "config.json").open("x", encoding="utf-8")
        self._metrics = (path / "metrics.jsonl").open("x", encoding="utf-8")

    @property
    def agent_path(self) -> Path:
        """Where the agent is saved."""
        return self.path / "agent.safetensors"

    def write_config(self, config: Config, seed: int, preset: str) -> None:
        """Say what is run: settings, seed, versions, device, command."""
        device = devices.current()
        about = {
            "config": dataclasses.asdict(config),
            "preset": preset,
            "seed": seed,
            "command": sys.orig_argv,
            "device": {
                "platform": device.platform,
                "kind": device.device_kind,
                "count": jax.device_count(),
                # The results on a CPU depend on the number of threads.
                "cpu_count": len(os.sched_getaffinity(0))
                if hasattr(os, "sched_getaffinity")
                else os.cpu_count(),
                "NPROC": os.environ.get("NPROC"),
            },
            "python": sys.version.split()[0],
            "versions": {"jax_ttt": __version__}
            | {name: version(name) for name in _LIBRARIES},
        }
        with self._config as file:
            file.write(json.dumps(about, indent=2) + "\n")

    def write_row(self, row: dict[str, Any]) -> None:
        """Add a row to the metrics; it is on disk when this returns."""
        self._metrics.write(json.dumps(row) + "\n")
        self._metrics.flush()

    def save_agent(self, agent: agents.Agent) -> None:
        """Write the agent, in place of an earlier one."""
        agents.save(agent, self.agent_path)

    def close(self) -> None:
        """Close the files."""
        self._config.close()
        self._metrics.close()


def new_folder(parent: Path, preset: str, seed: int) -> RunFolder:
    """Make `<time>-<preset>-seed<seed>` below `parent`; a number is added if taken."""
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{preset}-seed{seed}"
    for count in range(2, 1000):
        try:
            return RunFolder(parent / name)
        except FileExistsError:
            name = f"{name.rsplit('.', 1)[0]}.{count}"
    raise FileExistsError(f"{parent / name}")
