"""Train many agents, over seeds and settings; count those that are proven unbeatable.

python -m jax_ttt.sweep --num-seeds 64
"""

import contextlib
import dataclasses
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
from tqdm import tqdm

from jax_ttt import __version__, cli
from jax_ttt.__main__ import run_command
from jax_ttt.config import settings_grid
from jax_ttt.config.errors import SettingError, UsageError, flag_name
from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.ranges import SEED_RANGE, Range, check_seeds
from jax_ttt.config.settings import END_OF_START, Config
from jax_ttt.config.settings_grid import Point
from jax_ttt.files import json_records, sweep_file
from jax_ttt.files.metrics_rows import AgentResult
from jax_ttt.files.run_folder import RUNS
from jax_ttt.files.sweep_file import Sweep, SweepFile
from jax_ttt.grading import agent_groups
from jax_ttt.grading.agent_groups import GroupResult
from jax_ttt.pictures import picture as pictures
from jax_ttt.players import player_names
from jax_ttt.runtime import atomic_files, interrupts, standard_streams
from jax_ttt.runtime.interrupts import StopRequest
from jax_ttt.runtime.words import count_phrase

if TYPE_CHECKING:
    from jax.sharding import Mesh

_NUM_SEEDS = Range(int, 1, 100_000)
_AT_ONCE = Range(int, 0, 2**16)
WITH_RESUME = {
    "resume",
    "at_once",
    "json",
    "csv",
    "svg",
    "device",
    "no_compile_cache",
    "devices",
    "distributed",
    "coordinator",
    "num_processes",
    "process_id",
}
"""The fields that may be given with `--resume`."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args(cli.TrainingFlags):
    """Train many agents, over seeds and settings; count those proven unbeatable.

    On a CPU the agents train one after another, in one compiled program, and each is
    the same agent that train gives for its seed. On an accelerator many train at once:
    rounding differs there, so they are not the same agents as with train.

    Each agent is graded once, at the end of its training, and then kept in the file
    runs/<time>-sweep-<preset>.jsonl, from which --resume continues.

    Exit codes: 0 done, 1 failed, 2 bad flags, 129 hung up, 130 Ctrl-C, 143 terminated
    (what is finished is kept).
    """

    num_seeds: Annotated[int, _NUM_SEEDS] = 64
    """Agents to train for each combination of settings."""
    first_seed: Annotated[int, SEED_RANGE] = 1000
    """The first seed; the others follow it."""
    grid: tuple[str, ...] = ()
    """Settings to vary, each with its values; all combinations are trained."""
    at_once: Annotated[int, _AT_ONCE] = 0
    """Agents to train at once. 0: one on a CPU, and on an accelerator as
    many as fit in its memory."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print one JSON object instead of the table."""
    csv: Path | None = None
    """File to write a row for each agent to."""
    resume: Path | None = None
    """Continue a sweep from its file, with its settings. Agents that are finished are
    not trained again."""
    svg: Path | None = None
    """File for the picture, SVG, PNG or PDF by its ending: the wins of each agent, over
    the values of one setting, or the share that is proven over two; needs the extra
    `plots`."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SweepResult:
    """The output of `sweep --json`."""

    device: str
    """The device that the program ran on."""
    preset: str
    """The preset that the settings started from."""
    first_seed: int
    """The first seed; the others follow it."""
    file: str
    """The file of the agents."""
    seconds: float
    """Time of the whole command."""
    groups: tuple[GroupResult, ...]
    """One for each combination of settings."""


def main(args: Args) -> int:
    """Run the command and return its exit code."""
    if args.resume is not None:
        sweep = sweep_to_continue(args.resume, args.given_fields)
        args = with_settings(args, sweep)
    else:
        args = with_given_ends(args)
    points = points_to_train(args)
    with interrupts.stop_request() as request:
        hardware = cli.set_up_device(args.machine, args.spread)
        from jax_ttt.runtime import distributed

        check_devices(points, hardware.mesh)
        check_sweep_opponents(args, points)
        begin = time.perf_counter()
        with contextlib.closing(open_file(args)) as file:
            old = len(file.agents)
            try:
                train_agents(points, file, args.at_once or None, request, hardware.mesh)
            finally:  # also after an error or Ctrl-C, report the finished agents
                groups = [
                    Group(point=point, config=config, rows=file.rows(number))
                    for number, (point, config) in enumerate(points)
                ]
                finished = [group for group in groups if group.rows]
                num_new = len(file.agents) - old
                seconds = time.perf_counter() - begin
                if distributed.is_writer():
                    write_results(args, hardware.name, file, finished, num_new, seconds)
                if len(file.agents) < args.num_seeds * len(groups):
                    path = shlex.quote(str(file.path))
                    again = f"python -m jax_ttt.sweep --resume {path}"
                    standard_streams.print_stderr(f"to train the others: {again}")
            number = distributed.max_over_processes(request.number)
        return cli.report_interrupt(number) if number else 0


def sweep_to_continue(path: Path, given_fields: Sequence[str]) -> Sweep:
    """Return the sweep of a file; refuse flags that would change its settings."""
    for name in sorted({*given_fields} - WITH_RESUME):
        rule = f"left out with --resume, which has the settings of {path}"
        raise UsageError(f"{flag_name(name)} must be {rule}")
    return sweep_file.read_sweep(path)


def with_settings(args: Args, sweep: Sweep) -> Args:
    """Return the arguments with the saved sweep's settings."""
    fields = {name: getattr(sweep, name) for name in ("preset", "grid", "first_seed")}
    return dataclasses.replace(
        args,
        config=sweep.config,
        source=str(args.resume),
        num_seeds=sweep.num_seeds,
        **fields,
    )


