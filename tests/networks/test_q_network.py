"""The network: its size, its seeds, and symmetric boards."""

import itertools
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.presets import PRESETS
from jax_ttt.games import stones, symmetry
from jax_ttt.networks import q_network
from jax_ttt.players.network_player import decision_values, network_of
from jax_ttt.runtime import devices

CONFIG = PRESETS["plain"]
PLAIN = CONFIG.replace(canonical=False)
ACTIVATIONS = {
    "relu": lambda x: max(x, 0.0),
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}
VIEWS = np.array([view.cells for view in GAMES["tic_tac_toe"].symmetries])


@jax.jit
def _q_values(network, params, obs):
    return q_network.q_values(network, params, obs)


_init_params = jax.jit(q_network.init_params)


def q_values(config, params, obs):
    return _q_values(network_of(config.architecture), params, obs)


def views():
    found = symmetry.views("tic_tac_toe")
    assert found is not None
    return found


@pytest.fixture(scope="module")
def params():
    return _init_params(network_of(CONFIG.architecture), jax.random.key(0))


@pytest.fixture(scope="module")
def obs(tree):
    return np.asarray(tree.obs)[np.asarray(tree.decisions)]


def kernels(params):
    return [leaf for leaf in jax.tree.leaves(params) if leaf.ndim == 2]


def test_the_network_of_the_article_has_18953_parameters(params):
    assert [k.shape for k in kernels(params)] == [(128, 9), (128, 128), (9, 128)]
    assert sum(leaf.size for leaf in jax.tree.leaves(params)) == 18_953


@pytest.mark.parametrize(
    ("activation", "expected"),
    [("relu", 0.0), ("tanh", np.tanh(-2.0)), ("sigmoid", 1 / (1 + np.exp(2.0)))],
)
@pytest.mark.parametrize("hidden_layers", [1, 3])
def test_depth_and_activation(activation, expected, hidden_layers):
    """One neuron per layer, weights 1, biases 0 except the first, which is -2."""
    config = PLAIN.replace(hidden_layers=hidden_layers, hidden_size=1)
    config = config.replace(activation=activation)
    network = network_of(config.architecture)
    shapes = jax.eval_shape(q_network.init_params, network, jax.random.key(0))
    assert len(kernels(shapes)) == hidden_layers + 1
    biases = itertools.chain([-2.0], itertools.repeat(0.0))
    params = jax.tree.map(
        lambda x: np.full(x.shape, 1 if x.ndim == 2 else next(biases), np.float32),
        shapes,
    )
    value = expected
    for _ in range(hidden_layers - 1):
        value = ACTIVATIONS[activation](value)
    found = _q_values(network, params, np.zeros((1, 3, 3, 2), bool))
    np.testing.assert_allclose(found, np.full((1, 9), np.tanh(value)), atol=1e-6)


def test_the_seed_reaches_every_kernel(params):
    again = _init_params(network_of(CONFIG.architecture), jax.random.key(0))
    other = _init_params(network_of(CONFIG.architecture), jax.random.key(1))
    for a, b, c in zip(*map(kernels, (params, again, other)), strict=True):
        assert np.array_equal(a, b)
        assert not np.isclose(a, c).any(axis=None) or np.isclose(a, c).mean() < 0.01


def test_layers_of_one_shape_start_with_different_weights():
    config = CONFIG.replace(hidden_size=9)
    params = _init_params(network_of(config.architecture), jax.random.key(0))
    first, second, third = kernels(params)
    assert first.shape == second.shape == third.shape
    assert not np.array_equal(first, second)
    assert not np.array_equal(second, third)


def test_q_values_rotate_with_the_board(params, obs):
    seen = np.asarray(q_values(CONFIG, params, obs))
    cells = obs.reshape(-1, 9, 2)
    assert np.abs(seen).max() <= 1
    for view in VIEWS:
        found = q_values(CONFIG, params, cells[:, view].reshape(obs.shape))
        np.testing.assert_allclose(found, seen[:, view], atol=1e-6)


def test_without_canonical_views_the_network_sees_the_board_itself(params, obs):
    plain, mapped = (
        np.asarray(q_values(config, params, obs)) for config in (PLAIN, CONFIG)
    )
    find = jax.jit(lambda cells: symmetry.least_views(cells, views()))
    least = np.asarray(find(stones.cells(obs)))
    # Only boards with one canonical view: symmetric cells share a value on the others.
    as_it_is = least[:, 0] & (least.sum(axis=1) == 1)
    assert 0 < as_it_is.sum() < len(obs)
    np.testing.assert_allclose(plain[as_it_is], mapped[as_it_is], atol=1e-6)
    assert not np.allclose(plain[~as_it_is], mapped[~as_it_is], atol=1e-3)


