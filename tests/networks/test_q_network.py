"""The network: its size, its seeds, and symmetric boards."""

import itertools
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.presets import PRESETS
from jax_ttt.games import stone_boards
from jax_ttt.networks import q_network
from jax_ttt.players.saved_agents import decision_values, network_from
from jax_ttt.runtime import devices

CONFIG = PRESETS["plain"]
PLAIN = CONFIG.replace(canonical=False)
CONNECT_FOUR = CONFIG.replace(env_id="connect_four", hidden_size=8)
VIEWS = np.array([view.cells for view in GAMES["tic_tac_toe"].symmetries])
_q_values = jax.jit(q_network.action_values)
_init_params = jax.jit(q_network.init_params)


def init_params(config, seed=0):
    return _init_params(network_from(config.architecture), jax.random.key(seed))


def q_values(config, params, obs):
    return np.asarray(_q_values(network_from(config.architecture), params, obs))


@pytest.fixture(scope="module")
def params():
    return init_params(CONFIG)


@pytest.fixture(scope="module")
def obs(host_tree):
    return host_tree.obs[host_tree.decisions]


def kernels(params):
    return [leaf for leaf in jax.tree.leaves(params) if leaf.ndim == 2]


def test_the_network_of_the_article_has_18953_parameters(params):
    assert [k.shape for k in kernels(params)] == [(128, 9), (128, 128), (9, 128)]
    assert sum(leaf.size for leaf in jax.tree.leaves(params)) == 18_953


@pytest.mark.parametrize(
    ("activation", "function"),
    [
        ("relu", lambda x: max(x, 0.0)),
        ("tanh", np.tanh),
        ("sigmoid", lambda x: 1 / (1 + np.exp(-x))),
    ],
)
@pytest.mark.parametrize("hidden_layers", [0, 1, 3])
def test_depth_and_activation(activation, function, hidden_layers):
    """One neuron per layer, weights 1, biases 0 except the first, which is -2."""
    config = PLAIN.replace(
        hidden_layers=hidden_layers, hidden_size=1, activation=activation
    )
    network = network_from(config.architecture)
    shapes = jax.eval_shape(q_network.init_params, network, jax.random.key(0))
    assert len(kernels(shapes)) == hidden_layers + 1
    biases = itertools.chain([-2.0], itertools.repeat(0.0))
    params = jax.tree.map(
        lambda x: np.full(x.shape, 1 if x.ndim == 2 else next(biases), np.float32),
        shapes,
    )
    value = -2.0
    for _ in range(hidden_layers):
        value = function(value)
    values = _q_values(network, params, np.zeros((1, 3, 3, 2), bool))
    np.testing.assert_allclose(values, np.full((1, 9), np.tanh(value)), atol=1e-6)


def test_the_seed_and_the_layer_decide_where_a_kernel_starts():
    config = CONFIG.replace(hidden_size=9)
    one, again, other = (kernels(init_params(config, seed)) for seed in (0, 0, 1))
    for a, b in zip(one, again, strict=True):
        assert np.array_equal(a, b)
    for a, b in itertools.combinations([*one, *other], 2):
        assert a.shape == b.shape
        assert np.isclose(a, b).mean() < 0.1


def test_q_values_rotate_with_the_board(params, obs):
    plain = q_values(CONFIG, params, obs)
    assert np.abs(plain).max() <= 1
    for view in VIEWS:
        image = obs.reshape(-1, 9, 2)[:, view].reshape(obs.shape)
        found = q_values(CONFIG, params, image)
        np.testing.assert_allclose(found, plain[:, view], atol=1e-6)


def test_without_canonical_views_the_network_sees_the_board_itself(params, obs):
    plain, mapped = (q_values(config, params, obs) for config in (PLAIN, CONFIG))
    cells = stone_boards.cells(obs)
    least = stone_boards.least_views(cells, stone_boards.Views(VIEWS, VIEWS))
    # Only boards with one canonical view: symmetric cells share a value on the others.
    as_it_is = least[:, 0] & (least.sum(axis=1) == 1)
    assert 0 < as_it_is.sum() < len(obs)
    np.testing.assert_allclose(plain[as_it_is], mapped[as_it_is], atol=1e-6)
    assert not np.allclose(plain[~as_it_is], mapped[~as_it_is], atol=1e-3)


def test_connect_fours_values_are_mirrored_with_the_board():
    params = init_params(CONNECT_FOUR)
    obs = np.random.default_rng(1).random((64, 6, 7, 2)) < 0.3
    obs[0] = False
    obs[0, 5, 3, 0] = True
    values = q_values(CONNECT_FOUR, params, obs)
    mirrored = q_values(CONNECT_FOUR, params, obs[:, :, ::-1])
    np.testing.assert_array_equal(mirrored, values[:, ::-1])
    assert len(set(values[0].tolist())) == 4, "symmetric actions have equal values"
    plain = q_values(CONNECT_FOUR.replace(canonical=False), params, obs)
    same = np.isclose(plain, values, atol=1e-6).all(axis=1)
    assert 16 < same.sum() < 48  # boards that are their own canonical view


def test_a_game_without_listed_symmetries_has_no_canonical_views():
    config = CONFIG.replace(env_id="othello", hidden_size=8)
    params = init_params(config)
    obs = np.random.default_rng(1).random((9, 8, 8, 2)) < 0.3
    values = q_values(config, params, obs)
    assert values.shape == (9, 65)
    mirrored = q_values(config, params, obs[:, :, ::-1])
    assert not np.allclose(values[:, :-1], mirrored[:, :-1], atol=1e-2)


@pytest.mark.parametrize("preset", ["default", "table", "tictac-q"])
def test_values_computed_once_per_class_are_those_of_every_decision(preset, tree, obs):
    config = PRESETS[preset]
    rng = np.random.default_rng(0)
    params = jax.tree.map(
        lambda x: np.asarray(x) + rng.random(x.shape, np.float32), init_params(config)
    )
    found = decision_values(network_from(config.architecture), params, tree)
    np.testing.assert_allclose(found, q_values(config, params, obs), atol=1e-5)


def test_auto_is_bfloat16_only_on_a_cpu_with_units_for_it(monkeypatch):
    for has_units, dtype in ((True, jnp.bfloat16), (False, jnp.float32)):
        monkeypatch.setattr(devices, "has_bfloat16", lambda has=has_units: has)
        assert q_network.learning_dtype("auto") == dtype
    monkeypatch.setattr(devices, "has_bfloat16", lambda: True)
    monkeypatch.setattr(
        devices, "current_device", lambda: SimpleNamespace(platform="gpu")
    )
    assert q_network.learning_dtype("auto") == jnp.float32
    assert q_network.learning_dtype("bfloat16") == jnp.bfloat16
    assert q_network.learning_dtype("float32") == jnp.float32


def test_two_planes_are_the_stones_of_each_player(params, obs):
    """With opposite weights for both, the values equal the values of one plane."""
    config = CONFIG.replace(two_planes=True)

    def with_opposite_weights(leaf):
        if leaf.shape != (128, 9):
            return leaf
        return np.stack([leaf, -leaf], axis=-1).reshape(128, 18)

    two = jax.tree.map(with_opposite_weights, jax.device_get(params))
    expected = q_values(CONFIG, params, obs)
    np.testing.assert_allclose(q_values(config, two, obs), expected, atol=1e-5)
