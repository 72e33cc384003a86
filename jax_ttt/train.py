"""Train an agent, by self-play by default; prove whether it can be beaten; save it.

python -m jax_ttt.train --seed 1
"""

import contextlib
import dataclasses
import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from jax_ttt import __version__, cli
from jax_ttt.__main__ import run_command
from jax_ttt.checkpoints import resume
from jax_ttt.checkpoints.contents import LOGGERS, Plan
from jax_ttt.checkpoints.saved import Found
from jax_ttt.config.catalogue import ENUMERABLE, why_not_searched
from jax_ttt.config.errors import SettingError, UsageError
from jax_ttt.config.ranges import SEED_RANGE, Range
from jax_ttt.config.settings import Config
from jax_ttt.players import names
from jax_ttt.results import free_folders
from jax_ttt.results.saved_settings import read_settings
from jax_ttt.results.tensor_files import AgentError
from jax_ttt.runtime import interrupts, streams
from jax_ttt.runtime.interrupts import StopRequest
from jax_ttt.runtime.time_spans import TimeSpans

if TYPE_CHECKING:
    from jax_ttt.players.agents import Agent
    from jax_ttt.scaling.mesh import Hardware
    from jax_ttt.training.run_folder import RunFolder
    from jax_ttt.training.run_state import Progress

