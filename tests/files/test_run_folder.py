"""A run's folder: its settings and rows, whether it is free, and all runs in short."""

import json
import os
import subprocess
import sys
from pathlib import Path

import made
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jax_ttt.config.errors import UsageError
from jax_ttt.config.presets import PRESETS
from jax_ttt.files import records, run_folder
from jax_ttt.files.run_folder import (
    InUseError,
    Lock,
    RunFolder,
    Settings,
    newest_run,
    read_settings,
    run_summaries,
)

GRADE = made.exact((0.75, 0.25), (0.25, 0.5), unbeatable=True)


@pytest.fixture
def make(tmp_path):
    """Return a function that writes a run, the newer the greater `at`."""

    def run(name, at, rows=(), config=PRESETS["table"], agent=True):
        folder = tmp_path / name
        folder.mkdir()
        about = {"preset": "table", "seed": 7, "config": config.as_dict()}
        (folder / "config.json").write_text(json.dumps(about))
        lines = "".join(json.dumps(records.to_dict(row)) + "\n" for row in rows)
        (folder / "metrics.jsonl").write_text(lines)
        if agent:
            (folder / "agent.safetensors").write_bytes(b"")
        for path in folder.iterdir():
            os.utime(path, (at, at))
        return folder

    return run


def test_a_run_is_summarized_by_its_last_evaluation(make, tmp_path):
    first = made.evaluated(0, made.exact((0.5,), (0.5,)))
    last = made.evaluated(400, GRADE)
    run = make("one", 1, [first, made.chunk(400), last, made.chunk(450)])
    (found,) = run_summaries(tmp_path)
    assert vars(found) == {
        "run_dir": str(run),
        "env_id": "tic_tac_toe",
        "preset": "table",
        "seed": 7,
        "saved": True,
        "update": 400,
        "seconds": last.seconds,
        "grade": GRADE,
    }


def test_of_two_rows_of_one_update_the_last_one_counts(make, tmp_path):
    """It has the search at the end of a run."""
    sample = made.sampled((1.0, 0.0), (0.25, 0.25))
    proof = made.grade({"first": made.reached()}, sample)
    make(
        "searched",
        1,
        [made.evaluated(4, made.grade(None, sample)), made.evaluated(4, proof)],
    )
    (found,) = run_summaries(tmp_path)
    assert found.grade == proof


def test_what_a_run_does_not_have_is_none(make, tmp_path):
    make("killed", 2, agent=False)
    (found,) = run_summaries(tmp_path)
    assert (found.update, found.grade, found.saved) == (None, None, False)


def test_a_long_file_of_metrics_is_read_from_its_end(make, tmp_path):
    rows = [made.chunk(i) for i in range(1000)]
    make("long", 1, [*rows, made.evaluated(1000, GRADE)])
    assert run_summaries(tmp_path)[0].update == 1000


def test_the_newest_run_is_the_last_one_that_saved_an_agent(make, tmp_path):
    for name, at in (("b", 3), ("a", 1), ("c", 2)):
        make(name, at)
    make("unfinished", 9, agent=False)
    (tmp_path / "notes").mkdir()
    (tmp_path / "file").write_text("no run")
    named = [os.path.basename(run.run_dir) for run in run_summaries(tmp_path)]
    assert named == ["a", "c", "b", "unfinished"]
    assert newest_run(tmp_path) == RunFolder(tmp_path / "b")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"config": 1}'])
def test_a_folder_whose_settings_cannot_be_read_is_ignored(text, make, tmp_path):
    (make("odd", 1) / "config.json").write_text(text)
    assert run_summaries(tmp_path) == []


def test_without_an_agent_there_is_no_newest_run(tmp_path):
    with pytest.raises(UsageError, match=r"no agent below .*: train one"):
        newest_run(tmp_path)


ABOUT = {"preset": "table", "seed": 7, "config": {}}


