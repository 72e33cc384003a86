"""Many agents, in blocks: each is the agent of a run alone."""

import dataclasses
import itertools
from types import SimpleNamespace

import jax
import made
import numpy as np
import pytest
import tiny
from quick import compiled

from jax_ttt.config.settings import Config, traced_names
from jax_ttt.dqn.learner import DQN
from jax_ttt.grading.training_evaluation import Evaluation
from jax_ttt.runtime import devices
from jax_ttt.training import loop, many_agents, run_start, run_state
from jax_ttt.training.agent_batch import run_keys
from jax_ttt.training.many_agents import Job

CONFIG = tiny.CONFIG
AGAINST_A_PLAYER = Config.of(**tiny.FIELDS, opponent="minimax")


def alone(config, seed):
    """Return a run of one agent."""
    return at_once([config], [seed])


def at_once(configs, seeds):
    """Return a run of many agents."""
    learner = run_start.make_learner(configs, seeds)
    return loop.training_steps(learner, run_start.first_state(learner, run_keys(seeds)))


def results_of(jobs, at_once=None, mesh=None):
    """Train in blocks, and return the results of all agents."""
    return [
        result
        for block in many_agents.train_blocks(jobs, at_once, mesh=mesh)
        for result in block.results()
    ]


def leaves_after(run):
    """Return the leaves of all agents' parameters at the end of a run."""
    *_, last = run
    params = last.state.train_state.average_params
    return [np.asarray(leaf) for leaf in jax.tree.leaves(params)]


def test_settings_that_are_data_share_one_program():
    leaves_after(alone(CONFIG, 1))
    with compiled() as steps:
        leaves_after(alone(CONFIG.replace(learning_rate=1e-2, tau=0.5, gamma=0.9), 2))
    assert steps == []


@pytest.mark.slow
def test_each_hyperparameter_reaches_the_learner():
    """An agent with another value of one of them is another agent."""
    base = CONFIG.replace(
        num_updates=12,
        eval_every=12,
        weight_decay=0.01,
        epsilon_schedule="exponential",
        epsilon_end=0.1,
    )
    value = {"learning_rate": 1e-2, "learning_rate_end": 1e-3, "epsilon_decay": 0.9}
    others = [base.replace(**{name: value.get(name, 0.3)}) for name in traced_names()]
    configs = [base, base, *others]
    leaves = leaves_after(at_once(configs, [1] * len(configs)))
    is_same = [
        all((leaf[i] == leaf[0]).all() for leaf in leaves) for i in range(len(configs))
    ]
    assert is_same == [True, True, *[False] * len(others)]


@pytest.mark.parametrize(
    "config", [CONFIG, pytest.param(AGAINST_A_PLAYER, marks=pytest.mark.slow)]
)
def test_agents_that_train_at_once_are_those_that_train_alone(config):
    """They are equal up to float32 rounding, each with its seed and settings."""
    configs = (config, config.replace(learning_rate=1e-2, epsilon_end=0.2))
    seeds = (4, 5)
    *_, many = at_once(configs, seeds)
    for i, (config, seed) in enumerate(zip(configs, seeds, strict=True)):
        *_, one = alone(config, seed)
        assert many.state.counts.games[i] == one.state.counts.games[0]
        for all_of_many, single, atol in (
            (many.state.train_state.params, one.state.train_state.params, 1e-5),
            (many.params(i), one.params(), 1e-5),
            (many.evaluation, one.evaluation, 1e-4),
        ):
            pairs = zip(*map(jax.tree.leaves, (all_of_many, single)), strict=True)
            for leaf, expected in pairs:
                mine = leaf if leaf.shape == expected.shape else leaf[i : i + 1]
                np.testing.assert_allclose(mine, expected, rtol=1e-3, atol=atol)


def test_an_agent_that_diverges_changes_nothing_of_the_others():
    wild = CONFIG.replace(learning_rate=1e30)
    *_, beside_wild = at_once([wild, CONFIG], [2, 1])
    *_, beside_good = at_once([CONFIG, CONFIG], [2, 1])
    assert beside_wild.state.diverged.tolist() == [True, False]
    leaves, expected = (
        jax.tree.leaves((last.state.train_state.params, last.evaluation))
        for last in (beside_wild, beside_good)
    )
    for leaf, other in zip(leaves, expected, strict=True):
        np.testing.assert_array_equal(leaf[1], other[1])


