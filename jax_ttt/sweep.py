"""Train many agents, over seeds and settings; count those that are proven unbeatable.

python -m jax_ttt.sweep --num-seeds 64
"""

import contextlib
import dataclasses
import shlex
import sys
import time
from collections.abc import Callable, Collection, Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import tyro
from msgspec import Meta

from jax_ttt import __version__, cli
from jax_ttt.__main__ import run_command
from jax_ttt.config import settings_grid
from jax_ttt.config.errors import Refused, flag_name, require_package
from jax_ttt.config.ranges import NumSeeds, Seed
from jax_ttt.config.settings import END_OF_START, Config, setting_types, types_of
from jax_ttt.config.settings_grid import Point
from jax_ttt.config.shared_flags import GivenFlags, TrainingFlags, first_word
from jax_ttt.files import json_records, picture_file, sweep_file
from jax_ttt.files.sweep_file import Sweep, SweepFile
from jax_ttt.grading import agent_groups
from jax_ttt.grading.agent_groups import GroupResult
from jax_ttt.runtime import atomic_files, interrupts, standard_streams
from jax_ttt.runtime.words import count_phrase

if TYPE_CHECKING:
    from jax.sharding import Mesh

    from jax_ttt.training.many_agents import Block

SWEEP_FIELDS = ("preset", "grid", "first_seed", "num_seeds")
"""The fields of a sweep's file besides the settings, which `--resume` takes from it."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args(TrainingFlags):
    """Train many agents, over seeds and settings; count those proven unbeatable.

    The agents train in blocks. On a CPU a block is one agent for each device, the same
    agent that train gives for its seed, unless --at-once asks for more. On an
    accelerator a block has many agents: rounding differs there, so they are not the
    same agents as with train.

    A finished block is kept in the file runs/<time>-sweep-<preset>.jsonl, from which
    --resume continues.

    Exit codes: 0 done, 1 failed, 2 bad flags, 129 hung up, 130 Ctrl-C, 143 terminated
    (the finished blocks are kept).
    """

    num_seeds: NumSeeds = 64
    """Agents to train for each combination of settings."""
    first_seed: Seed = 1000
    """The first seed; the others follow it."""
    grid: tuple[str, ...] = ()
    """Settings to vary, each with its values; all combinations are trained."""
    at_once: Annotated[int, Meta(ge=0, le=2**16)] = 0
    """Agents of a block, which train at once, on all devices together. 0: one on each
    CPU device, and 1,024 on each accelerator; fewer if its memory does not hold
    them."""
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

    @classmethod
    def with_defaults(cls, given: GivenFlags) -> Self:
        """Return the arguments of the sweep to continue, or of the flags' preset."""
        path = first_word(given, "resume")
        if path is None:
            return super().with_defaults(given)
        rule = f"left out with --resume, which has the settings of {path}"

        def refuse(fixed: Collection[str]) -> None:
            for name in sorted(given):
                if name.removeprefix("no_") in fixed:
                    raise Refused(f"{flag_name(name)} must be {rule}")

        refuse({*setting_types(), *SWEEP_FIELDS})
        sweep = sweep_file.open_sweep_file(Path(path), writes=False).sweep
        refuse(types_of(sweep.config))  # with those of the learner
        fields = {name: getattr(sweep, name) for name in SWEEP_FIELDS}
        return cls(config=sweep.config, files=sweep.files, source=path, **fields)


def main(args: Args, on_step: "Callable[[Block], None]" = lambda block: None) -> int:
    """Run the command and return its exit code.

    `on_step` is called when a block begins, and after each of its steps.
    """
    args = with_given_ends(args)
    points = points_to_train(args)
    with interrupts.stop_request() as request:
        hardware = cli.set_up_device(args.machine, args.parallel)
        from jax_ttt.players import registry
        from jax_ttt.runtime import distributed

        files: dict[str, str] = {}
        for _, config in points:
            files |= registry.check_files(config, args.files) or {}
        args = dataclasses.replace(args, files=files or None)
        check_named_players(args, points)
        begin = time.perf_counter()
        with contextlib.closing(open_file(args)) as file:
            old = len(file.agents)
            try:
                train_missing(
                    points=points,
                    file=file,
                    at_once=args.at_once or None,
                    stop=lambda: bool(distributed.max_over_processes(bool(request))),
                    mesh=hardware.mesh,
                    on_step=on_step,
                )
            finally:  # also after an error or Ctrl-C, report the finished agents
                groups = agent_groups.sweep_groups(file)
                num_new = len(file.agents) - old
                seconds = time.perf_counter() - begin
                if distributed.is_writer():
                    write_results(args, hardware.name, file, groups, num_new, seconds)
                if len(file.agents) < args.num_seeds * len(points):
                    again = resume_command(file)
                    standard_streams.print_stderr(f"to train the others: {again}")
            number = distributed.max_over_processes(request.number)
        return interrupts.report_interrupt(number) if number else 0