@pytest.mark.parametrize("preset", PRESETS)
def test_the_settings_that_a_run_wrote_are_read(preset, tmp_path):
    config = PRESETS[preset]
    about = ABOUT | {"preset": preset, "config": config.as_dict()}
    file = tmp_path / "config.json"
    file.write_text(json.dumps(about))
    assert read_settings(file) == Settings(config, preset, 7)
    assert read_settings(tmp_path) == RunFolder(tmp_path).settings()
    assert read_settings(tmp_path) == read_settings(file)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"seed": None}, "seed"),
        ({"preset": "none"}, "preset"),
        ({"config": {"tau": 2.0}}, "tau must be a number above 0 and at most 1, got 2"),
        ({"config": {"nonsense": 1}}, "nonsense"),
        ({"config": {"tau": []}}, "config"),
    ],
)
@pytest.mark.fault
def test_what_no_run_writes_is_refused(wrong, why, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(ABOUT | wrong))
    with pytest.raises(UsageError, match=f"not a run's settings .*{why}"):
        read_settings(tmp_path)


@pytest.mark.fault
def test_settings_that_are_absent_or_incomplete_are_refused(tmp_path):
    with pytest.raises(UsageError, match=r"none\.json: No such file"):
        read_settings(tmp_path / "none.json")
    for field in ABOUT:
        about = {name: value for name, value in ABOUT.items() if name != field}
        (tmp_path / "config.json").write_text(json.dumps(about))
        with pytest.raises(UsageError, match=f"not a run's settings .*{field}"):
            read_settings(tmp_path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda part: st.lists(part) | st.dictionaries(st.text(), part),
)
SETTINGS = st.fixed_dictionaries(
    {name: st.just(value) for name, value in ABOUT.items()}
    | {
        "seed": JSON,
        "config": st.dictionaries(
            st.sampled_from(sorted(PRESETS["table"].as_dict())), JSON
        ),
    }
)
HOSTILE = ("[" * 100_000, '{"a":' * 1000 + "1" + "}" * 1000, "1" * 5000, '"\\ud800"')


@pytest.mark.fault
@given(
    text=st.text()
    | (JSON | SETTINGS).map(json.dumps)
    | st.sampled_from([*HOSTILE, " " * 2**20 + "{}"])
)
def test_any_text_gives_settings_or_is_refused_in_one_line(text, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any-config.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        read_settings(path)
    except UsageError as error:
        message = str(error).removeprefix(str(path))
        assert message.isprintable()
        assert len(message) < 500


@pytest.mark.fault
def test_what_is_no_file_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "config.json").mkdir()
    for path in (tmp_path / "fifo", tmp_path):
        with pytest.raises(UsageError, match="not a regular file"):
            read_settings(path)


ROWS = [
    made.evaluated(0, GRADE),
    made.chunk(2),
    made.evaluated(2, GRADE),
    made.chunk(4),
]


@pytest.fixture
def run(tmp_path):
    """Return a run's folder with rows."""
    lines = "".join(records.to_json(row) + "\n" for row in ROWS)
    (tmp_path / "metrics.jsonl").write_text(lines)
    return RunFolder(tmp_path)


def test_the_rows_of_a_run_are_read(run):
    assert run.rows() == ROWS
    assert run.last_evaluation() == ROWS[2]


@pytest.mark.fault
def test_the_half_of_a_last_row_is_left_out(run):
    whole = run.metrics.read_text()
    last = records.to_json(ROWS[-1]) + "\n"
    for size in range(len(last)):
        run.metrics.write_text(whole[: len(whole) - len(last) + size])
        assert run.rows() == ROWS[:-1]
        assert run.last_evaluation() == ROWS[2]


@pytest.mark.fault
def test_a_line_that_is_no_row_is_refused(run):
    with run.metrics.open("a") as file:
        file.write("{}\n")
    for read in (run.rows, run.last_evaluation):
        with pytest.raises(ValueError, match="event"):
            read()
    run.metrics.unlink()
    with pytest.raises(ValueError, match="No such file"):
        run.rows()


