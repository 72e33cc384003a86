"""Train many agents, over seeds and settings; count those that are proven unbeatable.

python -m jax_ttt.sweep --num-seeds 64
"""

if __name__ == "__main__":  # before the other imports, which take a moment
    from jax_ttt.runtime import interrupts

    interrupts.leave_on_import()

import dataclasses
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import tyro

from jax_ttt import __version__, cli
from jax_ttt.config import grid
from jax_ttt.config.catalogue import GAMES, SEATS
from jax_ttt.config.errors import SettingError
from jax_ttt.config.grid import Point
from jax_ttt.config.ranges import Range, check_seeds
from jax_ttt.config.settings import Config
from jax_ttt.drawing import pictures
from jax_ttt.players import names
from jax_ttt.results import plain
from jax_ttt.results.commands import GroupResult, Spread, SweepResult
from jax_ttt.results.rows import AgentResult
from jax_ttt.runtime import files, streams
from jax_ttt.runtime.compile_events import Bar
from jax_ttt.runtime.interrupts import interruptible

_NUM_SEEDS = Range(int, 1, 100_000)
_STOPPING = "stopping after these updates; the finished agents are kept"
_AT_ONCE = Range(int, 0, 2**16)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args(cli.Run):
    """Train many agents, over seeds and settings; count those proven unbeatable.

    On a CPU the agents train one after another, in one compiled program, and each is
    the same agent that train gives for its seed. On an accelerator many train at once:
    rounding differs there, so they are other agents than those of train.

    Each agent is graded once, at the end of its training.

    Exit codes: 0 done, 1 failed, 2 bad flags, 130 Ctrl-C, 143 terminated (what is
    finished is kept).
    """

    num_seeds: int = 64
    """Agents to train for each combination of settings. 1 to 100,000."""
    first_seed: int = 1000
    """The first seed; the others follow it. 0 to 4,294,967,295."""
    grid: tuple[str, ...] = ()
    """Settings to vary, each with its values; all combinations are trained."""
    at_once: int = 0
    """Agents to train at once, 1 to 65,536. 0: one on a CPU, and on an accelerator as
    many as fit in its memory."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print one JSON object instead of the table."""
    csv: Path | None = None
    """File to write a row for each agent to."""
    svg: Path | None = None
    """File for the picture, SVG, PNG or PDF by its ending: the wins of each agent, or
    with a grid the share that is proven; needs the extra `plots`."""


@cli.guarded
def main(argv: Sequence[str] | None) -> int:
    """Run the command and return its exit code."""
    args = cli.parse_settings(Args, argv, "sweep")
    points = checked_points(args)
    with interruptible("interrupted", argv is None, _STOPPING, leaves=False) as signals:
        device = cli.set_up(args, 6)
        if signals:
            return cli.interrupted(signals[0])
        check_opponents(args, points)
        groups = [Group(point, config, []) for point, config in points]
        begin = time.perf_counter()
        try:
            train_groups(args, groups, signals)
        finally:  # whatever ended it, keep what is finished
            finished = [group for group in groups if group.rows]
            write(args, device, finished, time.perf_counter() - begin)
        return cli.interrupted(signals[0]) if signals else 0


def checked_points(args: Args) -> list[tuple[Point, Config]]:
    """Return the combinations to train; refuse those that can't be trained."""
    _NUM_SEEDS.check("num_seeds", args.num_seeds)
    _AT_ONCE.check("at_once", args.at_once)
    check_seeds(args.first_seed, args.num_seeds)
    settings = grid.read_grid(args.grid)
    with args.naming_origins(settings):
        points = grid.points(args.config, settings, args.given)
    check_evaluation(args)
    for _, config in points:
        names.check_opponent(config.opponent.opponent, config.env_id)
    for flag, path in (("--csv", args.csv), ("--svg", args.svg)):
        cli.check_output(flag, path)
    pictures.check_file("--svg", args.svg)
    if args.svg:
        cli.require("matplotlib", "plots", "--svg")
    if args.svg and len(settings) > 2:
        raise SettingError("svg", "used with a grid of at most two settings", args.grid)
    return points


def check_evaluation(args: Args) -> None:
    """Raise `SettingError` if a setting of the evaluations is given in vain."""
    evaluation = args.config.evaluation
    if "eval_every" in args.given:
        rule = "left out: it has no effect in a sweep, which grades at the end"
        raise SettingError("eval_every", rule, evaluation.eval_every)
    if "eval_games" in args.given and GAMES[args.config.env_id].enumerable:
        rule = f"left out: it has no effect in {args.config.env_id}, graded exactly"
        raise SettingError("eval_games", rule, evaluation.eval_games)


@dataclasses.dataclass(frozen=True)
class Group:
    """The agents of one combination of settings."""

    point: Point
    config: Config
    rows: list[AgentResult]


