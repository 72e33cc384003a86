"""A run has the same bits however many updates a call does, and wherever it stops."""

import signal

import commands
import msgspec
import pytest
import tiny
from marks import mark_slow
from same_runs import assert_same_run, rows

from jax_ttt.config.settings import Config
from jax_ttt.runtime import pytrees
from jax_ttt.training import agent_batch, loop, run_start, run_state

FIELDS = {"num_envs": 8, "num_updates": 60, "eval_every": 60, "eval_games": 0}
SMALL = FIELDS | {"hidden_size": 8}
CONFIGS = {
    "default": [tiny.CONFIG.replace(num_updates=60, eval_every=60)],
    "two agents": [Config.of(**SMALL), Config.of(**SMALL, learning_rate=0.02)],
    "replay": [
        Config.of(**SMALL, replay_capacity=64, replay_batch=16, replay_start=32)
    ],
    "backward": [Config.of(**FIELDS, network="table", backward=True)],
}


def steps_of(name, state=None):
    seeds = range(len(CONFIGS[name]))
    learner = run_start.make_learner(CONFIGS[name], seeds)
    if state is None:
        state = run_start.first_state(learner, agent_batch.run_keys(seeds))
    return [*loop.training_steps(learner, state)]


def rows_of(steps, index=0):
    """Return an agent's rows without their seconds, and without results."""
    grade = run_state.initial_grade(CONFIGS["default"][0])
    written = [step for step in steps if step.is_row]
    rows = [run_state.metrics_row(step, grade, index) for step in written]
    return [msgspec.structs.replace(row, seconds=0.0) for row in rows]


def assert_same(steps, whole):
    """Compare the rows of two runs, and every bit of their last states."""
    for index in range(len(whole[-1].state.keys)):
        assert rows_of(steps, index) == rows_of(whole, index)
    saved, expected = (run_state.copy_to_host(run[-1].state) for run in (steps, whole))
    for key in expected.keys() - {"seconds"}:
        assert saved[key].tobytes() == expected[key].tobytes(), key


@pytest.fixture
def updates_in_call(monkeypatch):
    """Return a function that sets how many updates a call does, whatever its time."""

    def set_number(number):
        monkeypatch.setattr(agent_batch, "updates_in_time", lambda *_: number)
        monkeypatch.setattr(agent_batch, "CALL_SECONDS", -1)  # each call is a step

    return set_number


@pytest.mark.parametrize("name", mark_slow(CONFIGS, *[*CONFIGS][1:]))
def test_a_run_does_not_depend_on_the_clock_or_on_where_it_stops(name, updates_in_call):
    whole = steps_of(name)
    assert [step.update for step in whole if step.is_row] == [0, 50, 60, 60]
    for number in (1, 7, 43):
        updates_in_call(number)
        steps = steps_of(name)
        assert_same(steps, whole)
        updates = [step.update for step in steps]
        assert updates[:4] == [0, 1, 2, 2 + number]
        for index in (1, 3):
            leaves = run_state.copy_to_host(steps[index].state)
            state = pytrees.with_leaves(steps[index].state, leaves)
            so_far = steps[: index + 1]
            assert_same([*so_far, *steps_of(name, state)], whole)


@pytest.mark.fault
@pytest.mark.parametrize("stop_at", mark_slow([1, 9, 45], 1, 45))
def test_a_run_that_is_interrupted_within_a_row_continues_bit_for_bit(
    stop_at, updates_in_call, tmp_path
):
    train = commands.module_of("train")
    flags = tiny.joined(tiny.flags(), ["--num-updates", "60", "--eval-every", "60"])
    whole, path = tmp_path / "whole", tmp_path / "run"
    commands.run(train, *flags, "--run-dir", str(whole))

    def interrupt(step):
        if step.update == stop_at and step.evaluation is None:
            signal.raise_signal(signal.SIGINT)

    updates_in_call(7 if stop_at == 9 else 43)
    words = [*flags, "--run-dir", str(path)]
    commands.run(train, *words, on_step=interrupt, code=130)
    assert [row["update"] for row in rows(path)] == [0, stop_at]
    commands.run(train, "--resume", str(path))
    assert_same_run(path, whole)
