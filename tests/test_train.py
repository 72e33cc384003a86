"""The command `train`: its output, its files, and how a run can end."""

import contextlib
import dataclasses
import errno
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import commands
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiny as smallest
from same_runs import assert_same_run

from jax_ttt import __version__, evaluate
from jax_ttt.config.presets import PRESETS
from jax_ttt.files import checkpoint, records, run_folder
from jax_ttt.files.run_writer import RunWriter
from jax_ttt.grading import counterexamples
from jax_ttt.grading.grade import Grade
from jax_ttt.players import saved_agents
from jax_ttt.runtime import interrupts, processes
from jax_ttt.runtime.files import WriteError
from jax_ttt.text import console
from jax_ttt.training import device, loop, run_state

train = commands.module_of("train")

TINY = smallest.flags()
FILES = {
    *("agent.safetensors", "checkpoint-4.safetensors", "config.json"),
    *("metrics.jsonl", "snapshots", "times.json"),
}
AT_END = {"agent.safetensors", "checkpoint-4.safetensors", "times.json"}
RATES = r"\d+\.\d/\d+\.\d/\d+\.\d"
ROW = re.compile(
    r" +([\d,]+) +(\d+\.\d\d) +(\d+\.\d\d) +(\d+\.\d\d)"
    rf"  {RATES} +{RATES} +(beatable|unbeatable)"
)


def run(path, *flags, usual=None):
    """Train in `path`; return the exit code, stdout and stderr."""
    usual = TINY if usual is None else usual
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = commands.run(
            train, smallest.joined([*usual, "--run-dir", str(path)], flags)
        )
    return code, out.getvalue(), err.getvalue()


def rows(path):
    """Return the metrics of a run."""
    return [
        json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()
    ]


