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
from jax_ttt.grading import agent_groups
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


def at_once(configs, seeds, state=None):
    """Return a run of many agents."""
    learner = run_start.make_learner(configs, seeds)
    if state is None:
        state = run_start.first_state(learner, run_keys(seeds))
    return loop.training_steps(learner, state)


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


@pytest.mark.slow
def test_an_agent_of_many_in_turn_is_the_agent_of_a_run_alone():
    rows = results_of([Job(CONFIG, seed) for seed in (4, 5)], 1)
    assert [row.seed for row in rows] == [4, 5]
    assert rows[0].grade != rows[1].grade
    for row in rows:
        *_, last = alone(CONFIG, row.seed)
        assert last.evaluation is not None
        assert last.evaluation.exact is not None
        assert row.grade is not None
        assert row.grade.first is not None
        rates, *_ = last.evaluation.exact
        assert row.grade.first.win_rate == float(rates[0, 0, 0])
        assert row.games == last.state.counts.games[0]


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


@pytest.mark.slow
def test_agents_that_train_at_once_continue_bit_for_bit():
    configs, seeds = (CONFIG,) * 2, (4, 5)
    *_, whole = at_once(configs, seeds)
    expected = run_state.copy_to_host(whole.state)
    half = next(step for step in at_once(configs, seeds) if step.update == 2)
    *_, last = at_once(configs, seeds, half.state)
    end = run_state.copy_to_host(last.state)
    assert end.keys() == expected.keys()
    for name in end.keys() - {"seconds"}:
        np.testing.assert_array_equal(end[name], expected[name], err_msg=name)


def test_agents_whose_settings_need_other_programs_do_not_train_at_once():
    other = CONFIG.replace(hidden_size=9)
    with pytest.raises(ValueError, match="differ in more than numbers that are data"):
        run_start.make_learner([CONFIG, other], [1, 2])


@pytest.mark.slow
def test_an_agent_that_diverges_is_named_and_the_others_go_on():
    wild = CONFIG.replace(learning_rate=1e30)
    jobs = [Job(wild, 2), Job(CONFIG, 1)]
    for number in (1, 2):
        rows = results_of(jobs, number)
        assert [row.diverged for row in rows] == [True, False]
        summary = agent_groups.group_summary(rows, CONFIG)
        assert (summary.diverged, summary.not_proven) == ((2,), (2, 1))
    first, *_, last = at_once([wild, CONFIG], [2, 1])
    assert first.state.diverged.tolist() == [False, False]  # nothing is learned yet
    assert last.state.diverged.tolist() == [True, False]


@pytest.fixture
def replace_training(monkeypatch):
    """Return a function: from then on, a run takes so many seconds by each step.

    It returns the list of batches, to which the seeds of each run are added.
    """

    def replace(*seconds, diverged=None, error_at=None, expected_mesh=None):
        batches = []

        def steps(learner, state, *, stop, mesh):
            del stop
            keys = state.keys
            assert mesh is expected_mesh
            assert learner.config.tau.shape == (len(keys),)
            batches.append(keys[:, 1].tolist())
            first_update = CONFIG.num_updates - len(seconds) + 1
            nothing = Evaluation(exact=None, sampled=None)
            for update, sum_so_far in enumerate(seconds, first_update):
                if sum_so_far == error_at:
                    raise FloatingPointError
                step = made.progress(update, sum_so_far, nothing, len(keys))
                if diverged is not None:
                    state = dataclasses.replace(step.state, diverged=np.array(diverged))
                    step = step._replace(state=state)
                yield step

        monkeypatch.setattr(loop, "training_steps", steps)
        return batches

    return replace


def jobs_of(number):
    return [Job(CONFIG, seed) for seed in range(number)]


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
    replace_training(1.0, 3.0, 12.0, error_at=12.0)
    (row,) = results_of(jobs_of(1), 1)
    assert (row.games, row.seconds, row.diverged, row.grade) == (7, 3, True, None)


@pytest.fixture
def four_devices(spread):
    """Return the mesh of four devices."""
    return spread(4)


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


SEARCHED = Config.of(
    env_id="connect_4x4",
    start_share=0.5,
    hidden_size=8,
    num_envs=4,
    num_updates=2,
    eval_every=1,
    eval_games=0,
)


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
    ("config", "number"),
    [
        (SEARCHED, 1),  # a search looks at each agent
        (
            AGAINST_A_PLAYER.replace(opponent="mcts:4"),
            1,
        ),  # each has random numbers of its own
        (AGAINST_A_PLAYER.replace(opponent="blend:0.5:mcts:4"), 1),
        (AGAINST_A_PLAYER.replace(opponent="blend:0.5:minimax"), 6),
        (AGAINST_A_PLAYER.replace(opponent="random"), 6),
    ],
)
def test_agents_train_alone_if_a_search_is_of_each(config, number, four_devices):
    assert many_agents.agents_at_once(config, 6) == number
    if number == 1:
        assert many_agents.agents_at_once(config, 6, four_devices) == 1


