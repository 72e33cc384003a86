"""How a batch of agents runs: its keys, its programs, and the lengths of its chunks."""

import functools
import itertools
import math
import re
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.dqn.learner import Learner
from jax_ttt.networks import q_network
from jax_ttt.players.network_player import network_from
from jax_ttt.runtime import devices
from jax_ttt.training import chunks, loop
from jax_ttt.training.chunks import ChunkLengths, run_keys, stream_keys


def test_the_random_number_streams_of_a_run_differ():
    key = jax.random.key(1)
    streams = stream_keys(jax.numpy.asarray(run_keys([1])[0]))
    used = [key, *streams]
    used += [jax.random.fold_in(streams.grading, update) for update in (0, 2, 4)]
    assert len({tuple(jax.random.key_data(key).tolist()) for key in used}) == 7


@pytest.mark.parametrize("algorithm", ["threefry2x32", "rbg"])
def test_the_keys_of_runs_are_the_data_of_their_seeds_keys(algorithm):
    seeds = [0, 1, 2**31, 2**32 - 1]
    with jax.default_prng_impl(algorithm):
        keys = run_keys(seeds)
        assert isinstance(keys, np.ndarray)
        assert keys.dtype == np.uint32
        for data, seed in zip(keys, seeds, strict=True):
            np.testing.assert_array_equal(
                data, jax.random.key_data(jax.random.key(seed))
            )
            typed = jax.random.wrap_key_data(jax.numpy.asarray(data))
            assert jax.random.bits(typed) == jax.random.bits(jax.random.key(seed))


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["default", "table"])
def test_the_programs_of_more_agents_have_no_more_parameters_and_constants(
    preset, tree
):
    """So the host does no work for each agent when it calls or makes a program."""
    config = PRESETS[preset].replace(num_envs=4)
    if preset == "default":
        config = config.replace(hidden_size=8)

    def sizes(num_agents):
        """Return the parameters and constants of each program."""
        seeds = range(num_agents)
        learner = loop.make_learner([config] * num_agents, seeds)
        keys = run_keys(seeds)
        state = chunks.start_program.jitted().trace(learner, keys, mesh=None).out_info
        lowered = [
            chunks.start_program.jitted().lower(learner, keys, mesh=None),
            chunks.chunk_program.jitted().lower(
                learner, state, num_updates=50, mesh=None
            ),
            chunks.grade_program.jitted().lower(
                learner.network, state.average_params, tree, mesh=None
            ),
        ]
        return [parameters_and_constants(program.as_text()) for program in lowered]

    assert sizes(2) == sizes(64)


def parameters_and_constants(text):
    main = text[text.index("func.func public @main(") :].split(" -> ")[0]
    return len(re.findall(r"%arg\d+:", main)), text.count("stablehlo.constant")


def lengths_of(config):
    """Return the lengths of the chunks of a run with these settings."""
    return ChunkLengths(config, num_weights(config.architecture))


@functools.cache
def num_weights(architecture):
    shapes = q_network.param_shapes(network_from(architecture))
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(shapes))


def actual_chunks(config, lengths, seconds=None):
    """Return the lengths of a run's chunks; each update takes so many `seconds`."""
    update, actual = 0, []
    while update < config.run.num_updates:
        length = lengths.next(update)
        every = config.evaluation.eval_every
        assert update // every == (update + length - 1) // every, "an evaluation is due"
        actual.append(length)
        update += length
        if seconds is not None:
            lengths.lengthen(length, length * seconds)
    assert update == config.run.num_updates
    return actual


SMALL_GAMES = {
    name: config
    for name, config in PRESETS.items()
    if config.env_id in ("tic_tac_toe", "connect_4x4")
}


@pytest.mark.parametrize("preset", SMALL_GAMES)
def test_chunks_of_small_games_have_fifty_updates_on_a_cpu(preset):
    config = SMALL_GAMES[preset].replace(num_updates=500, eval_every=250)
    assert set(actual_chunks(config, lengths_of(config), seconds=1.0)) == {50}


LARGE = [
    {"num_envs": 2**18, "hidden_size": 128},
    {"num_envs": 2**18, "filters": 256, "hidden_layers": 0},
    {"hidden_size": 512, "replay_capacity": 2**20, "replay_batch": 2**18},
    {"network": "table", "num_envs": 2**20},
]


