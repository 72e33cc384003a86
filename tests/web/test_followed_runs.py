"""Runs that are followed: what is new in their files, and the events that tell it."""

import json
import shutil

import made
import pytest
import served
import tiny

from jax_ttt.config.player_kinds import SNAPSHOTS
from jax_ttt.files import json_records
from jax_ttt.files.run_folder import Lock, RunFolder
from jax_ttt.web import followed_runs
from jax_ttt.web.followed_runs import NOTHING, news_since

GRADE = made.exact((0.9, 0.1, 0), (0.6, 0.3, 0.1), unbeatable=False)
PROVEN = made.exact((1.0,), (1.0,), unbeatable=True)


def line(row):
    return json_records.to_json(row).encode() + b"\n"


def append(run, content):
    with run.metrics.open("ab") as file:
        file.write(content)


def write_plan(run, env_id="tic_tac_toe", **config):
    run.path.mkdir(parents=True, exist_ok=True)
    config = {"env_id": env_id, "num_updates": 400, "network": "table"} | config
    plan = {"config": config, "preset": "table", "seed": 7}
    run.config.write_text(json.dumps(plan))


@pytest.fixture
def run(tmp_path):
    """Return a run that this process trains."""
    run = RunFolder(tmp_path / "runs" / "a")
    write_plan(run)
    lock = Lock(run.lock)
    yield run
    lock.close()


def updates(news):
    return [row["update"] for row in news.rows]


def test_each_row_is_news_once_and_an_incomplete_line_is_none(run):
    seen, news = news_since(run, NOTHING)
    assert (news.state, news.is_first, news.rows) == ("training", True, [])
    assert news.plan == {
        "env_id": "tic_tac_toe",
        "preset": "table",
        "seed": 7,
        "num_updates": 400,
    }
    append(run, line(made.evaluated(0, GRADE)) + line(made.chunk(10, games=9)))
    seen, news = news_since(run, seen)
    assert updates(news) == [0]
    assert news.rows[0]["grade"] == json_records.to_dict(GRADE) | {"by_file": True}
    assert news.counts == {
        "update": 10,
        "games": 9,
        "loss": 0.5,
    }
    again, news = news_since(run, seen)
    assert (again, news.rows, news.counts) == (seen, [], None)
    whole = line(made.evaluated(10, PROVEN, games=9))
    append(run, whole[:50])
    again, news = news_since(run, seen)
    assert (again, news.rows) == (seen, [])
    append(run, whole[50:])
    seen, news = news_since(run, seen)
    assert (updates(news), news.is_first) == ([10], False)
    assert news.rows[0]["loss"] == 0.5, "that of the updates before it"


def test_a_resumed_run_is_read_again(run):
    first = line(made.evaluated(0, GRADE))
    append(run, first + line(made.evaluated(10, GRADE, games=5)))
    seen, _ = news_since(run, NOTHING)
    # It has lost its last row, and another one is longer.
    later = line(made.evaluated(10, GRADE, games=55)) + line(made.evaluated(20, PROVEN))
    run.metrics.write_bytes(first + later)
    seen, news = news_since(run, seen)
    assert (updates(news), news.is_first) == ([0, 10, 20], True)
    run.metrics.write_bytes(first)
    seen, news = news_since(run, seen)
    assert (updates(news), news.is_first) == ([0], True)
    assert news_since(run, seen)[0] == seen


def test_damaged_lines_are_left_out(run):
    good = line(made.evaluated(10, GRADE))
    noise = b"\xff\xfe", b"[" * 10**5, b"{}", b"3", b"", b'{"event": "evaluation"}'
    nan = good.replace(b'"seconds": 0.0', b'"seconds": NaN')
    assert nan != good
    run.metrics.write_bytes(b"\n".join([*noise, nan]) + good)
    _, news = news_since(run, NOTHING)
    assert updates(news) == [10]
    run.config.write_text('{"config": ')
    assert news_since(run, NOTHING)[1].plan == {}


def test_the_state_of_a_run_is_that_of_its_lock_and_its_files(tmp_path):
    run = RunFolder(tmp_path / "runs" / "a")

    def state():
        return news_since(run, NOTHING)[1].state

    assert state() == "gone"
    write_plan(run)
    assert state() == "stopped"
    lock = Lock(run.lock)
    assert state() == "training"
    lock.close()
    run.lock.touch()  # of a process that was killed
    assert state() == "stopped"
    tiny.save_untrained(run.agent)
    assert state() == "ended"
    lock = Lock(run.lock)  # it is resumed: looking at it has not locked it
    assert state() == "training"
    lock.close()
    shutil.rmtree(run.path)
    assert state() == "gone"


def test_a_run_in_training_is_listed_with_its_newest_snapshot(run, client, tmp_path):
    write_plan(RunFolder(tmp_path / "runs" / "ended"))
    shutil.copytree(SNAPSHOTS["table"], run.snapshots)
    reply = client.get("/api/agents").json()
    assert [one["name"] for one in reply["runs"]] == ["a"]
    agent = reply["agents"][-1]
    assert (agent["id"], agent["updates"]) == ("run/a", 400)
    (run.snapshots / "00400.safetensors").unlink()
    assert client.get("/api/agents").json()["agents"][-1]["updates"] == 360


def test_a_run_of_a_game_that_the_server_does_not_know_is_followed(run):
    write_plan(run, env_id="my_game")
    graded = json_records.to_dict(PROVEN) | {"env_id": "my_game"}
    row = json_records.to_dict(made.evaluated(5, PROVEN)) | {"grade": graded}
    append(run, json.dumps(row).encode() + b"\n")
    _, news = news_since(run, NOTHING)
    assert news.plan["env_id"] == "my_game"
    assert news.rows[0]["grade"] == graded | {"by_file": True}


def test_the_stream_has_what_is_new_until_the_run_is_deleted(run, port):
    append(run, line(made.evaluated(0, GRADE)))
    with served.opened_stream(port, "a") as message:
        first = message()
        assert (first["is_first"], len(first["rows"])) == (True, 1)
        append(run, line(made.evaluated(10, PROVEN)))
        assert [row["update"] for row in message()["rows"]] == [10]
        run.snapshots.mkdir()
        tiny.save_untrained(run.snapshot(10))
        assert message()["snapshots"] == [10]
        shutil.rmtree(run.path)
        news = message()
        while news["state"] != "gone":  # it looked meanwhile
            news = message()
        write_plan(run)
        assert message()["state"] == "stopped"


def test_the_command_trains_into_the_folder_of_the_server(tmp_path):
    command = followed_runs.command_to_train(followed_runs.RUNS, "connect-4x4")
    assert command == "python -m jax_ttt.train --preset connect-4x4 --snapshots"
    folder = tmp_path / "my runs"
    (folder / "connect-4x4-1").mkdir(parents=True)
    command = followed_runs.command_to_train(folder, "connect-4x4")
    assert command.endswith(f" --run-dir '{folder}/connect-4x4-2'")


def test_a_run_whose_name_no_file_can_have_is_gone(tmp_path):
    _, news = news_since(RunFolder(tmp_path / ("x" * 300)), NOTHING)
    assert (news.state, news.rows, news.plan) == ("gone", [], {})
