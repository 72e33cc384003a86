"""A run that was interrupted continues as if nothing had happened."""

import contextlib
import dataclasses
import io
import json
import os
import shutil
import signal

import commands
import made
import numpy as np
import pytest
import tiny
from same_runs import assert_same_run, rows

from jax_ttt.config.errors import UsageError
from jax_ttt.files import checkpoint
from jax_ttt.files.run_folder import Lock, RunFolder
from jax_ttt.files.tensor_file import AgentError
from jax_ttt.runtime.time_spans import TimeSpans
from jax_ttt.training import environment, loop, run_state
from jax_ttt.training.run_state import run_key

train = commands.module_of("train")

TINY = tiny.flags()
VARIANTS = {
    "default": "",
    "replay": "--replay-capacity 64 --replay-batch 16 --replay-start 32",
    "table": "--preset table --num-envs 8 --num-updates 4 --eval-every 2",
    "mcts": "--preset plain --opponent mcts:4",
    "counterexamples": "--preset plain --env-id connect_4x4 --start-share 0.5 "
    "--snapshots",
}
FAST = ("replay",)


def checkpoints(path):
    """Return the paths of a run's checkpoints, the latest first."""
    return RunFolder(path).checkpoints()


def contents(path):
    """Return the contents of all files of a run."""
    return {p: p.read_bytes() for p in path.rglob("*") if p.is_file()}


def command(*flags):
    """Run `train`; return the exit code, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = commands.run(train, [str(flag) for flag in flags])
    return code, out.getvalue(), err.getvalue()


def flags_of(variant):
    """Return the flags of a small run."""
    given = VARIANTS[variant].split()
    pairs = zip(TINY[::2], TINY[1::2], strict=True)
    of_network = [] if variant == "table" else ["--hidden-size"]
    usual = [
        word
        for name, value in pairs
        if name not in given and (name != "--hidden-size" or of_network)
        for word in (name, value)
    ]
    return [*usual, *given]


class Killed(BaseException):
    """The end of a process, as far as files are concerned."""


def stop_in(monkeypatch, number, stop, *names):
    """Call `stop` before the step of this number by these functions of the loop."""
    counts = []

    def counted(real):
        def call(*args):
            counts.append(1)
            if len(counts) == number:
                stop()
            return real(*args)

        return call

    for name in names:
        monkeypatch.setattr(loop, name, counted(getattr(loop, name)))


def stop_in_chunk(monkeypatch, number, stop):
    """Call `stop` before the chunk of this number."""
    stop_in(monkeypatch, number, stop, "_run_chunk")


def kill():
    raise Killed


def killed_in(monkeypatch, path, number, *flags):
    """Run until the step of this number begins; steps are chunks and evaluations."""
    with monkeypatch.context() as patch:
        stop_in(patch, number, kill, "_run_chunk", "_evaluate")
        with pytest.raises(Killed):
            command(*flags, "--checkpoint-every", "1e-9", "--run-dir", path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a function that returns the folder of a run that nothing interrupts."""
    done = {}

    def run(variant):
        if variant not in done:
            done[variant] = tmp_path_factory.mktemp("whole") / variant
            code, _, err = command(*flags_of(variant), "--run-dir", done[variant])
            assert (code, err) == (0, "")
        return done[variant]

    return run


@pytest.mark.parametrize(
    "variant",
    [
        pytest.param(name, marks=() if name in FAST else pytest.mark.slow)
        for name in VARIANTS
        if name != "default"
    ],
)
@pytest.mark.fault
def test_a_killed_run_continues_bit_for_bit(variant, whole, tmp_path, monkeypatch):
    path, done = tmp_path / "run", whole(variant)
    for number in (3, 4, 5):  # after a chunk, an evaluation, the last chunk
        killed_in(monkeypatch, path, number, *flags_of(variant))
        assert not (path / "agent.safetensors").exists()
        code, _, err = command("--resume", path, "--quiet")
        assert (code, err) == (0, "")
        assert_same_run(path, done)
        shutil.rmtree(path)


@pytest.mark.fault
def test_an_interruption_leaves_no_trace(whole, tmp_path, monkeypatch):
    """Not even the evaluation that it adds, which is no evaluation of the schedule."""
    number = signal.SIGTERM
    path, done = tmp_path / "run", whole("default")
    flags = [*flags_of("default"), "--checkpoint-every", "0"]
    for chunk in (1, 2):
        with monkeypatch.context() as patch:
            stop_in_chunk(patch, chunk, lambda: signal.raise_signal(number))
            code, _, err = command(*flags, "--run-dir", path)
        assert code == (0 if chunk == 2 else 128 + number)
        if chunk == 1:
            assert f"to continue: python -m jax_ttt.train --resume {path}" in err
            assert (path / "agent.safetensors").exists()
            code, _, err = command("--resume", path, "--quiet")
            assert (code, err) == (0, "")
        assert_same_run(path, done)
        shutil.rmtree(path)


