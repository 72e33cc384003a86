"""Train an agent, by self-play by default; prove whether it can be beaten; save it.

python -m jax_ttt.train --seed 1
"""

import contextlib
import dataclasses
import functools
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import tyro
from msgspec import Meta

from jax_ttt import __version__, cli
from jax_ttt.__main__ import run_command
from jax_ttt.config.errors import (
    Refused,
    flag_name,
    require_package,
)
from jax_ttt.config.game_facts import (
    GAMES,
    enumerable_games,
    reason_game_is_not_searched,
)
from jax_ttt.config.ranges import Seed
from jax_ttt.config.shared_flags import GivenFlags, TrainingFlags, first_word
from jax_ttt.files import json_records
from jax_ttt.files.run_folder import (
    Plan,
    RunFolder,
    is_own_settings,
    make_new,
    own_fields,
    read_own_settings,
    read_settings,
    refused_errors,
)
from jax_ttt.runtime import interrupts, standard_streams
from jax_ttt.runtime.interrupts import StopRequest

if TYPE_CHECKING:
    from jax_ttt.files.checkpoint import LatestCheckpoint
    from jax_ttt.players.saved_agents import Agent
    from jax_ttt.runtime.mesh import Hardware
    from jax_ttt.training.recorder import Recorder
    from jax_ttt.training.run_state import RunStep

