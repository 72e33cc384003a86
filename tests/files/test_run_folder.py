"""The runs below a folder: their summaries, and which one is the newest."""

import json
import os

import made
import pytest

from jax_ttt.config.errors import UsageError
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.results import plain
from jax_ttt.results.saved_runs import newest_run, saved_runs

GRADES = made.exact((0.75, 0.25), (0.25, 0.5), unbeatable=True)


@pytest.fixture
def make(tmp_path):
    """Return a function that writes a run, the newer the greater `at`."""

    def run(name, at, rows=(), config=PRESETS["table"], agent=True):
        folder = tmp_path / name
        folder.mkdir()
        about = {"preset": "table", "seed": 7, "config": config.as_dict()}
        (folder / "config.json").write_text(json.dumps(about))
        lines = "".join(json.dumps(plain.to_dict(row)) + "\n" for row in rows)
        (folder / "metrics.jsonl").write_text(lines)
        if agent:
            (folder / "agent.safetensors").write_bytes(b"")
        for path in folder.iterdir():
            os.utime(path, (at, at))
        return folder

    return run


def test_a_run_is_summarized_by_its_last_evaluation(make, tmp_path):
    first = made.evaluated(0, exact=made.exact((0.5,), (0.5,)))
    last = made.evaluated(400, exact=GRADES)
    run = make("one", 1, [first, made.chunk(400), last, made.chunk(450)])
    (found,) = saved_runs(tmp_path)
    assert vars(found) == {
        "run_dir": str(run),
        "env_id": "tic_tac_toe",
        "preset": "table",
        "seed": 7,
        "saved": True,
        "update": 400,
        "seconds": last.seconds,
        "proven": True,
        "win_rate": 0.5,
    }


def test_wins_are_those_of_the_learned_seats(make, tmp_path):
    """The last row has the proof of the only seat that was learned, of 3 wins in 4."""
    config = Config.of(env_id="connect_4x4", opponent="random", seat="first")
    sample = made.sampled((1.0, 0.0), (0.25, 0.25))
    proof = made.evaluated(4, sampled=sample, reached={"first": made.reached()})
    make("searched", 1, [made.evaluated(4, sampled=sample), proof], config)
    make("sampled", 2, [made.evaluated(4, sampled=sample)], config)
    make("enumerated", 3, [made.evaluated(4, exact=GRADES)], PRESETS["go-second"])
    found = [(run.proven, run.win_rate) for run in saved_runs(tmp_path)]
    assert found == [(True, 0.75), (None, 1.0), (True, 0.25)]


def test_what_a_run_does_not_have_is_none(make, tmp_path):
    sampled = made.evaluated(2, sampled=made.sampled((0.5,), (0.25,)))
    make("sampled", 1, [sampled])
    make("killed", 2, agent=False)
    first, second = saved_runs(tmp_path)
    assert (first.proven, first.win_rate, first.saved) == (None, 0.375, True)
    assert (second.update, second.proven, second.saved) == (None, None, False)


def test_a_long_file_of_metrics_is_read_from_its_end(make, tmp_path):
    rows = [made.chunk(i) for i in range(1000)]
    make("long", 1, [*rows, made.evaluated(1000, exact=GRADES)])
    assert saved_runs(tmp_path)[0].update == 1000


def test_the_newest_run_is_the_last_one_that_saved_an_agent(make, tmp_path):
    for name, at in (("b", 3), ("a", 1), ("c", 2)):
        make(name, at)
    make("unfinished", 9, agent=False)
    (tmp_path / "notes").mkdir()
    (tmp_path / "file").write_text("no run")
    named = [os.path.basename(run.run_dir) for run in saved_runs(tmp_path)]
    assert named == ["a", "c", "b", "unfinished"]
    assert newest_run(tmp_path) == tmp_path / "b"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"config": 1}'])
def test_a_folder_whose_settings_cannot_be_read_is_ignored(text, make, tmp_path):
    (make("odd", 1) / "config.json").write_text(text)
    assert saved_runs(tmp_path) == []


def test_without_an_agent_there_is_no_newest_run(tmp_path):
    with pytest.raises(UsageError, match=r"no agent below .*: train one"):
        newest_run(tmp_path)