def test_agents_that_train_alone_do_so_on_several_devices_too(
    four_devices, replace_training
):
    batches = replace_training(1.0, expected_mesh=four_devices)
    jobs = [Job(AGAINST_A_PLAYER.replace(opponent="mcts:4"), seed) for seed in range(3)]
    rows = results_of(jobs, 4, four_devices)
    assert batches == [[0], [1], [2]]
    assert [row.seed for row in rows] == [0, 1, 2]


@pytest.mark.slow
def test_agents_that_look_for_counterexamples_train_in_rounds():
    rows = results_of([Job(SEARCHED, seed) for seed in (0, 1)], at_once=2)
    *_, last = alone(SEARCHED, 1)
    assert last.evaluation is not None
    assert [row.update for row in rows] == [2, 2]
    grade = run_state.grade_of(SEARCHED, last.evaluation)
    assert rows[1].grade == grade != rows[0].grade


@pytest.fixture
def memory_for(monkeypatch):
    """Return a function: from then on, the memory holds so many agents at once.

    It returns the list of the seeds of each run that is begun, also in vain.
    """
    real = loop.training_steps

    def limit(number, error):
        begun = []

        def steps(learner, state, **options):
            begun.append(state.keys[:, 1].tolist())
            run = real(learner, state, **options)
            yield next(run)
            if len(state.keys) > number:
                raise error
            yield from run

        monkeypatch.setattr(loop, "training_steps", steps)
        return begun

    return limit


@pytest.mark.slow
@pytest.mark.fault
def test_a_block_that_the_memory_does_not_hold_is_halved(memory_for, capsys):
    error = RuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate")
    begun = memory_for(2, error)
    results = results_of(jobs_of(5), 4)
    assert begun == [[0, 1, 2, 3], [0, 1], [2, 3], [4]]
    assert [(result.seed, result.update) for result in results] == [
        (seed, 4) for seed in range(5)
    ]
    message = "4 agents at once don't fit into the memory: trying 2\n"
    assert capsys.readouterr().err == message
    begun.clear()
    results_of(jobs_of(3), 1000)  # there are only three
    assert begun == [[0, 1, 2], [0], [1], [2]]
    message = "3 agents at once don't fit into the memory: trying 1\n"
    assert capsys.readouterr().err == message


@pytest.mark.slow
@pytest.mark.fault
def test_an_agent_that_does_not_fit_alone_is_an_error(memory_for, four_devices):
    begun = memory_for(0, MemoryError("too large"))
    with pytest.raises(MemoryError, match="too large"):
        results_of(jobs_of(5), 2)
    assert begun == [[0, 1], [0]]
    begun.clear()
    with pytest.raises(MemoryError, match="too large"):
        results_of(jobs_of(5), 8, four_devices)
    assert begun == [[0, 1, 2, 3, 4, 4, 4, 4], [0, 1, 2, 3]]


@pytest.mark.fault
@pytest.mark.slow
def test_another_error_ends_the_training(memory_for):
    begun = memory_for(0, RuntimeError("another"))
    with pytest.raises(RuntimeError, match="another"):
        results_of(jobs_of(5), 2)
    assert begun == [[0, 1]]


def note_begun(begun):
    """Return what adds the seeds of each block that begins to a list."""

    def on_step(block):
        if not block.steps:
            begun.append([job.seed for job in block.jobs])

    return on_step


def test_a_block_that_is_stopped_is_dropped_and_no_other_one_is_begun():
    begun = []
    (block,) = many_agents.train_blocks(
        jobs_of(6), 2, stop=lambda: len(begun) == 2, on_step=note_begun(begun)
    )
    assert begun == [[0, 1], [2, 3]]
    assert [job.seed for job in block.jobs] == [0, 1]


@pytest.mark.parametrize("other", [CONFIG, CONFIG.replace(hidden_size=9)])
def test_a_stop_after_a_block_keeps_it_and_no_other_one_is_begun(other):
    """Whether the next one needs another program or not."""
    blocks = []
    (block,) = many_agents.train_blocks(
        [*jobs_of(2), Job(other, 2)],
        2,
        stop=lambda: any(block.is_finished for block in blocks),
        on_step=blocks.append,
    )
    assert all(begun is block for begun in blocks)
    assert [job.seed for job in block.jobs] == [0, 1]
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
