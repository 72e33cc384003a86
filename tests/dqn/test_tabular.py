"""Learning in tables: published test cases, keys, symmetries, means, two tables."""

import dataclasses
import functools

import jax
import learners
import made
import numpy as np
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.dqn.learner import DQN
from jax_ttt.networks import q_network

# The test cases of nestedsoftware/tictac: alpha 0.9, gamma 1, initial values 0.
CONFIG = Config.of(
    network="table",
    optimizer="sgd",
    loss="mse",
    tau=1.0,
    tremble=0.0,
    backward=True,
    opponent="scripted",
    num_envs=1,
    num_updates=10,
    learning_rate=0.9,
    learning_rate_end=0.9,
    epsilon_start=0.0,
    epsilon_end=0.0,
    reward_draw=1.0,
    reward_loss=0.0,
)
_Q_VALUES = jax.jit(q_network.action_values)
learner_of = functools.cache(learners.learner_of)


def learn(config, state, batch, key):
    """Learn from a batch at the first learning rate of the settings."""
    rate = np.float32(config.learning_rate)
    return learners.learn(learner_of(config), state, batch, key, rate)


def obs_of(cells):
    """Return PGX observations of boards of 1 (the mover's stone), -1 and 0."""
    cells = np.asarray(cells).reshape(-1, 3, 3)
    return np.stack([cells == 1, cells == -1], axis=-1)


def q_values_of(config, params, obs):
    return np.asarray(_Q_VALUES(learner_of(config).network, params, obs))


def value(config, state, mine, yours, action):
    """Return the agent's value of a move on a board with these stones."""
    cells = np.zeros(9, int)
    cells[list(mine)], cells[list(yours)] = 1, -1
    q_values = q_values_of(config, state.params, obs_of(cells))
    return float(q_values[0, action])


def play_game(config, state, replies, first):
    """Let the agent play a game against scripted replies, and learn from it."""
    config = config.replace(seat="first" if first else "second")
    learner = DQN.of(config, learners.scripted(config, replies))
    start = learners.init(learner, jax.random.key(0))
    if state is not None:
        start = dataclasses.replace(state, env_state=start.env_state)
    return learners.update(learner, start)


def assert_near(found, expected):
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_won_game_is_learned_from_the_last_move_to_the_first():
    # X0 O7 X1 O5 X2
    state, metrics = play_game(CONFIG, None, [7, 5], first=True)
    assert metrics.counts == (1, 1, 0, 5)  # games, wins, losses and moves
    for corner in (0, 2, 6, 8):
        assert_near(value(CONFIG, state, [], [], corner), 0.729)
    assert_near(value(CONFIG, state, [0], [7], 1), 0.81)
    assert_near(value(CONFIG, state, [0, 1], [7, 5], 2), 0.9)
    assert_near(value(CONFIG, state, [], [], 4), 0)
    assert np.asarray(state.visited).sum() == 3

    # Another win, with five moves: X0 O1 X2 O3 X4 O6 X5 O7 X8.
    state, metrics = play_game(CONFIG, state, [1, 3, 6, 7], first=True)
    assert metrics.counts == (1, 1, 0, 9)
    mine, yours, values = [0, 2, 4, 5, 8], [1, 3, 6, 7], (0.66339, 0.6561, 0.729, 0.81)
    for num_moves, expected in enumerate((*values, 0.9)):
        stones = mine[:num_moves], yours[:num_moves]
        assert_near(value(CONFIG, state, *stones, mine[num_moves]), expected)
    assert np.asarray(state.visited).sum() == 7


def test_all_moves_of_an_update_have_its_learning_rate():
    """At update 4 of 0 to 9, the rate has fallen from 0.45 to 0.25."""
    config = CONFIG.replace(learning_rate=0.45, learning_rate_end=0.0)
    state = learners.init(learner_of(config), jax.random.key(0))
    state = dataclasses.replace(state, update=np.int32(4))
    state, metrics = play_game(config, state, [7, 5], first=True)
    assert_near(metrics.learning_rate, 0.25)
    assert_near(value(config, state, [0, 1], [7, 5], 2), 0.25)
    assert_near(value(config, state, [0], [7], 1), 0.25**2)
    assert_near(value(config, state, [], [], 0), 0.25**3)