EVERY = Range(float, 0, 1e6)
KEEP = Range(int, 1, 1000)
PROOF_SECONDS = 30.0
"""Of an enumeration at the end that is not asked for."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args(cli.Training):
    """Train an agent by self-play or against an opponent, grade it, and save it.

    Exit codes: 0 done, 1 failed, 2 bad flags, 3 diverged (a value was not finite).
    After Ctrl-C (130), SIGTERM (143) or SIGHUP (129) the agent is saved, and --resume
    continues the run.
    """

    seed: Annotated[int, SEED_RANGE] = 1
    """Seed of all random numbers."""
    saved: Annotated[Path | None, tyro.conf.arg(name="config")] = None
    """Train with the settings and the seed of a saved run's config.json, or of its
    folder; other flags change them. The same device gives the same agent again."""
    resume: Path | None = None
    """Continue the run in this folder from its latest checkpoint, as if it had not been
    interrupted. Of its settings only --num-updates may change, to a larger number."""
    run_dir: Path | None = None
    """Folder to write to; by default runs/<time>-<preset>-seed<seed>. A run in it that
    saved neither an agent nor a checkpoint is replaced."""
    until_proven: tyro.conf.FlagCreatePairsOff[bool] = False
    """Stop at the first evaluation that proves the agent unbeatable in the seats it is
    trained for."""
    prove: tyro.conf.FlagCreatePairsOff[bool] = False
    """At the end, enumerate what the agent reaches against every opponent, in games of
    stones whose tree is too large, as long as memory lasts; without this flag for half
    a minute at most; not over processes. Ctrl-C ends it with what is known."""
    no_prove: tyro.conf.FlagCreatePairsOff[bool] = False
    """Enumerate nothing at the end."""
    snapshots: bool = True
    """Keep the weights at the evaluations, rounded and at most 32 times, in the run's
    folder. Off by default where the game is not enumerable."""
    checkpoint_every: Annotated[float, EVERY] = 10.0
    """Seconds between checkpoints, from which --resume continues. 0: only at the end of
    the run, and when it is interrupted."""
    keep: Annotated[int, KEEP] = 2
    """Number of checkpoints that stay in the run's folder."""
    details: tyro.conf.FlagCreatePairsOff[bool] = False
    """Also print, at each evaluation, the results of the games since the last one,
    epsilon, a table's size and the values of the first move; and at the end a game."""
    tensorboard: tyro.conf.FlagCreatePairsOff[bool] = False
    """Also write the metrics for TensorBoard, to the run's folder. Needs the extra
    `tensorboard`."""
    wandb: tyro.conf.FlagCreatePairsOff[bool] = False
    """Also log the metrics for Weights & Biases, project jax_ttt, offline unless
    $WANDB_MODE is set. Needs the extra `wandb`."""
    quiet: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print the verdict only."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print one JSON object at the end instead of everything else."""
    version: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print the version."""

    found: tyro.conf.Suppress[Found | None] = (
        None  # the checkpoint where the run continues
    )

    @classmethod
    def usual(cls, basis: cli.Basis) -> "Args":
        """Return the arguments of the run, the file or the preset that is named."""
        if basis.resume:
            for name, value in (("preset", basis.preset), ("config", basis.config)):
                if value:
                    rule = f"must be left out with --resume, got {value!r}"
                    raise UsageError(f"--{name} {rule}")
            return cls.resumed(Path(basis.resume))
        if basis.config and basis.preset:
            rule = f"must be left out with --config, got {basis.preset!r}"
            raise UsageError(f"--preset {rule}")
        if basis.config:
            config, preset, seed = read_settings(Path(basis.config))
            usual = cls(config=config, preset=preset, seed=seed, source=basis.config)
        else:
            usual = super().usual(basis)
        env_id = basis.env_id or usual.config.env_id
        return dataclasses.replace(usual, snapshots=env_id in ENUMERABLE)

    @classmethod
    def resumed(cls, run: Path) -> "Args":
        """Return the arguments of the run in a folder."""
        return dataclasses.replace(cls(), **resume.arguments_of(resume.found_in(run)))

    @property
    def plan(self) -> Plan:
        """What the run is asked for; raises `SettingError`."""
        fields = ("preset", "seed", "until_proven", "snapshots")
        asked = {field: getattr(self, field) for field in fields}
        used = tuple(name for name in LOGGERS if getattr(self, name))
        return Plan(config=self.config, loggers=used, **asked)


def main(args: Args) -> int:
    """Run the command and return its exit code."""
    times = TimeSpans()
    if args.version:
        print(f"jax_ttt {__version__}")
        return 0
    config = checked_config(args)
    text = resume.ended(args.found, args.plan, "num_updates" in args.given)
    if args.found and text:
        resume.tidy(args.found.run)
        if not args.json:
            print(text)
            return 0
        streams.tell(text)
        cli.set_up(args.machine, args.spread)
        print(result_of_ended(args.found))
        return 0
    # From here on a signal is noted: raised while libraries load, it gets lost there.
    with interrupts.stop_request() as request:
        with times.recording("imports"):
            hardware = cli.set_up(args.machine, args.spread)
            from jax_ttt.scaling import processes

        if not processes.writes():  # nor is anything printed
            args = dataclasses.replace(args, tensorboard=False, wandb=False)
        return train_in_folder(args, config, hardware, request, times)


def checked_config(args: Args) -> Config:
    """Return the settings; refuse what can't be done, before JAX is loaded.

    Raises:
        Refused: a setting or a flag is wrong, or a package is absent.
    """
    config = args.config
    args.spread.check_shares(config)
    names.check_opponent(config.opponent.opponent, config.env_id)
    for field, other in (("details", "quiet"), ("details", "json"), ("quiet", "json")):
        if getattr(args, field) and getattr(args, other):
            raise SettingError(field, f"left out: it has no effect with {other}", True)
    if args.prove and (reason := why_not_searched(config.env_id)):
        raise SettingError("prove", f"left out: {reason}", True)
    if args.prove and args.spread.distributed:
        raise SettingError("prove", "left out with --distributed", True)
    if args.until_proven and not config.run.can_be_proven:
        games = ", ".join(ENUMERABLE)
        rule = f"used with an enumerable game ({games}), or with --start-share"
        raise SettingError("until_proven", rule, config.env_id)
    if args.tensorboard:
        cli.require("tensorboardX", "tensorboard", "--tensorboard")
    if args.wandb:
        cli.require("wandb", "wandb", "--wandb")
    if args.found is not None:
        resume.check_same(args.found, args.plan, args.run_dir)
    else:
        free_folders.check_run_dir(args.run_dir)
    return config


def result_of_ended(found: Found) -> str:
    """Return the result of a run that ended by itself as JSON, from its files.

    Raises:
        AgentError: the run's agent is missing or damaged, or not the one of its end.
    """
    from jax_ttt.players import agents
    from jax_ttt.reports import console

    checkpoint = found.checkpoint
    if checkpoint.finished is None:
        raise ValueError("the run has not ended")
    agent = agents.load_agent(found.run)
    if agent.num_updates != checkpoint.update:
        raise AgentError(
            f"{found.run / 'agent.safetensors'}: after {agent.num_updates:,} updates, "
            f"but the run ended at update {checkpoint.update:,}"
        )
    return console.run_as_json(
        run=found.run,
        preset=checkpoint.plan.preset,
        agent=agent,
        counts=resume.counts_of(found),
        moves=checkpoint.tensors.get("last.moves"),
        stopped=checkpoint.finished,
    )


def train_in_folder(
    args: Args,
    config: Config,
    hardware: "Hardware",
    request: StopRequest,
    times: TimeSpans,
) -> int:
    """Make the run's folder, train in it, and return the exit code."""
    with times.recording("imports"):
        from jax_ttt.checkpoints import environment, loggers, run_folders, structure
        from jax_ttt.checkpoints.recorder import Recorder, Schedule
        from jax_ttt.reports import console
        from jax_ttt.scaling import mesh as meshes
        from jax_ttt.scaling import processes
        from jax_ttt.training import graded_steps, loop
        from jax_ttt.training.device import Layout
        from jax_ttt.training.run_state import Progress, run_key

    meshes.check_shares(config, hardware.mesh)
    learner = loop.make_learner(config, args.seed)
    if number := processes.max_over_processes(request.number):
        return cli.interrupted(number)
    found, is_loud = args.found, not (args.quiet or args.json)
    if found is not None:
        environment.tell_changes(found, config)
    folder = run_folders.folder_of(found, args.run_dir, args.preset, args.seed, times)
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.closing(folder))
        begin_files(args, config, folder)
        if is_loud:
            about = console.banner(
                config, args.preset, args.seed, hardware.name, folder.path
            )
            print(about, flush=True)  # before it compiles
        shown_at, logged_at = resume.output_positions(found)
        shown = console.Console(config, is_loud, args.details, shown_at)
        stack.enter_context(contextlib.closing(shown))
        named = {"preset": args.preset, "seed": args.seed, **config.as_dict()}
        open_loggers = loggers.loggers_of(
            folder.path, named, args.tensorboard, args.wandb, logged_at
        )
        stack.enter_context(contextlib.closing(open_loggers))
        schedule = Schedule(args.checkpoint_every, args.keep)
        recorder = Recorder(args.plan, folder, shown, open_loggers, schedule, found)

        def stop() -> bool:
            proven = args.until_proven and recorder.grades.is_proven
            return bool(processes.max_over_processes(bool(request) or proven))

        layout = Layout(mesh=hardware.mesh)
        key = run_key(args.seed)
        state = None if found is None else structure.restored(found, learner, key)
        steps = loop.train(learner, key, state, stop=stop, times=times, layout=layout)
        if state is not None:
            steps = itertools.chain([Progress(state, None, None)], steps)
        recorder.follow(graded_steps.with_grades(steps), request)
        if not args.no_prove and processes.count() == 1 and not request:
            shown.close()
            seconds = None if args.prove else PROOF_SECONDS
            console.prove_agent(recorder, seconds, lambda: bool(request), hardware.mesh)
    return finish(args, folder, recorder.agent, recorder.progress, request)