def with_given_ends(args: Args) -> Args:
    """Return the arguments with a grid that keeps the given ends of schedules.

    Otherwise the end of a schedule would follow its start, which the grid varies.
    """
    varied = settings_grid.read_grid(args.grid)
    ends = [
        f"{end}={args.config.value(end)}"
        for start, end in END_OF_START.items()
        if start in varied and end in args.given_fields and end not in varied
    ]
    return dataclasses.replace(args, grid=(*args.grid, *ends))


def open_file(args: Args) -> SweepFile:
    """Open the file of the sweep to continue, or make the file of a new sweep."""
    from jax_ttt.runtime import distributed

    if args.resume is not None:
        return sweep_file.open_sweep_file(args.resume, writes=distributed.is_writer())
    sweep = Sweep(
        config=args.config,
        preset=args.preset,
        grid=args.grid,
        first_seed=args.first_seed,
        num_seeds=args.num_seeds,
    )
    try:
        return sweep_file.make_sweep_file(sweep, writes=distributed.is_writer())
    except atomic_files.WriteError:  # a full disk
        raise
    except OSError as error:
        path = error.filename or RUNS
        raise UsageError(f"{path}: {error.strerror}") from None


def points_to_train(args: Args) -> list[tuple[Point, Config]]:
    """Return the combinations of settings to train.

    Raises:
        Refused: a combination can't be trained, or a flag is wrong.
    """
    check_seeds(args.first_seed, args.num_seeds)
    if "grid" in args.given_fields and not args.grid:
        raise UsageError("--grid must be SETTING=VALUE,VALUE")
    settings = settings_grid.read_grid(args.grid)
    points = settings_grid.grid_points(args.config, settings)
    check_evaluation(args, points)
    for _, config in points:
        player_names.check_opponent(config.opponent.opponent, config.env_id)
        # Such an agent trains alone, so the devices share its games.
        if config.finds_counterexamples:
            args.spread.check_shares(config)
    cli.check_output_path("--csv", args.csv)
    cli.check_output_path("--svg", args.svg)
    pictures.check_picture_file("--svg", args.svg)
    if args.svg:
        cli.require_package("matplotlib", "plots", "--svg")
    varied = [name for name, values in settings.items() if len(values) > 1]
    if args.svg and len(varied) > 2:
        raise SettingError("svg", "used with a grid of at most two settings", args.grid)
    return points


def check_evaluation(args: Args, points: list[tuple[Point, Config]]) -> None:
    """Raise `SettingError` if a given setting of the evaluations has no effect."""
    point, config = points[0]
    evaluation = config.evaluation
    is_useful = any(config.evaluations_change_training for _, config in points)
    if "eval_every" in {*args.given_fields, *point} and not is_useful:
        rule = (
            "left out: a sweep grades at the end, so it has an effect only with "
            "start_share, or with learning_rate_decay below 1"
        )
        raise SettingError("eval_every", rule, evaluation.eval_every)
    if "eval_games" in args.given_fields and GAMES[args.config.env_id].enumerable:
        rule = f"left out: it has no effect in {args.config.env_id}, graded exactly"
        raise SettingError("eval_games", rule, evaluation.eval_games)


