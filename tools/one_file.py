"""Train agents by docs/examples/one_file.py, and let both programs prove them.

python -m tools.one_file

The file proves its agent by itself, and the package proves the agent's policy, which is
handed over as a matrix. A difference between the two is an error.

Axes: `P` positions, `A` actions.
"""

import dataclasses
import functools
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Protocol

import numpy as np
import tyro
from jaxtyping import Float, Int

import jax_ttt
from jax_ttt.config.game_facts import SEATS
from jax_ttt.config.ranges import NumSeeds, Seed, check_seeds
from jax_ttt.games import tree
from tools.benchmarks.progress import Steps

PATH = Path(__file__).parents[1] / "docs" / "examples" / "one_file.py"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Train an agent for each seed by the file, and prove each twice."""

    num_seeds: NumSeeds = 64
    """Agents to train."""
    first_seed: Seed = 1000
    """The first seed; the others follow it."""


@dataclasses.dataclass(frozen=True)
class TrainedAgent:
    """An agent of the file: what both proofs say, and how often it wins."""

    seed: int
    proven_from: int | None  # the update from which on it stays proven; None: beatable
    wins: float  # against the random player, in %, the mean of both seats

    @property
    def proven(self) -> bool:
        """Whether both programs prove the trained agent."""
        return self.proven_from is not None


class Positions(Protocol):
    """All positions of the game, as the file enumerates them."""

    obs: np.ndarray
    legal: np.ndarray


@functools.cache
def load_file() -> ModuleType:
    """Return the file as a module, whose programs are compiled once."""
    spec = importlib.util.spec_from_file_location("one_file", PATH)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows_of_tree(obs: np.ndarray) -> Int[np.ndarray, " P"]:
    """Return the row in `obs`, the file's positions, of each of the package's."""
    row_of = {board.tobytes(): row for row, board in enumerate(obs)}
    boards = tree.enumerated("tic_tac_toe").obs
    return np.array([row_of[board.tobytes()] for board in boards])


def train_agent(file: ModuleType, positions: Positions, seed: int) -> TrainedAgent:
    """Train the agent of a seed by the file, and prove it twice.

    Raises:
        RuntimeError: the programs differ in a seat's proof or in the wins.
    """
    seats = (1, -1)
    lines: list[list[int] | None] = []
    proven_from, policy = None, np.zeros(0)
    for num_updates, agent in file.train(seed):
        policy = np.asarray(file.policy_of(agent, positions.obs, positions.legal))
        lines = [file.losing_line(positions, policy, seat) for seat in seats]
        if any(lines):
            proven_from = None
        elif proven_from is None:
            proven_from = num_updates
    wins = [file.results_against_random(positions, policy, seat)[0] for seat in seats]
    grade = jax_ttt.grade(package_policy(policy, positions.obs))
    for name, line, win_rate in zip(SEATS, lines, wins, strict=True):
        seat_grade = grade.seat(name)
        if (
            seat_grade is None
            or seat_grade.unbeatable != (line is None)
            or not np.isclose(seat_grade.win_rate, win_rate, atol=1e-9)
        ):
            raise RuntimeError(f"the grades of the agent of seed {seed} differ: {name}")
    return TrainedAgent(seed, proven_from, 100 * float(np.mean(wins)))


def package_policy(
    policy: Float[np.ndarray, "P A"], obs: np.ndarray
) -> Float[np.ndarray, "P A"]:
    """Return a policy of the file as the package's matrix: in the order of its tree."""
    return policy[rows_of_tree(obs)]


def results_table(agents: Sequence[TrainedAgent]) -> str:
    """Return how many agents are proven, and a table of their wins, as Markdown."""
    proven = [agent for agent in agents if agent.proven]
    lines = [
        f"Proven by both programs: {len(proven)} of {len(agents)} agents.",
        "",
        "| wins against random, in % | agents | proven | seeds |",
        "|---|---|---|---|",
    ]
    for wins in sorted({round(agent.wins, 3) for agent in agents}, reverse=True):
        group = [agent for agent in agents if round(agent.wins, 3) == wins]
        num_proven = sum(agent.proven for agent in group)
        seeds = ", ".join(str(agent.seed) for agent in group)
        shown = seeds if len(group) < 10 else "all other seeds"
        lines.append(f"| {wins:.3f} | {len(group)} | {num_proven} | {shown} |")
    begins = [agent.proven_from for agent in agents if agent.proven_from is not None]
    if begins:
        lines += [
            "",
            f"The first stays proven from update {min(begins)} on, half of them from "
            f"{median(begins):.0f} on, all from {max(begins)} on.",
        ]
    return "\n".join(lines)


def main(argv: Sequence[str] | None) -> int:
    """Train and prove the agents, and print the table."""
    args = tyro.cli(Args, args=argv, prog="python -m tools.one_file")
    check_seeds(args.first_seed, args.num_seeds)
    file = load_file()
    positions = file.enumerate_positions()
    agents = []
    with Steps(args.num_seeds, "agent") as bar:
        for seed in range(args.first_seed, args.first_seed + args.num_seeds):
            agents.append(train_agent(file, positions, seed))
            bar.update()
    print(results_table(agents))
    return 0 if all(agent.proven for agent in agents) else 1


if __name__ == "__main__":
    sys.exit(main(None))
