"""Measure speed and pass rate.

python -m jax_ttt.bench
"""

import dataclasses
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import tyro
from tqdm import tqdm

from jax_ttt import __version__, cli
from jax_ttt.presets import PRESETS, Preset
from jax_ttt.ranges import SEED_RANGE, SettingError

Part = Literal["updates", "evaluation", "matches", "proof", "process"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Measure speed and pass rate, in one process tree on one machine."""

    only: tuple[Part, ...] = get_args(Part)
    """What to measure."""
    presets: tuple[Preset, ...] = ("default",)
    """What to train until proven."""
    num_seeds: int = 64
    """Agents to train for each of the presets."""
    first_seed: int = 1000
    """The first of their seeds, which follow each other."""
    rounds: int = 15
    """How often each speed is measured."""
    quick: tyro.conf.FlagCreatePairsOff[bool] = False
    """Few rounds and seeds: to see that it works."""
    json: Path | None = None
    """File to write the figures to."""


@cli.guarded
def main(argv: Sequence[str] | None) -> int:
    """Run the command and return its exit code."""
    args = cli.parse(Args, argv, "bench")
    SEED_RANGE.check("first_seed", args.first_seed)
    SEED_RANGE.check("first_seed", args.first_seed + max(args.num_seeds, 1) - 1)
    for field in ("num_seeds", "rounds"):
        if getattr(args, field) < 1:
            raise SettingError(field, "at least 1", getattr(args, field))
    if args.quick:
        args = dataclasses.replace(args, num_seeds=min(args.num_seeds, 4), rounds=3)
    device = cli.choose_device("auto")
    print(f"jax_ttt {__version__} on {device}, {versions()}")
    figures: dict[str, Any] = {}
    if "updates" in args.only:
        figures["updates"] = updates(args.rounds)
    if "evaluation" in args.only:
        figures["evaluation"] = evaluation(args.rounds)
    if "matches" in args.only:
        figures["matches"] = matches(args.rounds)
    if "proof" in args.only:
        figures["proof"] = {name: proof(args, name) for name in args.presets}
    if "process" in args.only:
        figures["process"] = process(args.rounds)
    if args.json:
        args.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


def versions() -> str:
    """Return what the figures were measured with."""
    from importlib.metadata import version

    names = ("jax", "flax", "pgx")
    python = sys.version.split()[0]
    return ", ".join([f"Python {python}", *(f"{n} {version(n)}" for n in names)])


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return the least, the median and the greatest."""
    return {
        "min": min(values),
        "median": statistics.median(values),
        "max": max(values),
    }


def line(text: str, row: dict[str, float], unit: str, digits: int = 2) -> None:
    """Print a figure with its spread."""
    low, mid, high = (f"{row[name]:,.{digits}f}" for name in ("min", "median", "max"))
    print(f"{text:<44}{mid:>10} {unit}  ({low} to {high})", flush=True)


def updates(rounds: int) -> dict[str, Any]:
    """Time the article's updates, as a plain loop and as one program, in turn."""
    import jax

    from jax_ttt import baseline, learner

    config, num_updates = PRESETS["article"], 90
    key = jax.random.key(0)
    plain = baseline.train(config, key)
    state = learner.init(config, key)

    def loop() -> None:
        jax.block_until_ready([next(plain) for _ in range(num_updates)][-1])

    def fused() -> None:
        nonlocal state
        state = learner.train_chunk(config, state, num_updates)[0]
        jax.block_until_ready(state)

    times = in_turn([loop, fused], rounds)
    ratio = [slow / fast for slow, fast in zip(*times, strict=True)]
    rates = [spread([num_updates / seconds for seconds in row]) for row in times]
    figures = {"loop": rates[0], "fused": rates[1], "ratio": spread(ratio)}
    line("article, a plain loop", figures["loop"], "updates/s", 0)
    line("article, one program", figures["fused"], "updates/s", 0)
    line("ratio, pair by pair", figures["ratio"], "times")
    return figures


def in_turn(runs: Sequence[Callable[[], None]], rounds: int) -> list[list[float]]:
    """Return each run's seconds; all run once before, then one after another."""
    for run in runs:
        run()
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds):
        for run, row in zip(runs, times, strict=True):
            begin = time.perf_counter()
            run()
            row.append(time.perf_counter() - begin)
    return times


def evaluation(rounds: int) -> dict[str, Any]:
    """Time the exact evaluation of the default preset's network, once compiled."""
    import jax

    from jax_ttt import learner
    from jax_ttt import tree as trees
    from jax_ttt.evaluation import evaluate

    config = dataclasses.replace(PRESETS["default"], eval_games=0)
    tree = trees.of(config.env_id)
    params = learner.init(config, jax.random.key(0)).params
    key = jax.random.key(1)
    run = [lambda: jax.block_until_ready(evaluate(config, params, key, tree)) and None]
    figures = spread([1000 * seconds for seconds in in_turn(run, 10 * rounds)[0]])
    line("exact evaluation", figures, "ms")
    return figures