def check_opponents(args: Args, points: list[tuple[Point, Config]]) -> None:
    """Refuse, before any training, opponents that can't play the game."""
    from jax_ttt.training import loop

    checked = {config.opponent: config for _, config in points}
    for config in checked.values():
        loop.check_first_move(config)
        loop.make_opponent(config, args.first_seed)


def train_groups(args: Args, groups: list[Group], signals: list[int]) -> None:
    """Train every agent, until a signal comes, and add the finished to their groups."""
    from jax_ttt.training import many_agents

    seeds = range(args.first_seed, args.first_seed + args.num_seeds)
    jobs = [many_agents.Job(group.config, seed) for group in groups for seed in seeds]
    proven = 0
    with Bar(total=len(jobs), unit="agent", disable=not sys.stderr.isatty()) as bar:
        rows = many_agents.train_jobs(jobs, args.at_once or None, lambda: bool(signals))
        for number, row in enumerate(rows):
            groups[number // args.num_seeds].rows.append(row)
            proven += row.is_proven
            bar.set_postfix(proven=proven, refresh=False)
            bar.update()


def write(args: Args, device: str, groups: list[Group], seconds: float) -> None:
    """Print the table or the JSON object, and write the files that are asked for."""
    from jax_ttt.evaluation import agent_groups

    found = [
        agent_groups.group_summary(group.rows, group.config, group.point)
        for group in groups
    ]
    if args.json:
        print(as_json(args, device, found, seconds))
    else:
        print(groups_table(args, device, found, seconds))
    if args.csv and groups:
        rows = [
            {"preset": args.preset, **group.point, **agent_groups.as_cells(row)}
            for group in groups
            for row in group.rows
        ]
        files.write_csv(args.csv, rows)
        streams.tell_written(args.csv, len(rows), args.json)
    if args.svg and groups:
        from jax_ttt.reports import charts

        first = groups[0]
        if args.grid:
            picture = charts.grid_chart(found, args.preset)
        else:
            picture = charts.agents_chart(first.config, first.rows, args.preset)
        picture.save(args.svg)
        streams.tell_written(args.svg, as_json=args.json)


def groups_table(
    args: Args, device: str, groups: Sequence[GroupResult], seconds: float
) -> str:
    """Return what came of each combination, a line each, and which seeds failed."""
    if not groups:
        return "no agent was finished"
    num_agents = sum(group.num_agents for group in groups)
    labels = [grid.point_text(group.settings) or args.preset for group in groups]
    width = max(map(len, ["", *labels])) + 2
    seats = GAMES[args.config.env_id].seats
    first, second = (f"wins as {seat}, %: mean (range)" for seat in seats)
    lines = [
        f"jax_ttt {__version__} on {device}: preset {args.preset}, seeds from "
        f"{args.first_seed}\n",
        " " * width + _cells("proven unbeatable (95 %)", first, second, "seconds"),
    ]
    for name, group in zip(labels, groups, strict=True):
        first, second = (_wins(group.win_rates.get(seat)) for seat in SEATS)
        cells = _cells(_proven(group), first, second, f"{group.seconds:.2f}")
        lines.append(f"{name:<{width}}{cells}")
    pairs = list(zip(labels, groups, strict=True))
    faults = [("not proven", name, group.not_proven or ()) for name, group in pairs]
    faults += [("diverged", name, group.diverged) for name, group in pairs]
    for text, name, seeds in faults:
        if seeds:
            lines.append(f"{text}, {name}: {', '.join(map(str, seeds))}")
    each = seconds / num_agents
    lines.append(f"\n{num_agents:,} agents in {seconds:.1f} s, {each:.2f} s each; the")
    lines[-1] += " seconds above are of training one, in the median"
    return "\n".join(lines)


def _proven(group: GroupResult) -> str:
    if group.proven is None or group.interval is None:
        return "by sampling"
    low, high = (f"{100 * end:.1f}" for end in group.interval)
    return f"{group.proven} of {group.num_agents} ({low} to {high} %)"


def _cells(proven: str, first: str, second: str, seconds: str) -> str:
    return f"{proven:>26}{first:>32}{second:>32}{seconds:>9}"


def _wins(wins: Spread | None) -> str:
    if wins is None:
        return "-"
    mean, low, high = (100 * rate for rate in (wins.mean, wins.min, wins.max))
    return f"{mean:.3f} ({low:.3f} to {high:.3f})"


def as_json(
    args: Args, device: str, groups: Sequence[GroupResult], seconds: float
) -> str:
    """Return everything as one JSON object."""
    result = SweepResult(
        device=device,
        preset=args.preset,
        first_seed=args.first_seed,
        seconds=seconds,
        groups=tuple(groups),
    )
    return json.dumps(plain.to_dict(result))


if __name__ == "__main__":
    sys.exit(main(None))