PROOF_SECONDS = 30.0
"""Limit of the enumeration at the end of a run without `--prove`."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args(TrainingFlags):
    """Train an agent by self-play or against an opponent, grade it, and save it.

    Exit codes: 0 done, 1 failed, 2 bad flags, 3 diverged (a value was not finite).
    After Ctrl-C (130), SIGTERM (143) or SIGHUP (129) the agent is saved, and --resume
    continues the run.
    """

    seed: Seed = 1
    """Seed of all random numbers."""
    # The flag --config; the field `config` has the settings.
    saved: Annotated[Path | None, tyro.conf.arg(name="config")] = None
    """Train with the settings and the seed of a saved run's config.json, or of its
    folder; other flags change them. The same CPU, with the same versions and number of
    threads, gives the same agent again; a GPU may not. Or with the settings, without a
    seed, of a TOML file of your own, as jax_ttt/config/presets.toml has them."""
    resume: Path | None = None
    """Continue the run in this folder from its latest checkpoint. On the same CPU, with
    the same versions and number of threads, it ends as if it had not been interrupted.
    Of its settings only --num-updates may change, to a larger number."""
    run_dir: Path | None = None
    """Folder to write to; by default runs/<time>-<preset>-seed<seed>. A run in it that
    saved neither an agent nor a checkpoint is replaced."""
    until_proven: bool = False
    """Stop at the first evaluation that proves the agent unbeatable in the seats it is
    trained for."""
    prove: tyro.conf.FlagCreatePairsOff[bool] = False
    """At the end, enumerate what the agent reaches against every opponent, in games of
    stones whose tree is too large, as long as memory lasts; without this flag for half
    a minute at most; not over processes. Ctrl-C stops the search and reports what was
    found so far."""
    no_prove: tyro.conf.FlagCreatePairsOff[bool] = False
    """Enumerate nothing at the end."""
    snapshots: bool = True
    """Keep the agents of the evaluations, at most about 32 of them, in the run's
    folder. Off by default where the game is not enumerable."""
    checkpoint_every: Annotated[float, Meta(ge=0, le=1e6)] = 10.0
    """Seconds between checkpoints, from which --resume continues. 0: only at the end of
    the run, and when it is interrupted."""
    keep: Annotated[int, Meta(ge=1, le=1000)] = 2
    """Number of checkpoints that stay in the run's folder."""
    details: tyro.conf.FlagCreatePairsOff[bool] = False
    """Also print, at each evaluation, the results of the games since the last one,
    epsilon, a table's size and the values of the first move; and at the end a game."""
    tensorboard: bool = False
    """Also write the metrics for TensorBoard, to the run's folder. Needs the extra
    `tensorboard`."""
    wandb: bool = False
    """Also log the metrics for Weights & Biases, project jax_ttt, offline unless
    $WANDB_MODE is set. Needs the extra `wandb`."""
    quiet: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print the verdict only."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print one JSON object at the end instead of everything else."""
    version: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print the version."""

    latest: tyro.conf.Suppress[Any] = None
    """What the run of --resume continues from."""

    @classmethod
    def with_defaults(cls, given: GivenFlags) -> Self:
        """Return the arguments of the run or preset that the flags name or imply."""
        word = functools.partial(first_word, given)
        preset, saved, folder = word("preset"), word("config"), word("resume")
        if folder is not None:
            for name, value in (("preset", preset), ("config", saved)):
                if value is not None:
                    rule = "must be left out with --resume"
                    raise Refused(f"--{name} {rule}, got {value!r}")
            return cls.resumed(Path(folder))
        if saved is None:
            defaults = super().with_defaults(given)
        elif preset is not None:
            rule = "--preset must be left out with --config"
            raise Refused(f"{rule}, got {preset!r}")
        elif is_own_settings(saved):
            preset, config = read_own_settings(Path(saved))
            defaults = cls(config=config, preset=preset, source=saved)
        else:
            defaults = cls.of_plan(read_settings(Path(saved)), saved)
        game = (word("env_id") or "").lower() or defaults.config.env_id
        return dataclasses.replace(defaults, snapshots=game in enumerable_games())

    @classmethod
    def has_game(cls, given: GivenFlags) -> bool:
        """Return whether a flag names the game, or the file of settings does."""
        saved = first_word(given, "config")
        if saved is None or super().has_game(given):
            return super().has_game(given)
        return not is_own_settings(saved) or "env_id" in own_fields(Path(saved))

    @classmethod
    def of_plan(cls, plan: Plan, source: str) -> Self:
        """Return the arguments with the settings and the seed of a saved run."""
        return cls(
            config=plan.config,
            preset=plan.preset,
            seed=plan.seed,
            files=plan.files,
            random_numbers=plan.random_numbers,
            source=source,
        )

    @classmethod
    def resumed(cls, path: Path) -> Self:
        """Return the arguments of the run in a folder, or of one of its files.

        Raises:
            Refused: another process writes to the folder, or it has no good checkpoint.
        """
        run = RunFolder(path.parent if path.is_file() else path)
        run.check_unlocked("--resume")
        from jax_ttt.files import checkpoint  # imports NumPy

        latest = checkpoint.newest_checkpoint(run)
        for reason in latest.damaged.values():
            standard_streams.print_stderr(
                f"warning: {reason}; going back to {latest.path}"
            )
        plan = latest.plan
        return dataclasses.replace(
            cls.of_plan(plan, str(latest.path)),
            # A run that goes on after its proof is not ended by a later one.
            until_proven=plan.until_proven and latest.checkpoint.finished is None,
            snapshots=plan.snapshots,
            tensorboard=plan.tensorboard,
            wandb=plan.wandb is not None,
            latest=latest,
        )

    @property
    def end_text(self) -> str | None:
        """The message for a run that has ended; None if it goes on."""
        if self.latest is None:
            return None
        asked = "num_updates" in self.given_fields
        return self.latest.end_text(self.config.num_updates if asked else None)


def main(args: Args, on_step: "Callable[[RunStep], None]" = lambda step: None) -> int:
    """Run the command and return its exit code.

    `on_step` is called with each step of the training before it is written.
    """
    if args.version:
        print(f"jax_ttt {__version__}")
        return 0
    check_args(args)
    latest, end_text = args.latest, args.end_text
    if end_text is not None and not args.json:
        print(end_text)
        return 0
    # From here on a signal only sets a flag: an exception while libraries load would be
    # lost in their own handlers.
    with interrupts.stop_request() as request, contextlib.ExitStack() as stack:
        hardware = cli.set_up_device(args.machine, args.parallel)
        from jax_ttt.runtime import distributed
        from jax_ttt.text import train_output
        from jax_ttt.training import agent_batch, loop, reproducibility, run_start

        plan = make_plan(args)
        reproducibility.check_random_numbers(args.random_numbers)
        learner = run_start.make_learner([plan.config], [plan.seed])
        keys = agent_batch.run_keys([plan.seed])
        # A signal may reach one process only, but all must stop: the others would wait
        # for it. The number of the signal is 0 where there was none, so the maximum has
        # it.
        if number := distributed.max_over_processes(request.number):
            return interrupts.report_interrupt(number)
        if latest is None:
            state = run_start.first_state(learner, keys)
        else:
            if end_text is not None:
                standard_streams.print_stderr(end_text)
            else:
                report_changes(latest, plan)
            state = run_start.restored_state(latest, learner, keys)
        recorder = open_recorder(args, plan)
        stack.callback(recorder.close)
        is_loud = not (args.quiet or args.json)
        if is_loud:  # most of the compilation follows, which prints nothing
            banner = train_output.banner(plan, hardware.name, recorder.run.path)
            print(banner, flush=True)
        counts = None if latest is None else state.counts_of()
        console = train_output.Console(plan.config, is_loud, args.details, counts)
        stack.callback(console.close)
        if latest is None:
            recorder.begin()
        else:
            recorder.resume(latest, run_start.restored_step(learner, state))

        def stop() -> bool:
            # The recorder has the grade of the latest evaluation.
            proven = args.until_proven and recorder.grade.unbeatable is True
            return bool(distributed.max_over_processes(bool(request) or proven))

        steps = loop.training_steps(
            learner,
            state,
            stop=stop,
            prove=lambda step: with_proof(args, step, recorder, request, hardware),
            mesh=hardware.mesh,
        )
        del state  # else its memory would be held during the run
        with recorder.following(request):
            for step in steps if end_text is None else ():
                on_step(step)
                recorder.add(step, request)
                console.show(step, recorder.grade)
        number = distributed.max_over_processes(request.number)
    return report_result(args, recorder, number)


def check_args(args: Args) -> None:
    """Refuse what can't be done, before JAX is loaded.

    Raises:
        Refused: a flag is wrong, or a package is absent.
    """
    config = args.config
    not_searched = reason_game_is_not_searched(config.env_id)
    games = ", ".join(enumerable_games())
    provable = f"used with an enumerable game ({games}), or with --start-share"
    if not_searched:
        provable = f"left out: {not_searched}"
    refusals = [
        (args.details and args.quiet, "--details must be left out with --quiet"),
        (args.details and args.json, "--details must be left out with --json"),
        (args.quiet and args.json, "--quiet must be left out with --json"),
        (args.prove and not_searched, f"--prove must be left out: {not_searched}"),
        (
            args.prove and args.parallel.distributed,
            "--prove must be left out with --distributed",
        ),
        (
            args.until_proven and not config.can_be_proven,
            f"--until-proven must be {provable}, got {config.env_id!r}",
        ),
    ]
    for is_refused, reason in refusals:
        if is_refused:
            raise Refused(reason)
    if args.tensorboard:
        require_package("tensorboardX", "tensorboard", "--tensorboard")
    if args.wandb:
        require_package("wandb", "wandb", "--wandb")
    if args.latest is not None:
        check_same(args, args.latest)
    elif args.run_dir is not None:
        run = RunFolder(args.run_dir)
        run.check_unlocked("--run-dir")
        run.files_to_replace()


def make_plan(args: Args) -> Plan:
    """Return what the command line asks of the run.

    Raises:
        Refused: a player of the settings can't be used, or its file has changed.
    """
    from jax_ttt.players import registry

    wandb = None if args.latest is None else args.latest.plan.wandb
    return Plan(
        config=args.config,
        preset=args.preset,
        seed=args.seed,
        files=registry.check_files(args.config, args.files, is_new=args.latest is None),
        until_proven=args.until_proven,
        snapshots=args.snapshots,
        tensorboard=args.tensorboard,
        wandb=(wandb or secrets.token_hex(4)) if args.wandb else None,
    )


def check_same(args: Args, latest: "LatestCheckpoint") -> None:
    """Raise `Refused` if flags change more than the end of a run that continues.

    Only a longer `num_updates` and other loggers are allowed.
    """
    before, now = (
        {
            "preset": source.preset,
            "seed": source.seed,
            "snapshots": source.snapshots,
            **source.config.as_dict(),
            **(source.config.own.settings if source.config.own else {}),
            "own": None,  # a run that can be read has the learner of this process
        }
        for source in (latest.plan, args)
    )
    if args.config.num_updates > latest.plan.config.num_updates:
        del now["num_updates"]
    changed = [
        f"{flag_name(name)} is {before.get(name)} in this run, got {value}"
        for name, value in now.items()
        if value != before.get(name)
    ]
    if args.run_dir is not None:
        changed.append("--run-dir must be left out")
    if changed:
        path = latest.run.path
        raise Refused(
            f"--resume {path}: {'; '.join(changed)}. Leave out what changes the run, "
            f"or begin another one with --config {path}"
        )


def open_recorder(args: Args, plan: Plan) -> "Recorder":
    """Make and lock the run's folder, and return the recorder of the run.

    Of a run that has ended, nothing is written.

    Raises:
        Refused: the folder can't be made, or another process writes to it.
    """
    from jax_ttt.runtime import distributed
    from jax_ttt.training.recorder import Recorder

    writes = distributed.is_writer() and args.end_text is None
    run, flag = RunFolder(args.run_dir or Path()), "--run-dir"
    if args.latest is not None:
        run, flag = args.latest.run, "--resume"
    elif args.run_dir is None and writes:
        run = RunFolder(make_new(Path.mkdir, f"{args.preset}-seed{args.seed}"))
    with refused_errors(f"{flag} {run.path}"):
        return Recorder(
            run,
            plan,
            save_every=args.checkpoint_every,
            keep=args.keep,
            writes=writes,
        )


def with_proof(
    args: Args,
    step: "RunStep",
    recorder: "Recorder",
    request: StopRequest,
    hardware: "Hardware",
) -> "RunStep":
    """Return the last evaluation with the results of a search of all lines of play.

    Nothing is searched where it would not find more. The search ends after
    `PROOF_SECONDS`, with `--prove` only with its last line, or at a signal.
    """
    from jax_ttt.grading import counterexamples
    from jax_ttt.runtime import distributed
    from jax_ttt.text import train_output
    from jax_ttt.training import run_state

    config, evaluation = args.config, step.evaluation
    if args.no_prove or distributed.num_processes() > 1 or request or not evaluation:
        return step
    seconds = None if args.prove else PROOF_SECONDS
    grade = run_state.grade_of(config, evaluation)
    if not counterexamples.may_find_more(config, grade, seconds):
        return step
    recorder.save_before_search(step, grade)
    with train_output.search_display() as show:
        searched = counterexamples.prove_within(
            config=config,
            params=step.params(),
            seconds=seconds,
            stop=lambda: bool(request),
            show=show,
            mesh=hardware.mesh,
        )
    searched = counterexamples.merge_searches(grade.searched, searched)
    return step._replace(evaluation=evaluation._replace(searched=searched))


def report_changes(latest: "LatestCheckpoint", plan: Plan) -> None:
    """Print how this process differs from the one that began the run."""
    from jax_ttt.training import reproducibility

    saved = json_records.to_dict(latest.plan)
    if changed := reproducibility.environment_differences(saved):
        standard_streams.print_stderr(
            f"warning: {'; '.join(changed)}: numbers may be rounded differently, so "
            "the run continues, but its bits may differ"
        )
    then, now = latest.checkpoint.num_updates, plan.config.num_updates
    if now != then:
        standard_streams.print_stderr(
            f"num_updates is {now:,}, up from {then:,}: from here on, epsilon and the "
            f"learning rate follow the schedules of {now:,} updates, so the agent "
            f"differs from that of a run with --num-updates {now} from its beginning"
        )


def report_result(args: Args, recorder: "Recorder", number: int) -> int:
    """Print the result, and return the exit code.

    `number` is the number of the signal that interrupted the run, or 0.
    """
    from jax_ttt.text import train_output

    run, agent = recorder.run, graded_here(recorder.agent)
    text = train_output.end_text(
        run=run,
        preset=args.preset,
        agent=agent,
        progress=recorder.last_step,
        stopped=recorder.finished or "interrupted",
        as_json=args.json,
        quiet=args.quiet,
        details=args.details,
    )
    print(text)
    if recorder.finished is None:
        standard_streams.print_stderr(
            f"interrupted at update {agent.num_updates:,}: saved {run.agent}; "
            f"{run.how_to_continue()}"
        )
        return 128 + number
    return 0


def graded_here(agent: "Agent") -> "Agent":
    """Return an agent with a grade that is not by a file, where that takes no time."""
    from jax_ttt.grading import grader
    from jax_ttt.players import registry

    if not (agent.grade.by_file and GAMES[agent.config.env_id].enumerable):
        return agent
    player = registry.agent_player("the agent", agent)
    grade = grader.follow_lines(player)
    return agent.with_grade(dataclasses.replace(grade, details=None))


COMMAND = cli.Command(
    module="jax_ttt.train",
    args_type=Args,
    main=main,
    examples={
        "--seed 2": "Train the default agent with another seed.",
        "--preset table --until-proven": "Train a table until it is proven unbeatable.",
        "--opponent minimax --num-updates 2000": "Train against best play.",
        "--config runs/RUN/config.json --seed 3": "Train again, with another seed.",
        "--resume runs/RUN": "Continue a run that was interrupted.",
    },
    first=(
        "preset",
        "env_id",
        "rules",
        "opponent",
        "seed",
        "num_updates",
        "learning_rate",
        "until_proven",
        "run_dir",
        "resume",
        "device",
        "quiet",
        "json",
    ),
)

if __name__ == "__main__":
    sys.exit(run_command(COMMAND))