def evaluated(out):
    """Return the updates of the table's rows."""
    rows = (ROW.fullmatch(line) for line in out.splitlines())
    return [row[1] for row in rows if row]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Return the folder, stdout and stderr of one tiny run."""
    path = tmp_path_factory.mktemp("tiny") / "below" / "run"
    code, out, err = run(path)
    assert code == 0
    return path, out, err


def masked(out, path):
    """Return the output without what depends on the machine and the weights."""
    out = out.replace(str(path), "RUN").replace(__version__, "VERSION")
    out = re.sub(r" on \w+ \(.+\): ", " on DEVICE: ", out)
    out = re.sub(r"\n  [XO-] .*|\n  1\. .*", "", out)  # the boards of a losing line
    out = re.sub(r"\b(un)?beatable(: .*)?", "VERDICT", out)
    out = re.sub(r" *\d[\d.,/]*%?", " #", out)
    return re.sub("never loses|loses #", "WORST", out)


def test_stdout_tells_the_run_from_banner_to_next_command(tiny, snapshot):
    path, out, err = tiny
    assert err == ""
    assert "\033" not in out
    assert "\r" not in out
    assert max(map(len, out.splitlines()[2:7])) < 80
    assert masked(out, path) == snapshot


def test_a_run_leaves_its_files_and_no_other(tiny):
    assert {path.name for path in tiny[0].iterdir()} == FILES


def test_config_json_says_what_was_run_and_where(tiny):
    about = json.loads((tiny[0] / "config.json").read_text())
    assert about["config"] == PRESETS["default"].as_dict() | smallest.FIELDS
    assert (about["preset"], about["seed"]) == ("default", 1)
    assert about["command"] == sys.orig_argv
    assert about["device"]["platform"] == jax.default_backend()
    assert about["versions"]["jax_ttt"] == __version__
    assert about["versions"]["jax"] == jax.__version__
    assert {"flax", "optax", "pgx", "numpy"} < about["versions"].keys()


def test_times_json_says_where_the_time_went(tiny):
    about = json.loads((tiny[0] / "times.json").read_text())
    assert about.keys() == {"seconds", "total_seconds", "peak_memory_mib"}
    parts = about["seconds"]
    assert parts.keys() == {"compile", "imports", "train", "evaluate", "write"}
    assert all(seconds > 0 for seconds in parts.values())
    assert sum(parts.values()) < about["total_seconds"]
    assert parts["train"] >= rows(tiny[0])[-1]["seconds"]
    assert about["peak_memory_mib"] > 50


def test_times_that_cannot_be_written_do_not_cost_the_run(tmp_path, monkeypatch):
    def full(self):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(RunWriter, "write_times", full)
    path = tmp_path / "run"
    code, _, err = run(path)
    assert code == 0
    assert err == "warning: [Errno 28] No space left on device\n"
    assert {path.name for path in path.iterdir()} == FILES - {"times.json"}


def test_metrics_have_a_row_for_each_chunk_and_evaluation(tiny):
    found = rows(tiny[0])
    assert [(row["event"], row["update"]) for row in found] == [
        ("evaluation", 0),
        ("chunk", 2),
        ("evaluation", 2),
        ("chunk", 4),
        ("evaluation", 4),
    ]
    common = {"event", "update", "games", "wins", "losses", "env_steps", "seconds"}
    for row in found:
        chunk = {"loss", "grad_norm", "mean_max_q", "epsilon", "learning_rate", "rows"}
        more = chunk if row["event"] == "chunk" else {"grade"}
        assert row.keys() == common | more
    assert [row["env_steps"] for row in found] == [0, 16, 16, 32, 32]
    seconds = [row["seconds"] for row in found]
    assert seconds == sorted(seconds)
    assert seconds[1] > 0


def test_the_same_seed_gives_the_same_bytes(tiny, tmp_path):
    assert run(tmp_path / "again")[0] == 0
    agent = "agent.safetensors"
    assert (tmp_path / "again" / agent).read_bytes() == (tiny[0] / agent).read_bytes()
    both = [rows(tiny[0]), rows(tmp_path / "again")]
    for row in both[0] + both[1]:
        del row["seconds"]
    assert both[0] == both[1]


@pytest.mark.slow
def test_a_saved_runs_settings_give_the_same_agent(tiny, tmp_path):
    """With its file or its folder; another seed and a flag change it."""
    agent = (tiny[0] / "agent.safetensors").read_bytes()
    for name, saved in (("file", tiny[0] / "config.json"), ("folder", tiny[0])):
        flags = ["--config", str(saved), "--quiet", "--run-dir", str(tmp_path / name)]
        assert commands.run(train, flags) == 0
        assert (tmp_path / name / "agent.safetensors").read_bytes() == agent
    flags = ["--config", str(tiny[0]), "--seed", "9", "--num-updates", "2", "--quiet"]
    assert commands.run(train, [*flags, "--run-dir", str(tmp_path / "other")]) == 0
    first, other = (
        json.loads((folder / "config.json").read_text())
        for folder in (tiny[0], tmp_path / "other")
    )
    assert other["seed"] == 9
    assert other["preset"] == first["preset"]
    assert other["config"] == first["config"] | {"num_updates": 2}


def test_the_agent_saved_is_the_one_last_evaluated(tiny):
    agent = saved_agents.load_agent(tiny[0])
    last = rows(tiny[0])[-1]
    assert agent.score == records.from_dict(Grade, last["grade"])
    assert agent.score.first is not None
    assert agent.score.sampled is not None
    assert (agent.seed, agent.num_updates) == (1, 4)


def test_quiet_prints_the_verdict_only(tiny, tmp_path):
    code, out, err = run(tmp_path / "run", "--quiet")
    assert (code, err) == (0, "")
    assert out.startswith(("beatable: ", "unbeatable: "))
    assert "update" not in out
    assert out in tiny[1]


def test_json_prints_one_object_and_nothing_else(tiny, tmp_path):
    path = tmp_path / "run"
    code, out, err = run(path, "--json")
    assert (code, err) == (0, "")
    assert out.count("\n") == 1
    about = json.loads(out)
    assert about["run_dir"] == str(path)
    assert Path(about["agent"]).is_file()
    assert (about["preset"], about["seed"], about["stopped"]) == ("default", 1, "end")
    last = rows(path)[-1]
    for name in ("update", "games", "env_steps", "seconds"):
        assert about[name] == last[name]
    lines = [about["grade"][seat].pop("losing_line") for seat in ("first", "second")]
    assert f"({min(map(len, lines))} moves" in about["verdict"]
    assert about["grade"] == last["grade"]
    assert about["verdict"] in tiny[1]


def test_the_default_folder_is_named_after_time_preset_and_seed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(time, "strftime", lambda _: "20300101-000000")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert commands.run(train, [*TINY, "--seed", "7", "--quiet"]) == 0
        assert commands.run(train, [*TINY, "--seed", "7", "--quiet"]) == 0
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == [
        "20300101-000000-default-seed7",
        "20300101-000000-default-seed7.2",
    ]
    assert os.listdir(tmp_path) == ["runs"]


def contents(folder):
    """Return every file below a folder with its bytes."""
    return {p: p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


@pytest.mark.fault
@pytest.mark.parametrize("where", ["run", "file"])
def test_a_folder_that_cannot_be_had_is_refused(where, tiny, tmp_path):
    (tmp_path / "file").write_text("mine")
    path = tiny[0] if where == "run" else tmp_path / where
    before = contents(tmp_path), contents(tiny[0])
    code, out, err = run(path)
    assert (code, out) == (2, "")
    assert err.startswith("error: --run-dir must be ")
    assert str(path) in err
    assert err.count("\n") == 1
    assert (contents(tmp_path), contents(tiny[0])) == before


@pytest.mark.parametrize("metric", ["loss", "grad_norm"])
def test_divergence_ends_the_run_and_saves_no_agent(metric, tmp_path, monkeypatch):
    real = run_state.after_chunk

    def poisoned(state, learner, metrics, *args):
        value = getattr(metrics, metric)
        metrics = metrics._replace(**{metric: value * np.nan})
        return real(state, learner, metrics, *args)

    monkeypatch.setattr(run_state, "after_chunk", poisoned)
    code, out, err = run(tmp_path / "run")
    assert code == 3
    assert err.startswith("error: training diverged: ")
    assert "update 2" in err
    assert "learning rate" in err
    assert "saved" not in out
    assert {path.name for path in (tmp_path / "run").iterdir()} == FILES - AT_END
    assert [row["update"] for row in rows(tmp_path / "run")] == [0]


@pytest.mark.fault
def test_steps_that_are_far_too_large_end_the_run(tmp_path):
    flags = ("--learning-rate", "1e30", "--num-updates", "50", "--eval-every", "25")
    code, out, err = run(tmp_path / "run", *flags)
    assert code == 3
    found = r"error: training diverged: the \w+ is not finite at update \d"
    assert re.match(found, err)
    assert "saved" not in out


def proven(grade, unbeatable):
    seats = {
        seat: dataclasses.replace(found, beaten=not unbeatable)
        for seat, found in grade.followed.items()
    }
    return dataclasses.replace(grade, **seats)


def test_until_proven_stops_at_the_first_proof_and_says_so(tmp_path, monkeypatch):
    from jax_ttt.grading import evaluation

    real = evaluation.grade_of
    seen = []

    def proves_second(config, result):
        seen.append(result)
        return proven(real(config, result), len(seen) == 2)

    monkeypatch.setattr(evaluation, "grade_of", proves_second)
    code, out, _ = run(tmp_path / "run", "--until-proven")
    assert code == 0
    assert len(seen) == 2
    assert evaluated(out) == ["0", "2"]
    assert "stopped at update 2, at the first proof, as --until-proven asks" in out
    assert saved_agents.load_agent(tmp_path / "run").num_updates == 2
    seen.clear()
    code, out, _ = run(tmp_path / "json", "--until-proven", "--json")
    assert json.loads(out)["stopped"] == "proven"


def test_without_until_proven_a_proof_stops_nothing(tmp_path, monkeypatch):
    from jax_ttt.grading import evaluation

    real = evaluation.grade_of

    def always(config, result):
        return proven(real(config, result), True)

    monkeypatch.setattr(evaluation, "grade_of", always)
    code, out, _ = run(tmp_path / "run")
    assert code == 0
    assert evaluated(out) == ["0", "2", "4"]
    assert saved_agents.load_agent(tmp_path / "run").num_updates == 4


def signalling(monkeypatch, *numbers):
    """Make each chunk of training end in these signals."""
    real = loop._run_chunk

    def signalled(*args):
        result = real(*args)
        for number in numbers:
            signal.raise_signal(number)
        return result

    monkeypatch.setattr(loop, "_run_chunk", signalled)


SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@pytest.mark.fault
@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_an_interrupted_run_grades_and_saves_what_it_has(
    number, code, tmp_path, monkeypatch
):
    signalling(monkeypatch, number)
    before = signal.getsignal(number)
    path = tmp_path / "run"
    found, out, err = run(path)
    assert found == code
    command = f"python -m jax_ttt.train --resume {path}"
    assert err == (
        f"interrupted at update 2: saved {path / 'agent.safetensors'}; "
        f"to continue: {command}\n"
    )
    assert f"\nto continue: {command}\n" in out
    assert saved_agents.load_agent(path).num_updates == 2
    assert [row["update"] for row in rows(path)] == [0, 2, 2]
    assert evaluated(out) == ["0", "2"]
    assert "first proof" not in out
    assert signal.getsignal(number) is before


@pytest.mark.fault
def test_an_interrupted_run_says_so_in_json(tmp_path, monkeypatch):
    signalling(monkeypatch, signal.SIGINT)
    code, out, _ = run(tmp_path / "run", "--json")
    about = json.loads(out)
    assert (code, about["stopped"], about["update"]) == (130, "interrupted", 2)


@pytest.mark.fault
def test_a_second_ctrl_c_ends_the_run_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(interrupts, "SAME_REQUEST", -1)  # they are two requests
    signalling(monkeypatch, signal.SIGINT, signal.SIGINT)
    before = signal.getsignal(signal.SIGINT)
    code, _, err = run(tmp_path / "run")
    assert code == 130
    assert err == "error: interrupted twice: ended at once\n"
    assert {path.name for path in (tmp_path / "run").iterdir()} == FILES - AT_END
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.fault
def test_a_signal_to_another_process_ends_this_one_too(tmp_path, monkeypatch):
    asked = []

    def max_over_processes(number):
        asked.append(number)
        return max(number, 15) if len(asked) > 1 else number  # not before it trains

    monkeypatch.setattr(processes, "max_over_processes", max_over_processes)
    path = tmp_path / "run"
    code, _, err = run(path)
    assert code == 143
    assert err.startswith(f"interrupted at update 0: saved {path}")


def test_another_process_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "is_writer", lambda: False)
    path = tmp_path / "run"
    path.mkdir()  # by the process that writes
    code, _, err = run(path, "--tensorboard")
    assert (code, err) == (0, "")
    assert not [*path.iterdir()]


def test_what_was_trained_is_saved_when_nobody_reads_on(tmp_path, monkeypatch):
    """As under `| head -1`: the agent is the one of the line that could not be told."""

    def gone(self, line, file):
        raise BrokenPipeError

    monkeypatch.setattr(console.tqdm, "write", gone)
    monkeypatch.setattr(os, "dup2", lambda *_: None)
    path = tmp_path / "run"
    flags = [flag for flag in TINY if flag != "--quiet"]
    assert commands.run(train, [*flags, "--run-dir", str(path)]) == 141
    assert saved_agents.load_agent(path).num_updates == 0


@pytest.mark.fault
@pytest.mark.parametrize("name", ["agent.safetensors", "metrics.jsonl"])
def test_a_file_of_somebody_else_is_never_replaced(name, tmp_path, capsys):
    (tmp_path / name).write_text("precious")
    assert commands.run(train, [*TINY, "--run-dir", str(tmp_path)]) == 2
    assert "holds no run" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "precious"


@pytest.mark.fault
@pytest.mark.parametrize("number", [1, 2, 3, 5])
def test_a_row_for_which_there_is_no_space_costs_no_agent(
    number, tmp_path, monkeypatch, capsys
):
    """The first row is that of the untrained agent; chunks and evaluations follow."""
    written, write_row = [], RunWriter.write_row

    def full(writer, row):
        written.append(row)
        if len(written) == number:
            raise WriteError(errno.ENOSPC, "No space left on device", "metrics.jsonl")
        write_row(writer, row)

    monkeypatch.setattr(RunWriter, "write_row", full)
    assert commands.run(train, [*TINY, "--quiet", "--run-dir", str(tmp_path)]) == 1
    assert saved_agents.load_agent(tmp_path).num_updates == written[-1].update
    last = "error: cannot write metrics.jsonl: No space left on device\n"
    assert capsys.readouterr().err == last


@pytest.fixture
def dead(tmp_path):
    """Return the folder of a run that was killed, and its process."""
    program = """
