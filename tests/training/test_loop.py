"""A run's evaluations, its opponent, its size and the lengths of its chunks."""

import itertools

import jax
import numpy as np
import pytest
import tiny

from jax_ttt.config.errors import SettingError
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.games.opponents import Versus
from jax_ttt.grading import counterexamples, evaluation
from jax_ttt.players import names, registry
from jax_ttt.players.network_player import network_of
from jax_ttt.training import loop
from jax_ttt.training.layout import stream_keys
from jax_ttt.training.run_state import run_key


def run_of(config, seed):
    return loop.training_steps(loop.make_learner(config, seed), run_key(seed))


def test_an_agents_size_is_that_of_its_state_and_more():
    weights = 9 * 8 + 8 + 8 * 8 + 8 + 8 * 9 + 9
    least = 4 * 4 * weights  # params, target, two moments of Adam; 4 bytes each
    assert least < loop.agent_memory(tiny.CONFIG) < 100 * least


def test_what_is_evaluated_is_the_agent_and_not_its_target(tree):
    config = tiny.CONFIG.replace(tau=0.1)
    network = network_of(config.architecture)
    differs = False
    for step in run_of(config, 3):
        if step.evaluation is None:
            continue
        weights = step.params, step.state.train_state.target_params
        expected, other = (
            evaluation.grade_exactly(network, one, tree) for one in weights
        )
        rows = map(jax.tree.leaves, (step.evaluation.exact, expected, other))
        for found, own, targets in zip(*rows, strict=True):
            np.testing.assert_allclose(found, own, atol=1e-6)
            differs |= bool((found != targets).any())
    assert differs, "the target network's results must differ"


def test_the_opponent_is_the_one_that_the_settings_name():
    assert loop.make_opponent(Config(), 1) is None  # self-play
    for name in ("random", "minimax", "blend:0.5:minimax"):
        config = Config.of(opponent=name, seat="second")
        opponent = loop.make_opponent(config, 1)
        assert isinstance(opponent, Versus)
        assert (opponent.seat, opponent.num_envs) == ("second", config.run.num_envs)
        spec = names.read_name(name, config.env_id)
        key = stream_keys(run_key(1)).opponent
        player = registry.make_player(spec, config.env_id, key).choose
        assert jax.tree.structure(opponent.player) == jax.tree.structure(player)


def test_an_opponent_has_random_numbers_that_training_does_not_use():
    config, seed = Config.of(opponent="mcts:4"), 3
    spec = names.read_name("mcts:4", config.env_id)

    def policy(player):
        return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(player)])

    of_run = stream_keys(run_key(seed))
    own, training = (
        policy(registry.make_player(spec, config.env_id, key).choose)
        for key in (of_run.opponent, of_run.training)
    )
    made = loop.make_opponent(config, seed)
    assert isinstance(made, Versus)
    assert np.array_equal(policy(made.player), own)
    assert not np.array_equal(own, training)


def test_a_first_move_has_to_be_legal():
    loop.check_first_move(Config.of(opponent="random", first_move=8))
    config = Config.of(opponent="random", first_move=9)
    with pytest.raises(SettingError, match=r"\[0, 1, 2, 3, 4, 5, 6, 7, 8\]"):
        loop.check_first_move(config)


@pytest.mark.slow
def test_each_search_for_counterexamples_draws_a_sample_of_its_own(monkeypatch):
    """It follows from the seed and the update, so a resumed run draws the same one."""
    drawn = []

    def find(config, params, rng, mesh, stop):
        del config, params, mesh, stop
        drawn.append(int(rng.integers(2**60)))
        return {}, np.zeros(0, np.uint64)

    monkeypatch.setattr(counterexamples, "find_counterexamples", find)
    fields = {"num_envs": 4, "hidden_size": 8, "num_updates": 2, "eval_every": 1}
    config = Config.of(env_id="connect_4x4", start_share=0.5, eval_games=2, **fields)
    for seed in (0, 1, 0):
        list(run_of(config, seed))
    assert len(drawn) == 9
    assert len(set(drawn[:6])) == 6
    assert drawn[6:] == drawn[:3]


@pytest.mark.parametrize(
    ("fields", "length"),
    [
        ({}, loop.CHUNK),
        ({"network": "table", "num_envs": 2**20}, loop.CHUNK),
        ({"num_envs": 2**19, "hidden_size": 16}, loop.CHUNK),
        ({"num_envs": 100_000, "hidden_size": 128}, 27),
        ({"num_envs": 2**20, "hidden_size": 2**14}, 1),
        ({"num_envs": 2**20, "hidden_layers": 0}, loop.CHUNK),
        ({"num_envs": 2**18, "filters": 256, "hidden_layers": 0}, 31),
        ({"hidden_size": 512, "replay_capacity": 2**20, "replay_batch": 2**18}, 1),
    ],
)
def test_large_updates_have_short_chunks_since_signals_wait(fields, length):
    assert loop.longest_chunk(Config.of(**fields)) == length


@pytest.mark.parametrize("preset", PRESETS)
def test_the_chunks_of_the_presets_are_the_longest(preset):
    assert loop.longest_chunk(PRESETS[preset]) == loop.CHUNK


@pytest.mark.parametrize(
    ("num_updates", "every"),
    [*itertools.product([1, 49, 50, 120, 1000], [1, 7, 50, 60, 110, 2000])],
)
def test_every_chunk_of_a_run_has_a_length_that_is_compiled_before_it(
    num_updates, every
):
    config = Config.of(num_updates=num_updates, eval_every=every)
    update, lengths = 0, set()
    while update < num_updates:
        length = loop.next_chunk_length(config, update)
        assert update // every == (update + length - 1) // every
        lengths.add(length)
        update += length
    assert update == num_updates
    assert loop.all_chunk_lengths(config) == sorted(lengths, reverse=True)