def test_checkpoints_and_snapshots_are_in_the_order_of_their_updates(tmp_path):
    run = RunFolder(tmp_path)
    assert (run.checkpoints(), run_folder.snapshots_in(run.snapshots)) == ([], {})
    run.snapshots.mkdir()
    for update in (9, 10, 100_000):
        run.checkpoint(update).touch()
        run.snapshot(update).touch()
    for other in ("checkpoint-x.safetensors", "checkpoint-9.safetensors.damaged"):
        (tmp_path / other).touch()
        (run.snapshots / other).touch()
    assert run.checkpoints() == [run.checkpoint(n) for n in (100_000, 10, 9)]
    assert run_folder.snapshots_in(run.snapshots) == {
        update: run.snapshot(update) for update in (9, 10, 100_000)
    }


OURS = json.dumps(ABOUT)


def test_new_and_empty_folders_are_free(tmp_path):
    for path in (tmp_path, tmp_path / "new", tmp_path / "new" / "below"):
        RunFolder(path).check_free()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("names", "free"),
    [
        (["config.json", "metrics.jsonl", "times.json", "best.safetensors"], True),
        (["config.json", "snapshots/00002.safetensors"], True),
        (["config.json", "tensorboard/events.out.tfevents.1.host.0"], True),
        (["mine.txt", "snapshots/mine.txt"], True),
        (["config.json", "agent.safetensors"], False),
        (["config.json", "checkpoint-2.safetensors"], False),
        (["agent.safetensors"], False),
        (["best.safetensors"], False),
        (["metrics.jsonl"], False),
        (["times.json"], False),
        (["snapshots/00002.safetensors"], False),
        (["tensorboard/events.out.tfevents.1.host.0"], False),
    ],
)
def test_a_folder_is_free_if_its_run_saved_no_agent(names, free, tmp_path):
    """And only the files of that run are replaced."""
    run = RunFolder(tmp_path)
    for name in [*names, "mine.md"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(OURS if name == "config.json" else "x")
    if free:
        run.check_free()
        assert run.clear() == ("config.json" in names)
        left = {path.name for path in tmp_path.rglob("*") if path.is_file()}
        assert left == {"mine.md", *(["mine.txt"] if "mine.txt" in names else [])}
        return
    with pytest.raises(UsageError, match=r"^--run-dir must be .* no run, got"):
        run.check_free()


def test_settings_of_another_program_are_not_replaced(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError, match=r"config\.json exists$"):
        RunFolder(tmp_path).check_free()


def test_a_folder_that_can_not_be_made_is_not_free(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UsageError, match=f"{tmp_path / 'file'} is a file$"):
            RunFolder(path).check_free()
    with pytest.raises(UsageError, match=r"--run-dir must be .*: File name too long$"):
        RunFolder(tmp_path / ("x" * 300)).check_free()


@pytest.mark.fault
def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "config.json")
    with pytest.raises(UsageError, match=r"config\.json exists"):
        RunFolder(tmp_path).check_free()


def test_a_folder_is_locked_until_it_is_closed(tmp_path):
    run = RunFolder(tmp_path)
    run.check_unlocked("--resume")
    lock = Lock(run.lock)
    try:
        assert run.lock.read_text() == f"{os.getpid()}\n"
        reason = f"in use by process {os.getpid()}"
        with pytest.raises(InUseError, match=reason):
            Lock(run.lock)
        with pytest.raises(UsageError, match=f"--resume {tmp_path}: {reason}"):
            run.check_unlocked("--resume")
        assert run.lock.read_text() == f"{os.getpid()}\n"
    finally:
        lock.close()
    assert list(tmp_path.iterdir()) == []
    run.check_unlocked("--resume")
    Lock(run.lock).close()
    assert list(tmp_path.iterdir()) == []


LOCKING = """
import sys, time
from pathlib import Path
from jax_ttt.files.run_folder import Lock
lock = Lock(Path(sys.argv[1]))
print("locked", flush=True)
time.sleep(600)
"""


@pytest.mark.fault
def test_a_lock_ends_with_its_process(tmp_path):
    run = RunFolder(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", LOCKING, str(run.lock)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(run_folder.__file__).parents[2])},
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "locked\n"
            with pytest.raises(InUseError, match=f"process {process.pid}$"):
                Lock(run.lock)
        finally:
            process.kill()
    assert run.lock.exists()
    run.check_unlocked("--resume")
    Lock(run.lock).close()
    assert not run.lock.exists()
