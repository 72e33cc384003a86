"""How a batch of agents runs: its keys, its programs and its rows of metrics."""

import jax
import numpy as np
import pytest
import tiny

from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.dqn import metrics
from jax_ttt.dqn.learner import DQN
from jax_ttt.training import agent_batch, run_start
from jax_ttt.training.agent_batch import run_keys, stream_keys


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
@pytest.mark.parametrize("config", [tiny.CONFIG, PRESETS["table"]])
def test_the_programs_of_more_agents_have_no_more_parameters_and_constants(
    config, tree
):
    """So the host does no work for each agent when it calls or makes a program."""

    def sizes(num_agents):
        """Return the parameters and constants of each program."""
        learner = run_start.make_learner([config] * num_agents, range(num_agents))
        keys = run_keys(range(num_agents))
        start = agent_batch.start_program.jitted().trace(learner, keys, mesh=None)
        state = start.out_info
        before = metrics.no_updates((num_agents,))
        graded = (learner.network, state.average_params, tree, state.update, keys)
        programs = [
            start.lower(),
            agent_batch.chunk_program.jitted().lower(
                learner, state, 1, before, mesh=None
            ),
            agent_batch.evaluation_program.jitted().lower(
                *graded, num_games=64, mesh=None
            ),
        ]
        texts = [program.as_text() for program in programs]
        heads = [text.split("@main(")[1].split(" -> ")[0] for text in texts]
        constants = [text.count("stablehlo.constant") for text in texts]
        return constants, [head.count("%arg") for head in heads]

    assert sizes(2) == sizes(64)


def row_ends(num_updates, eval_every):
    """Return where rows end, wherever they are cut."""
    config = Config.of(num_updates=num_updates, eval_every=eval_every)
    return {agent_batch.row_end(config, update) for update in range(num_updates)}


def test_a_row_is_of_fifty_updates_or_fewer_before_an_evaluation_or_the_end():
    assert row_ends(120, 110) == {50, 100, 110, 120}
    assert row_ends(150, 1000) == {50, 100, 150}
    assert row_ends(7, 3) == {3, 6, 7}
    assert row_ends(100_000, 1000) == {*range(50, 100_001, 50)}


@pytest.mark.parametrize("eval_every", [1000, 70_000])
def test_a_long_run_has_two_thousand_rows_besides_its_evaluations(eval_every):
    ends = row_ends(300_001, eval_every)
    evaluations = {*range(eval_every, 300_001, eval_every), 300_001}
    assert evaluations <= ends
    assert len(ends - evaluations) <= 2000


@pytest.mark.parametrize(
    ("num_updates", "seconds", "expected"),
    [(1, 1.2, 1), (1, 0.1, 5), (50, 0.25, 100), (5, 5.0, 1), (1, 0.0, 500)],
)
def test_a_call_takes_half_a_second_or_one_update(num_updates, seconds, expected):
    """Signals wait for its end."""
    assert agent_batch.updates_in_time(num_updates, seconds) == expected


def test_agents_in_groups_have_the_results_of_all_at_once():
    """A learner's numbers are an agent's own, and its opponent is not."""
    configs = [Config.of(gamma=x) for x in (0.1, 0.2, 0.3, 0.4, 0.5)]
    learner = DQN.of(configs[0]).for_agents(configs)
    keys = run_keys(range(5))

    def gamma_and_key(learner, key, factor):
        return factor * learner.config.gamma, key

    for at_once in (1, 2, 4, None):
        batched = agent_batch.each_agent(gamma_and_key, at_once)
        gammas, same = batched(learner, keys, mesh=None, factor=2)
        np.testing.assert_allclose(gammas, [0.2, 0.4, 0.6, 0.8, 1.0])
        np.testing.assert_array_equal(same, keys)