@pytest.mark.parametrize("fields", LARGE)
@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.6, [1]),  # for an update
        (0.1, [1, 5]),
        (0.011, [1, 5]),  # 45 of them in half a second
        (0.0099, [1, 50]),
    ],
)
def test_large_updates_begin_alone_and_are_joined_by_their_time(
    fields, seconds, expected
):
    """Signals wait for the end of a chunk."""
    config = Config.of(**fields, num_updates=200, eval_every=100)
    assert lengths_of(config).first() == [1]
    lengths = actual_chunks(config, lengths_of(config), seconds)
    assert list(dict.fromkeys(sorted(lengths))) == expected
    assert lengths[0] == 1


def test_chunks_of_five_become_fifty_if_they_are_faster_than_the_first_one():
    config = Config.of(**LARGE[0])
    lengths = lengths_of(config)
    assert lengths.lengthen(1, 1e-9) is None, "it may have loaded the program"
    assert lengths.lengthen(1, 0.05) == 5
    assert lengths.lengthen(1, 0.001) is None, "it is of the length before"
    assert lengths.lengthen(5, 1e-9) is None
    assert lengths.lengthen(5, 0.04) == 50
    for _ in range(2):
        assert lengths.lengthen(50, 1e-3) is None


def test_large_updates_are_larger_ones_on_other_devices(monkeypatch):
    gpu = SimpleNamespace(platform="gpu")
    monkeypatch.setattr(devices, "current_device", lambda: gpu)
    for fields in LARGE:
        config = Config.of(**fields, num_updates=200, eval_every=100)
        assert lengths_of(config).first() == [50]


def test_chunks_of_a_long_run_are_lengthened_by_their_time():
    config = Config.of(num_updates=100_050, eval_every=1000)
    for seconds, length in ((1e-3, 500), (3e-3, 150), (1e-6, 1000), (9e-3, None)):
        lengths = lengths_of(config)
        assert lengths.lengthen(20, 1e-9) is None, "it was a short one"
        assert lengths.lengthen(50, 1e-9) is None, "it may have loaded the program"
        assert lengths.lengthen(50, 50 * seconds) == length
        assert set(actual_chunks(config, lengths)) == {length or 50, 50}
    assert lengths.lengthen(50, 1e-9) == 1000
    for _ in range(2):
        assert lengths.lengthen(1000, 1e-9) is None, "an evaluation follows"


def test_the_agents_of_a_block_count_for_the_first_length():
    one = lengths_of(Config())
    many = ChunkLengths(Config(), num_weights=1024 * 20_000)
    assert (one.next(0), many.next(0)) == (50, 1)


def test_chunks_of_a_run_of_fewer_stay_as_they_are():
    lengths = lengths_of(Config.of(num_updates=100_000, eval_every=1000))
    assert lengths.lengthen(50, 1e-3) is None
    assert lengths.next(0) == 50


def test_every_chunk_of_a_run_has_a_length_that_is_compiled_before_it():
    for num_updates, every in itertools.product(
        [1, 49, 50, 120, 1000], [1, 7, 50, 60, 110, 2000]
    ):
        config = Config.of(num_updates=num_updates, eval_every=every)
        lengths = lengths_of(config)
        actual = actual_chunks(config, lengths)
        assert lengths.first() == sorted(set(actual), reverse=True)


def test_agents_in_groups_have_the_results_of_all_at_once():
    """A learner's numbers are an agent's own, and its opponent is not."""
    learner = Learner.of_agents([Config.of(gamma=x) for x in (0.1, 0.2, 0.3, 0.4, 0.5)])
    keys = run_keys(range(5))

    def gamma_and_key(learner, key, factor):
        return factor * learner.hyper.gamma, key

    for at_once in (1, 2, 4, None):
        batched = chunks.each_agent(gamma_and_key, at_once)
        gammas, same = batched(learner, keys, mesh=None, factor=2)
        np.testing.assert_allclose(gammas, [0.2, 0.4, 0.6, 0.8, 1.0])
        np.testing.assert_array_equal(same, keys)