def begin_files(args: Args, config: Config, folder: "RunFolder") -> None:
    """Write the settings of a new run to its folder, and keep snapshots if asked."""
    if args.found is None:
        if folder.replaced:
            why = "it left neither an agent nor a checkpoint"
            streams.tell(f"replacing the run in {folder.path}: {why}")
        folder.write_config(config, args.seed, args.preset)
    if args.snapshots:
        before = resume.evaluations_before(args.found)
        folder.keep_snapshots(config, args.seed, before)


def finish(
    args: Args,
    folder: "RunFolder",
    agent: "Agent",
    progress: "Progress",
    request: StopRequest,
) -> int:
    """Write the times, print the result, and return the exit code."""
    from jax_ttt.reports import console
    from jax_ttt.scaling import processes

    try:
        folder.write_times()
    except OSError as error:  # the agent is saved: it must not cost the run
        streams.tell(f"warning: {folder.times_path}: {error.strerror}")
    complete = agent.num_updates == agent.config.run.num_updates
    number = processes.max_over_processes(request.number)
    stopped = "end" if complete else "interrupted" if number else "proven"
    text = console.end_text(
        folder=folder,
        preset=args.preset,
        agent=agent,
        progress=progress,
        stopped=stopped,
        as_json=args.json,
        quiet=args.quiet,
        details=args.details,
    )
    print(text)
    if stopped == "interrupted":
        streams.tell(
            f"interrupted at update {agent.num_updates:,}: saved {folder.agent_path}; "
            f"{free_folders.how_to_continue(folder.path)}"
        )
        return 128 + number
    return 0


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
)

if __name__ == "__main__":
    sys.exit(run_command(COMMAND))