def test_a_game_without_listed_symmetries_has_no_canonical_views():
    config = CONFIG.replace(env_id="othello", hidden_size=8)
    params = _init_params(network_of(config.architecture), jax.random.key(0))
    obs = np.random.default_rng(1).random((9, 8, 8, 2)) < 0.3
    found = np.asarray(q_values(config, params, obs))
    assert found.shape == (9, 65)
    turned = np.asarray(q_values(config, params, obs[:, :, ::-1]))
    assert not np.allclose(found[:, :-1], turned[:, :-1], atol=1e-2)


def test_connect_fours_values_are_mirrored_with_the_board():
    config = CONFIG.replace(env_id="connect_four", hidden_size=8)
    params = _init_params(network_of(config.architecture), jax.random.key(0))
    obs = np.random.default_rng(1).random((64, 6, 7, 2)) < 0.3
    seen = np.asarray(q_values(config, params, obs))
    mirrored = np.asarray(q_values(config, params, obs[:, :, ::-1]))
    np.testing.assert_array_equal(mirrored, seen[:, ::-1])
    plain = config.replace(canonical=False)
    found = q_values(plain, params, obs)
    same = np.isclose(found, seen, atol=1e-6).all(axis=1)
    assert 16 < same.sum() < 48  # boards that are their own canonical view


def test_symmetric_actions_of_a_symmetric_board_have_equal_values():
    config = CONFIG.replace(env_id="connect_four", hidden_size=8)
    params = _init_params(network_of(config.architecture), jax.random.key(0))
    middle = np.zeros((64, 6, 7, 2), bool)
    middle[0, 5, 3, 0] = True
    seen, *_ = np.asarray(q_values(config, params, middle))
    np.testing.assert_array_equal(seen, seen[::-1])
    assert len(set(seen.tolist())) == 4


@pytest.mark.parametrize("preset", ["default", "table", "tictac-q", "article"])
def test_values_computed_once_per_class_are_those_of_every_decision(preset, tree, obs):
    config = PRESETS[preset]
    rng = np.random.default_rng(0)
    params = jax.tree.map(
        lambda x: np.asarray(x) + rng.random(x.shape, np.float32),
        _init_params(network_of(config.architecture), jax.random.key(0)),
    )
    asked = q_values(config, params, obs)
    found = decision_values(network_of(config.architecture), params, tree)
    np.testing.assert_allclose(found, asked, atol=1e-5)


@pytest.mark.parametrize("has", [False, True])
def test_auto_is_bfloat16_only_on_a_cpu_with_units_for_it(monkeypatch, has):
    monkeypatch.setattr(devices, "has_bfloat16", lambda: has)
    auto = CONFIG.replace(precision="auto")
    expected = jnp.bfloat16 if has else jnp.float32
    assert q_network.learning_dtype(auto.optimizer.precision) == expected
    for name in ("float32", "bfloat16"):
        config = CONFIG.replace(precision=name)
        assert q_network.learning_dtype(config.optimizer.precision) == jnp.dtype(name)
    gpu = SimpleNamespace(platform="gpu")
    monkeypatch.setattr(devices, "current", lambda: gpu)
    assert q_network.learning_dtype(auto.optimizer.precision) == jnp.float32


def test_values_are_not_rounded_unless_the_learner_asks_for_it(params, obs):
    network, few = network_of(CONFIG.architecture), obs[:64]
    heads = jax.jit(q_network.heads, static_argnums=3)
    (exact,) = np.asarray(heads(network, params, few, jnp.float32))
    (rounded,) = np.asarray(heads(network, params, few, jnp.bfloat16))
    assert not np.allclose(rounded, exact, atol=1e-5)
    np.testing.assert_allclose(q_values(CONFIG, params, few), exact, atol=1e-6)


def test_two_planes_are_the_stones_of_each_player(params, obs):
    """With opposite weights for both, the values are those of one plane."""
    config = CONFIG.replace(two_planes=True)
    both = _init_params(network_of(config.architecture), jax.random.key(0))
    assert {leaf.shape for leaf in kernels(both)} - {
        leaf.shape for leaf in kernels(params)
    } == {(128, 18)}
    leaves = jax.tree.leaves(params)
    place = [leaf.shape for leaf in leaves].index((128, 9))
    weights = np.asarray(leaves[place])
    leaves[place] = np.stack([weights, -weights], -1).reshape(128, 18)
    two = jax.tree.unflatten(jax.tree.structure(both), leaves)
    wanted, found = q_values(CONFIG, params, obs), q_values(config, two, obs)
    np.testing.assert_allclose(found, wanted, atol=1e-5)
