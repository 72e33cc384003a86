"""The command `train`: its files, and how a run can end. See also `console/`."""

import functools
import gc
import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import as_users
import commands
import jax
import pytest
import same_runs
import tiny

from jax_ttt import __version__
from jax_ttt.config.game_facts import SEATS
from jax_ttt.config.grade import Grade
from jax_ttt.config.presets import PRESETS
from jax_ttt.files import json_records, run_folder
from jax_ttt.players import saved_agents
from jax_ttt.runtime import distributed

train = commands.module_of("train")
call = functools.partial(commands.run, train)

TINY = tiny.flags()
FILES = {
    "agent.safetensors",
    "checkpoint-4.safetensors",
    "config.json",
    "metrics.jsonl",
    "snapshots",
}
CONNECT_4X4 = ["--preset", "connect-4x4", "--num-envs", "16", "--hidden-size", "8"]
CONNECT_4X4 += ["--num-updates", "8", "--eval-every", "2", "--eval-games", "4"]


def run(path, *flags, **options):
    """Train a tiny run in `path`; return stdout and stderr."""
    return call(*tiny.joined([*TINY, "--run-dir", str(path)], flags), **options)


def rows(path):
    """Return the metrics of a run."""
    lines = (path / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def file_names(path):
    return {file.name for file in path.iterdir()}


def test_a_run_leaves_its_settings_its_machine_its_rows_and_its_agent(tiny_run):
    path, _, _ = tiny_run
    assert file_names(path) == FILES
    config = json.loads((path / "config.json").read_text())
    planned = PRESETS["default"].replace(**tiny.FIELDS)
    assert config["config"] == json_records.to_dict(planned)
    assert (config["preset"], config["seed"]) == ("default", 1)
    assert config["command"] == sys.orig_argv
    assert config["device"]["platform"] == jax.default_backend()
    assert config["device"]["platform_version"]
    versions = {"jax_ttt": __version__, "jax": jax.__version__}
    assert versions.items() < config["versions"].items()
    metrics = rows(path)
    assert [(row["event"], row["update"], row["env_steps"]) for row in metrics] == [
        ("evaluation", 0, 0),
        ("chunk", 2, 16),
        ("evaluation", 2, 16),
        ("chunk", 4, 32),
        ("evaluation", 4, 32),
    ]
    seconds = [row["seconds"] for row in metrics]
    assert seconds == sorted(seconds)
    agent = saved_agents.load_agent(path)
    assert agent.grade == json_records.from_dict(Grade, metrics[-1]["grade"])
    assert (agent.seed, agent.num_updates) == (1, 4)


def test_json_is_one_object_of_the_last_row_and_an_ended_run_prints_it_again(
    tiny_run, tmp_path
):
    path = tmp_path / "run"
    out, err = run(path, "--json")
    assert (err, out.count("\n")) == ("", 1)
    result, last = json.loads(out), rows(path)[-1]
    assert (result["run_dir"], result["stopped"]) == (str(path), "end")
    assert Path(result["agent"]).is_file()
    for name in ("update", "games", "env_steps", "seconds"):
        assert result[name] == last[name]
    lines = [result["grade"][seat].pop("losing_line") for seat in SEATS]
    assert f"({min(map(len, lines))} moves" in result["verdict"]
    assert result["grade"] == last["grade"]
    assert result["verdict"] in tiny_run[1]

    (path / "agent.safetensors").unlink()  # its weights are in the checkpoint
    before = as_users.contents(path)
    out, err = call("--resume", path, "--json")
    again = json.loads(out)
    grade, graded_again = result.pop("grade"), again.pop("grade")
    assert again == result
    for seat in SEATS:  # the first one is in float32, the second one in float64
        for name, value in grade[seat].items():
            if name != "wins_all":  # which the lines of play say
                assert graded_again[seat][name] == pytest.approx(value, abs=1e-5)
    assert str(path) in err
    assert as_users.contents(path) == before


def test_the_default_folder_is_named_after_time_preset_and_seed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(time, "strftime", lambda _: "20300101-000000")
    for _ in range(2):
        call(*TINY, "--seed", 7, "--quiet")
    name = "20300101-000000-default-seed7"
    assert file_names(tmp_path / "runs") == {name, f"{name}.2"}
    assert os.listdir(tmp_path) == ["runs"]


@pytest.mark.fault
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
)
def test_an_interrupted_run_is_graded_and_saved(number, code, tmp_path):
    before = signal.getsignal(number)
    path = tmp_path / "run"

    def interrupt(step):
        if step.evaluation is None:
            signal.raise_signal(number)

    out, err = run(path, on_step=interrupt, code=code)
    command = f"python -m jax_ttt.train --resume {path}"
    assert err == (
        f"interrupted at update 2: saved {path / 'agent.safetensors'}; "
        f"to continue: {command}\n"
    )
    assert f"\nto continue: {command}\n" in out
    assert saved_agents.load_agent(path).num_updates == 2
    assert [*run_folder.snapshots_in(path / "snapshots")] == [0, 2]
    assert [row["update"] for row in rows(path)] == [0, 2, 2]
    assert re.findall(r"^ +(\d+) .* (?:un)?beatable$", out, re.M) == ["0", "2"]
    assert signal.getsignal(number) is before


