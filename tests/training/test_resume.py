"""A run that was interrupted continues as if nothing had happened."""

import contextlib
import io
import json
import os
import shutil
import signal

import commands
import numpy as np
import pytest
import tiny
from same_runs import assert_same_run, rows

from jax_ttt.checkpoints import environment, resume, run_folders, saved, structure
from jax_ttt.checkpoints.contents import read_checkpoint
from jax_ttt.config.errors import UsageError
from jax_ttt.results import free_folders
from jax_ttt.runtime.time_spans import TimeSpans
from jax_ttt.training import loop
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


def command(*flags):
    """Run `train`; return the exit code, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = train.main([str(flag) for flag in flags])
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
    path = saved.paths(killed)[0]
    before = read_checkpoint(path).times
    assert command("--resume", killed, "--quiet")[0] == 0
    times = json.loads((killed / "times.json").read_text())
    assert times["total_seconds"] > before["total"]
    for part, seconds in before["seconds"].items():
        assert times["seconds"][part] >= seconds > 0
    seconds = [
        json.loads(line)["seconds"]
        for line in (killed / "metrics.jsonl").read_text().splitlines()
    ]
    assert seconds == sorted(seconds)
    assert json.loads((killed / "config.json").read_text()) == about


def test_a_run_that_ended_says_so(whole):
    path = whole("default")
    before = {p: p.read_bytes() for p in path.iterdir()}
    (path / free_folders.LOCK).write_text("1\n")  # of a process that was killed
    code, out, err = command("--resume", path)
    assert (code, err) == (0, "")
    assert out == (
        f"the run in {path} ended at update 4; to go on: "
        f"python -m jax_ttt.train --resume {path} --num-updates 8\n"
    )
    assert {p: p.read_bytes() for p in path.iterdir()} == before


def test_a_longer_run_is_continued_and_its_schedules_are_stated(whole, tmp_path):
    path = tmp_path / "run"
    shutil.copytree(whole("default"), path)
    code, _, err = command("--resume", path, "--num-updates", 6, "--quiet")
    assert code == 0
    assert err.startswith("num_updates is 6, up from 4: from here on, epsilon and the ")
    assert [row["update"] for row in rows(path)] == [0, 2, 2, 4, 4, 6, 6]
    assert json.loads((path / "config.json").read_text())["config"]["num_updates"] == 6
    assert [p.name for p in saved.paths(path)] == [
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
    assert read_checkpoint(saved.paths(path)[0]).plan.config.run.num_updates == 6
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
    ("--keep 0", "keep must be a whole number from 1 to 1,000, got 0", ""),
]


@pytest.mark.parametrize(("flags", "first", "second"), REFUSED)
@pytest.mark.fault
def test_changed_flags_are_listed_and_refused(
    flags, first, second, killed, monkeypatch
):
    before = {p: p.read_bytes() for p in killed.iterdir()}
    monkeypatch.setattr(train.cli, "set_up", None)  # nothing is set up
    code, out, err = command("--resume", killed, *flags.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert first in err
    assert second in err
    assert {p: p.read_bytes() for p in killed.iterdir()} == before


@pytest.mark.parametrize(
    "flags", ["--learning-rate 0.002 --seed 1", "--keep 1 --checkpoint-every 5 --json"]
)
def test_flags_that_change_nothing_are_allowed(flags, killed, whole):
    rate = read_checkpoint(saved.paths(killed)[0]).plan.config.optimizer.learning_rate
    flags = flags.replace("0.002", str(rate))
    code, _, err = command("--resume", killed, *flags.split())
    assert (code, err) == (0, "")
    assert_same_run(killed, whole("default"))
    assert len(saved.paths(killed)) == (1 if "--keep" in flags else 2)


@pytest.mark.parametrize("damage", ["truncated", "flipped"])
@pytest.mark.fault
def test_a_damaged_checkpoint_is_replaced_by_the_one_before(damage, twice_saved, whole):
    new, old = saved.paths(twice_saved)
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
    for path in saved.paths(twice_saved):
        path.write_bytes(path.read_bytes()[:-1])
    before = {p: p.read_bytes() for p in twice_saved.iterdir()}
    code, out, err = command("--resume", twice_saved)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"error: {saved.paths(twice_saved)[0]}: ")
    assert err.endswith("; nor can an older one be used\n")
    assert {p: p.read_bytes() for p in twice_saved.iterdir()} == before


def test_a_folder_without_checkpoints_is_refused(tmp_path):
    for path, why in ((tmp_path, "no checkpoint"), (tmp_path / "x", "No such file")):
        code, out, err = command("--resume", path)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"error: --resume {path}: {why}")


@pytest.mark.fault
def test_a_checkpoint_of_another_run_is_refused(killed, whole):
    other, *_ = saved.paths(whole("replay"))
    shutil.copy(other, killed / "checkpoint-9.safetensors")
    code, out, err = command("--resume", killed)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "the checkpoint of another run than that of" in err
    assert "replay_capacity 64, not 0" in err


@pytest.mark.fault
def test_a_running_run_is_not_continued(killed):
    lock = train.free_folders.FolderLock(killed)
    try:
        code, out, err = command("--resume", killed)
        assert (code, out) == (2, "")
        assert err == f"error: --resume {killed}: in use by process {os.getpid()}\n"
        code, out, err = command(*TINY, "--run-dir", killed)
        assert (code, out) == (2, "")
        assert err.endswith(f"got '{killed}': in use by process {os.getpid()}\n")
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
    about["random_numbers"]["keys"] = "rbg"
    monkeypatch.setattr(environment, "environment", lambda: about)
    code, _, err = command("--resume", killed)
    assert code == 2
    assert "random numbers of threefry2x32, but those here are of rbg" in err


def test_rows_that_are_lost_are_a_warning(killed):
    metrics = killed / "metrics.jsonl"
    lines = metrics.read_text().splitlines(keepends=True)
    metrics.write_text(lines[0])
    code, _, err = command("--resume", killed, "--quiet")
    assert code == 0
    assert err == (
        f"warning: {metrics}: {len(''.join(lines[1:3])):,} bytes of earlier rows are "
        "lost\n"
    )
    assert [row["update"] for row in rows(killed)] == [0, 4, 4]


def test_tensorboard_has_each_row_once(tmp_path, monkeypatch):
    path, flags = tmp_path / "run", [*flags_of("default"), "--tensorboard"]
    killed_in(monkeypatch, path, 4, *flags)
    # What was written after the checkpoint, before the process was killed.
    (first,) = (path / "tensorboard").iterdir()
    size = first.stat().st_size
    with first.open("ab") as file:
        file.write(b"a row that is written again")
    assert command("--resume", path, "--quiet")[0] == 0
    assert first.stat().st_size == size
    assert len(list((path / "tensorboard").iterdir())) == 2


def test_a_run_until_a_proof_stays_one(tmp_path, monkeypatch):
    from jax_ttt.evaluation import evaluation

    real = evaluation.summary

    def proves(result):
        grades = real(result)
        exact = train.dataclasses.replace(grades.exact, unbeatable=True)
        return train.dataclasses.replace(grades, exact=exact)

    path = tmp_path / "run"
    killed_in(monkeypatch, path, 3, *TINY, "--until-proven")
    with monkeypatch.context() as patch:
        seen = []
        patch.setattr(
            evaluation,
            "summary",
            lambda result: (seen.append(1), (real, proves)[len(seen) > 1](result))[1],
        )
        assert command("--resume", path, "--quiet")[0] == 0
    assert [row["update"] for row in rows(path)] == [0, 2, 2]
    code, out, _ = command("--resume", path)
    assert code == 0
    assert "ended at update 2, at the first proof, as --until-proven asked" in out
    assert out.endswith(f"--resume {path} --num-updates 4\n")
    assert command("--resume", path, "--num-updates", 4, "--quiet")[0] == 0
    assert [row["update"] for row in rows(path)] == [0, 2, 2, 4, 4]


def test_the_state_is_checked_against_the_settings(killed):
    found = resume.found_in(killed)
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
        checkpoint = train.dataclasses.replace(found.checkpoint, tensors=leaves)
        changed = found._replace(checkpoint=checkpoint)
        with pytest.raises(ValueError, match="not a state of such a run") as error:
            structure.restored(changed, learner, run_key(1))
        assert str(error.value).endswith(why)


def test_a_folder_that_another_process_continued_is_refused(killed):
    found = resume.found_in(killed)
    shutil.copy(found.path, killed / "checkpoint-9.safetensors")
    with pytest.raises(UsageError, match="another process has continued it"):
        run_folders.reopened(found, TimeSpans())
    assert not (killed / ".lock").exists()
