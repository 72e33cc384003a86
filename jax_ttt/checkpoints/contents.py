"""A checkpoint as a file: the state of a run, and how far its other files were.

It is a file of tensors (`results/tensor_files.py`): every leaf of the run's state by
its name, and a description, which the checksum covers too. Imports no JAX.
"""

import dataclasses
from pathlib import Path
from typing import Literal, TypedDict, cast

import numpy as np

from jax_ttt import __version__
from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.config.ranges import SEED_RANGE, Range, check
from jax_ttt.config.settings import FORMAT_VERSION, Config
from jax_ttt.results import plain, tensor_files
from jax_ttt.results.plain import JsonObject
from jax_ttt.results.tensor_files import AgentError

KIND = "checkpoint"
Finished = Literal["end", "proven"]
"""Why a run ended by itself: after its last update, or with `--until-proven`."""
LOGGERS = ("tensorboard", "wandb")
_COUNT = Range(int, 0, 2**53)
_UPDATE = Range(int, 0, 10**9)
_LEARNED = tuple(
    f"train_state.{name}."
    for name in ("params", "target_params", "average_params", "opt_state")
)
"""Leaves that are finite unless the training diverged."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """What a run was asked for; a run that continues keeps it."""

    config: Config
    preset: Preset
    seed: int
    until_proven: bool = False
    snapshots: bool = False
    loggers: tuple[str, ...] = ()  # names of `LOGGERS`


@dataclasses.dataclass(frozen=True, kw_only=True)
class Positions:
    """How far the run's other outputs were."""

    metrics: int  # bytes
    evaluations: int  # of the schedule; an interruption adds one that does not count
    loggers: JsonObject  # by name
    console: JsonObject


class Times(TypedDict):
    """Seconds that a run has taken."""

    seconds: dict[str, float]  # of each part of the run
    total: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A run at one moment, as plain data and NumPy arrays."""

    plan: Plan
    update: int  # updates done
    finished: Finished | None  # None if there is more to do
    positions: Positions
    times: Times
    environment: JsonObject  # versions, device, threads and random numbers
    tensors: dict[str, np.ndarray]  # the leaves of the state


def checkpoint_file(checkpoint: Checkpoint) -> bytes:
    """Return the contents of a checkpoint's file.

    Raises:
        FloatingPointError: a weight is not finite.
        OverflowError: it would be larger than what can be read.
    """
    if name := not_finite(checkpoint.tensors):
        raise FloatingPointError(f"{name} is not finite; no checkpoint was saved")
    size = sum(tensor.nbytes for tensor in checkpoint.tensors.values())
    if size + tensor_files.MAX_HEADER_BYTES > tensor_files.MAX_BYTES:
        most = tensor_files.MAX_BYTES
        raise OverflowError(f"the run's state has {size:,} bytes; at most {most:,}")
    plan = checkpoint.plan
    about = {
        "format_version": FORMAT_VERSION,
        "version": __version__,
        "kind": KIND,
        "env_id": plan.config.env_id,
        "config": plan.config.as_dict(),
        "preset": plan.preset,
        "seed": plan.seed,
        "until_proven": plan.until_proven,
        "snapshots": plan.snapshots,
        "loggers": list(plan.loggers),
        "update": checkpoint.update,
        "finished": checkpoint.finished,
        "positions": dataclasses.asdict(checkpoint.positions),
        "times": checkpoint.times,
        "environment": checkpoint.environment,
    }
    return tensor_files.as_bytes(about, checkpoint.tensors)


def read_checkpoint(path: Path) -> Checkpoint:
    """Return the checkpoint of a file; whether its leaves fit is not checked.

    Raises:
        AgentError: the file is missing or damaged, another program or version wrote it,
            or a weight is not finite.
    """
    about, tensors = tensor_files.contents(path)
    if about.get("kind") != KIND:
        raise AgentError(f"{path}: not a checkpoint")
    with tensor_files.describing(path):
        plan = _plan(about)
        named = about["env_id"]
        if plan.config.env_id != named:
            raise ValueError("its game does not match its settings")
        _UPDATE.check("update", about["update"])
        update = plain.field(about, "update", int)
        finished = about["finished"]
        if finished is not None:
            check("finished", Finished, finished)
        positions = _positions(plain.field(about, "positions", dict))
        times = _times(plain.field(about, "times", dict))
        environment = plain.field(about, "environment", dict)
    if name := not_finite(tensors):
        raise AgentError(f"{path}: {name} is not finite")
    return Checkpoint(
        plan=plan,
        update=update,
        finished=cast(Finished | None, finished),
        positions=positions,
        times=times,
        environment=environment,
        tensors=tensors,
    )


def not_finite(tensors: dict[str, np.ndarray]) -> str | None:
    """Return the name of a leaf that is finite in every good state, but not here."""
    for name, tensor in tensors.items():
        if name.startswith(_LEARNED) and not np.isfinite(tensor).all():
            return name
    return None


def _plan(about: JsonObject) -> Plan:
    """Return what a description says of a run; raises `ValueError` and the like."""
    SEED_RANGE.check("seed", about["seed"])
    check("preset", Literal[tuple(PRESETS)], about["preset"])
    loggers = plain.field(about, "loggers", list)
    for name in loggers:
        check("loggers", Literal[LOGGERS], name)
    return Plan(
        config=Config.of(**plain.field(about, "config", dict)),
        preset=cast(Preset, about["preset"]),
        seed=plain.field(about, "seed", int),
        until_proven=plain.field(about, "until_proven", bool),
        snapshots=plain.field(about, "snapshots", bool),
        loggers=tuple(loggers),
    )


def _positions(fields: JsonObject) -> Positions:
    positions = Positions(
        metrics=plain.field(fields, "metrics", int),
        evaluations=plain.field(fields, "evaluations", int),
        loggers=plain.field(fields, "loggers", dict),
        console=plain.field(fields, "console", dict),
    )
    _COUNT.check("metrics", positions.metrics)
    _COUNT.check("evaluations", positions.evaluations)
    return positions


def _times(fields: JsonObject) -> Times:
    seconds, total = plain.field(fields, "seconds", dict), fields["total"]
    for value in (*seconds.values(), total):
        Range(float, 0, 1e12).check("times", value)
    return {"seconds": seconds, "total": cast(float, total)}