def irregular(tmp_path, name):
    flags = ["--num-updates", "120", "--eval-every", "110", *TINY[:4], *TINY[8:]]
    return [*flags, "--run-dir", tmp_path / name]


@pytest.mark.slow
def test_the_evaluation_of_an_interruption_is_cut_off(tmp_path, monkeypatch):
    """It is at update 50, where the schedule has none."""
    assert command(*irregular(tmp_path, "whole"))[0] == 0
    with monkeypatch.context() as patch:
        stop_in_chunk(patch, 1, lambda: signal.raise_signal(signal.SIGINT))
        assert command(*irregular(tmp_path, "run"))[0] == 130
    path = tmp_path / "run"
    assert [row["update"] for row in rows(path)] == [0, 50, 50]
    assert command("--resume", path, "--quiet")[0] == 0
    assert [row["update"] for row in rows(path)] == [0, 50, 100, 110, 110, 120, 120]
    assert_same_run(path, tmp_path / "whole")


@pytest.fixture(scope="module")
def killed_once(tmp_path_factory):
    """Return a function that returns the folder of a run killed in a step."""
    done = {}

    def run(number):
        if number not in done:
            done[number] = tmp_path_factory.mktemp("killed") / "run"
            with pytest.MonkeyPatch.context() as patch:
                killed_in(patch, done[number], number, *flags_of("default"))
        return done[number]

    return run


@pytest.fixture
def killed(killed_once, tmp_path):
    """Return the folder of a run that was killed in its second chunk."""
    return shutil.copytree(killed_once(4), tmp_path / "run")


@pytest.fixture
def twice_saved(killed_once, tmp_path):
    """Return the folder of a run that was killed with two checkpoints."""
    return shutil.copytree(killed_once(5), tmp_path / "run")


def test_seconds_are_those_of_the_whole_run(killed):
    about = json.loads((killed / "config.json").read_text())
    before = checkpoint.newest_checkpoint(RunFolder(killed)).checkpoint
    assert command("--resume", killed, "--quiet")[0] == 0
    times = json.loads((killed / "times.json").read_text())
    assert times["total_seconds"] > before.total_seconds
    for part, seconds in before.seconds.items():
        assert times["seconds"][part] >= seconds > 0
    seconds = [
        json.loads(line)["seconds"]
        for line in (killed / "metrics.jsonl").read_text().splitlines()
    ]
    assert seconds == sorted(seconds)
    assert json.loads((killed / "config.json").read_text()) == about


def test_a_run_that_ended_says_so(whole):
    path = whole("default")
    before = contents(path)
    (path / ".lock").write_text("1\n")  # of a process that was killed
    code, out, err = command("--resume", path)
    assert (code, err) == (0, "")
    assert out == (
        f"the run in {path} ended at update 4; to go on: "
        f"python -m jax_ttt.train --resume {path} --num-updates 8\n"
    )
    assert contents(path) == before


def test_a_longer_run_is_continued_and_its_schedules_are_stated(whole, tmp_path):
    path = tmp_path / "run"
    shutil.copytree(whole("default"), path)
    code, _, err = command("--resume", path, "--num-updates", 6, "--quiet")
    assert code == 0
    assert err.startswith("num_updates is 6, up from 4: from here on, epsilon and the ")
    assert [row["update"] for row in rows(path)] == [0, 2, 2, 4, 4, 6, 6]
    assert json.loads((path / "config.json").read_text())["config"]["num_updates"] == 6
    assert [p.name for p in checkpoints(path)] == [
        "checkpoint-6.safetensors",
        "checkpoint-4.safetensors",
    ]
    assert "ended at update 6" in command("--resume", path)[1]


def test_a_new_end_is_saved_before_the_training(whole, tmp_path, monkeypatch):
    path = tmp_path / "run"
    shutil.copytree(whole("default"), path)
    with monkeypatch.context() as patch:
        stop_in_chunk(patch, 1, kill)
        with pytest.raises(Killed):
            command("--resume", path, "--num-updates", 6)
    assert (
        checkpoint.read_checkpoint(checkpoints(path)[0]).plan.config.run.num_updates
        == 6
    )
    code, _, err = command("--resume", path, "--quiet")
    assert (code, err) == (0, "")
    assert rows(path)[-1]["update"] == 6


