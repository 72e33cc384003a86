"""Make the figures of the README and the docs, light and dark.

python -m tools.figures
"""

import dataclasses
import functools
import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal, get_args

import jax
from msgspec import Meta
from pgx import State

from jax_ttt import cli
from jax_ttt.__main__ import run_command
from jax_ttt.api import train
from jax_ttt.api.player import default_name
from jax_ttt.api.training_result import Run
from jax_ttt.api.values import q_values
from jax_ttt.config.errors import Refused, require_package
from jax_ttt.config.game_facts import EnvId, Seat
from jax_ttt.config.player_kinds import CONNECT_FOUR
from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.config.ranges import Seed, check_seeds
from jax_ttt.config.shared_flags import MachineFlags
from jax_ttt.files.metrics_rows import searched_rows
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.games import pgx_games
from jax_ttt.games.played_game import Game, game_against_itself
from jax_ttt.grading import correcting
from jax_ttt.pictures import board_svg, curves
from jax_ttt.players import saved_agents
from jax_ttt.players.player import random_player
from jax_ttt.players.saved_agents import Agent
from jax_ttt.runtime import standard_streams
from tools import correction_chart, growth_chart, screenshots
from tools.benchmarks.progress import Steps
from tools.published_systems import SYSTEMS

Drawing = Literal[
    "game",
    "random-games",
    "values",
    "learning",
    "seeds",
    "growth",
    "rounds",
    "lost-line",
    "closed-line",
    "corrections",
]
Name = Literal[Drawing, "web"]
_EVALUATIONS = 30
_ROUNDS = "connect-4x4"
_CORRECTED_RUN = "connect-5x4"
_CORRECTED = "connect-7x6"
_BOARD = "X---O---X"  # O has to take an edge: both corners lose


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Make the figures of the README and the docs, as NAME-light.svg and NAME-dark.svg.

    The agents in the figures are trained first. Pictures of the web page are PNG files.
    Exit codes: 0 done, 1 failed, 2 bad flags, 130 Ctrl-C.
    """

    out: Path = Path("docs/figures")
    """Folder to write to."""
    only: tuple[Name, ...] = get_args(Name)
    """Figures to make. game: a perfect game; random-games: nine random games; values:
    an agent's values of a board; learning: one run; seeds: several runs; growth: the
    published systems; rounds: a run that finds counterexamples; lost-line, closed-line:
    a line that beat an agent of this run, and the last agent's game against the same
    opponent; corrections: those of the shipped agent of the usual board, and of a run's
    agents, which needs Numba; web: the web page, which needs Playwright and
    chromium."""
    first_seed: Seed = 1000
    """The first seed to train; its agent gives the game and the values."""
    num_seeds: Annotated[int, Meta(ge=1, le=1000)] = 5
    """Number of seeds in the figures of several runs."""
    machine: MachineFlags = field(default_factory=MachineFlags)


def main(args: Args) -> int:
    """Run the command and return its exit code."""
    check_seeds(args.first_seed, args.num_seeds)
    if not args.out.is_dir():
        raise Refused(f"--out {args.out}: no such folder")
    require_package("matplotlib", "plots", "figures")
    if "corrections" in args.only:
        require_package("numba", "solver", "--only corrections")
    if "web" in args.only:
        require_package("playwright", "dev", "--only web")
    cli.set_up_device(args.machine)
    for name in args.only:
        if name == "web":
            for path in screenshots.take(args.out):
                standard_streams.print_written(path)
            continue
        draw = drawings(args)[name]
        themes: tuple[Theme, ...] = get_args(Theme)
        for theme in themes:
            path = args.out / f"{name}-{theme}.svg"
            draw(theme=theme).save(path)
            standard_streams.print_written(path)
    return 0


def drawings(args: Args) -> dict[Drawing, Callable[..., Picture]]:
    """Return for each figure the function that draws it in a theme."""
    seeds = range(args.first_seed, args.first_seed + args.num_seeds)

    def one(theme: Theme) -> Picture:
        run = trained("default", args.first_seed)
        title = f"default, seed {args.first_seed}"
        return curves.learning_curves(run.rows, title, theme=theme)

    def many(theme: Theme) -> Picture:
        presets: tuple[Preset, ...] = ("default", "article")
        title = f"seeds {seeds[0]} to {seeds[-1]}, exact, against random"
        return curves.mean_curves({**runs(presets, seeds)}, title, theme=theme)

    def rounds(theme: Theme) -> Picture:
        run = trained(_ROUNDS, args.first_seed)
        title = f"{_ROUNDS}, seed {args.first_seed}"
        return curves.round_curves(run.rows, title, run.config, theme)

    def corrections(theme: Theme) -> Picture:
        first = saved_agents.load_agent(CONNECT_FOUR[_CORRECTED]).grade.first
        assert first is not None
        return correction_chart.corrections_picture(
            agent=f"shipped:{_CORRECTED} moving first",
            first=first,
            run=f"{_CORRECTED_RUN}, seed {args.first_seed}",
            by_update=corrections_by_update(_CORRECTED_RUN, args.first_seed),
            theme=theme,
        )

    return {
        "game": lambda theme: board_svg.animation(
            trained("default", args.first_seed).agent.game_against_itself().states,
            theme,
        ),
        "random-games": lambda theme: board_svg.position_picture(
            random_games("tic_tac_toe", 9), theme
        ),
        "values": lambda theme: q_values(
            trained("default", args.first_seed).agent, _BOARD
        ).picture(theme),
        "learning": one,
        "seeds": many,
        "growth": lambda theme: growth_chart.growth_curves(
            runs(tuple(SYSTEMS), seeds), theme
        ),
        "rounds": rounds,
        "lost-line": lambda theme: board_svg.animation(
            lost_line(args.first_seed)[0].states, theme
        ),
        "closed-line": lambda theme: board_svg.animation(
            lost_line(args.first_seed)[1].states, theme
        ),
        "corrections": corrections,
    }


def random_games(env_id: EnvId, num_games: int, seed: int = 0) -> State:
    """Play random games until all are over; return a batch of their last states."""
    env = pgx_games.make_env(env_id)
    init_key, key = jax.random.split(jax.random.key(seed))
    state = pgx_games.init(env, init_key, num_games)
    while not pgx_games.is_finished(state).all():
        key, move_key = jax.random.split(key)
        moves = random_player(move_key, state)
        state = pgx_games.play_moves(env, state, moves)
    return state


def runs(
    presets: Sequence[Preset], seeds: Sequence[int]
) -> dict[Preset, list[curves.Rows]]:
    """Return the metrics of every seed's run, by preset."""
    metrics: dict[Preset, list[curves.Rows]] = {preset: [] for preset in presets}
    with Steps(len(presets) * len(seeds), "run") as bar:
        for preset, seed in itertools.product(presets, seeds):
            metrics[preset].append(bar.step(preset, trained, preset, seed).rows)
    return metrics


