"""The learner: seeds, chunks, target network and counts."""

import dataclasses
import functools
import itertools

import jax
import jax.numpy as jnp
import learners
import numpy as np
import pytest

from jax_ttt.config.settings import Config, Hyper
from jax_ttt.dqn import equations, losses, random_numbers
from jax_ttt.dqn.learner import Learner
from jax_ttt.games import pgx_games
from jax_ttt.networks import q_network
from jax_ttt.players.network_player import network_of

CONFIG = Config.of(
    num_envs=16, hidden_size=16, num_updates=10, tau=0.25, precision="float32"
)
LOCKSTEP = CONFIG.replace(
    lockstep=True, canonical=False, tremble=0.25, gamma=0.9, weight_decay=0.5
)
AVERAGED = CONFIG.replace(average_span=1.0)
NETWORK = network_of(CONFIG.architecture)
_q_values = jax.jit(q_network.q_values)


_learner_of = functools.cache(Learner.of)


def do_update(config, state):
    """Do one update of self-play, compiled."""
    return learners.update(_learner_of(config), state)


def train(config, state, num_updates):
    """Do updates of self-play in one program."""
    return learners.chunk(_learner_of(config), state, num_updates=num_updates)


def start(seed, config=CONFIG):
    return learners.init(_learner_of(config), jax.random.key(seed))


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


@pytest.fixture(scope="module")
def trained():
    return train(CONFIG, start(0), 10)


def test_the_same_seed_gives_the_same_bits(trained):
    again = train(CONFIG, start(0), 10)
    for a, b in zip(numbers(trained), numbers(again), strict=True):
        assert a.tobytes() == b.tobytes()


def test_the_seed_reaches_the_weights_the_games_and_the_moves():
    a, b = start(0), start(1)
    kernels = [[x for x in numbers(s.params) if x.ndim == 2] for s in (a, b)]
    assert all(not np.array_equal(x, y) for x, y in zip(*kernels, strict=True))
    assert not np.array_equal(numbers(a.key), numbers(b.key))
    assert not np.array_equal(a.env_state.current_player, b.env_state.current_player)


def test_two_chunks_of_five_equal_one_of_ten(trained):
    state = start(0)
    for _ in range(2):
        state, _ = train(CONFIG, state, 5)
    for a, b in zip(numbers(trained[0]), numbers(state), strict=True):
        assert a.tobytes() == b.tobytes()


def test_the_target_network_follows_by_tau():
    before = start(0)
    params, target_params = before.params, before.target_params
    for a, b in zip(numbers(params), numbers(target_params), strict=True):
        assert np.array_equal(a, b)
    after, _ = do_update(CONFIG, before)
    for new, old, target in zip(
        *map(numbers, (after.params, target_params, after.target_params)), strict=True
    ):
        np.testing.assert_allclose(target, 0.25 * new + 0.75 * old, atol=1e-7)


def test_the_agent_is_the_average_of_its_parameters():
    """With a span of 1, every update has the same weight."""
    state, total = start(0, AVERAGED), 0.0
    for update in range(1, 5):
        state, _ = do_update(AVERAGED, state)
        total = total + numbers(state.params)[1]
        np.testing.assert_allclose(
            numbers(state.average_params)[1], total / update, atol=1e-6
        )


def test_before_the_first_update_all_parameters_are_the_same():
    """Then too, the agent that is graded is the average."""
    state = start(0, AVERAGED)
    for copied in (state.average_params, state.target_params):
        for a, b in zip(numbers(copied), numbers(state.params), strict=True):
            assert np.array_equal(a, b)


def test_averaging_does_not_change_the_training(trained):
    """Without a span, the agent is the network itself."""
    state, averaged = start(0), start(0, AVERAGED)
    for _ in range(10):
        (state, _), (averaged, _) = (
            do_update(CONFIG, state),
            do_update(AVERAGED, averaged),
        )
    for one in (state, trained[0]):
        assert np.array_equal(numbers(one.average_params)[1], numbers(one.params)[1])
    assert np.array_equal(numbers(averaged.params)[1], numbers(state.params)[1])
    assert not np.array_equal(
        numbers(averaged.average_params)[1], numbers(averaged.params)[1]
    )


