"""A run that was interrupted continues as if nothing had happened."""

import functools
import os
import shutil
import signal

import as_users
import commands
import jax
import numpy as np
import pytest
import tiny
from marks import mark_slow
from same_runs import assert_same_run, rows

from jax_ttt.config.errors import AgentError, Refused
from jax_ttt.config.presets import PRESETS
from jax_ttt.files import checkpoint
from jax_ttt.files.run_folder import Lock, RunFolder, read_settings
from jax_ttt.training import agent_batch, reproducibility, run_start

train = commands.module_of("train")
command = functools.partial(commands.run, train)

TINY = tiny.flags()
VARIANTS = {
    "default": "",
    "replay": "--replay-capacity 64 --replay-batch 16 --replay-start 32",
    "table": "--preset table",
    "mcts": "--preset plain --opponent mcts:4",
    "counterexamples": "--preset plain --env-id connect_4x4 --start-share 0.5",
}


def flags_of(variant):
    """Return the flags of a small run; a table has no hidden layer."""
    if variant == "table":
        flags = tiny.flags("num_envs", "num_updates", "eval_every")
    else:
        flags = TINY
    return [*flags, *VARIANTS[variant].split()]


def updates_of(path):
    return [row["update"] for row in rows(path)]


def latest(path):
    return checkpoint.newest_checkpoint(RunFolder(path))


def resume(path, *flags):
    """Continue a run to its end; return stderr."""
    return command("--resume", path, "--quiet", *flags).err


def kill_with_checkpoints(path, number, *flags):
    """Run until the step of this number begins, with all checkpoints."""
    words = [*flags, "--checkpoint-every", "1e-9", "--run-dir", str(path)]
    commands.run_and_kill(train, words, number)


@pytest.fixture(scope="module")
def whole(tiny_run, tmp_path_factory):
    """Return a function that returns the folder of a run that nothing interrupts."""
    paths = {"default": tiny_run[0]}

    def run(variant):
        if variant not in paths:
            paths[variant] = tmp_path_factory.mktemp("whole") / variant
            done = command(*flags_of(variant), "--run-dir", paths[variant])
            assert done.err == ""
        return paths[variant]

    return run


@pytest.mark.parametrize(
    "variant", mark_slow(VARIANTS, "replay", "table", "mcts", "counterexamples")
)
@pytest.mark.fault
def test_a_killed_run_continues_bit_for_bit(variant, whole, tmp_path):
    # After a chunk and, in two variants, after an evaluation and the last chunk.
    for number in (3, 4, 5) if variant in ("default", "replay") else (3,):
        path = tmp_path / f"run{number}"
        kill_with_checkpoints(path, number, *flags_of(variant))
        assert not (path / "agent.safetensors").exists()
        assert resume(path) == ""
        assert_same_run(path, whole(variant))


@pytest.mark.fault
def test_an_interruption_leaves_no_trace(whole, tmp_path):
    """The evaluation that it adds to the schedule is removed too."""
    flags = [*TINY, "--checkpoint-every", "0", "--run-dir"]
    # Before the first chunk, which an evaluation precedes, and before the second.
    for number, code in ((2, 128 + signal.SIGTERM), (4, 0)):
        path = tmp_path / f"run{number}"
        terminate = commands.at_step(
            number, lambda: signal.raise_signal(signal.SIGTERM)
        )
        _, err = command(*flags, path, on_step=terminate, code=code)
        if code:
            assert f"to continue: python -m jax_ttt.train --resume {path}" in err
            assert (path / "agent.safetensors").exists()
            resume(path)
        assert_same_run(path, whole("default"))


@pytest.fixture(scope="module")
def killed_once(tmp_path_factory):
    """Return the folder of a run that was killed with two checkpoints."""
    path = tmp_path_factory.mktemp("killed") / "run"
    kill_with_checkpoints(path, 5, *TINY)
    return path


@pytest.fixture
def killed(killed_once, tmp_path):
    """Return a copy of a folder of a run that was killed with two checkpoints."""
    return shutil.copytree(killed_once, tmp_path / "run")


def test_seconds_are_those_of_the_whole_run(killed):
    saved = float(latest(killed).tensors["seconds"])
    assert saved > 0
    resume(killed)
    seconds = [row.seconds for row in RunFolder(killed).rows()]
    assert seconds == sorted(seconds)
    assert seconds[-1] >= round(saved, 4)


@pytest.mark.slow
def test_a_longer_run_continues_and_its_new_end_is_saved_at_once(whole, tmp_path):
    path = shutil.copytree(whole("default"), tmp_path / "run")
    longer = ["--resume", str(path), "--num-updates"]
    commands.run_and_kill(train, [*longer, "6"], 1)
    assert latest(path).plan.config.num_updates == 6
    assert resume(path).startswith("num_updates is 6, up from 4: from here on")
    assert updates_of(path) == [0, 2, 2, 4, 4, 6, 6]
    err = resume(path, "--num-updates", 8)
    assert err.startswith("num_updates is 8, up from 6: from here on, epsilon and the ")
    assert read_settings(path).config.num_updates == 8
    assert [n.name for n in RunFolder(path).checkpoints()] == [
        "checkpoint-8.safetensors",
        "checkpoint-6.safetensors",
    ]


