"""Networks of integers: the same values on every machine, near those of float32."""

import fractions

import jax
import numpy as np
import pytest
import tiny
from flax import nnx

from jax_ttt.config import player_kinds
from jax_ttt.config.game_facts import EnvId
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.games import pgx_games
from jax_ttt.networks import integer_network, q_network
from jax_ttt.networks.patches import entries_of_patches
from jax_ttt.players import saved_agents
from jax_ttt.players.saved_agents import network_from
from jax_ttt.runtime import devices

NUM_BOARDS = 500


def random_observations(env_id: EnvId, rng):
    """Return boards of stones of both players, in any number."""
    height, width, _ = pgx_games.sizes(env_id).planes
    stones = rng.integers(-1, 2, (NUM_BOARDS, height, width))
    return np.stack([stones == 1, stones == -1], axis=-1)


def planes_of(config, obs):
    """Return a network's input: the stones of both, or +1 and -1 in one plane."""
    if config.two_planes:
        return obs.astype(np.int64)
    return (obs[..., :1].astype(np.int64)) - obs[..., 1:]


def random_integers(config, seed, obs):
    """Return a network and its weights of integers, with random biases."""
    network = network_from(config.architecture)
    params = tiny.random_params(config.architecture, seed)
    return network, q_network.to_integers(network, params, obs)


def scores_in_numpy(params, planes, activations):
    """Return the integers of the last layer, with sums of 64 bits."""
    names = [name for name in params if name != "convolution"]
    layers = [params[f"layer{number}"] for number in range(len(names))]
    inputs = planes.reshape(len(planes), -1).T
    if "convolution" in params:
        layer = params["convolution"]
        entries = entries_of_patches(planes.shape[1:])
        kernel = np.asarray(layer["kernel"], np.int64)
        sums = np.einsum("oi,ipb->opb", kernel, inputs[entries])
        sums += np.asarray(layer["bias"], np.int64)[..., None]
        inputs = activations(sums, np.asarray(layer["scale"])[:, None, None])
        inputs = inputs.reshape(-1, len(planes))
    for number, layer in enumerate(layers):
        sums = np.asarray(layer["kernel"], np.int64) @ inputs
        sums += np.asarray(layer["bias"], np.int64)[:, None]
        if number < len(layers) - 1:
            sums = activations(sums, np.asarray(layer["scale"])[:, None])
        inputs = sums
    return inputs.T


def by_shifts(sums, scale):
    """Return the activations where scales are powers of two, without a float."""
    mantissas, exponents = np.frexp(scale)
    assert (mantissas == 0.5).all()
    shift = 1 - exponents.astype(np.int64)  # scale = 2**-shift
    sums, shift = np.broadcast_arrays(sums << np.maximum(-shift, 0), shift)
    shift = np.maximum(shift, 0)
    floor, rest = sums >> shift, sums & ((1 << shift) - 1)
    is_above = 2 * rest > 1 << shift
    is_half = (2 * rest == 1 << shift) & (shift > 0)
    return np.clip(floor + (is_above | is_half & (floor % 2 == 1)), 0, 127)


def by_products(sums, scale):
    """Return the activations with any scales: a product in float32, and rounding."""
    assert abs(sums).max() < 2**24
    assert scale.dtype == np.float32
    return np.clip(np.rint(sums.astype(np.float32) * scale), 0, 127).astype(np.int64)


FILTERS = {"hidden_size": 8, "filters": 4}


@pytest.mark.parametrize(
    ("fields", "has_bfloat16"),
    [
        ({"hidden_size": 8}, False),
        ({"hidden_size": 8}, True),
        ({"hidden_size": 16, "two_planes": True, "hidden_layers": 1}, False),
        (FILTERS, False),
        (FILTERS | {"two_planes": True}, False),
        (FILTERS | {"two_planes": True}, True),
        ({"hidden_layers": 0}, False),
        ({"hidden_layers": 0, "filters": 4}, False),
        ({"hidden_size": 8, "hidden_layers": 11}, False),
        ({"hidden_size": 8, "backup": "two-ply", "double": False}, False),
        ({"hidden_size": 8, "env_id": "connect_four", "filters": 3}, False),
    ],
    ids=str,
)
def test_the_integers_are_those_of_64_bits(fields, has_bfloat16, monkeypatch):
    """Whatever the factors' dtype: both hold integers of 8 bits."""
    monkeypatch.setattr(devices, "has_bfloat16", lambda: has_bfloat16)
    config = Config.of(**{"env_id": "connect_4x4", "canonical": False} | fields)
    rng = np.random.default_rng(1)
    obs = random_observations(config.env_id, rng)
    planes, shape = planes_of(config, obs), q_network.planes_shape(config.architecture)

    @jax.jit
    def scores_and_values(params, planes):
        scores = integer_network.scores(shape, params, planes)
        return scores, integer_network.values(params, scores)

    for seed in range(3):
        _, params = random_integers(config, seed, obs)
        scores, values = scores_and_values(params, planes.astype(np.float32))
        expected = scores_in_numpy(params, planes, by_shifts)
        np.testing.assert_array_equal(scores, expected)
        assert len(np.unique(expected)) > 50
        last = params[f"layer{config.hidden_layers}"]
        scale = np.asarray(last["scale"], float)
        np.testing.assert_allclose(values, np.tanh(expected * scale), atol=1e-6)
        other = with_other_scales(params, seed)
        scores, _ = scores_and_values(other, planes.astype(np.float32))
        expected = scores_in_numpy(other, planes, by_products)
        np.testing.assert_array_equal(scores, expected)


