"""What a run that continues was asked for, from its latest checkpoint.

Imports no JAX, so that bad flags are refused immediately.
"""

import contextlib
from pathlib import Path

from jax_ttt.checkpoints import saved
from jax_ttt.checkpoints.contents import Plan
from jax_ttt.checkpoints.saved import Found
from jax_ttt.config.errors import UsageError, flag
from jax_ttt.config.ranges import Setting
from jax_ttt.results import free_folders, tensor_files
from jax_ttt.results.free_folders import resuming
from jax_ttt.results.plain import JsonObject
from jax_ttt.results.rows import Counts
from jax_ttt.results.saved_settings import read_settings
from jax_ttt.runtime import files, streams


def found_in(run: Path) -> Found:
    """Return the newest good checkpoint of a run that is not running.

    Raises:
        UsageError: there is none, or a process writes to the folder.
    """
    if run.is_file() and run.parent.is_dir():
        run = run.parent  # one of its files
    try:
        free_folders.check_unlocked(run)
    except BlockingIOError as error:
        raise UsageError(f"--resume {run}: {error.strerror}") from None
    found = saved.newest(run)
    for reason in found.damaged.values():
        streams.tell(f"warning: {reason}; going back to {found.path}")
    _check_settings(found)
    return found


def _check_settings(found: Found) -> None:
    """Raise `UsageError` if the folder's settings are those of another run."""
    try:
        config, _, seed = read_settings(found.run / "config.json")
    except UsageError:  # the checkpoint holds them too
        return
    plan = found.checkpoint.plan
    of_folder = {"seed": seed} | config.as_dict()
    of_file = {"seed": plan.seed} | plan.config.as_dict()
    names = [n for n in of_file if of_file[n] != of_folder[n] and n != "num_updates"]
    if names:
        pairs = (f"{n} {of_file[n]}, not {of_folder[n]}" for n in names)
        raise UsageError(
            f"{found.path}: the checkpoint of another run than that of "
            f"{found.run / 'config.json'}: {'; '.join(pairs)}"
        )


def arguments_of(found: Found) -> dict[str, object]:
    """Return the arguments of `train` that are those of a run, by name."""
    plan = found.checkpoint.plan
    until_proven = plan.until_proven and found.checkpoint.finished is None
    return {
        "config": plan.config,
        "preset": plan.preset,
        "seed": plan.seed,
        "until_proven": until_proven,  # not if it ended with a proof and goes on
        "snapshots": plan.snapshots,
        **dict.fromkeys(plan.loggers, True),
        "source": str(found.path),
        "found": found,
    }


def check_same(found: Found, plan: Plan, run_dir: Path | None = None) -> None:
    """Raise `UsageError` if flags change more than the end of a run.

    `plan` is the run's, with what the flags change. Only a longer `num_updates` and
    more loggers are allowed.
    """
    before = found.checkpoint.plan
    then, now = _by_flag(before), _by_flag(plan)
    if plan.config.run.num_updates > before.config.run.num_updates:
        del now["num_updates"]
    changed = [
        f"{flag(name)} is {then[name]} in this run, got {value}"
        for name, value in now.items()
        if value != then[name]
    ]
    if run_dir is not None:
        changed.append("--run-dir must be left out")
    if changed:
        raise UsageError(
            f"--resume {found.run}: {'; '.join(changed)}. Leave out what changes the "
            f"run, or begin another one with --config {found.run}"
        )


def _by_flag(plan: Plan) -> dict[str, Setting]:
    own: dict[str, Setting] = {
        "preset": plan.preset,
        "seed": plan.seed,
        "snapshots": plan.snapshots,
    }
    return own | plan.config.as_dict()


def ended(found: Found | None, plan: Plan, goes_on: bool) -> str | None:
    """Return the message for a run that has ended; None if there is more to do.

    `goes_on` is whether a flag says where the run ends now.
    """
    if found is None:
        return None
    finished, update = found.checkpoint.finished, found.checkpoint.update
    if finished is None or (plan.config.run.num_updates > update and goes_on):
        return None
    why = {"end": "", "proven": ", at the first proof, as --until-proven asked"}
    more = max(2 * update, 1) if finished == "end" else plan.config.run.num_updates
    return (
        f"the run in {found.run} ended at update {update:,}{why[finished]}; to go on: "
        f"{resuming(found.run)} --num-updates {more}"
    )


def counts_of(found: Found) -> Counts:
    """Return the counts of a run at its checkpoint.

    Raises:
        AgentError: the checkpoint has no such counts.
    """
    update, tensors = found.checkpoint.update, found.checkpoint.tensors
    names = ("games", "wins", "losses", "env_steps")
    with tensor_files.describing(found.path):
        counts = {name: int(tensors[name]) for name in names}
        seconds = round(float(tensors["seconds"]), 4)
    return Counts(update=update, seconds=seconds, **counts)


def tidy(run: Path) -> None:
    """Remove what killed processes left in a run's folder, unless it is in use."""
    with contextlib.suppress(OSError):
        lock = free_folders.FolderLock(run)
        files.remove_leftovers(run)
        lock.close()


def evaluations_before(found: Found | None) -> tuple[int, int] | None:
    """Return the number of a run's evaluations so far, and the update of the last."""
    if found is None:
        return None
    update = int(found.checkpoint.tensors["evaluated"])
    return found.checkpoint.positions.evaluations, update


def output_positions(found: Found | None) -> tuple[JsonObject | None, JsonObject]:
    """Return the positions of the console and of the loggers."""
    if found is None:
        return None, {}
    positions = found.checkpoint.positions
    return positions.console, positions.loggers