@pytest.mark.parametrize(
    ("flags", "first", "second"),
    [
        ("--learning-rate 0.1", "--learning-rate is 0.0", "got 0.1"),
        ("--num-updates 3", "--num-updates is 4 in this run, got 3", ""),
        ("--no-snapshots", "--snapshots is True in this run, got False", ""),
        ("--run-dir elsewhere", "--run-dir must be left out", ""),
        ("--num-envs 16 --seed 3", "--num-envs is 8", "--seed is 1"),
        ("--config x", "--config must be left out with --resume, got 'x'", ""),
    ],
)
@pytest.mark.fault
def test_flags_that_differ_from_the_plan_are_refused(
    flags, first, second, killed, monkeypatch
):
    before = as_users.contents(killed)
    monkeypatch.setattr(train.cli, "set_up_device", None)  # nothing is set up
    line = commands.refusal(train, "--resume", killed, *flags.split())
    assert first in line
    assert second in line
    assert as_users.contents(killed) == before


def test_flags_that_change_nothing_are_allowed(killed, whole):
    rate = latest(killed).plan.config.learning_rate
    resume(killed, *f"--learning-rate {rate} --seed 1 --keep 1".split())
    assert_same_run(killed, whole("default"))
    assert len(RunFolder(killed).checkpoints()) == 1


@pytest.mark.fault
def test_a_damaged_checkpoint_is_replaced_by_the_one_before(killed, whole):
    new, old = RunFolder(killed).checkpoints()
    content = bytearray(new.read_bytes())
    content[len(content) // 2] ^= 1
    new.write_bytes(content)
    err = resume(killed)
    assert err.startswith(f"warning: {new}: ")
    assert err.endswith(f"; going back to {old}\n")
    assert err.count("\n") == 1
    assert_same_run(killed, whole("default"))
    assert (killed / f"{new.name}.damaged").read_bytes() == content


@pytest.mark.fault
def test_damaged_rows_are_removed(killed, whole):
    with RunFolder(killed).metrics.open("ab") as file:
        file.write(b'{"event": "chunk"}\n\xff\n{"event": "chunk", "upd')
    assert resume(killed).count("dropped a row") == 2
    assert_same_run(killed, whole("default"))


@pytest.mark.fault
def test_lost_rows_are_a_warning(killed):
    metrics = RunFolder(killed).metrics
    metrics.unlink()
    reason = "no such file, so earlier rows are lost"
    assert resume(killed) == f"warning: {metrics}: {reason}\n"
    assert updates_of(killed) == [4]


@pytest.mark.fault
def test_a_folder_in_use_or_with_a_run_is_refused(killed):
    lock = Lock(RunFolder(killed).lock)
    for flag, flags in (("--resume", []), ("--run-dir", TINY)):
        line = commands.refusal(train, flag, killed, *flags)
        assert line == f"{flag} {killed}: in use by process {os.getpid()}"
    lock.close()
    RunFolder(killed).lock.write_text("1\n")  # left by a process that was killed
    line = commands.refusal(train, *TINY, "--run-dir", killed)
    assert f"to continue it: python -m jax_ttt.train --resume {killed}" in line


def test_other_threads_and_versions_are_a_warning(killed, whole, monkeypatch):
    monkeypatch.setenv("NPROC", "77")
    monkeypatch.setattr(reproducibility, "__version__", "99")
    err = resume(killed)
    assert err.startswith("warning: jax_ttt: ")
    assert " -> 99; threads: " in err
    assert err.endswith(" its bits may differ\n")
    assert_same_run(killed, whole("default"))


def test_other_random_numbers_are_refused(killed):
    with jax.default_prng_impl("rbg"):
        err = command("--resume", killed, code=2).err
    assert "random numbers of threefry2x32, but those here are of rbg" in err


@pytest.mark.slow
@pytest.mark.usefixtures("optimized")
def test_a_run_until_a_proof_continues_as_one(tmp_path):
    flags = ["--preset", "table", "--until-proven"]
    whole, path = tmp_path / "whole", tmp_path / "run"
    command(*flags, "--run-dir", whole)
    kill_with_checkpoints(path, 5, *flags)
    resume(path)
    assert rows(path) == rows(whole)
    update, planned = updates_of(path)[-1], PRESETS["table"].num_updates
    assert update < planned
    out, _ = command("--resume", path)
    assert f"ended at update {update}, at the first proof, as --until-proven" in out
    assert out.endswith(f"--resume {path} --num-updates {planned}\n")
    longer = ["--resume", str(path), "--num-updates", str(planned)]
    commands.run_and_kill(train, longer, 1)
    resume(path)
    assert rows(path)[: len(rows(whole))] == rows(whole)
    assert updates_of(path)[-1] == planned


def test_the_state_is_checked_against_the_settings(killed):
    saved = latest(killed)
    learner = run_start.make_learner([saved.plan.config], [1])
    changed = saved.tensors | {"train_state.update": np.zeros(1, np.int64)}
    with pytest.raises(AgentError, match="not a state of such a run") as error:
        run_start.restored_state(
            saved._replace(tensors=changed), learner, agent_batch.run_keys([1])
        )
    assert str(error.value).endswith("train_state.update is int64 (1,), not int32 (1,)")


def test_a_folder_that_another_process_continued_is_refused(killed):
    """After the checkpoint was read, and before the folder was locked."""
    args = commands.parse(train, ["--resume", str(killed)])
    shutil.copy(args.latest.path, killed / "checkpoint-9.safetensors")
    before = as_users.contents(killed)
    with pytest.raises(Refused, match="another process has continued it"):
        train.main(args)
    assert as_users.contents(killed) == before
