"""The processes of one run, on one host or several, joined by JAX's own runtime.

Each runs the same command and takes part in each step. Only process 0 prints and
writes. When a process is lost, JAX's runtime ends the others.
"""

import os
import signal
import sys

import jax
import numpy as np
from jax.experimental import multihost_utils

from jax_ttt.config.device_flags import DistributedFlags
from jax_ttt.config.errors import UsageError

JOIN_TIMEOUT = 60
"""Seconds in which all processes have to come."""
_SILENCE = 30
"""Seconds without a sign of a process after which it is lost."""
_DETECTED = "SLURM, Open MPI, Kubernetes or a TPU pod"


def join_processes(args: DistributedFlags) -> None:
    """Join the processes, if the flags ask for it. JAX must not have computed yet.

    Raises:
        UsageError: there is no cluster, or not all processes came in time.
    """
    if not args.distributed:
        return
    # Else two programs that exchange data may run in another order in each process, and
    # wait for each other.
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    try:
        jax.distributed.initialize(
            args.coordinator,
            args.num_processes,
            args.process_id,
            initialization_timeout=JOIN_TIMEOUT,
            heartbeat_timeout_seconds=_SILENCE,
        )
    except ValueError as error:
        if args.coordinator is not None:
            raise UsageError(f"--distributed: {_line(error)}") from None
        rest = "give --coordinator, --num-processes and --process-id"
        raise UsageError(f"--distributed: found no {_DETECTED}: {rest}") from None
    except RuntimeError as error:
        raise UsageError(f"--distributed: {_line(error)}") from None
    # JAX's notice of a preemption replaces the handler of this signal.
    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGTERM))
    # Libraries write to stderr from here on: JAX's Gloo prints lines to stdout.
    own = os.dup(1)
    os.dup2(2, 1)
    output = own if is_writer() else os.devnull
    sys.stdout = open(output, "w", encoding="utf-8", buffering=1)  # noqa: SIM115


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def num_processes() -> int:
    """Return the number of processes of the run."""
    return jax.process_count()


def is_writer() -> bool:
    """Return whether this process prints and writes files."""
    return jax.process_index() == 0


def max_over_processes(number: int) -> int:
    """Return the greatest number that a process gave; all have to call it together."""
    if num_processes() == 1:
        return number
    return int(multihost_utils.process_allgather(np.int32(number)).max())
