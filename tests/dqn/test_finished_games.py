"""Learning from finished games: hand-computed values, weights, what is unchanged."""

import dataclasses
import functools

import jax
import learners
import numpy as np
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.dqn import finished_games
from jax_ttt.networks import q_network

X_WINS = [0, 3, 1, 4, 2]  # X0 O3 X1 O4 X2
O_WINS = [8, 0, 7, 1, 4, 2]  # X8 O0 X7 O1 X4 O2
DRAW = [4, 0, 2, 6, 3, 5, 1, 7, 8]
# One ply, alpha 0.5, gamma 0.9, the plain maximum.
TABLE = Config.of(
    network="table",
    optimizer="sgd",
    loss="mse",
    tau=1.0,
    tremble=0.0,
    gamma=0.9,
    num_envs=64,
    num_updates=10,
    learning_rate=0.5,
    learning_rate_end=0.5,
)
MLP = Config.of(num_envs=4, hidden_size=8, num_updates=10, average_span=0.5)


learner_of = functools.cache(learners.learner_of)
_learn_game = jax.jit(finished_games.learn_from_game)
_transitions = jax.jit(finished_games.game_transitions)
_q_values = jax.jit(q_network.action_values)


def start(config):
    return learners.init(learner_of(config), jax.random.key(0))


def learned(config, state, *games):
    for number, game in enumerate(games):
        played = finished_games.finished_game(config.env_id, game, number)
        state = _learn_game(learner_of(config), state, played)
    return state


def value(config, state, moves):
    """Return the value of the last of these moves to its mover."""
    cells = np.zeros(9, int)
    *before, move = moves
    for ply, cell in enumerate(before):
        cells[cell] = 1 if (len(before) - ply) % 2 == 0 else -1
    planes = np.stack([cells == 1, cells == -1], axis=-1).reshape(1, 3, 3, 2)
    values = _q_values(learner_of(config).network, state.params, planes)
    return float(np.asarray(values)[0, move])


def test_a_game_lowers_the_losers_last_move_and_raises_the_winners():
    state = learned(TABLE, start(TABLE), X_WINS)
    assert value(TABLE, state, X_WINS) == pytest.approx(0.5)
    # The loser's move leads to a board that is now worth 0.5 to the winner.
    assert value(TABLE, state, X_WINS[:4]) == pytest.approx(-0.5 * 0.9 * 0.5)
    # Before it, the loser had moves that are not known to lose.
    assert value(TABLE, state, X_WINS[:3]) == 0
    again = learned(TABLE, state, X_WINS)
    assert value(TABLE, again, X_WINS) == pytest.approx(0.75)
    lowered = -0.5 * 0.45 / 2 - 0.5 * 0.9 * 0.75
    assert value(TABLE, again, X_WINS[:4]) == pytest.approx(lowered)

    state = learned(TABLE, start(TABLE), O_WINS)
    assert value(TABLE, state, O_WINS) == pytest.approx(0.5)
    assert value(TABLE, state, O_WINS[:5]) == pytest.approx(-0.225)


def start_at(config, initial):
    """Return the state before the first update, with this value of each move."""
    state = start(config)
    params = jax.tree.map(lambda x: np.full_like(x, initial), state.params)
    return dataclasses.replace(state, params=params, target_params=params)


def test_a_drawn_last_move_goes_towards_zero_from_both_sides():
    for initial in (0.5, 0.0, -0.5):
        state = learned(TABLE, start_at(TABLE, initial), DRAW)
        assert value(TABLE, state, DRAW) == pytest.approx(initial / 2)
        assert np.asarray(state.visited).sum() == 9, "each move was learned from"


def test_with_two_plies_the_player_who_waits_learns_too():
    """The second head of a move is what it is worth to the other player."""
    config = TABLE.replace(backup="two-ply", tremble=0.5)
    state = learned(config, start(config), X_WINS)
    assert value(config, state, X_WINS) == pytest.approx(0.5)
    # O waits for X's reply: the best one of 5, half of the time, else a random one.
    lost = 0.5 * -0.5 + 0.5 * -0.5 / 5
    expected = 0.5 * 0.9 * lost
    assert value(config, state, X_WINS[:4]) == pytest.approx(expected)


def test_the_result_is_the_reward_of_the_last_move_and_an_illegal_move_ends_a_game():
    state = start(TABLE)
    drawn = TABLE.replace(opponent="random", reward_draw=0.25)
    moves = np.array(DRAW, np.int32)
    played = jax.device_get(_transitions(learner_of(drawn), state.new_game, moves))
    assert played.reward[:, 0].tolist() == [0] * 8 + [0.25]
    # Nothing is learned from an illegal move, and from what follows it.
    moves = np.array([4, 4, 0, 1, 2, 3, 5, 6, 7], np.int32)
    played = jax.device_get(_transitions(learner_of(TABLE), state.new_game, moves))
    assert played.live[:, 0].tolist() == [True, *[False] * 8]


def test_a_move_weighs_as_much_as_one_of_an_update():
    state = start(MLP)
    moves = _transitions(learner_of(MLP), state.new_game, np.array(DRAW, np.int32))
    last = jax.tree.map(lambda leaf: leaf[-1], jax.device_get(moves))
    pad = jax.jit(finished_games.padded_batch, static_argnums=1)
    padded = pad(last, MLP.num_envs)
    key, rate = jax.random.key(0), np.float32(0.1)
    single, padded = (
        learners.learn(learner_of(MLP), state, batch, key, rate)[1]
        for batch in (last, padded)
    )
    np.testing.assert_allclose(padded.loss, single.loss / MLP.num_envs, rtol=1e-5)


@pytest.mark.parametrize("config", [TABLE, MLP], ids=["table", "network"])
def test_the_average_takes_the_same_steps_and_the_run_stays_where_it_is(config):
    before = start(config)
    average = jax.tree.map(lambda x: np.asarray(x) + np.float32(0.25), before.params)
    before = dataclasses.replace(before, average_params=average)
    after = learned(config, before, X_WINS)

    def steps(name):
        leaves = (jax.tree.leaves(getattr(s, name)) for s in (after, before))
        pairs = zip(*leaves, strict=True)
        return np.concatenate([np.ravel(np.asarray(a) - b) for a, b in pairs])

    assert np.abs(steps("params")).max() > 1e-4
    np.testing.assert_allclose(steps("average_params"), steps("params"), atol=1e-6)
    assert (after.update, after.games) == (before.update, before.games)
    boards = (s.env_state.observation for s in (after, before))
    np.testing.assert_array_equal(*boards)


FALLING = TABLE.replace(learning_rate_end=0.0, epsilon_start=1.0)


def test_the_learning_rate_is_that_of_the_update_however_many_games_came_before():
    """At update 4 of 0 to 9, the rate has fallen from 0.5 to 5 / 9 of it."""
    rate = 0.5 * 5 / 9
    state = dataclasses.replace(start_at(FALLING, 0.25), update=np.int32(4))
    expected = 0.25
    for _ in range(3):
        state = learned(FALLING, state, X_WINS)
        expected += rate * (1 - expected)
        assert value(FALLING, state, X_WINS) == pytest.approx(expected)
    state, metrics = learners.update(learner_of(FALLING), state)
    assert float(metrics.learning_rate) == pytest.approx(rate)
    # The games opened in a corner; after the centre, all replies are worth 0.25.
    expected = 0.25 + rate * (-0.9 * 0.25 - 0.25)
    assert value(FALLING, state, [4]) == pytest.approx(expected)
