"""A run's functions on named arrays do the same as the learner and the evaluator."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.dqn import finished_games, learner
from jax_ttt.envs import positions
from jax_ttt.envs.opponents import SelfPlay
from jax_ttt.evaluation import network_grades
from jax_ttt.players.network import network_of, params_from
from jax_ttt.runtime import named_arrays
from jax_ttt.training import functions
from jax_ttt.training.keys import keys, run_key

MLP = Config.of(num_envs=8, hidden_size=8, num_updates=4, eval_games=0)
TABLE = MLP.replace(network="table", hidden_size=128, learning_rate=0.1)


def same(a, b):
    pairs = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    return all((np.asarray(x) == np.asarray(y)).all() for x, y in pairs)


@pytest.mark.parametrize("config", [MLP, TABLE], ids=["mlp", "table"])
def test_updates_by_name_are_the_learners(config, tree):
    hyper, network = config.hyper, network_of(config.architecture)
    table = positions.of_network(config.architecture)
    named = functions.start_run(config, jnp.array(run_key(3)), hyper, None, table)
    key = keys(jax.random.key(3)).training
    state = learner.init(config, hyper, network, key, SelfPlay())
    assert same(named, named_arrays.flat(state))
    named, metrics = functions.run_updates(config, 3, named, hyper, None, table)
    args = config, hyper, network, state, 3, SelfPlay()
    state, expected = learner.train_chunk(*args)
    assert same(named, named_arrays.flat(state))
    assert same(metrics, expected)

    params = named_arrays.part(named, "params")
    assert same(params_from(network, params), state.params)
    architecture, seats = config.architecture, config.seats
    found = functions.grade_agent(architecture, seats, params, tree, table)
    expected = network_grades.grade_exactly(network, state.params, tree, seats)
    assert same(found, expected)


@pytest.mark.slow
@pytest.mark.parametrize("config", [MLP, TABLE], ids=["mlp", "table"])
def test_a_game_by_name_is_learned_as_by_the_learner(config):
    hyper, network = config.hyper, network_of(config.architecture)
    table = positions.of_network(config.architecture)
    named = functions.start_run(config, jnp.array(run_key(3)), hyper, None, table)
    key = keys(jax.random.key(3)).training
    state = learner.init(config, hyper, network, key, SelfPlay())
    game = finished_games.finished_game(config.env_id, [0, 3, 1, 4, 2], 1)
    game = jax.tree.map(jnp.asarray, game)
    found = functions.learn_game(config, named, hyper, game, table)
    expected = finished_games.learn_from_game(config, hyper, network, state, game)
    assert same(found, named_arrays.flat(expected))
    assert not same(found, named)


def test_each_update_and_key_has_different_games():
    named = functions.start_run(MLP, jnp.array(run_key(3)), MLP.hyper, None, None)
    params = named_arrays.part(named, "params")
    rows = [
        functions.sample_games(
            MLP.architecture,
            64,
            params,
            jnp.int32(update),
            jnp.array(run_key(seed)),
            None,
        )
        for update, seed in ((0, 1), (0, 1), (2, 1), (0, 2))
    ]
    first, *others = map(jax.device_get, rows)
    assert sum(first.first) + sum(first.second) == 64
    assert [first == other for other in others] == [True, False, False]
