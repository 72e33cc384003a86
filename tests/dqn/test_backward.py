"""Learning whole games backward: each move has its own random numbers."""

import dataclasses
import itertools

import jax
import jax.numpy as jnp
import learners
import numpy as np
import pytest

from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.dqn.learner import Learner
from jax_ttt.networks import q_network
from jax_ttt.players.network_player import network_of

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

    def game(key):
        return learners.update(learner, dataclasses.replace(state, key=key))[0]

    return jax.vmap(game)(keys)


def keys(count=NUM_GAMES):
    return jax.random.split(jax.random.key(1), count)


def assert_near(count, num_draws, chance):
    """Assert that a count of independent events is within 4.5 standard deviations."""
    deviation = (num_draws * chance * (1 - chance)) ** 0.5
    assert abs(float(count) - num_draws * chance) < 4.5 * deviation + 1e-9


@pytest.fixture(scope="module")
def changed():
    """Return for each game which of two tables learned from which of three moves."""
    # The opponent plays 7, then 5, so an agent that plays 0, 1, 2 wins.
    opponent = learners.scripted(DOUBLE, [7, 5, 3, 4, 6])
    states = learned(Learner.of(DOUBLE, opponent), keys(1000))
    cells = np.zeros((3, 9))
    cells[1, [0, 7]] = cells[2, [0, 7]] = 1, -1
    cells[2, [1, 5]] = 1, -1
    boards = cells.reshape(3, 3, 3)
    obs = jnp.asarray(np.stack([boards == 1, boards == -1], axis=-1))
    heads = jax.jit(
        jax.vmap(
            lambda params: q_network.heads(network_of(DOUBLE.architecture), params, obs)
        )
    )
    played = heads(states.params)[:, :, np.arange(3), np.arange(3)]
    assert (states.games == 1).all()
    return np.asarray(played != 0.25)  # (games, tables, moves)


def test_both_tables_learn_from_the_last_move_of_a_game(changed):
    assert changed[:, :, 2].all()


def test_exactly_one_table_learns_from_a_move_that_is_not_the_last(changed):
    assert (changed[:, :, :2].sum(axis=1) == 1).all()


def test_either_table_learns_with_probability_one_half(changed):
    for move in (0, 1):
        assert_near(changed[:, 0, move].sum(), len(changed), 1 / 2)


def test_the_choice_of_a_table_is_independent_for_each_move_of_a_game(changed):
    for pair in itertools.product((False, True), repeat=2):
        both = (changed[:, 0, :2] == pair).all(axis=1)
        assert_near(both.sum(), len(changed), 1 / 4)


@pytest.fixture(scope="module")
def games(tree):
    """Return the cells played in games of an agent that values all moves equally.

    Its greedy move is the first empty cell. Half of its moves are random.
    """
    visited = np.asarray(learned(Learner.of(SELF_PLAY), keys()).visited)
    filled = np.asarray(tree.obs).any(axis=-1).reshape(-1, 9)
    game, row = np.nonzero(visited)
    row_at = np.full((NUM_GAMES, 9), -1)  # by the number of moves before
    row_at[game, filled[row].sum(axis=1) - 1] = row
    lengths = visited.sum(axis=1)
    # One row after each move of a game.
    assert ((row_at >= 0) == (np.arange(9) < lengths[:, None])).all()
    cells = np.diff(filled[row_at], axis=1, prepend=False).argmax(axis=2)
    return [moves[:n].tolist() for moves, n in zip(cells, lengths, strict=True)]


def not_greedy(moves):
    """Return for each of the first five moves whether it was not the greedy one."""
    empty, found = list(range(9)), []
    for cell in moves[:5]:  # every game has at least five
        found.append(cell != empty[0])
        empty.remove(cell)
    return found


@pytest.mark.slow
def test_the_turns_of_a_game_explore_independently(games):
    """The number of moves that are not greedy is a sum of independent events."""
    assert len(games) == NUM_GAMES
    seen = np.array([not_greedy(moves) for moves in games])
    chances = [0.5 * (empty - 1) / empty for empty in (9, 8, 7, 6, 5)]
    expected = np.ones(1)
    for turn, chance in enumerate(chances):
        assert_near(seen[:, turn].sum(), NUM_GAMES, chance)
        expected = np.convolve(expected, [1 - chance, chance])
    counts = np.bincount(seen.sum(axis=1), minlength=6)
    chi_square = ((counts - NUM_GAMES * expected) ** 2 / (NUM_GAMES * expected)).sum()
    assert chi_square < 20.5  # 99.9 % with 5 degrees of freedom
    for one, other in itertools.combinations(range(5), 2):
        both = (seen[:, one] & seen[:, other]).sum()
        assert_near(both, NUM_GAMES, chances[one] * chances[other])


def test_the_random_moves_of_a_game_are_independent(games):
    """After a first move in cell 8, a second random move is uniform over the rest."""
    second = [moves[1] for moves in games if moves[0] == 8 and moves[1] != 0]
    counts = np.bincount(second, minlength=9)[1:8]
    expected = counts.sum() / 7
    assert expected > 5
    assert ((counts - expected) ** 2 / expected).sum() < 22.5  # 99.9 %, 6 degrees