OTHER = CONFIG.replace(
    double=True,
    target_update_every=2,
    optimizer="sgd",
    loss="mse",
    activation="tanh",
    hidden_layers=1,
    learning_rate=0.5,
    canonical=False,
)


@pytest.mark.slow
@pytest.mark.parametrize("every", [2, 3])
def test_the_target_network_is_copied_every_few_updates(every):
    config = OTHER.replace(target_update_every=every)
    state = start(0, config)
    kept = numbers(state.params)
    for update in range(1, 5):
        state, _ = do_update(config, state)
        if update % every == 0:
            kept = numbers(state.params)
        for target, expected in zip(numbers(state.target_params), kept, strict=True):
            np.testing.assert_array_equal(target, expected)


def test_an_update_is_one_step_of_sgd_on_the_squared_error_to_double_dqns_target():
    """Compared with gradients computed here, for networks that choose differently."""
    state = dataclasses.replace(
        start(5, OTHER),
        target_params=q_network.init_params(
            network_of(OTHER.architecture), jax.random.key(9)
        ),
    )
    before = state.env_state
    action, after, move, _ = play_by_hand(OTHER, state)
    legal = np.asarray(after.legal_action_mask)
    chosen, worth = (
        np.asarray(_q_values(network_of(OTHER.architecture), params, after.observation))
        for params in (state.params, state.target_params)
    )
    choice = np.where(legal, chosen, -9.0).argmax(axis=1)
    assert (choice != np.where(legal, worth, -9.0).argmax(axis=1)).any()
    best = worth[np.arange(16), choice]
    mean = np.where(legal, worth, 0.0).sum(axis=1) / legal.sum(axis=1)
    # No game is over yet.
    target = np.asarray(move.reward) - 0.5 * best - 0.5 * mean.astype(np.float32)

    def loss_fn(params):
        q_values = q_network.q_values(
            network_of(OTHER.architecture), params, before.observation
        )
        return ((q_values[np.arange(16), action] - target) ** 2).sum() / 32

    grads = jax.jit(jax.grad(loss_fn))(state.params)
    new, _ = do_update(OTHER, state)
    for old, grad, found in zip(
        *map(numbers, (state.params, grads, new.params)), strict=True
    ):
        np.testing.assert_allclose(found, old - 0.5 * grad, atol=1e-6)


def test_a_chunks_metrics_are_means_and_sums_over_its_updates(trained):
    state, rows = start(0), []
    for _ in range(10):
        state, metrics = do_update(CONFIG, state)
        rows.append(metrics)
    found = trained[1]
    for name in ("loss", "grad_norm", "mean_max_q"):
        mean = np.mean([float(getattr(row, name)) for row in rows])
        assert float(getattr(found, name)) == pytest.approx(mean, rel=1e-4, abs=1e-6)
    for name in ("games", "env_steps"):
        assert int(getattr(found, name)) == sum(int(getattr(r, name)) for r in rows)
    assert float(found.epsilon) == pytest.approx(float(rows[-1].epsilon))


def test_the_schedules_end_with_the_last_update(trained):
    _, metrics = trained
    assert float(metrics.epsilon) == CONFIG.exploration.epsilon_end
    assert float(metrics.learning_rate) == 0
    _, first = do_update(CONFIG, start(0))
    assert float(first.epsilon) == CONFIG.exploration.epsilon_start
    assert float(first.learning_rate) == pytest.approx(CONFIG.optimizer.learning_rate)


def play_by_hand(config, state):
    """Play the moves of one update with its random numbers."""
    return _play_by_hand(_learner_of(config), state)


@jax.jit
def _play_by_hand(learner, state):
    config = learner.config
    drawn = random_numbers.draw_random_numbers(config, state.key, state.update)
    before = state.env_state
    q_values = q_network.q_values(learner.network, state.params, before.observation)
    hyper = learner.hyper
    epsilon = equations.linear(
        hyper.epsilon_start, hyper.epsilon_end, config.run.num_updates
    )
    action = equations.epsilon_greedy(
        drawn.turns.uniform[0],
        q_values,
        before.legal_action_mask,
        jnp.asarray(epsilon(state.update)),
    )
    env = pgx_games.make_env(config.env_id)
    after, move = pgx_games.step(env, before, action, config.target.gamma)
    following = pgx_games.restart(state.new_game, after, config.run.lockstep)
    return action, after, move, following


