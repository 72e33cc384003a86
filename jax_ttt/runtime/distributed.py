"""The processes of one run, on one host or several, which JAX's runtime joins.

Each process runs the same command and takes part in each step. Only process 0 prints
and writes files. If a process is lost, JAX's runtime ends the others.
"""

import os
import signal
import sys

import jax
import numpy as np
from jax.experimental import multihost_utils

from jax_ttt.config.errors import Refused
from jax_ttt.config.shared_flags import DistributedFlags

JOIN_TIMEOUT = 60
"""Seconds within which all processes must join."""
_HEARTBEAT_TIMEOUT = 30
"""Seconds without a heartbeat after which a process counts as lost."""
_DETECTED_CLUSTERS = "SLURM, Open MPI, Kubernetes or a TPU pod"


def join_processes(flags: DistributedFlags) -> None:
    """Join the processes of a run with `--distributed`, before JAX computes.

    Raises:
        Refused: JAX finds no cluster, or not all processes join in time.
    """
    if not flags.distributed:
        return
    # Otherwise two programs that exchange data could run in a different order in each
    # process, and wait for each other.
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    try:
        jax.distributed.initialize(
            flags.coordinator,
            flags.num_processes,
            flags.process_id,
            initialization_timeout=JOIN_TIMEOUT,
            heartbeat_timeout_seconds=_HEARTBEAT_TIMEOUT,
        )
    except ValueError as error:
        if flags.coordinator is not None:
            raise Refused(f"--distributed: {_one_line(error)}") from None
        raise Refused(
            f"--distributed: found no {_DETECTED_CLUSTERS}: "
            "give --coordinator, --num-processes and --process-id"
        ) from None
    except RuntimeError as error:
        raise Refused(f"--distributed: {_one_line(error)}") from None
    # JAX replaced the handler of this signal by its own for preemptions. Python's is
    # set again, so that a signal is a request to save and stop.
    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGTERM))
    # JAX's Gloo prints lines to descriptor 1, which becomes stderr. Python's stdout
    # gets a copy of the descriptor.
    stdout_copy = os.dup(1)
    os.dup2(2, 1)
    output = stdout_copy if is_writer() else os.devnull
    sys.stdout = open(output, "w", encoding="utf-8", buffering=1)  # noqa: SIM115


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def num_processes() -> int:
    """Return the number of processes of the run."""
    return jax.process_count()


def is_writer() -> bool:
    """Return whether this process prints and writes files."""
    return jax.process_index() == 0


def max_over_processes(number: int) -> int:
    """Return the maximum of the processes' numbers; all must call this together."""
    if num_processes() == 1:
        return number
    return int(multihost_utils.process_allgather(np.int32(number)).max())