@dataclasses.dataclass(frozen=True)
class Group:
    """The agents of one combination of settings."""

    point: Point
    config: Config
    rows: list[AgentResult]


def check_devices(points: list[tuple[Point, Config]], mesh: "Mesh | None") -> None:
    """Check that the devices can share the games of agents that train one by one.

    Raises:
        Refused: they can't.
    """
    from jax_ttt.runtime import mesh as meshes

    for _, config in points:
        if config.finds_counterexamples:
            meshes.check_even_split(config, mesh)


def check_sweep_opponents(args: Args, points: list[tuple[Point, Config]]) -> None:
    """Check, before any training, that the opponents can play the game.

    Raises:
        Refused: one can't.
    """
    from jax_ttt.training import loop

    checked = {config.opponent: config for _, config in points}
    for config in checked.values():
        loop.check_first_move(config)
        loop.make_opponent(config, args.first_seed)


def train_agents(
    points: list[tuple[Point, Config]],
    file: SweepFile,
    at_once: int | None,
    request: StopRequest,
    mesh: "Mesh | None",
) -> None:
    """Train the agents that the file lacks, until a stop is requested."""
    from jax_ttt.runtime import distributed
    from jax_ttt.training import many_agents

    proven = sum(agent.is_proven for agent in file.agents.values())
    missing = file.missing(len(points))
    jobs = [many_agents.Job(points[group][1], seed) for group, seed in missing]
    num_agents = file.sweep.num_seeds * len(points)

    def stop() -> bool:
        return bool(distributed.max_over_processes(bool(request)))

    with tqdm(
        total=num_agents, initial=len(file.agents), unit="agent", disable=None
    ) as bar:
        trained = many_agents.train_jobs(jobs, at_once, stop, mesh)
        for (group, _), agent in zip(missing, trained, strict=False):  # may be stopped
            file.add(group, agent)
            proven += agent.is_proven
            bar.set_postfix(proven=proven, refresh=False)
            bar.update()


def write_results(
    args: Args,
    device: str,
    file: SweepFile,
    groups: list[Group],
    num_new: int,
    seconds: float,
) -> None:
    """Print the table or the JSON object, and write the requested files.

    This process trained `num_new` agents, in this many seconds.
    """
    summaries = [
        agent_groups.group_summary(group.rows, group.config, group.point)
        for group in groups
    ]
    if args.json:
        result = SweepResult(
            device=device,
            preset=args.preset,
            first_seed=args.first_seed,
            file=str(file.path),
            seconds=seconds,
            groups=tuple(summaries),
        )
        print(json_records.to_json(result))
    elif not groups:
        print("no agent was finished")
    else:
        from jax_ttt.text import summary_tables

        sweep = f"preset {args.preset}, seeds from {args.first_seed}"
        print(f"jax_ttt {__version__} on {device}: {sweep}\n")
        print(summary_tables.groups_table(summaries, args.preset))
        print(f"\n{summary_tables.training_time_text(summaries, num_new, seconds)}")
    if args.csv and groups:
        rows = [
            {"preset": args.preset, **group.point, **agent_groups.csv_row(row)}
            for group in groups
            for row in group.rows
        ]
        atomic_files.write_csv(args.csv, rows)
        standard_streams.print_written(
            args.csv, count_phrase(len(rows), "row"), args.json
        )
    if args.svg and groups:
        from jax_ttt.pictures import group_charts

        first = groups[0]
        if args.grid:
            picture = group_charts.grid_chart(summaries, args.preset)
        else:
            picture = group_charts.agents_chart(first.config, first.rows, args.preset)
        picture.save(args.svg)
        standard_streams.print_written(args.svg, as_json=args.json)


COMMAND = cli.Command(
    module="jax_ttt.sweep",
    args_type=Args,
    main=main,
    examples={
        "--num-seeds 64": "Count how many of 64 agents are proven.",
        "--preset table --grid tremble=0.5,0.7 tau=0.05,0.1": "Compare four settings.",
        "--resume runs/SWEEP.jsonl": "Continue a sweep that was interrupted.",
    },
    first=(
        "preset",
        "env_id",
        "opponent",
        "num_seeds",
        "first_seed",
        "grid",
        "num_updates",
        "resume",
        "csv",
        "svg",
        "device",
        "json",
    ),
)

if __name__ == "__main__":
    sys.exit(run_command(COMMAND))