def test_a_run_holds_few_states_on_the_device(tmp_path):
    """The newest one, and those of the last step and of the chunks in flight."""
    numbers, earlier = [], jax.live_arrays()
    others = {id(array) for array in earlier}

    def in_all_games(arrays):
        """Return the number of new arrays with a bool for each game of the run."""
        shape = (1, tiny.FIELDS["num_envs"])
        new = [x for x in arrays if id(x) not in others]
        return sum(x.shape == shape and x.dtype == bool for x in new)

    def count(step):
        gc.collect()
        own = in_all_games(jax.tree.leaves(step.state.train_state))
        numbers.append(in_all_games(jax.live_arrays()) / own)

    run(tmp_path / "run", "--quiet", "--checkpoint-every", "0", on_step=count)
    assert 1 <= max(numbers) <= 2
    del earlier  # until here, so that no new array gets the id of an old one


@pytest.mark.fault
def test_a_signal_to_another_process_ends_this_one_too(tmp_path, monkeypatch):
    numbers = []

    def max_over_processes(number):
        numbers.append(number)
        # Not at the first call, which comes before the training.
        return max(number, 15) if len(numbers) > 1 else number

    monkeypatch.setattr(distributed, "max_over_processes", max_over_processes)
    path = tmp_path / "run"
    out, _ = run(path, "--json", code=143)
    result = json.loads(out)
    assert (result["stopped"], result["update"]) == ("interrupted", 0)


def test_another_process_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(distributed, "is_writer", lambda: False)
    path = tmp_path / "run"
    path.mkdir()  # by the process that writes
    assert run(path, "--tensorboard").err == ""
    assert not file_names(path)


@pytest.mark.fault
@pytest.mark.parametrize("number", [1, 2, 5])
def test_a_row_for_which_there_is_no_space_costs_no_agent(number, tmp_path):
    """The first row is that of the untrained agent; chunks and evaluations follow."""
    metrics, updates = tmp_path / "metrics.jsonl", []

    def fill(step):
        updates.append(step.update)
        if len(updates) == number:
            metrics.unlink(missing_ok=True)
            metrics.symlink_to("/dev/full")

    _, err = run(tmp_path, "--quiet", on_step=fill, code=1)
    assert err == f"error: cannot write {metrics}: No space left on device\n"
    assert saved_agents.load_agent(tmp_path).num_updates == updates[-1]


@pytest.mark.slow
def test_a_search_that_a_signal_ends_is_repeated_when_the_run_continues(tmp_path):
    whole, path = tmp_path / "whole", tmp_path / "run"
    flags = [*CONNECT_4X4, "--snapshots", "--run-dir"]
    assert call(*flags, whole).err == ""

    def before_the_search(step):
        if step.update == 4 and step.evaluation is None:
            signal.raise_signal(signal.SIGINT)

    _, err = call(*flags, path, on_step=before_the_search, code=130)
    assert "interrupted at update 4" in err
    assert "first" not in rows(path)[-1]["grade"]
    call("--resume", path, "--quiet")
    same_runs.assert_same_run(path, whole)


@pytest.mark.slow
def test_a_run_ends_with_a_search_of_at_most_thirty_seconds(tmp_path, monkeypatch):
    without_rounds = tiny.joined(
        CONNECT_4X4, ["--start-share", "0", "--num-updates", "2"]
    )
    path = tmp_path / "run"
    out, err = call(*without_rounds, "--run-dir", path)
    assert err == ""
    assert "as X: positions" in out
    assert "beatable: a shortest line" in out
    grade = saved_agents.load_agent(path).grade
    last = run_folder.RunFolder(path).summary()
    assert grade == last.grade
    assert [seat.complete for seat in grade.searched.values()] == [True, True]

    assert train.PROOF_SECONDS == 30
    monkeypatch.setattr(train, "PROOF_SECONDS", 0.0)
    out, _ = call(*without_rounds, "--run-dir", tmp_path / "short")
    assert "not decided: searched up to move 0 as X" in out
    assert "so the win rate is 0.0000% to 100.0000%" in " ".join(out.split())