REFUSED = [
    ("--learning-rate 0.1", "--learning-rate is 0.0", "got 0.1"),
    ("--seed 2", "--seed is 1 in this run, got 2", ""),
    ("--num-updates 3", "--num-updates is 4 in this run, got 3", ""),
    ("--no-snapshots", "--snapshots is True in this run, got False", ""),
    ("--run-dir elsewhere", "--run-dir must be left out", ""),
    ("--num-envs 16 --seed 3", "--num-envs is 8", "--seed is 1"),
    ("--preset table", "--preset must be left out with --resume, got 'table'", ""),
    ("--config x", "--config must be left out with --resume, got 'x'", ""),
]


@pytest.mark.parametrize(("flags", "first", "second"), REFUSED)
@pytest.mark.fault
def test_changed_flags_are_listed_and_refused(
    flags, first, second, killed, monkeypatch
):
    before = contents(killed)
    monkeypatch.setattr(train.cli, "set_up", None)  # nothing is set up
    code, out, err = command("--resume", killed, *flags.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert first in err
    assert second in err
    assert contents(killed) == before


@pytest.mark.parametrize(
    "flags", ["--learning-rate 0.002 --seed 1", "--keep 1 --checkpoint-every 5 --json"]
)
def test_flags_that_change_nothing_are_allowed(flags, killed, whole):
    rate = checkpoint.read_checkpoint(
        checkpoints(killed)[0]
    ).plan.config.optimizer.learning_rate
    flags = flags.replace("0.002", str(rate))
    code, _, err = command("--resume", killed, *flags.split())
    assert (code, err) == (0, "")
    assert_same_run(killed, whole("default"))
    assert len(checkpoints(killed)) == (1 if "--keep" in flags else 2)


@pytest.mark.parametrize("damage", ["truncated", "flipped"])
@pytest.mark.fault
def test_a_damaged_checkpoint_is_replaced_by_the_one_before(damage, twice_saved, whole):
    new, old = checkpoints(twice_saved)
    content = bytearray(new.read_bytes())
    if damage == "flipped":
        content[len(content) // 2] ^= 1
    else:
        del content[-1:]
    new.write_bytes(content)
    code, _, err = command("--resume", twice_saved, "--quiet")
    assert code == 0
    assert err.startswith(f"warning: {new}: ")
    assert err.endswith(f"; going back to {old}\n")
    assert err.count("\n") == 1
    assert_same_run(twice_saved, whole("default"))
    assert (twice_saved / f"{new.name}.damaged").read_bytes() == content


@pytest.mark.fault
def test_without_a_good_checkpoint_nothing_is_changed(twice_saved):
    for path in checkpoints(twice_saved):
        path.write_bytes(path.read_bytes()[:-1])
    before = contents(twice_saved)
    code, out, err = command("--resume", twice_saved)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"error: {checkpoints(twice_saved)[0]}: ")
    assert err.endswith("; nor can an older one be used\n")
    assert contents(twice_saved) == before


def test_a_folder_without_checkpoints_is_refused(tmp_path):
    for path, why in ((tmp_path, "no checkpoint"), (tmp_path / "x", "no such folder")):
        code, out, err = command("--resume", path)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"error: --resume {path}: {why}")


@pytest.mark.fault
def test_a_running_run_is_not_continued(killed):
    lock = Lock(RunFolder(killed).lock)
    try:
        code, out, err = command("--resume", killed)
        assert (code, out) == (2, "")
        assert err == f"error: --resume {killed}: in use by process {os.getpid()}\n"
        code, out, err = command(*TINY, "--run-dir", killed)
        assert (code, out) == (2, "")
        assert err == f"error: --run-dir {killed}: in use by process {os.getpid()}\n"
    finally:
        lock.close()
    assert not (killed / ".lock").exists()


def test_a_new_run_names_the_way_to_continue(killed):
    code, out, err = command(*TINY, "--run-dir", killed)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"to continue it: python -m jax_ttt.train --resume {killed}" in err


@pytest.mark.fault
def test_other_threads_or_versions_are_a_warning(killed, monkeypatch):
    real = environment.environment()
    about = json.loads(json.dumps(real))
    about["device"]["NPROC"] = "77"
    about["versions"]["jax"] = "0.0.1"
    monkeypatch.setattr(environment, "environment", lambda: about)
    code, _, err = command("--resume", killed, "--quiet")
    assert code == 0
    assert err.startswith("warning: jax: ")
    assert " -> 0.0.1; threads: " in err
    assert " -> 77: numbers may be rounded differently" in err