def with_other_scales(params, seed):
    """Return the weights with scales that are not powers of two, as a file may have."""
    rng = np.random.default_rng(seed)

    def changed(path, leaf):
        if path[-1].key != "scale":
            return leaf
        return np.asarray(leaf * rng.uniform(0.7, 1.4, leaf.shape), np.float32)

    return jax.tree_util.tree_map_with_path(changed, params)


@pytest.mark.parametrize("preset", ["default", "connect-4x4", "connect-7x6"])
def test_between_layers_stands_a_shift(preset):
    """The scales are powers of two, not above 1, the least that the weights allow."""
    config = PRESETS[preset]
    obs = random_observations(config.env_id, np.random.default_rng(0))
    *hidden, last = random_integers(config, 0, obs)[1].values()
    assert last["scale"].shape == ()
    for layer in hidden:
        mantissas, exponents = np.frexp(np.asarray(layer["scale"]))
        assert (mantissas == 0.5).all()
        assert (exponents <= 1).all()
        largest = abs(np.asarray(layer["kernel"], int)).max(axis=1)
        assert (largest >= 63).all(), "half of the scale would be too small"


def test_weights_that_are_integers_already_stay_the_same():
    """The scale is 1 where the largest weight and activation are 127."""
    kernel = np.array([[127, -3], [-1, 127]], np.float32)
    hidden = {"kernel": kernel, "bias": np.zeros(2, np.float32)}
    last = {"kernel": kernel[:1], "bias": np.zeros(1, np.float32)}
    params = nnx.State({"layers": {"layers": {0: hidden, 2: last}}})
    planes = np.eye(2).reshape(2, 1, 1, 2)
    layer = integer_network.quantize((1, 1, 2), params, planes)["layer0"]
    np.testing.assert_array_equal(layer["scale"], 1)
    np.testing.assert_array_equal(layer["kernel"], kernel)


@pytest.mark.parametrize("shift", range(5))
def test_sums_are_shifted_and_rounded_to_even(shift):
    """Of each sum from below 0 to above the largest activation."""
    inputs = np.arange(-100, 100)  # a factor is at most 127: bfloat16 holds no more
    for bias in range(-200, 3000, 200):
        sums = inputs + bias
        scale = np.full((1, 1), 2.0**-shift, np.float32)
        expected = by_shifts(sums[None], scale)[0].tolist()
        assert scores_of(by_hand([[1]], 2.0**-shift, bias=bias), inputs) == expected
        assert expected == [
            min(max(round(fractions.Fraction(int(n), 2**shift)), 0), 127) for n in sums
        ]


def by_hand(kernel, scale, last=((1,),), bias=0):
    """Return a network with one input, a hidden layer, and a last layer."""
    hidden = len(kernel)
    return nnx.State(
        {
            "layer0": {
                "kernel": np.array(kernel, "int8"),
                "bias": np.full(hidden, bias, "int32"),
                "scale": np.full(hidden, scale, "float32"),
            },
            "layer1": {
                "kernel": np.array(last, "int16"),
                "bias": np.zeros(len(last), "int32"),
                "scale": np.float32(0.01),
            },
        }
    )


def scores_of(params, inputs):
    planes = np.array(inputs, "float32").reshape(-1, 1, 1, 1)
    scores = jax.jit(integer_network.scores, static_argnums=0)
    return np.asarray(scores((1, 1, 1), params, planes))[:, 0].tolist()


