"""The processes of one run, on one host or several, joined by JAX's own runtime.

Each runs the same command and takes part in each step. Only process 0 prints and
writes.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jax_ttt.config.errors import UsageError
from jax_ttt.scaling import supervised

if TYPE_CHECKING:
    from jax_ttt.scaling.flags import Spread

_SILENCE = 30
"""Seconds without a sign of a process after which it is lost."""
_DETECTED = "SLURM, Open MPI, Kubernetes or a TPU pod"
_joined = False
_stderr = sys.stderr


def join(args: "Spread") -> None:
    """Join the processes, if the flags ask for it. JAX must not have computed yet.

    Raises:
        UsageError: there is no cluster, or not all processes came in time.
    """
    global _joined, _stderr
    if not args.distributed:
        return
    import jax

    _stderr = sys.stderr

    # Else two programs that exchange data may run in another order in each process, and
    # wait for each other.
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    given = args.coordinator, args.num_processes, args.process_id
    try:
        jax.distributed.initialize(
            *given,
            initialization_timeout=supervised.PATIENCE,
            heartbeat_timeout_seconds=_SILENCE,
        )
    except ValueError as error:
        if args.coordinator is not None:
            raise UsageError(f"--distributed: {_line(error)}") from None
        rest = "give --coordinator, --num-processes and --process-id"
        raise UsageError(f"--distributed: found no {_DETECTED}: {rest}") from None
    except RuntimeError as error:
        raise UsageError(f"--distributed: {_line(error)}") from None
    supervised.note_joined()
    # JAX's notice of a preemption replaces the handler of this signal.
    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGTERM))
    _joined = jax.process_count() > 1
    if not writes():
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def count() -> int:
    """Return the number of processes of the run."""
    if not _joined:
        return 1
    import jax

    return jax.process_count()


def writes() -> bool:
    """Return whether this process prints and writes files."""
    if not _joined:
        return True
    import jax

    return jax.process_index() == 0


def agreed(number: int) -> int:
    """Return the greatest number that a process gave; all have to call it together."""
    if not _joined:
        return number
    import numpy as np
    from jax.experimental import multihost_utils

    return int(multihost_utils.process_allgather(np.int32(number)).max())


@contextlib.contextmanager
def ending_together() -> Iterator[None]:
    """End this process with a line when another one is lost."""
    if not _joined:
        yield
        return
    import jax

    try:
        yield
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" in str(error):
            raise
        leave()


def leave() -> None:
    """End the process at once: the others can't be waited for."""
    sys.stdout.flush()
    # A process that prints nothing else says this too.
    print(f"error: {supervised.LOST}", file=_stderr, flush=True)
    os._exit(1)