@pytest.mark.parametrize("config", [CONFIG, LOCKSTEP], ids=["restart", "lockstep"])
def test_games_and_moves_are_played_and_counted(config):
    state, ended, moves = start(3, config), 0, 0
    for _ in range(10):
        _, after, _, following = play_by_hand(config, state)
        live = ~np.asarray(state.env_state.terminated)
        over = live & np.asarray(after.terminated)
        state, metrics = do_update(config, state)
        assert (metrics.games, metrics.env_steps) == (over.sum(), live.sum())
        for a, b in zip(numbers(state.env_state), numbers(following), strict=True):
            assert np.array_equal(a, b)
        ended, moves = ended + over.sum(), moves + live.sum()
    assert ended >= 16 if config.run.lockstep else ended > 8
    assert moves < 160 if config.run.lockstep else moves == 160


def test_an_update_is_one_step_of_adamw_on_the_loss_of_the_moves_played():
    """Compared with the gradient of a loss written here."""
    state = start(5, LOCKSTEP)
    for _ in range(5):  # then some games are over, and none has only one cell left
        state, _ = do_update(LOCKSTEP, state)
    before = state.env_state
    action, after, move, _ = play_by_hand(LOCKSTEP, state)
    assert 0 < int(move.live.sum()) < 16

    def loss_fn(params):
        next_q = q_network.q_values(
            network_of(LOCKSTEP.architecture), state.target_params, after.observation
        )
        legal = after.legal_action_mask
        best = jnp.where(legal, next_q, -9.0).max(axis=1)
        mean = jnp.where(legal, next_q, 0.0).sum(axis=1) / legal.sum(axis=1)
        value = 0.75 * best + 0.25 * mean
        target = move.reward - jnp.where(after.terminated, 0, 0.9 * value)
        q_values = q_network.q_values(
            network_of(LOCKSTEP.architecture), params, before.observation
        )
        error = q_values[jnp.arange(16), action] - target
        small = jnp.abs(error) <= 1
        huber = jnp.where(small, error**2 / 2, jnp.abs(error) - 0.5)
        return jnp.where(before.terminated, 0, huber).sum() / 16

    loss, grads = jax.jit(jax.value_and_grad(loss_fn))(state.params)
    rate = LOCKSTEP.optimizer.learning_rate * 4 / 9  # update 5 of 0 to 9; the end is 0
    optimizer = losses.optimizer("adamw", rate, LOCKSTEP.optimizer.weight_decay)
    steps, _ = jax.jit(optimizer.update)(grads, state.opt_state, state.params)
    new, metrics = do_update(LOCKSTEP, state)
    assert float(metrics.loss) == pytest.approx(float(loss), rel=1e-5)
    norm = np.sqrt(sum((g**2).sum() for g in numbers(grads)))
    assert float(metrics.grad_norm) == pytest.approx(float(norm), rel=1e-5)
    for old, step, found in zip(
        *map(numbers, (state.params, steps, new.params)), strict=True
    ):
        np.testing.assert_allclose(found, old + step, atol=1e-6)


def test_the_mean_value_is_that_of_the_best_legal_actions_in_unfinished_games():
    state = start(5, LOCKSTEP)
    for _ in range(6):
        state, _ = do_update(LOCKSTEP, state)
    before = state.env_state
    network = network_of(LOCKSTEP.architecture)
    values = jax.jit(q_network.q_values)(network, state.params, before.observation)
    legal, live = before.legal_action_mask, ~before.terminated
    assert 0 < live.sum() < 16
    best = np.where(legal, values, -np.inf).max(axis=1)
    assert not np.allclose(best, values.max(axis=1))
    _, metrics = do_update(LOCKSTEP, state)
    expected = best[np.asarray(live)].mean()
    assert float(metrics.mean_max_q) == pytest.approx(expected, rel=1e-5)


