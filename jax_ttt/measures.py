"""What the benchmark measures: how fast each part is, and how much memory it takes."""

import dataclasses
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

from jax_ttt.presets import PRESETS


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


def tabular(rounds: int) -> dict[str, Any]:
    """Time the 14,000 games of the preset `tictac-q`, once compiled."""
    import jax

    from jax_ttt import learner, training

    config = PRESETS["tictac-q"]
    opponent = training.make_opponent(config, 0)
    games = 0

    def run() -> None:
        nonlocal games
        state = learner.init(config, jax.random.key(0), opponent)
        num_updates = config.num_updates
        state, metrics = learner.train_chunk(config, state, num_updates, opponent)
        games = int(jax.block_until_ready(metrics).games)

    run()
    wall, cpu = [], []
    for _ in range(rounds):
        begin, begin_cpu = time.perf_counter(), time.process_time()
        run()
        wall.append(time.perf_counter() - begin)
        cpu.append(time.process_time() - begin_cpu)
    figures = {"games": games, "wall": spread(wall), "cpu": spread(cpu)}
    line(f"{games:,} games of tictac-q, wall", figures["wall"], "s")
    line(f"{games:,} games of tictac-q, CPU", figures["cpu"], "s")
    return figures


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
