"""Train an agent, by self-play by default; prove whether it can be beaten; save it.

python -m jax_ttt.train --seed 1
"""

if __name__ == "__main__":  # before the other imports, which take a moment
    from jax_ttt.runtime import interrupts

    interrupts.leave_on_import()

import contextlib
import dataclasses
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from jax_ttt import __version__, cli
from jax_ttt.config.catalogue import ENUMERABLE, GAMES
from jax_ttt.config.errors import SettingError
from jax_ttt.config.ranges import SEED_RANGE
from jax_ttt.config.settings import Config
from jax_ttt.players import names
from jax_ttt.results.grades import Grades
from jax_ttt.runtime import interrupts, streams
from jax_ttt.runtime.interrupts import Signals, interruptible
from jax_ttt.runtime.time_spans import TimeSpans
from jax_ttt.training import free_folders, loggers
from jax_ttt.training.loggers import Loggers

if TYPE_CHECKING:
    from jax_ttt.envs.opponents import Opponent
    from jax_ttt.players.agents import Agent
    from jax_ttt.reports.console import Console
    from jax_ttt.training.run_folder import RunFolder
    from jax_ttt.training.run_state import Progress

BEFORE_TRAINING = "stopping before the training begins; again: leave at once"
_COMPILING = "stopping when the programs are compiled; again: leave without saving"
_NOT_SAVED = "interrupted twice: nothing was saved, the training is lost"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args(cli.Run):
    """Train an agent by self-play or against an opponent, grade it, and save it.

    Exit codes: 0 done, 1 failed, 2 bad flags, 3 diverged (a value was not finite).
    After Ctrl-C (130), SIGTERM (143) or SIGHUP (129) the agent is saved.
    """

    seed: Annotated[int, SEED_RANGE] = 1
    """Seed of all random numbers. 0 to 4,294,967,295."""
    saved: Annotated[Path | None, tyro.conf.arg(name="config")] = None
    """Train with the settings and the seed of a saved run's config.json, or of its
    folder; other flags change them. The same device gives the same agent again."""
    run_dir: Path | None = None
    """Folder to write to; by default runs/<time>-<preset>-seed<seed>. A run in it that
    saved no agent is replaced."""
    until_proven: tyro.conf.FlagCreatePairsOff[bool] = False
    """Stop at the first evaluation that proves the agent unbeatable in the seats it is
    trained for."""
    snapshots: bool = True
    """Keep the weights at the evaluations, rounded and at most 32 times, in the run's
    folder. Off by default where the game is not enumerable."""
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


@cli.guarded
def main(argv: Sequence[str] | None) -> int:
    """Run the command and return its exit code."""
    times = TimeSpans(own_process=argv is None)
    args = cli.parse_settings(Args, argv, "train")
    if args.version:
        print(f"jax_ttt {__version__}")
        return 0
    config = checked_config(args)
    # From here on a signal is noted: raised while libraries load, it gets lost there.
    # Who calls `main` with arguments keeps the process.
    with interruptible(_NOT_SAVED, argv is None, BEFORE_TRAINING) as signals:
        with times.recording("imports"):
            import jax.monitoring  # noqa: F401  before JAX is set up, to be recorded
        device = cli.set_up(args, 6)
        with times.recording_compilation():
            return train_in_new_folder(args, config, device, signals, times)


def checked_config(args: Args) -> Config:
    """Return the settings; refuse what can't be done, before JAX is loaded.

    Raises:
        Refused: a setting or a flag is wrong, or a package is absent.
    """
    config = args.config
    names.check_opponent(config.opponent.opponent, config.env_id)
    SEED_RANGE.check("seed", args.seed)
    for field, other in (("details", "quiet"), ("details", "json"), ("quiet", "json")):
        if getattr(args, field) and getattr(args, other):
            raise SettingError(field, f"left out: it has no effect with {other}", True)
    if args.until_proven and not GAMES[config.env_id].enumerable:
        rule = f"used with an enumerable game: {', '.join(ENUMERABLE)}"
        raise SettingError("until_proven", rule, config.env_id)
    if args.tensorboard:
        cli.require("tensorboardX", "tensorboard", "--tensorboard")
    if args.wandb:
        cli.require("wandb", "wandb", "--wandb")
    free_folders.check_run_dir(args.run_dir)
    return config