def test_sums_that_float32_may_round_are_refused():
    """127 x 32767 x 4 is less than 2**24, and a fifth weight is too much."""
    fits = by_hand([[1]] * 4, 1.0, last=[[32767] * 4])
    integer_network.check_integers(fits)
    with pytest.raises(ValueError, match="sums of layer1 can reach 20,807,045"):
        integer_network.check_integers(by_hand([[1]] * 5, 1.0, last=[[-32767] * 5]))
    room = 2**24 - 127
    integer_network.check_integers(by_hand([[1]], 1.0, bias=1 - room))
    one_patch = by_hand([[1]], 1.0)
    one_patch["layer0"]["bias"] = np.array([[0, -room]], "int32")
    for params in (by_hand([[1]], 1.0, bias=-room), one_patch):
        with pytest.raises(ValueError, match="sums of layer0"):
            integer_network.check_integers(params)


def float_network(hidden_size):
    """Return a network with one hidden layer, and random weights to change."""
    config = Config.of(
        env_id="connect_4x4",
        hidden_size=hidden_size,
        hidden_layers=1,
        canonical=False,
    )
    params = tiny.random_params(config.architecture)
    params = jax.tree.map(np.copy, params)
    obs = random_observations("connect_4x4", np.random.default_rng(0))
    return network_from(config.architecture), params, obs


@pytest.mark.parametrize("hidden_size", [1, 2, 3, 4, 5])
def test_the_last_weights_keep_their_signs_and_sizes(hidden_size):
    """Where few units leave room below 2**24 for weights of more than 16 bits."""
    network, params, obs = float_network(hidden_size)
    layer = q_network.to_integers(network, params, obs)["layer1"]
    integers = np.asarray(layer["kernel"], int)
    kernel = params["layers"]["layers"][2]["kernel"]
    largest = abs(integers).max()
    assert largest > 2**12
    np.testing.assert_allclose(integers, kernel / abs(kernel).max() * largest, atol=1)


@pytest.mark.parametrize("part", ["kernel", "kernel and bias"])
def test_a_unit_that_is_always_the_same_becomes_integers_too(part):
    """Its weights are 0, so that no weight gives its scale."""
    network, params, obs = float_network(4)
    layer = params["layers"]["layers"][0]
    for name in part.split(" and "):
        layer[name][1] = 0
    integers = q_network.to_integers(network, params, obs)
    assert not np.asarray(integers["layer0"]["kernel"])[1].any()
    compute = jax.jit(q_network.action_values)
    before, after = (compute(network, weights, obs) for weights in (params, integers))
    np.testing.assert_allclose(after, before, atol=0.1)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf")])
def test_scales_that_are_not_numbers_above_0_are_refused(scale):
    with pytest.raises(ValueError, match="scales of layer0"):
        integer_network.check_integers(by_hand([[1]], scale))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"network": "table"}, "a table has no products to round"),
        ({"activation": "tanh"}, "needs relu, not tanh"),
        ({"activation": "sigmoid"}, "needs relu, not sigmoid"),
    ],
)
def test_networks_without_integers_are_refused(fields, reason, host_tree):
    network, no_weights = network_from(Config.of(**fields).architecture), nnx.State({})
    with pytest.raises(ValueError, match=reason):
        q_network.to_integers(network, no_weights, host_tree.obs)


def test_a_trained_network_keeps_its_values_and_most_of_its_moves(host_tree):
    agent = saved_agents.load_agent(max(player_kinds.SNAPSHOTS["network"].iterdir()))
    obs = host_tree.obs[host_tree.decisions]
    params = q_network.to_integers(agent.network, agent.params, obs)
    legal = host_tree.legal_action_mask[host_tree.decisions]
    compute = jax.jit(q_network.action_values)
    before, after = (
        np.asarray(compute(agent.network, weights, obs))
        for weights in (agent.params, params)
    )
    assert abs(after - before).mean() < 0.02
    moves = [np.where(legal, x, -2).argmax(axis=1) for x in (before, after)]
    assert np.mean(moves[0] == moves[1]) > 0.95


def test_scores_decide_where_values_are_equal():
    """tanh rounds the values of large scores to 1."""
    config = Config.of(env_id="connect_4x4", hidden_layers=0, canonical=False)
    network = network_from(config.architecture)
    shapes = integer_network.integer_shapes(q_network.param_shapes(network))
    params = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), shapes)
    params["layer0"]["bias"] = np.array([100_000, 100_001, 100_000, 99_999], "int32")
    params["layer0"]["scale"] = np.float32(1)
    obs = random_observations("connect_4x4", np.random.default_rng(0))[:4]
    values, scores = (
        jax.jit(function)(network, params, obs)
        for function in (q_network.action_values, q_network.action_scores)
    )
    assert len(np.unique(values)) == 1
    assert np.asarray(scores).argmax(axis=1).tolist() == [1] * 4