def test_other_random_numbers_are_refused(killed, monkeypatch):
    about = json.loads(json.dumps(environment.environment()))
    about["random_numbers"] = "rbg"
    monkeypatch.setattr(environment, "environment", lambda: about)
    code, _, err = command("--resume", killed)
    assert code == 2
    assert "random numbers of threefry2x32, but those here are of rbg" in err


def steps_of(path):
    """Return the steps that TensorBoard shows, and those that it ignores."""
    from tensorboardX.proto.event_pb2 import Event  # type: ignore[attr-defined]

    found = []
    for file in sorted((path / "tensorboard").iterdir(), key=os.path.getmtime):
        data = file.read_bytes()
        while data:
            size = int.from_bytes(data[:8], "little")
            event = Event.FromString(data[12 : 12 + size])
            data = data[size + 16 :]
            if event.session_log.status == event.session_log.START:
                found = [step for step in found if step < event.step]
            # A row has this number once.
            tags = [value.tag for value in event.summary.value]
            found += [event.step] * tags.count("env_steps")
    return found


def test_tensorboard_has_each_row_once(tmp_path, monkeypatch):
    path, flags = tmp_path / "run", [*flags_of("default"), "--tensorboard"]
    with monkeypatch.context() as patch:
        killed_in(patch, path, 5, *flags)
    RunFolder(path).checkpoint(4).unlink()  # killed before it was written
    assert steps_of(path) == [0, 2, 2, 4]
    assert command("--resume", path, "--quiet")[0] == 0
    assert steps_of(path) == [0, 2, 2, 4, 4] == [row["update"] for row in rows(path)]
    assert len(list((path / "tensorboard").iterdir())) == 2


def test_a_run_until_a_proof_stays_one(tmp_path, monkeypatch):
    from jax_ttt.grading import evaluation

    real = evaluation.grade_of

    def proves(config, result):
        grade = real(config, result)
        unbeatable = made.exact((0.5,), (0.5,), unbeatable=True)
        return dataclasses.replace(
            grade, first=unbeatable.first, second=unbeatable.second
        )

    path = tmp_path / "run"
    killed_in(monkeypatch, path, 3, *TINY, "--until-proven")
    with monkeypatch.context() as patch:
        patch.setattr(evaluation, "grade_of", proves)
        assert command("--resume", path, "--quiet")[0] == 0
    assert [row["update"] for row in rows(path)] == [0, 2, 2]
    code, out, _ = command("--resume", path)
    assert code == 0
    assert "ended at update 2, at the first proof, as --until-proven asked" in out
    assert out.endswith(f"--resume {path} --num-updates 4\n")
    assert command("--resume", path, "--num-updates", 4, "--quiet")[0] == 0
    assert [row["update"] for row in rows(path)] == [0, 2, 2, 4, 4]


def test_the_state_is_checked_against_the_settings(killed):
    found = checkpoint.newest_checkpoint(RunFolder(killed))
    learner = loop.make_learner(found.checkpoint.plan.config, 1)
    tensors = dict(found.checkpoint.tensors)
    name = "train_state.params.layers.layers.0.bias"
    for change, why in (
        ({name: np.zeros(9, np.float32)}, f"{name} is float32 (9,), not float32 (8,)"),
        (
            {"train_state.update": np.int64(0)},
            "train_state.update is int64 (), not int32 ()",
        ),
        ({"new": np.zeros(1)}, "it has no new"),
        ({name: None}, f"{name} is missing"),
    ):
        leaves = {k: v for k, v in (tensors | change).items() if v is not None}
        other = train.dataclasses.replace(found.checkpoint, tensors=leaves)
        changed = found._replace(checkpoint=other)
        with pytest.raises(AgentError, match="not a state of such a run") as error:
            run_state.restore_state(changed, learner, run_key(1))
        assert str(error.value).endswith(why)


def test_a_folder_that_another_process_continued_is_refused(killed):
    """After the checkpoint was read, and before the folder was locked."""
    args = train.Args.resumed(killed)
    shutil.copy(args.latest.path, killed / "checkpoint-9.safetensors")
    with pytest.raises(UsageError, match="another process has continued it"):
        train.open_writer(args, TimeSpans())
    assert not (killed / ".lock").exists()
