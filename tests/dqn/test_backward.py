"""Whole games learned backward: chance is drawn anew for each move of a game."""

import dataclasses
import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.tree_util import Partial

from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.dqn import draws, equations, learner, losses
from jax_ttt.envs.opponents import SelfPlay, Versus
from jax_ttt.networks import q_network
from jax_ttt.players.network import network_of

NUM_GAMES = 2000
DOUBLE = PRESETS["tictac-double-q"].replace(
    opponent="scripted",
    seat="first",
    num_envs=1,
    epsilon_start=0.0,
    epsilon_end=0.0,
    # Every move that is learned from changes its entry.
    initial_value=0.25,
    gamma=0.5,
)
SELF_PLAY = Config.of(
    network="table",
    table_key="after-state",  # a game shows itself by the rows it visits
    canonical=False,
    optimizer="sgd",
    backward=True,
    num_envs=1,
    num_updates=10,
    epsilon_start=0.5,
    epsilon_end=0.5,
)


def _reply(key, env_state):
    """Play cell 7, then 5: an agent that plays 0, 1, 2 wins."""
    del key
    return jnp.array([7, 5, 3, 4, 6])[env_state._step_count // 2]


def learned(config, keys, opponent):
    """Learn from one game for each key, each time as the first; return the states."""
    return _learned(config, network_of(config.architecture), keys, opponent)


@functools.partial(jax.jit, static_argnums=0)
def _learned(config, network, keys, opponent):
    state = learner.init(config, config.hyper, network, jax.random.key(0), opponent)

    def game(key):
        begin = dataclasses.replace(state, key=key)
        drawn = draws.of_update(config, key, 0)
        return learner.update(config, config.hyper, network, begin, opponent, drawn)[0]

    return jax.vmap(game)(keys)


def keys(count=NUM_GAMES):
    return jax.random.split(jax.random.key(1), count)


def assert_near(count, num_draws, chance):
    """Assert that a count of independent draws is within 4.5 deviations."""
    deviation = (num_draws * chance * (1 - chance)) ** 0.5
    assert abs(float(count) - num_draws * chance) < 4.5 * deviation + 1e-9


@pytest.fixture(scope="module")
def changed():
    """Return which of two tables learned from which of three moves, game by game."""
    states = learned(DOUBLE, keys(), Versus("scripted", Partial(_reply)))
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


def test_a_fair_coin_says_which_table_learns(changed):
    for move in (0, 1):
        assert_near(changed[:, 0, move].sum(), NUM_GAMES, 1 / 2)


def test_the_coin_is_thrown_anew_for_each_move_of_a_game(changed):
    for pair in itertools.product((False, True), repeat=2):
        both = (changed[:, 0, :2] == pair).all(axis=1)
        assert_near(both.sum(), NUM_GAMES, 1 / 4)


def test_the_coin_is_thrown_anew_for_each_game_of_a_batch():
    """Of many games in which the same move is made, each table learns from half."""
    count = 4000
    boards = jnp.zeros((count, 3, 3, 2), bool)
    batch = equations.Transition(
        obs=boards,
        action=jnp.full(count, 4, jnp.int32),
        reward=jnp.zeros(count),
        discount=jnp.full(count, 0.5).at[:1000].set(0.0),  # the last move of these
        next_obs=boards,
        next_legal_action_mask=jnp.ones((count, 9), bool),
        live=jnp.ones(count, bool).at[-1000:].set(False),  # over before this move
    )
    params = q_network.init_params(network_of(DOUBLE.architecture), jax.random.key(0))
    key = jax.random.key(2)
    lesson = jax.jit(losses.loss_and_gradient, static_argnums=0)(
        DOUBLE,
        network_of(DOUBLE.architecture),
        params,
        jnp.zeros((2, count)),
        batch,
        key,
    )
    (visits,) = jax.tree.leaves(lesson.visits)
    first, second = visits.sum(axis=0)
    assert first + second == 2 * 1000 + 2000
    assert_near(first - 1000, 2000, 1 / 2)


@pytest.fixture(scope="module")
def games(tree):
    """Return the cells played in games of an agent to whom all moves are equal.

    Greedy is the first empty cell; half of the moves are drawn at random.
    """
    met = np.asarray(learned(SELF_PLAY, keys(), SelfPlay()).visited)
    filled = np.asarray(tree.obs).any(axis=-1).reshape(-1, 9)
    games = []
    for rows in met:
        boards = filled[rows]
        boards = boards[np.argsort(boards.sum(axis=1))]
        assert boards.sum(axis=1).tolist() == list(range(1, len(boards) + 1))
        games.append(np.diff(boards, axis=0, prepend=False).argmax(axis=1).tolist())
    return games


def surprises(moves):
    """Return for each of the first five moves whether it was not the greedy one."""
    empty, found = list(range(9)), []
    for cell in moves[:5]:  # no game is shorter
        found.append(cell != empty[0])
        empty.remove(cell)
    return found


def test_the_turns_of_a_game_explore_independently(games):
    """The number of surprises is a sum of independent draws, one for each turn."""
    assert len(games) == NUM_GAMES
    seen = np.array([surprises(moves) for moves in games])
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


def test_the_turns_of_a_game_draw_their_random_moves_independently(games):
    """After a surprise in cell 8, the next one is in any of the other cells alike."""
    second = [moves[1] for moves in games if moves[0] == 8 and moves[1] != 0]
    counts = np.bincount(second, minlength=9)[1:8]
    expected = counts.sum() / 7
    assert expected > 5
    assert ((counts - expected) ** 2 / expected).sum() < 22.5  # 99.9 %, 6 degrees