def test_a_lost_game_lowers_the_second_players_first_move():
    # X8 O0 X7 O1 X4 O2
    state, metrics = play_game(CONFIG, None, [8, 7, 4], first=False)
    assert metrics.counts == (1, 1, 0, 6)
    assert_near(value(CONFIG, state, [], [8], 0), 0.729)
    assert_near(value(CONFIG, state, [0, 1], [8, 7, 4], 2), 0.9)
    # X8 O0 X6 O1 X7
    state, metrics = play_game(CONFIG, state, [8, 6, 7], first=False)
    assert metrics.counts == (1, 0, 1, 5)
    assert_near(value(CONFIG, state, [], [8], 0), 0.0729)
    assert_near(value(CONFIG, state, [0], [8, 6], 1), 0)


def transition(cells, action, reward):
    """Return the last move of a game, on this board."""
    obs = obs_of(cells)
    return made.transition(
        obs=obs,
        action=np.array([action], np.int32),
        reward=np.array([reward], np.float32),
        discount=np.zeros(1, np.float32),
        next_obs=obs,
        next_legal_action_mask=np.ones((1, 9), bool),
        live=np.ones(1, bool),
    )


@pytest.mark.parametrize("key", ["position", "after-state"])
def test_a_board_and_its_mirror_image_share_their_entries_and_moves(key):
    """Values learned in one view are found in another."""
    config = CONFIG.replace(table_key=key)
    state = learners.init(learner_of(config), jax.random.key(0))
    board = np.array([[1, 0, 0], [-1, 1, 0], [0, 0, -1]])
    for action, reward in ((2, 1.0), (7, -0.5)):
        state, _ = learn(
            config, state, transition(board, action, reward), jax.random.key(1)
        )
    (table,) = jax.tree.leaves(state.params)
    assert np.count_nonzero(table) == 2
    for cells, moves in (
        (board, [2, 7]),
        (board.T, [6, 5]),
        (np.rot90(board, 2), [6, 1]),
    ):
        q_values = q_values_of(config, state.params, obs_of(cells))[0]
        assert_near(q_values[moves], [0.9, -0.45])


def test_a_tables_step_is_the_mean_over_the_visits_of_each_entry():
    config = CONFIG.replace(learning_rate=0.5, learning_rate_end=0.5)
    state = learners.init(learner_of(config), jax.random.key(0))
    empty, opened = [0] * 9, [1, -1] + [0] * 7
    moves = [
        transition(empty, 4, 1.0),
        transition(empty, 4, -0.5),
        transition(opened, 2, 1.0),
        transition(opened, 2, 1.0),
    ]
    batch = jax.tree.map(lambda *leaves: np.concatenate(leaves), *moves)
    batch = batch._replace(live=np.array([True, True, True, False]))
    new, _ = learn(config, state, batch, jax.random.key(1))
    assert_near(value(config, new, [], [], 4), 0.5 * (1.0 - 0.5) / 2)
    assert_near(value(config, new, [0], [1], 2), 0.5)
    (table,) = jax.tree.leaves(new.params)
    assert np.count_nonzero(table) == 2
    assert np.asarray(new.visited).sum() == 2


def test_both_heads_of_a_two_ply_table_learn_from_each_move():
    """The first head has the errors 0.5 and 0, the second head 0 and -3."""
    config = Config.of(network="table", optimizer="sgd", loss="mse", backup="two-ply")
    learner = learner_of(config)
    params = learners.init(learner, jax.random.key(0)).params
    target = np.array([[0.5, 0.0], [0.0, -3.0]], np.float32)
    moves = [transition([0] * 9, action, 0.0) for action in (0, 1)]
    batch = jax.tree.map(lambda *leaves: np.concatenate(leaves), *moves)
    gradient = learners.gradient(learner, params, target, batch, jax.random.key(0))
    assert float(gradient.loss) == pytest.approx(0.125 / 2 + 4.5 / 2)


DOUBLE = CONFIG.replace(double=True, canonical=False, gamma=0.5)


def test_two_tables_play_by_their_mean_and_each_values_the_choice_of_the_other():
    values = np.zeros((2, 9), np.float32)
    values[0, :2], values[1, :2] = (0.5, 0.25), (0.125, 0.75)
    params = q_network.param_shapes(learner_of(DOUBLE).network)
    params = jax.tree.map(
        lambda leaf: np.broadcast_to(values.reshape(1, 18), leaf.shape), params
    )
    q_values = q_values_of(DOUBLE, params, obs_of([0] * 9))
    assert_near(q_values[0, :3], [0.3125, 0.5, 0])
    batch = transition([0] * 9, 4, 0.25)._replace(discount=np.array([0.5], np.float32))
    target = learners.td_targets(learner_of(DOUBLE), params, params, batch)
    # The first chooses cell 0, the second cell 1; each value is the other table's.
    assert_near(np.asarray(target)[:, 0], [0.25 + 0.5 * 0.125, 0.25 + 0.5 * 0.25])
