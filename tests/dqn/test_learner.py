"""The learner: seeds, chunks, gradient steps, target network and counts."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import learners
import numpy as np
import pytest
import tiny

from jax_ttt.config.settings import Config
from jax_ttt.dqn import equations, losses, random_numbers
from jax_ttt.dqn.learner import DQN
from jax_ttt.games import pgx_games
from jax_ttt.networks import q_network
from jax_ttt.players.saved_agents import network_from

CONFIG = Config.of(
    num_envs=16, hidden_size=16, num_updates=10, tau=0.25, precision="float32"
)
LOCKSTEP = CONFIG.replace(
    lockstep=True, canonical=False, tremble=0.25, gamma=0.9, weight_decay=0.5
)
SGD = CONFIG.replace(
    double=True,
    target_update_every=3,
    optimizer="sgd",
    loss="mse",
    activation="tanh",
    hidden_layers=1,
    learning_rate=0.5,
    canonical=False,
)
_q_values = jax.jit(q_network.action_values)
_learner_of = functools.cache(DQN.of)


def do_update(config, state):
    """Do one update of self-play, compiled."""
    return learners.update(_learner_of(config), state)


def do_chunks(config, state, *cuts):
    """Do updates of self-play, so many in each call; return state and metrics."""
    metrics = None
    for num_updates in cuts:
        state, metrics = learners.chunk(
            _learner_of(config), state, num_updates, metrics
        )
    return state, metrics


def start(seed, config=CONFIG):
    return learners.init(_learner_of(config), jax.random.key(seed))


def other_params(config):
    """Return weights that `start` does not return."""
    return tiny.random_params(config.architecture, seed=9)


def numbers(tree):
    """Return the leaves as NumPy arrays, keys as their data."""
    return [
        np.asarray(
            jax.random.key_data(x)
            if jnp.issubdtype(x.dtype, jax.dtypes.prng_key)
            else x
        )
        for x in jax.tree.leaves(tree)
    ]


def are_equal(tree, other):
    """Return whether all bits are equal."""
    pairs = zip(numbers(tree), numbers(other), strict=True)
    return all(a.tobytes() == b.tobytes() for a, b in pairs)


@pytest.fixture(scope="module")
def trained():
    return do_chunks(CONFIG, start(0), 10)


def test_a_number_of_updates_that_the_program_is_compiled_for_has_the_same_bits(
    trained,
):
    """A loop of one update would be compiled in another way, with other rounding."""
    static = jax.jit(DQN.chunk, static_argnames="num_updates")
    state = start(0)
    for _ in range(10):
        state, _ = static(_learner_of(CONFIG), state, num_updates=1)
    assert are_equal(trained[0], state)


def test_a_chunk_draws_new_random_numbers_for_each_of_many_updates():
    """More updates than those whose random numbers are drawn at once."""
    whole = do_chunks(CONFIG, start(0), 120)
    assert are_equal(whole, do_chunks(CONFIG, start(0), 1, 7, 43, 69))


LARGE = Config.of(hidden_size=2048, num_envs=64, num_updates=5)


@pytest.mark.slow
@pytest.mark.usefixtures("optimized")
def test_the_bits_of_a_large_network_do_not_depend_on_its_chunks():
    whole = do_chunks(LARGE, start(0, LARGE), 5)
    assert are_equal(whole, do_chunks(LARGE, start(0, LARGE), *[1] * 5))


def test_the_bits_of_a_run_depend_on_its_seed():
    one, other = start(0), start(1)
    for name in ("params", "key", "env_state"):
        assert not are_equal(getattr(one, name), getattr(other, name))


def test_the_agent_is_the_average_of_its_weights_which_does_not_change_the_training(
    trained,
):
    """With a span of 1, every update has the same weight; with 0, there is none."""
    config = CONFIG.replace(average_span=1.0)
    state, averaged = start(0), start(0, config)
    assert are_equal(averaged.average_params, averaged.params)
    assert are_equal(averaged.target_params, averaged.params)
    total = 0.0
    for update in range(1, 5):
        state, _ = do_update(CONFIG, state)
        averaged, _ = do_update(config, averaged)
        total = total + numbers(averaged.params)[1]
        average = numbers(averaged.average_params)[1]
        np.testing.assert_allclose(average, total / update, atol=1e-6)
    assert are_equal(averaged.params, state.params)
    assert are_equal(trained[0].average_params, trained[0].params)


def test_the_target_network_is_copied_every_few_updates():
    state = start(0, SGD)
    expected = state.params
    for update in range(1, 8):
        state, _ = do_update(SGD, state)
        expected = state.params if update % 3 == 0 else expected
        assert are_equal(state.target_params, expected)


def play_by_hand(config, state):
    """Return the moves of one update by its random numbers: actions and states."""
    return _play_by_hand(_learner_of(config), state)


@jax.jit
def _play_by_hand(learner, state):
    config, before = learner.config, state.env_state
    drawn = random_numbers.draw_random_numbers(config, state.key, state.update)
    epsilon = equations.linear_schedule(
        config.epsilon_start, config.epsilon_end, config.num_updates
    )
    action = equations.epsilon_greedy(
        drawn.turns.uniform[0],
        q_network.action_values(learner.network, state.params, before.observation),
        before.legal_action_mask,
        jnp.asarray(epsilon(state.update)),
    )
    env = pgx_games.make_env(config.env_id)
    after, move = pgx_games.step(env, before, action, config.gamma)
    following = pgx_games.restart(state.new_game, after, config.lockstep)
    return action, after, move, following


@pytest.mark.parametrize("config", [CONFIG, LOCKSTEP], ids=["restart", "lockstep"])
def test_games_and_moves_are_played_and_counted(config):
    state, num_games, num_moves = start(3, config), 0, 0
    for _ in range(10):
        _, after, _, following = play_by_hand(config, state)
        live = ~np.asarray(state.env_state.terminated)
        ended = live & np.asarray(after.terminated)
        state, metrics = do_update(config, state)
        assert metrics.counts.games == ended.sum()
        assert metrics.counts.env_steps == live.sum()
        assert are_equal(state.env_state, following)
        num_games, num_moves = num_games + ended.sum(), num_moves + live.sum()
    assert num_games > (15 if config.lockstep else 8)
    assert (num_moves < 160) == config.lockstep
    assert state.games == num_games


def test_an_update_is_one_step_of_adamw_on_the_loss_of_the_moves_played():
    """Compared with the gradient of a loss written here."""
    state = start(5, LOCKSTEP)
    for _ in range(5):  # then some games are over, and none has only one cell left
        state, _ = do_update(LOCKSTEP, state)
    before, network = state.env_state, network_from(LOCKSTEP.architecture)
    action, after, move, _ = play_by_hand(LOCKSTEP, state)
    live = np.asarray(move.live)
    assert 0 < live.sum() < 16

    def loss_fn(params):
        next_q = q_network.action_values(
            network, state.target_params, after.observation
        )
        legal = after.legal_action_mask
        best = jnp.where(legal, next_q, -9.0).max(axis=1)
        mean = jnp.where(legal, next_q, 0.0).sum(axis=1) / legal.sum(axis=1)
        value = 0.75 * best + 0.25 * mean
        target = move.reward - jnp.where(after.terminated, 0, 0.9 * value)
        q_values = q_network.action_values(network, params, before.observation)
        error = q_values[jnp.arange(16), action] - target
        is_small = jnp.abs(error) <= 1
        huber = jnp.where(is_small, error**2 / 2, jnp.abs(error) - 0.5)
        return jnp.where(before.terminated, 0, huber).sum() / 16

    loss, grads = jax.jit(jax.value_and_grad(loss_fn))(state.params)
    rate = LOCKSTEP.learning_rate * 4 / 9  # update 5 of 0 to 9; the end is 0
    optimizer = losses.optimizer("adamw", rate, LOCKSTEP.weight_decay)
    steps, _ = jax.jit(optimizer.update)(grads, state.opt_state, state.params)
    new, metrics = do_update(LOCKSTEP, state)
    for old, step, params, old_target, target in zip(
        *map(numbers, (state.params, steps, new.params)),
        *map(numbers, (state.target_params, new.target_params)),
        strict=True,
    ):
        np.testing.assert_allclose(params, old + step, atol=1e-6)
        expected = 0.25 * params + 0.75 * old_target
        np.testing.assert_allclose(target, expected, atol=1e-6)
    norm = np.sqrt(sum((g**2).sum() for g in numbers(grads)))
    values = np.asarray(_q_values(network, state.params, before.observation))
    best = np.where(before.legal_action_mask, values, -np.inf).max(axis=1)
    expected = [float(loss), float(norm), best[live].mean()]
    found = [float(metrics.loss), float(metrics.grad_norm), float(metrics.mean_max_q)]
    assert found == pytest.approx(expected, rel=1e-5)


def test_an_update_is_one_step_of_sgd_on_the_squared_error_to_double_dqns_target():
    """Compared with gradients computed here, for networks that choose differently."""
    state = dataclasses.replace(start(5, SGD), target_params=other_params(SGD))
    before, network = state.env_state, network_from(SGD.architecture)
    action, after, move, _ = play_by_hand(SGD, state)
    legal, games = np.asarray(after.legal_action_mask), np.arange(16)
    choosing, valuing = (
        np.asarray(_q_values(network, params, after.observation))
        for params in (state.params, state.target_params)
    )
    choice = np.where(legal, choosing, -9.0).argmax(axis=1)
    assert (choice != np.where(legal, valuing, -9.0).argmax(axis=1)).any()
    mean = np.where(legal, valuing, 0.0).sum(axis=1) / legal.sum(axis=1)
    # No game is over yet.
    target = np.asarray(move.reward) - 0.5 * valuing[games, choice] - 0.5 * mean

    def loss_fn(params):
        q_values = q_network.action_values(network, params, before.observation)
        return ((q_values[games, action] - target.astype(np.float32)) ** 2).sum() / 32

    grads = jax.jit(jax.grad(loss_fn))(state.params)
    new, _ = do_update(SGD, state)
    for old, grad, params in zip(
        *map(numbers, (state.params, grads, new.params)), strict=True
    ):
        np.testing.assert_allclose(params, old - 0.5 * grad, atol=1e-6)


REPLAY = CONFIG.replace(
    weight_decay=0.5,
    average_span=1.0,
    target_update_every=2,
    replay_capacity=128,
    replay_batch=16,
    replay_start=64,
    epsilon_schedule="exponential",
    epsilon_decay=0.99,
    epsilon_end=0.25,
)


def test_nothing_of_an_agent_changes_before_replay_start_and_no_key_is_used_twice():
    """Weight decay, the target, the average and the optimizer's count wait, too."""
    state = dataclasses.replace(start(0, REPLAY), target_params=other_params(REPLAY))

    def learned(state):
        parts = state.params, state.target_params, state.average_params, state.opt_state
        return [leaf.tobytes() for leaf in numbers(parts)]

    before = learned(state)
    with jax.debug_key_reuse(True):
        for update in range(1, 11):
            num_games = int(state.games)
            state, metrics = do_update(REPLAY, state)
            # Exponential epsilon falls with each finished game.
            epsilon = max(0.99**num_games, 0.25)
            assert float(metrics.epsilon) == pytest.approx(epsilon, rel=1e-4)
            assert int(state.buffer.size) == min(16 * update, 128)
            pairs = zip(learned(state), before, strict=True)
            if update < 4:
                assert all(new == old for new, old in pairs)
                assert (float(metrics.loss), float(metrics.grad_norm)) == (0, 0)
            elif update == 4:
                assert all(new != old for new, old in pairs)
                assert float(metrics.loss) > 0
    assert int(state.games) > 8