@functools.cache
def trained(preset: Preset, seed: int) -> Run:
    """Train an agent and return the run.

    It is evaluated 30 times, or in rounds of counterexamples until it is proven; then
    the agents of the rounds are kept.
    """
    config = PRESETS[preset].replace(eval_games=0)
    in_rounds = config.finds_counterexamples
    if not in_rounds:
        every = max(config.num_updates // _EVALUATIONS, 1)
        config = config.replace(eval_every=every)
    return train.train(seed, config, until_proven=in_rounds, keep_agents=in_rounds)


@functools.cache
def corrections_by_update(preset: Preset, seed: int) -> dict[int, dict[Seat, int]]:
    """Return the corrections with which each agent of a run never loses, by seat.

    The agents are taken as they are, in float32, so a proven one needs none.
    """
    agents = trained(preset, seed).agents
    with Steps(len(agents), "correction") as bar:
        return {
            agent.num_updates: bar.step(preset, num_corrections, agent)
            for agent in agents
        }


def num_corrections(agent: Agent) -> dict[Seat, int]:
    """Return the number of corrections with which an agent never loses, by seat."""
    searches = correcting.find_in_seats(
        name=default_name(agent),
        agent=agent,
        seats=agent.config.seats,
        goal="not-lose",
        exact=correcting.exact_play(agent.config.env_id, "not-lose"),
    )
    return {seat: progress.num_corrections for seat, progress in dict(searches).items()}


@functools.cache
def lost_line(seed: int) -> tuple[Game, Game]:
    """Return a line that beat an earlier agent, and the last agent's game against it.

    Of the shortest losing lines after the first round, it is the one that the last
    agent follows for the most moves.

    Raises:
        Refused: there is no such line, or the run ended without a proof.
    """
    run = trained(_ROUNDS, seed)
    agent = run.agent
    lines: list[tuple[Seat, tuple[int, ...]]] = [
        (seat, result.losing_line)
        for row in searched_rows(run.rows)[1:-1]
        for seat, result in row.grade.searched.items()
        if result.losing_line is not None
    ]
    if not (lines and agent.grade.unbeatable):
        message = f"--first-seed {seed}: {_ROUNDS} is not proven after a lost line"
        raise Refused(message)
    env_id = agent.config.env_id
    pairs = [
        (
            Game.start(env_id, line),
            game_against_itself(env_id, agent.player, line, seat),
        )
        for seat, line in lines
    ]
    return max(pairs, key=lambda pair: num_shared_moves(pair[0], pair[1]))


def num_shared_moves(one: Game, other: Game) -> int:
    """Return the number of equal moves at the beginning of two games."""
    pairs = zip(one.moves, other.moves, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


COMMAND = cli.Command(module="tools.figures", args_type=Args, main=main)

if __name__ == "__main__":
    sys.exit(run_command(COMMAND))