def matches(rounds: int) -> dict[str, Any]:
    """Time sampled matches of random players, and the exact cross table."""
    import jax
    import numpy as np

    from jax_ttt import exact, games, players, policies
    from jax_ttt import tree as trees
    from jax_ttt.matches import play_seats

    env, pair = games.make("tic_tac_toe"), (players.random_player,) * 2
    num_games, key = 2**16, jax.random.key(0)
    moves = 0

    def sampled() -> None:
        nonlocal moves
        _, counted = play_seats(env, key, *pair, num_games)
        moves = int(counted)

    tree = trees.walked("tic_tac_toe")
    ten = np.stack([policies.uniform(tree)] * 10)

    def exactly() -> None:
        exact.cross_table(tree, ten, ten)

    times = in_turn([sampled, exactly], rounds)
    figures = {
        "env_steps": spread([moves / seconds for seconds in times[0]]),
        "cross_table": spread([1000 * seconds for seconds in times[1]]),
    }
    line("sampled matches, random players", figures["env_steps"], "env steps/s", 0)
    line("exact cross table of ten players", figures["cross_table"], "ms", 0)
    return figures


def proof(args: Args, preset: Preset) -> dict[str, Any]:
    """Train many seeds; count the proven, and time each to the proof that stays."""
    rows = []
    seeds = range(args.first_seed, args.first_seed + args.num_seeds)
    bar = tqdm(seeds, desc=preset, unit="agent", disable=not sys.stderr.isatty())
    for seed in bar:
        rows.append(proven_when(preset, seed))
    wins = [100 * row["win_rate"] for row in rows]
    failed = [row["seed"] for row in rows if row["kept"] is None]
    kept = [row for row in rows if row["kept"] is not None]
    print(
        f"{preset}: {len(kept)} of {len(rows)} seeds ({seeds[0]} to {seeds[-1]}) "
        f"proven unbeatable; not proven: {', '.join(map(str, failed)) or 'none'}"
    )
    figures: dict[str, Any] = {"agents": rows, "wins": spread(wins)}
    line(f"{preset}, mean wins v random", figures["wins"], "%", 3)
    print(f"{preset}, mean wins at least 95.29 %: {sum(w >= 95.29 for w in wins)}")
    for name, unit, digits in (("seconds", "s", 2), ("kept", "updates", 0)):
        if kept:
            figures[name] = spread([row[name] for row in kept])
            text = f"{preset}, until proven for good"
            line(text, figures[name], unit, digits)
    figures["total_seconds"] = spread([row["total_seconds"] for row in rows])
    line(f"{preset}, all updates", figures["total_seconds"], "s")
    return figures


def proven_when(preset: Preset, seed: int) -> dict[str, Any]:
    """Train one agent; return when its last proof began and how it ended.

    `kept` is the update from which every evaluation proves it, None if the last does
    not; `seconds` are spent training until then.
    """
    row: dict[str, Any] = {"seed": seed, "kept": None, "seconds": None}
    for progress, exact in evaluations(preset, seed):
        if not exact["unbeatable"]:
            row |= {"kept": None, "seconds": None}
        elif row["kept"] is None:
            row |= {"kept": progress.update, "seconds": progress.seconds}
        row |= {"win_rate": exact["win_rate"], "total_seconds": progress.seconds}
    return row


def evaluations(preset: Preset, seed: int) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Train one agent, yielding its exact evaluations."""
    from jax_ttt import tree as trees
    from jax_ttt.evaluation import summary
    from jax_ttt.training import train

    config = dataclasses.replace(PRESETS[preset], eval_games=0)
    for progress in train(config, seed, trees.of(config.env_id)):
        if progress.evaluation is not None:
            yield progress, summary(progress.evaluation)["exact"]


def process(rounds: int) -> dict[str, Any]:
    """Time the whole command from start to saved agent, and its greatest memory."""
    import resource

    times, cpu = [], []
    children = resource.RUSAGE_CHILDREN
    for _ in range(max(rounds // 3, 1)):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "jax_ttt.train", "--quiet", "--run-dir"]
            before, begin = resource.getrusage(children), time.perf_counter()
            output = subprocess.DEVNULL
            subprocess.run([*command, f"{folder}/run"], check=True, stdout=output)
            times.append(time.perf_counter() - begin)
        after = resource.getrusage(children)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    unit = 1 if sys.platform == "darwin" else 1024  # what ru_maxrss counts in
    memory = resource.getrusage(children).ru_maxrss * unit / 2**20
    figures = {"wall": spread(times), "cpu": spread(cpu), "peak_mib": memory}
    line("whole command, wall", figures["wall"], "s")
    line("whole command, CPU", figures["cpu"], "s")
    print(f"{'whole command, peak memory':<44}{memory:>10,.0f} MiB")
    return figures


if __name__ == "__main__":
    sys.exit(main(None))