def test_weight_decay_shrinks_each_weight_in_proportion():
    """If all games are over the gradient is 0, so AdamW's step is only the decay."""
    other = q_network.init_params(network_of(LOCKSTEP.architecture), jax.random.key(9))
    state = dataclasses.replace(start(5, LOCKSTEP), target_params=other)
    over = state.env_state.replace(terminated=jnp.ones(16, bool))
    after, metrics = do_update(LOCKSTEP, dataclasses.replace(state, env_state=over))
    assert float(metrics.grad_norm) == 0
    rate = LOCKSTEP.optimizer.learning_rate * LOCKSTEP.optimizer.weight_decay
    assert rate == 2e-3
    leaves = (state.params, other, after.params, after.target_params)
    for old, target, new, new_target in zip(*map(numbers, leaves), strict=True):
        np.testing.assert_allclose(new - old, -rate * old, atol=3e-7)
        expected = 0.25 * new + 0.75 * target  # Polyak average, without decay
        np.testing.assert_allclose(new_target, expected, atol=1e-7)


TABLE = OTHER.replace(
    network="table",
    double=False,
    learning_rate=0.5,
    learning_rate_end=0.5,
    initial_value=0.25,
    num_envs=64,
)


def test_a_table_takes_the_same_share_of_the_mean_error_at_any_batch_size():
    """All 64 games are on the empty board; each played entry moves once by alpha."""
    state = start(0, TABLE)
    action, *_ = play_by_hand(TABLE, state)
    new, _ = do_update(TABLE, state)
    (values,) = numbers(new.params)
    empty = 0  # the first position
    expected = np.full(9, 0.25)
    expected[np.unique(action)] += 0.5 * (-0.25 - 0.25)  # target: -opponent's 0.25
    np.testing.assert_allclose(values[empty], expected, atol=1e-6)
    assert (np.delete(values, empty, axis=0) == 0.25).all()


REPLAY = TABLE.replace(
    double=True,
    replay_capacity=256,
    replay_batch=32,
    replay_start=128,
    target_update_every=0,
    epsilon_schedule="exponential",
    epsilon_decay=0.99,
    epsilon_end=0.25,
)


@pytest.mark.slow
def test_replay_learns_from_replay_start_on_and_uses_no_key_twice():
    """Exponential epsilon falls with each finished game."""
    state, params = start(0, REPLAY), numbers(start(0, REPLAY).params)
    ended = 0
    with jax.debug_key_reuse(True):
        for update in range(1, 13):
            state, metrics = do_update(REPLAY, state)
            epsilon = max(0.99**ended, 0.25)
            assert float(metrics.epsilon) == pytest.approx(epsilon, rel=1e-4)
            ended += int(metrics.games)
            assert int(state.buffer.size) == min(64 * update, 256)
            changed = not np.array_equal(params[0], numbers(state.params)[0])
            assert changed == (update >= 2)
            assert (float(metrics.loss) > 0) == changed
    assert ended > 64
    assert int(state.games) == ended


DECAYING = CONFIG.replace(
    **{"weight_decay": 0.5, "average_span": 1.0, "target_update_every": 2},
    **{"replay_capacity": 128, "replay_batch": 16, "replay_start": 64},
)


def test_nothing_of_an_agent_changes_before_replay_start():
    """Weight decay, the target, the average and the optimizer's count wait too."""
    other = q_network.init_params(NETWORK, jax.random.key(9))
    state = dataclasses.replace(start(0, DECAYING), target_params=other)

    def learned(state):
        parts = state.params, state.target_params, state.average_params, state.opt_state
        return [leaf.tobytes() for leaf in numbers(parts)]

    before = learned(state)
    for update in range(1, 4):  # 16 moves each
        state, metrics = do_update(DECAYING, state)
        assert learned(state) == before
        assert int(state.update) == update
        assert (float(metrics.loss), float(metrics.grad_norm)) == (0, 0)
    after, metrics = do_update(DECAYING, state)
    assert float(metrics.loss) > 0
    pairs = zip(learned(after), before, strict=True)
    assert all(new != old for new, old in pairs)


