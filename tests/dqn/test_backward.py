"""Learning whole games backward: each move has its own random numbers."""

import dataclasses
import functools
import itertools

import jax
import learners
import numpy as np
import pytest

from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.dqn.learner import DQN
from jax_ttt.networks import q_network

NUM_GAMES = 2000
DOUBLE = PRESETS["tictac-double-q"].replace(
    opponent="scripted",
    seat="first",
    num_envs=1,
    epsilon_start=0.0,
    epsilon_end=0.0,
    # Learning from a move always changes its entry.
    initial_value=0.25,
    gamma=0.5,
)
SELF_PLAY = Config.of(
    network="table",
    table_key="after-state",  # the visited rows identify the game
    canonical=False,
    optimizer="sgd",
    backward=True,
    num_envs=1,
    num_updates=10,
    epsilon_start=0.5,
    epsilon_end=0.5,
)


@jax.jit
def learned(learner, keys):
    """Learn from one game per key, always from the initial state; return the states."""
    state = learner.init(jax.random.key(0))

    def learn_from_game(key):
        return learners.update(learner, dataclasses.replace(state, key=key))[0]

    return jax.vmap(learn_from_game)(keys)


def assert_likely(count, num_draws, chance):
    """Assert that a count of independent events is within 4.5 standard deviations."""
    deviation = (num_draws * chance * (1 - chance)) ** 0.5
    assert abs(float(count) - num_draws * chance) < 4.5 * deviation + 1e-9


def test_of_two_tables_a_random_one_learns_from_each_move_and_both_from_the_last():
    # The opponent plays 7, then 5, so an agent that plays 0, 1, 2 wins.
    opponent = learners.scripted(DOUBLE, [7, 5, 3, 4, 6])
    learner = DQN.of(DOUBLE, opponent)
    states = learned(learner, jax.random.split(jax.random.key(1), 400))
    assert (np.asarray(states.games) == 1).all()
    cells = np.zeros((3, 9))
    cells[1, [0, 7]] = cells[2, [0, 7]] = 1, -1
    cells[2, [1, 5]] = 1, -1
    boards = cells.reshape(3, 3, 3)
    obs = np.stack([boards == 1, boards == -1], axis=-1)
    heads = functools.partial(q_network.head_values, learner.network)
    heads = jax.jit(jax.vmap(heads, in_axes=(0, None)))
    values = np.asarray(heads(states.params, obs))[:, :, np.arange(3), np.arange(3)]
    changed = values != 0.25  # (games, tables, moves)
    assert changed[:, :, 2].all()
    assert (changed[:, :, :2].sum(axis=1) == 1).all()
    for pair in itertools.product((False, True), repeat=2):
        both = (changed[:, 0, :2] == pair).all(axis=1)
        assert_likely(both.sum(), 400, 1 / 4)  # independent for each move


@pytest.mark.slow
def test_the_turns_of_a_game_explore_independently(host_tree):
    """The agent values all moves equally: its greedy move is the first empty cell.

    Half of its moves are random.
    """
    keys = jax.random.split(jax.random.key(1), NUM_GAMES)
    visited = np.asarray(learned(DQN.of(SELF_PLAY), keys).visited)
    filled = host_tree.obs.any(axis=-1).reshape(-1, 9)
    game, row = np.nonzero(visited)
    row_at = np.full((NUM_GAMES, 9), -1)  # by the number of moves before
    row_at[game, filled[row].sum(axis=1) - 1] = row
    # One row after each move of a game; every game has at least five.
    num_moves = visited.sum(axis=1)
    assert ((row_at >= 0) == (np.arange(9) < num_moves[:, None])).all()
    boards = filled[row_at[:, :5]]
    cells = np.diff(boards, axis=1, prepend=False).argmax(axis=2)  # (games, 5)
    first_empty = np.zeros_like(cells)
    first_empty[:, 1:] = (~boards[:, :4]).argmax(axis=2)
    is_random = cells != first_empty

    chances = [0.5 * (empty - 1) / empty for empty in (9, 8, 7, 6, 5)]
    for one, other in itertools.combinations_with_replacement(range(5), 2):
        both = (is_random[:, one] & is_random[:, other]).sum()
        chance = chances[one] * (1 if one == other else chances[other])
        assert_likely(both, NUM_GAMES, chance)
    # After a first move in cell 8, a second random move is uniform over the rest.
    second = cells[(cells[:, 0] == 8) & (cells[:, 1] != 0), 1]
    counts = np.bincount(second, minlength=9)[1:8]
    expected = counts.sum() / 7
    assert expected > 5
    assert ((counts - expected) ** 2 / expected).sum() < 22.5  # 99.9%, 6 degrees