OTHER_NUMBERS = CONFIG.replace(
    learning_rate=0.02,
    learning_rate_end=0.0,
    weight_decay=0.5,
    epsilon_start=0.5,
    epsilon_end=0.125,
    gamma=0.5,
    average_span=1.0,
    tau=0.5,
    tremble=0.75,
)


def results(learner):
    """Return the state after two updates, and their epsilons and rates."""
    state = learners.init(learner, jax.random.key(0))
    state, first = learners.update(learner, state)
    state, second = learners.update(learner, state)
    metrics = (first, second)
    return state, [(row.epsilon, row.learning_rate) for row in metrics]


def test_numbers_of_the_settings_that_a_program_is_compiled_for_do_not_count():
    """Learners of one program, which was compiled for the first, have their own."""
    one, two = _learner_of(CONFIG), _learner_of(OTHER_NUMBERS)
    assert jax.tree.structure(one) == jax.tree.structure(two)
    assert hash(jax.tree.structure(one)) == hash(jax.tree.structure(two))
    mixed = jax.tree.unflatten(jax.tree.structure(one), jax.tree.leaves(two))
    assert are_equal(results(mixed), results(two))
    assert not are_equal(results(one), results(two))
    more_games = _learner_of(CONFIG.replace(num_envs=17))
    assert jax.tree.structure(one) != jax.tree.structure(more_games)