import sys, time
from pathlib import Path
from jax_ttt.config.settings import Config
from jax_ttt.files.checkpoint import Plan
from jax_ttt.files.run_folder import RunFolder
from jax_ttt.files.run_writer import RunWriter
from jax_ttt.files.rows import Evaluated
from jax_ttt.grading.grade import Grade
from jax_ttt.runtime.time_spans import TimeSpans
writer = RunWriter(RunFolder(Path(sys.argv[1])), TimeSpans())
writer.begin(Plan(config=Config(), preset="plain", seed=1), {})
counts = dict.fromkeys(("games", "wins", "losses", "env_steps"), 0)
grade = Grade(env_id="tic_tac_toe")
writer.write_row(Evaluated(update=7, seconds=0.5, grade=grade, **counts))
print("running", flush=True)
time.sleep(600)
"""
    path = tmp_path / "dead"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(str(train.__file__)).parents[1])},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        yield path, process
        process.kill()


@pytest.mark.slow
@pytest.mark.fault
def test_a_folder_is_one_runs_until_it_is_killed_and_then_the_next_ones(dead):
    path, process = dead
    events = path / "tensorboard" / "events.out.tfevents.0.jax_ttt"
    events.parent.mkdir()
    events.write_text("old")
    (path / "snapshots").mkdir()
    for name in ("times.json", "snapshots/00007.safetensors"):
        (path / name).write_text("old")
    before = contents(path)
    code, out, err = run(path)
    assert (code, out) == (2, "")
    assert err == f"error: --run-dir {path}: in use by process {process.pid}\n"
    assert contents(path) == before

    process.kill()
    process.wait()
    code, out, err = run(path)
    why = "it left neither an agent nor a checkpoint"
    assert (code, err) == (0, f"replacing the run in {path}: {why}\n")
    assert [row["update"] for row in rows(path)] == [0, 2, 2, 4, 4]
    assert json.loads((path / "config.json").read_text())["preset"] == "default"
    assert not events.exists()
    assert json.loads((path / "times.json").read_text())["total_seconds"] > 0
    assert [*run_folder.snapshots_in(path / "snapshots")] == [0, 2, 4]

    assert run(path)[0] == 2  # it holds an agent now


def test_snapshots_change_no_other_file(tiny, tmp_path):
    code, out, _ = run(tmp_path / "run", "--no-snapshots")
    assert code == 0
    assert ", snapshots, " not in out
    assert {path.name for path in (tmp_path / "run").iterdir()} == FILES - {"snapshots"}
    agent, other = (path / "agent.safetensors" for path in (tiny[0], tmp_path / "run"))
    assert agent.read_bytes() == other.read_bytes()
    timeless = [
        [{k: v for k, v in row.items() if k != "seconds"} for row in rows(path.parent)]
        for path in (agent, other)
    ]
    assert timeless[0] == timeless[1]


@pytest.mark.fault
def test_a_damaged_row_does_not_keep_a_run_from_continuing(tiny, tmp_path, capsys):
    path = tmp_path / "run"
    shutil.copytree(tiny[0], path)
    first, _, *others = (path / "metrics.jsonl").read_text().splitlines()
    (path / "metrics.jsonl").write_text("\n".join([first, "noise", *others, ""]))
    flags = ["--resume", str(path), "--num-updates", "6", "--quiet"]
    assert commands.run(train, flags) == 0
    assert "metrics.jsonl: dropped a row: JSON is malformed" in capsys.readouterr().err
    assert [row["update"] for row in rows(path)] == [0, 2, 4, 4, 6, 6]


@pytest.mark.fault
def test_an_interrupted_run_has_the_snapshots_so_far(tmp_path, monkeypatch):
    signalling(monkeypatch, signal.SIGINT)
    assert run(tmp_path / "run")[0] == 130
    snapshots = run_folder.snapshots_in(tmp_path / "run" / "snapshots")
    assert [*snapshots] == [0, 2]


def test_each_evaluation_draws_its_own_games():
    """An agent that stays as it is meets other random moves at each."""
    config = smallest.CONFIG
    learner = loop.make_learner(config, 0)
    start = next(loop.training_steps(learner, run_state.run_key(0)))
    first, *others = [
        jax.device_get(
            device.match_program(
                learner.network,
                start.params,
                jnp.int32(update),
                run_state.run_key(seed),
                num_games=64,
                layout=layout.Layout(),
            )
        )
        for update, seed in ((0, 1), (0, 1), (2, 1), (0, 2))
    ]
    assert [first == other for other in others] == [True, False, False]


def check_sampled_run(env_id, path):
    """Train a few updates; the result is sampled, and nothing is called proven."""
    flags = [
        "--num-envs",
        "4",
        "--num-updates",
        "2",
        "--eval-games",
        "4",
        "--eval-every",
        "2",
    ]
    code, out, err = run(path, "--env-id", env_id, *flags, "--no-prove")
    assert (code, err) == (0, "")
    assert "results against a random player in %, sampled; " in out
    assert re.search(rf"^ +2 .*  {RATES} +{RATES} +4$", out, re.MULTILINE)
    assert "nothing is proven" in out
    assert "beatable" not in out
    assert out.endswith(f"next: python -m jax_ttt.evaluate {path}\n")
    grades = [row["grade"] for row in rows(path) if row["event"] == "evaluation"]
    assert all("first" not in grade for grade in grades)
    names = FILES - {"snapshots", "checkpoint-4.safetensors"}
    found = {file.name for file in path.iterdir()}
    assert found == names | {"checkpoint-2.safetensors"}
    agent = saved_agents.load_agent(path, env_id)
    assert agent.config.env_id == env_id
    leaves = jax.tree.leaves(agent.params)
    assert all(np.isfinite(leaf).all() for leaf in leaves)


@pytest.mark.slow
def test_connect_four_trains_by_the_same_code(tmp_path):
    check_sampled_run("connect_four", tmp_path / "run")


ROUNDS = [
    *("--preset", "connect-4x4", "--num-envs", "16", "--hidden-size", "8"),
    *("--num-updates", "8", "--eval-every", "2", "--eval-games", "4"),
]


def reached_of(row):
    """Return the counts of a row by seat."""
    names = ("num_positions", "losing_ends")
    found = row["grade"]
    return [found[seat][name] for seat in ("first", "second") for name in names]


@pytest.fixture(scope="module")
def rounds(tmp_path_factory):
    """Return the folder and the output of a tiny run that looks for counterexamples."""
    path = tmp_path_factory.mktemp("rounds") / "run"
    code, out, err = run(path, *ROUNDS, usual=[])
    assert (code, err) == (0, "")
    return path, out


@pytest.mark.slow
def test_each_round_shows_and_keeps_what_evaluate_finds(rounds, capsys):
    path, out = rounds
    graded = [row for row in rows(path) if row["event"] == "evaluation"]
    assert [row["update"] for row in graded] == [0, 2, 4, 6, 8]
    table = [line.replace(",", "").split() for line in out.splitlines()[5:10]]
    shown = [[int(cell) for cell in cells[2:6]] for cells in table]
    assert shown == [reached_of(row) for row in graded]
    assert commands.run(evaluate, [str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for seat in ("first", "second"):
        assert found["grade"][seat] == graded[-1]["grade"][seat]
    assert out.count("beatable: a shortest line") == 1


@pytest.mark.slow
def test_the_best_agent_of_the_rounds_is_kept(rounds, capsys):
    path, _ = rounds
    graded = [row for row in rows(path) if row["event"] == "evaluation"]
    ends = [sum(reached_of(row)[1::2]) for row in graded]
    assert commands.run(evaluate, [str(path / "best.safetensors"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sum(reached_of(found)[1::2]) == min(ends)
    assert found["update"] == graded[ends.index(min(ends))]["update"]


@pytest.mark.slow
def test_the_pool_holds_the_counterexamples_of_all_rounds(rounds):
    path, _ = rounds
    tensors = checkpoint.read_checkpoint(path / "checkpoint-8.safetensors").tensors
    size = int(tensors["train_state.pool.size"])
    words = tensors["train_state.pool.keys"][:size]
    assert len(np.unique(words, axis=0)) == size
    last = rows(path)[-1]["grade"]
    found = sum(last[seat]["losing_choices"] for seat in ("first", "second"))
    assert size > found > 0


@pytest.mark.slow
def test_a_signal_in_a_search_ends_the_run_and_it_continues(
    rounds, tmp_path, monkeypatch
):
    """As if nothing had happened: the search is repeated."""
    path, searches = tmp_path / "run", []
    real = counterexamples.search_agent

    def interrupted(*args):
        searches.append(1)
        if len(searches) == 3:
            signal.raise_signal(signal.SIGINT)
        return real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(counterexamples, "search_agent", interrupted)
        code, _, err = run(path, *ROUNDS, usual=[])
    assert code == 130
    assert "interrupted at update 4" in err
    assert "first" not in rows(path)[-1]["grade"]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert commands.run(train, ["--resume", str(path), "--quiet"]) == 0
    assert_same_run(path, rounds[0])


FOUR = [
    *("--preset", "connect-4x4", "--num-envs", "16", "--hidden-size", "8"),
    *("--num-updates", "2", "--eval-every", "2", "--eval-games", "4"),
    *("--start-share", "0"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("flag", "is_graded"), [(None, True), ("--no-prove", False)])
def test_a_run_ends_with_what_its_agent_reaches(flag, is_graded, tmp_path):
    path = tmp_path / "run"
    code, out, err = run(path, *FOUR, *([flag] if flag else []), usual=[])
    assert (code, err) == (0, "")
    assert ("as first: positions" in out) == is_graded
    assert ("beatable: a shortest line" in out) == is_graded
    assert ("nothing is proven" in out) != is_graded
    last, score = rows(path)[-1], saved_agents.load_agent(path).score
    assert records.to_dict(score) == last["grade"]
    assert [seat.complete for seat in score.searched.values()] == [True] * (
        2 if is_graded else 0
    )


@pytest.mark.slow
def test_a_proof_that_its_time_limit_ends_gives_bounds(tmp_path, monkeypatch):
    real = counterexamples.prove_within

    def no_time(config, params, seconds, *rest):
        assert seconds == 30
        return real(config, params, 0.0, *rest)

    monkeypatch.setattr(counterexamples, "prove_within", no_time)
    code, out, _ = run(tmp_path / "run", *FOUR, usual=[])
    assert code == 0
    assert "not decided beyond move 0 as first" in out
    assert "so the win rate is 0.0000% to 100.0000%" in out


@pytest.mark.slow
@pytest.mark.usefixtures("optimized")
def test_counterexamples_lead_to_a_proof(tmp_path):
    """In about a quarter of a minute."""
    path = tmp_path / "run"
    code, out, err = run(
        path, "--preset", "connect-4x4", "--seed", "5", "--until-proven", usual=[]
    )
    assert (code, err) == (0, "")
    assert "at the first proof, as --until-proven asks" in out
    assert "unbeatable: no line of play by any opponent wins against it" in out
    assert saved_agents.load_agent(path).score.unbeatable
    found = reached_of(rows(path)[-1])
    assert found[1::2] == [0, 0]


LARGE = ["connect_4x4", "gardner_chess", "go_9x9", "hex"]


@pytest.mark.slow
@pytest.mark.usefixtures("promoted_ranks")
@pytest.mark.parametrize("env_id", LARGE)
def test_larger_games_train_by_the_same_code(env_id, tmp_path):
    check_sampled_run(env_id, tmp_path / "run")


@pytest.mark.slow
def test_the_default_preset_ends_in_a_proof(tmp_path, capsys):
    path = str(tmp_path / "run")
    assert commands.run(train, ["--seed", "0", "--run-dir", path, "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["grade"]["unbeatable"]
    assert about["grade"]["mean_win_rate"] >= 0.9529
    assert about["verdict"] == (
        "unbeatable: no line of play by any opponent wins against it, "
        "as X or as O (5,478 positions)"
    )


@pytest.mark.slow
def test_details_tell_of_games_tables_and_first_moves(tmp_path):
    flags = "--preset tictac-q --num-envs 64 --num-updates 20 --eval-every 2 --details"
    # Of a table: it has no hidden layers.
    code, out, _ = run(tmp_path / "run", *flags.split(), usual=[])
    assert code == 0
    counted = re.findall(r"^  ([\d,]+) games; ", out, re.MULTILINE)
    assert [int(text.replace(",", "")) for text in counted] == [
        128 * n for n in range(1, 11)
    ]
    epsilons = [float(text) for text in re.findall(r"epsilon (\d\.\d+)", out)]
    np.testing.assert_allclose(
        epsilons, [max(0.7 - n / 10, 0.1) for n in range(10)], atol=1e-3
    )
    sizes = [int(text) for text in re.findall(r"(\d+) rows of the table", out)]
    assert sizes == sorted(sizes)
    assert 300 < sizes[-1] <= 764
    assert out.count("Q(start)") == 11
    assert re.search(r"\nan example game\n  1\. X\d   2\. O\d ", out)


def test_a_first_move_off_the_board_is_refused(tmp_path, capsys):
    assert (
        commands.run(train, ["--first-move", "9", "--run-dir", str(tmp_path / "x")])
        == 2
    )
    refusal = "--first-move must be one of [0, 1, 2, 3, 4, 5, 6, 7, 8] in tic_tac_toe"
    assert refusal in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_opponent_that_is_no_agent_is_refused(tmp_path, capsys):
    (tmp_path / "agent").write_text("x")
    flags = ["--opponent", str(tmp_path / "agent"), "--run-dir", str(tmp_path / "x")]
    assert commands.run(train, flags) == 2
    assert "damaged, or not a file of jax_ttt" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["agent"]


@pytest.mark.slow
@pytest.mark.parametrize(("seat", "name"), [("first", "X"), ("second", "O")])
def test_the_verdict_is_on_the_seat_that_is_learned(seat, name, tmp_path, capsys):
    """In both seats, the shortest line that beats it would always be as O."""
    flags = ["--opponent", "random", "--seat", seat, "--json"]
    code, out, _ = run(tmp_path / "run", *flags)
    assert code == 0
    trained = json.loads(out)
    assert f"playing as {name} " in trained["verdict"]
    assert commands.run(evaluate, [str(tmp_path / "run"), "--json"]) == 0
    graded = json.loads(capsys.readouterr().out)
    assert graded["verdict"] == trained["verdict"]
    assert graded["grade"]["unbeatable"] == trained["grade"]["unbeatable"]


@pytest.mark.parametrize("flags", [("--num-updates", "4"), ("--until-proven",)])
def test_an_ended_run_gives_its_result_again_as_json(flags, tmp_path, monkeypatch):
    from jax_ttt.grading import evaluation

    real = evaluation.grade_of
    monkeypatch.setattr(evaluation, "grade_of", lambda *x: proven(real(*x), True))
    path = tmp_path / "run"
    code, out, err = run(path, "--json", *flags)
    assert (code, err) == (0, "")
    then = json.loads(out)
    assert then["stopped"] == ("proven" if "--until-proven" in flags else "end")
    before = contents(path)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert commands.run(train, ["--resume", str(path), "--json"]) == 0
    assert json.loads(out.getvalue()) == then
    assert str(path) in err.getvalue()
    assert contents(path) == before


def test_an_ended_run_without_its_agent_has_no_result(tmp_path, capsys):
    path = tmp_path / "run"
    assert run(path, "--quiet")[0] == 0
    (path / "agent.safetensors").unlink()
    assert commands.run(train, ["--resume", str(path), "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "agent.safetensors" in err