NUMBERS = CONFIG.replace(
    learning_rate=0.01,
    learning_rate_end=0.005,
    weight_decay=0.25,
    average_span=0.5,
    epsilon_schedule="steps",
    epsilon_start=0.75,
    epsilon_end=0.25,
    epsilon_decay=0.375,
    gamma=0.75,
    tremble=0.25,
)
OTHER_NUMBERS = {
    "learning_rate": 0.02,
    "learning_rate_end": 0.0,
    "weight_decay": 0.5,
    "average_span": 1.0,
    "epsilon_start": 0.5,
    "epsilon_end": 0.125,
    "epsilon_decay": 0.25,
    "tau": 0.5,
    "gamma": 0.5,
    "tremble": 0.75,
}


def results(learner, num_updates=3):
    """Return what the first updates leave, and the epsilons and rates that they use."""
    state, seen = learners.init(learner, jax.random.key(0)), []
    for _ in range(num_updates):
        state, metrics = learners.update(learner, state)
        seen.append((metrics.epsilon, metrics.learning_rate))
    return numbers((state, seen))


def are_equal(found, expected):
    return all(map(np.array_equal, found, expected))


@pytest.fixture(scope="module")
def usual_results():
    return results(_learner_of(NUMBERS))


def test_a_learner_has_ten_numbers_that_are_data():
    assert set(OTHER_NUMBERS) == set(Hyper._fields)


@pytest.mark.parametrize("name", OTHER_NUMBERS)
def test_each_number_that_is_data_counts(name, usual_results):
    config = NUMBERS.replace(**{name: OTHER_NUMBERS[name]})
    changed = results(_learner_of(config))
    assert not are_equal(changed, usual_results)


def test_numbers_of_the_settings_that_a_program_is_compiled_for_do_not_count(
    usual_results,
):
    """Learners of one program, which was compiled for the first, have their own."""
    other = NUMBERS.replace(**OTHER_NUMBERS)
    one, two = _learner_of(NUMBERS), _learner_of(other)
    assert jax.tree.structure(one) == jax.tree.structure(two)
    assert hash(jax.tree.structure(one)) == hash(jax.tree.structure(two))
    mixed = jax.tree.unflatten(jax.tree.structure(one), jax.tree.leaves(two))
    assert mixed.config == NUMBERS
    assert are_equal(results(mixed), results(two))
    mixed = jax.tree.unflatten(jax.tree.structure(two), jax.tree.leaves(one))
    assert mixed.config == other
    assert are_equal(results(mixed), usual_results)


def test_learners_that_differ_in_more_than_numbers_have_programs_of_their_own():
    more = _learner_of(NUMBERS.replace(num_envs=17))
    assert jax.tree.structure(_learner_of(NUMBERS)) != jax.tree.structure(more)


VERSUS = NUMBERS.replace(opponent="scripted", seat="first")


@pytest.mark.slow
@pytest.mark.parametrize("config", [NUMBERS, VERSUS], ids=["self-play", "versus"])
def test_learners_that_train_at_once_each_do_their_own_update(config):
    """They differ in their numbers and states, and in the moves of their opponents."""
    configs = [config, config.replace(**OTHER_NUMBERS), config.replace(gamma=0.25)]
    scripts = [[8, 7, 6], [7, 8, 5], [5, 7, 8]]
    if config.opponent.is_self:
        alone = [Learner.of(one) for one in configs]
    else:
        alone = [
            Learner.of(one, learners.scripted(one, replies))
            for one, replies in zip(configs, scripts, strict=True)
        ]
    states = [
        learners.init(learner, jax.random.key(seed))
        for seed, learner in enumerate(alone)
    ]

    def stacked(trees):
        return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)

    together = dataclasses.replace(
        alone[0],
        hyper=stacked([learner.hyper for learner in alone]),
        opponent=stacked([learner.opponent for learner in alone]),
    )
    update = jax.jit(jax.vmap(learners.update, in_axes=(together.axes, 0)))
    many = stacked(states)
    for _ in range(3):
        many, many_metrics = update(together, many)
        singles = [learners.update(*pair) for pair in zip(alone, states, strict=True)]
        states = [state for state, _ in singles]
        for place, single in enumerate(singles):
            found = jax.tree.map(lambda x, i=place: x[i], (many, many_metrics))
            for a, b in zip(numbers(found), numbers(single), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    pairs = itertools.combinations(states, 2)
    assert not any(are_equal(numbers(a.params), numbers(b.params)) for a, b in pairs)