@pytest.mark.slow
def test_agents_whose_counterexamples_are_searched_train_one_by_one():
    fields = {"env_id": "connect_4x4", "start_share": 0.5, "eval_games": 0}
    config = Config.of(**tiny.FIELDS | fields)
    results = results_of(jobs_of(2, config), at_once=2)
    *_, last = alone(config, 1)
    assert last.evaluation is not None
    assert [result.update for result in results] == [4, 4]
    assert results[1].grade == run_state.grade_of(config, last.evaluation)
    assert results[0].grade != results[1].grade


def test_agents_whose_settings_need_other_programs_do_not_train_at_once():
    other = CONFIG.replace(hidden_size=9)
    with pytest.raises(ValueError, match="differ in more than numbers that are data"):
        run_start.make_learner([CONFIG, other], [1, 2])


@pytest.fixture
def replace_training(monkeypatch):
    """Return a function that replaces trainings: they take seconds by each step.

    Those of more agents than the memory `holds` end with the error. The function
    returns the list of batches, to which the seeds of each training are added.
    """

    def replace(*seconds, diverged=None, error=None, holds=0, expected_mesh=None):
        batches = []

        def first_state(learner, keys, mesh):
            assert mesh is expected_mesh
            assert learner.config.tau.shape == (len(keys),)
            return keys

        def steps(learner, keys, *, stop, mesh):
            del learner
            assert mesh is expected_mesh
            batches.append(keys[:, 1].tolist())
            first_update = CONFIG.num_updates - len(seconds) + 1
            nothing = Evaluation(exact=None, sampled=None)
            for update, sum_so_far in enumerate(seconds, first_update):
                if stop():
                    return
                step = made.progress(update, sum_so_far, nothing, len(keys))
                if diverged is not None:
                    state = dataclasses.replace(step.state, diverged=np.array(diverged))
                    step = step._replace(state=state)
                yield step
            if error is not None and len(keys) > holds:
                raise error

        monkeypatch.setattr(run_start, "first_state", first_state)
        monkeypatch.setattr(loop, "training_steps", steps)
        return batches

    return replace


@pytest.fixture
def four_devices(spread):
    """Return the mesh of four devices."""
    return spread(4)


def jobs_of(number, config=CONFIG):
    return [Job(config, seed) for seed in range(number)]


def test_agents_at_once_share_the_seconds_evenly(replace_training):
    """So their sum is the time of training, however many train at once."""
    replace_training(4.0, 12.0)
    for number, seconds in ((3, [4, 4, 4]), (2, [6, 6, 12]), (1, [12, 12, 12])):
        rows = results_of(jobs_of(3), number)
        assert [row.seconds for row in rows] == seconds


@pytest.mark.fault
def test_an_agent_that_diverged_is_not_graded(replace_training):
    """Even if the others go on, and its weights are finite."""
    replace_training(1.0, 3.0, diverged=[True, False])
    rows = results_of(jobs_of(2), 2)
    assert [row.diverged for row in rows] == [True, False]
    replace_training(1.0, 3.0, error=FloatingPointError())
    (row,) = results_of(jobs_of(1), 1)
    assert (row.games, row.seconds, row.diverged, row.grade) == (7, 3, True, None)


def test_devices_share_each_batch_evenly_and_copies_have_no_row(
    four_devices, replace_training
):
    batches = replace_training(4.0, 12.0, expected_mesh=four_devices)
    rows = results_of(jobs_of(6), 3, mesh=four_devices)
    assert batches == [[0, 1, 2, 3], [4, 5, 5, 5]]
    assert [(row.seed, row.seconds) for row in rows] == [
        *itertools.product(range(4), [3.0]),
        *itertools.product((4, 5), [6.0]),
    ]


def test_a_block_has_an_agent_for_each_cpu_and_many_on_an_accelerator(
    four_devices, monkeypatch
):
    """All devices have equally many, also of a given number."""
    for platform, default in (("cpu", 1), ("gpu", many_agents.AT_ONCE)):
        device = SimpleNamespace(platform=platform)
        monkeypatch.setattr(devices, "current_device", lambda device=device: device)
        for mesh, number in ((None, 1), (four_devices, 4)):
            assert many_agents.agents_at_once(CONFIG, mesh=mesh) == default * number
        assert many_agents.agents_at_once(CONFIG, 6) == 6
        assert many_agents.agents_at_once(CONFIG, 6, four_devices) == 8