def resume_command(file: SweepFile) -> str:
    """Return the command that continues a sweep, for a shell."""
    command = f"python -m jax_ttt.sweep --resume {shlex.quote(str(file.path))}"
    return command + file.sweep.config.file_flags


def with_given_ends(args: Args) -> Args:
    """Return the arguments with a grid that keeps the given ends of schedules.

    Otherwise the end of a schedule would follow its start, which the grid varies.
    """
    varied = settings_grid.read_grid(args.grid, args.config)
    ends = [
        f"{end}={getattr(args.config, end)}"
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
        files=args.files,
    )
    return sweep_file.make_sweep_file(sweep, writes=distributed.is_writer())


def points_to_train(args: Args) -> list[tuple[Point, Config]]:
    """Return the combinations of settings to train.

    Raises:
        Refused: a combination can't be trained, or a flag is wrong.
    """
    if "grid" in args.given_fields and not args.grid:
        raise Refused("--grid must be SETTING=VALUE,VALUE")
    grid = settings_grid.read_grid(args.grid, args.config)
    points = settings_grid.grid_points(args.config, grid)
    atomic_files.check_output_path("--csv", args.csv)
    atomic_files.check_output_path("--svg", args.svg)
    picture_file.check_picture_file("--svg", args.svg)
    if args.svg is not None:
        require_package("matplotlib", "plots", "--svg")
        settings_grid.check_drawable(args.grid, args.config)
    return points


def check_named_players(args: Args, points: list[tuple[Point, Config]]) -> None:
    """Check, before any training, the players and agents that the settings name.

    Raises:
        Refused: one can't be used.
    """
    from jax_ttt.training import run_start

    checked = {config.opponent: config for _, config in points}
    for config in checked.values():
        run_start.check_first_move(config)
        run_start.make_opponent(config, args.first_seed)
    for config in {(c.start_agent, c.start_positions): c for _, c in points}.values():
        run_start.start_agent(config)
        run_start.pool_positions(config)
    if args.config.own is not None:  # a learner of a user is checked when it is made
        for _, config in points:
            run_start.make_learner([config], [args.first_seed])


def train_missing(
    points: list[tuple[Point, Config]],
    file: SweepFile,
    at_once: int | None,
    stop: Callable[[], bool],
    mesh: "Mesh | None",
    on_step: "Callable[[Block], None]",
) -> None:
    """Train the agents that the file lacks, and add each finished block to it."""
    from jax_ttt.dqn.base_learner import static_settings
    from jax_ttt.runtime import distributed
    from jax_ttt.training import many_agents

    # Agents of one program train together, also where a grid alternates between two.
    first: dict[Hashable, int] = {}
    programs = [
        first.setdefault(static_settings(config), group)
        for group, (_, config) in enumerate(points)
    ]
    missing = sorted(file.missing(), key=lambda job: programs[job[0]])
    groups = iter([group for group, _ in missing])
    blocks = many_agents.train_agents(
        jobs=[many_agents.Job(points[group][1], seed) for group, seed in missing],
        before=[*file.agents.values()],
        at_once=at_once,
        stop=stop,
        mesh=mesh,
        on_step=on_step,
        progress=distributed.is_writer(),
    )
    for _, results in blocks:
        file.add([(next(groups), result) for result in results])


def write_results(
    args: Args,
    device: str,
    file: SweepFile,
    groups: list[GroupResult],
    num_new: int,
    seconds: float,
) -> None:
    """Print the table or the JSON object, and write the requested files.

    This process trained `num_new` agents, in this many seconds.
    """
    if args.json:
        result = {
            "device": device,
            "preset": args.preset,
            "first_seed": args.first_seed,
            "file": str(file.path),
            "seconds": seconds,
            "groups": groups,
        }
        print(json_records.to_json(result))
    elif not groups:
        print("no agent was finished")
    else:
        from jax_ttt.text import summary_tables

        sweep = f"preset {args.preset}, seeds from {args.first_seed}"
        print(f"jax_ttt {__version__} on {device}: {sweep}\n")
        print(summary_tables.groups_table(groups, args.preset))
        print(f"\n{summary_tables.training_time_text(groups, num_new, seconds)}")
        print(f"saved in {file.path}")
        if not args.csv:
            again = f"{resume_command(file)} --csv agents.csv"
            print(f"as a table, a row for each agent: {again}")
    if args.csv and groups:
        rows = [
            {"preset": args.preset, **group.settings, **agent_groups.csv_row(row)}
            for group in groups
            for row in group.agents
        ]
        atomic_files.write_csv(args.csv, rows)
        standard_streams.print_written(
            args.csv, count_phrase(len(rows), "row"), args.json
        )
    if args.svg and groups:
        from jax_ttt.api.draw import draw

        draw(file.path, args.svg)
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
        "rules",
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
