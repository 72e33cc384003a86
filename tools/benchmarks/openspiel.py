"""OpenSpiel's tabular Q-learners, trained as in OpenSpiel's example and proven by us.

Two `QLearner`s with default settings play each other as in OpenSpiel's example
`tic_tac_toe_qlearner.py`, but longer than its 50,000 episodes. Each learner is graded
in its own seat; it plays a random one of equal moves.

Axes: `P` positions, `A` actions.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from jaxtyping import Float

from jax_ttt.config.game_facts import SEATS
from jax_ttt.games import stone_boards
from jax_ttt.games import tree as trees
from jax_ttt.games.tree import Tree
from jax_ttt.grading import tree_grade
from jax_ttt.grading.grade import Grade
from jax_ttt.runtime.words import count_phrase
from jax_ttt.solver import policies
from tools.benchmarks import timing
from tools.benchmarks.progress import Steps
from tools.benchmarks.proof_rows import Spent, show_agents, train_until_end
from tools.benchmarks.timing import Figures, show

NUM_EPISODES = 200_000
"""Games of a pair of learners."""
CHECK_EVERY = 2_000
"""Games between two evaluations of a pair."""

Table = Mapping[str, Mapping[int, float]]
"""A learner's action values by OpenSpiel's board strings."""


def measure_openspiel(seeds: range, quick: bool) -> Figures:
    """Train one pair of OpenSpiel's learners per seed."""
    num_episodes = 2 * CHECK_EVERY if quick else NUM_EPISODES
    name = f"OpenSpiel {version('open_spiel')}"
    with Steps(len(seeds), "pair") as bar:
        rows = [
            bar.step(name, train_until_end, seed, pair_evaluations(seed, num_episodes))
            for seed in seeds
        ]
    end = f"all {count_phrase(num_episodes, 'episode')}"
    figures = show_agents(name, rows, end, ("games",))
    figures["wins_by_seat"] = {}
    for seat in SEATS:
        wins = [100 * row.grade.rates[seat].win_rate for row in rows]
        text = f"{name}, wins vs. random as {seat}"
        figures["wins_by_seat"][seat] = show(text, wins, "%", 3)
    rates = [row.end.games / row.end.seconds for row in rows]
    figures["rate"] = show(f"{name}, training", rates, "episodes/s", 0)
    return {"openspiel": figures}


def pair_evaluations(seed: int, num_episodes: int) -> Iterator[tuple[Spent, Grade]]:
    """Train a pair, yielding its exact evaluations with the costs so far."""
    from open_spiel.python import rl_environment  # type: ignore[import-not-found]
    from open_spiel.python.algorithms import (  # type: ignore[import-not-found]
        tabular_qlearner,
    )

    np.random.seed(seed)  # noqa: NPY002  the learners use this generator
    env = rl_environment.Environment("tic_tac_toe")
    learner = tabular_qlearner.QLearner
    learners = [learner(player_id=seat, num_actions=9) for seat in (0, 1)]
    wall, cpu, tree = 0.0, 0.0, trees.enumerated("tic_tac_toe")
    for count in range(CHECK_EVERY, num_episodes + 1, CHECK_EVERY):
        took = timing.seconds(lambda: play_episodes(env, learners, CHECK_EVERY))
        wall, cpu = wall + took[0], cpu + took[1]
        probs = pair_policy(tree, [learner._q_values for learner in learners])
        grade = tree_grade.grade_policy("tic_tac_toe", tree, probs)
        yield Spent(wall, cpu, count, count), grade


def play_episodes(env: Any, learners: Sequence[Any], num_episodes: int) -> None:  # noqa: ANN401
    """Train OpenSpiel's learners against each other."""
    for _ in range(num_episodes):
        moment = env.reset()
        while not moment.last():
            mover = learners[moment.observations["current_player"]]
            moment = env.step([mover.step(moment).action])
        for learner in learners:
            learner.step(moment)


def pair_policy(tree: Tree, tables: Sequence[Table]) -> Float[np.ndarray, "P A"]:
    """Return the pair as a policy: the best moves of the learner to move.

    `tree` holds NumPy arrays. Moves and boards that a learner has not visited have the
    value 0.

    Raises:
        ValueError: a learner has visited a board where it is not to move.
    """
    seat = np.where(tree.first_to_move, 0, 1)[tree.decisions]
    rows: list[dict[str, int]] = [{}, {}]
    for row, board in enumerate(boards(tree)):
        rows[seat[row]][board] = row
    action_values = np.where(tree.legal_action_mask, 0.0, -np.inf)[tree.decisions]
    for table, row_of_board in zip(tables, rows, strict=True):
        for board, values in table.items():
            if board not in row_of_board:
                raise ValueError(f"not a board where this learner moves: {board}")
            action_values[row_of_board[board], list(values)] = list(values.values())
    probs = np.zeros(tree.legal_action_mask.shape)
    probs[tree.decisions] = policies.share_equally(
        action_values == action_values.max(axis=1, keepdims=True)
    )
    return probs


def boards(tree: Tree) -> list[str]:
    """Return OpenSpiel's strings of the boards to decide: planes of empty, O and X."""
    to_mover = np.asarray(stone_boards.cells(tree.obs))[tree.decisions]
    cells = np.where(tree.first_to_move[tree.decisions, None], to_mover, -to_mover)
    planes = np.concatenate([cells == stone for stone in (0, -1, 1)], axis=1)
    return [str(plane) for plane in planes.astype(float).tolist()]