@pytest.mark.parametrize(
    ("fields", "trains_alone"),
    [
        ({"env_id": "connect_4x4", "start_share": 0.5}, True),  # a search of each
        ({"opponent": "mcts:4"}, True),  # each has random numbers of its own
        ({"opponent": "blend:0.5:mcts:4"}, True),
        ({"opponent": "blend:0.5:minimax"}, False),
        ({"opponent": "random"}, False),
    ],
)
def test_agents_train_alone_if_a_search_is_of_each(fields, trains_alone, four_devices):
    config = Config.of(**tiny.FIELDS | fields)
    sizes = [
        many_agents.agents_at_once(config, 6, mesh) for mesh in (None, four_devices)
    ]
    assert sizes == ([1, 1] if trains_alone else [6, 8])


def test_agents_that_train_alone_do_so_on_several_devices_too(
    four_devices, replace_training
):
    batches = replace_training(1.0, expected_mesh=four_devices)
    jobs = jobs_of(3, AGAINST_A_PLAYER.replace(opponent="mcts:4"))
    assert [row.seed for row in results_of(jobs, 4, four_devices)] == [0, 1, 2]
    assert batches == [[0], [1], [2]]


@pytest.mark.fault
@pytest.mark.parametrize(
    ("number", "at_once", "batches", "message"),
    [
        (5, 4, [[0, 1, 2, 3], [0, 1], [2, 3], [4]], "4 agents at once don't fit into"),
        (3, 1000, [[0, 1, 2], [0], [1], [2]], "3 agents at once don't fit into"),
    ],
)
def test_a_block_that_the_memory_does_not_hold_is_halved(
    number, at_once, batches, message, replace_training, capsys
):
    error = RuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate")
    begun = replace_training(1.0, error=error, holds=2)
    results = results_of(jobs_of(number), at_once)
    assert begun == batches
    assert [result.seed for result in results] == [*range(number)]
    message = f"{message} the memory: trying {len(batches[1])}\n"
    assert capsys.readouterr().err == message


@pytest.mark.fault
def test_another_error_or_an_agent_that_does_not_fit_alone_ends_the_training(
    four_devices, replace_training
):
    begun = replace_training(1.0, error=RuntimeError("another"))
    with pytest.raises(RuntimeError, match="another"):
        results_of(jobs_of(5), 2)
    assert begun == [[0, 1]]
    for mesh, at_once, batches in (
        (None, 2, [[0, 1], [0]]),
        (four_devices, 8, [[0, 1, 2, 3, 4, 4, 4, 4], [0, 1, 2, 3]]),
    ):
        begun = replace_training(1.0, error=MemoryError("no"), expected_mesh=mesh)
        with pytest.raises(MemoryError, match="no"):
            results_of(jobs_of(5), at_once, mesh)
        assert begun == batches


def test_a_block_that_is_stopped_is_dropped_and_no_other_one_is_begun(replace_training):
    begun = replace_training(1.0)
    (block,) = many_agents.train_blocks(jobs_of(6), 2, stop=lambda: len(begun) == 2)
    assert begun == [[0, 1], [2, 3]]
    assert [job.seed for job in block.jobs] == [0, 1]


@pytest.mark.parametrize("other", [CONFIG, CONFIG.replace(hidden_size=9)])
def test_a_stop_after_a_block_keeps_it_and_no_other_one_is_begun(
    other, replace_training
):
    """Whether the next one needs another program or not."""
    begun, blocks = replace_training(1.0), []
    (block,) = many_agents.train_blocks(
        [*jobs_of(2), Job(other, 2)],
        2,
        stop=lambda: any(block.is_finished for block in blocks),
        on_step=blocks.append,
    )
    assert begun == [[0, 1]]
    assert [result.update for result in block.results()] == [4, 4]


def test_a_thousand_agents_share_what_does_not_differ():
    config = CONFIG.replace(network="table")
    learner = run_start.make_learner([config] * 1024, range(1024))
    assert {np.shape(leaf) for leaf in jax.tree.leaves(learner.config)} == {(1024,)}
    shared = DQN.of(config)
    for many, one in (
        (learner.positions, shared.positions),
        (learner.opponent, shared.opponent),
    ):
        assert jax.tree.structure(many) == jax.tree.structure(one)
        pairs = zip(jax.tree.leaves(many), jax.tree.leaves(one), strict=True)
        assert all(mine.shape == other.shape for mine, other in pairs)