def train_in_new_folder(
    args: Args, config: Config, device: str, signals: Signals, times: TimeSpans
) -> int:
    """Make opponent and folder, train in it, and return the exit code."""
    with times.recording("imports"):
        from jax_ttt.training import loop, run_folder
    loop.check_first_move(config)
    opponent = loop.make_opponent(config, args.seed)
    if signals:
        return cli.interrupted(signals[0])
    folder = run_folder.make_folder(args.run_dir, args.preset, args.seed, times)
    with contextlib.closing(folder):
        if folder.replaced:
            streams.tell(f"replacing the run in {folder.path}: it left no agent")
        folder.write_config(config, args.seed, args.preset)
        if args.snapshots:
            folder.keep_snapshots(config, args.seed)
        return train_in_folder(args, config, device, folder, signals, opponent)


def train_in_folder(
    args: Args,
    config: Config,
    device: str,
    folder: "RunFolder",
    signals: Signals,
    opponent: "Opponent | None",
) -> int:
    """Train, show and record how it goes, and save the agent."""
    with folder.times.recording("imports"):
        from jax_ttt.envs import tree as trees
        from jax_ttt.players import agents
        from jax_ttt.reports import console
        from jax_ttt.training import graded_steps, loop

    loud = not (args.quiet or args.json)
    if loud:
        about = console.banner(config, args.preset, args.seed, device, folder.path)
        print(about, flush=True)  # before it compiles

    named = {"preset": args.preset, "seed": args.seed, **config.as_dict()}

    def agent() -> "Agent":
        return agents.Agent(config, latest.params, args.seed, latest.update, grades)

    def stop() -> bool:
        return bool(signals) or (args.until_proven and grades.is_proven)

    with (
        contextlib.closing(console.Console(config, loud, args.details)) as shown,
        contextlib.closing(
            loggers.opened(folder.path, named, args.tensorboard, args.wandb)
        ) as open_loggers,
    ):
        signals.first_words = _COMPILING
        loop.compile_ahead(config, args.seed, opponent, folder.times)
        tree = trees.game_tree(config.env_id)
        steps = loop.train_from_scratch(
            config, args.seed, tree, stop, opponent, folder.times
        )
        steps = graded_steps.with_grades(steps)
        latest, grades = start = next(steps)  # a run has at least its first evaluation
        signals.first_words = interrupts.STOPPING
        try:
            for latest, grades in itertools.chain([start], steps):
                record(latest, grades, shown, folder, open_loggers)
        except OSError:  # the reader of our output has ended, or the disk is full
            save_in_folder(folder, agent(), signals)
            raise
        save_in_folder(folder, agent(), signals)
    return finish(args, folder, agent(), latest, signals)


def record(
    progress: "Progress",
    grades: Grades,
    shown: "Console",
    folder: "RunFolder",
    open_loggers: Loggers,
) -> None:
    """Show a step of the run and write it down."""
    from jax_ttt.training import graded_steps

    row = graded_steps.row(progress, grades)
    shown.show(progress, grades)
    folder.write_row(row)
    folder.add_snapshot(progress)
    open_loggers.write_row(row)


def save_in_folder(folder: "RunFolder", agent: "Agent", signals: Signals) -> None:
    """Save the agent, and have a second signal say so."""
    folder.save_agent(agent)
    signals.first_words = f"the agent is saved in {folder.path}"
    signals.last_words = f"interrupted twice: {signals.first_words}"


def finish(
    args: Args,
    folder: "RunFolder",
    agent: "Agent",
    progress: "Progress",
    signals: Signals,
) -> int:
    """Write where the time went, say what came of the run, return its exit code."""
    from jax_ttt.envs import tree as trees
    from jax_ttt.reports import console, result_text
    from jax_ttt.solver import policies

    game, probs = agent.config.env_id, None
    host_tree = trees.host_tree(game)
    if host_tree is not None:
        probs = policies.deterministic(host_tree, progress.state.last.moves)
    result = result_text.verdict(
        game, agent.score, host_tree, probs, agent.config.seats
    )
    try:
        folder.write_times()
    except OSError as error:  # the agent is saved: it must not cost the run
        streams.tell(f"warning: {folder.times_path}: {error.strerror}")
    complete = agent.num_updates == agent.config.run.num_updates
    stopped = "end" if complete else "interrupted" if signals else "proven"
    if args.json:
        paths = (folder.path, folder.agent_path)
        about = console.run_as_json(
            *paths, args.preset, agent, progress, result, stopped
        )
        print(about)
    elif args.quiet:
        print(result)
    else:
        print(console.closing(folder.path, agent, progress, result, stopped))
        if args.details and probs is not None:
            example = result_text.likeliest_game(game, trees.enumerated(game), probs)
            print(f"\nan example game\n{example}")
    if stopped == "interrupted":
        streams.tell(
            f"interrupted at update {agent.num_updates:,}: saved {folder.agent_path}"
        )
        return 128 + signals[0]
    return 0


if __name__ == "__main__":
    sys.exit(main(None))
