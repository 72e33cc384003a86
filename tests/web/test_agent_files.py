"""Agents in files: listed, refused, replaced, and their histories."""

import os
import shutil

import made as invented
import pytest
import tiny

from jax_ttt.config.player_kinds import ALL, SHIPPED, SNAPSHOTS
from jax_ttt.files import json_records
from jax_ttt.files.run_folder import RunFolder

HOSTILE = "<img src=x onerror=alert(1)>"
TABLE = SHIPPED["table"].read_bytes()


def save_run(tmp_path, name="a", **fields):
    path = tmp_path / "runs" / name / "agent.safetensors"
    return tiny.save_untrained(path, **fields)


def test_the_shipped_agents_and_the_runs_with_an_agent_are_listed(files, tmp_path):
    (tmp_path / "runs" / "training").mkdir(parents=True)
    path = save_run(tmp_path, HOSTILE, env_id="mnk_4x4_4")
    agents, refused = files.list_agents()
    assert refused == []
    assert [agent["name"] for agent in agents] == [*ALL, HOSTILE]
    status = path.stat()
    assert agents[-1] == {
        **{"id": f"run/{HOSTILE}", "name": HOSTILE, "source": "run", "updates": 0},
        **{"env_id": "mnk_4x4_4", "kind": "network", "snapshots": []},
        "stamp": f"{status.st_mtime_ns}-{status.st_size}",
    }
    (table,) = (agent for agent in agents if agent["name"] == "table")
    assert (table["id"], table["updates"]) == ("shipped/table", 400)
    assert table["snapshots"] == list(range(0, 401, 40))


def test_files_that_can_not_be_used_are_refused_with_the_reason(files, tmp_path):
    names = ("game", "damaged", "empty", "folder", "pipe", "link", "large")
    paths = {name: tmp_path / "runs" / name / "agent.safetensors" for name in names}
    for path in paths.values():
        path.parent.mkdir(parents=True)
    tiny.save_untrained(paths["game"], env_id="othello")
    damaged = bytearray(TABLE)
    damaged[-1] ^= 1
    paths["damaged"].write_bytes(damaged)
    paths["empty"].touch()
    paths["folder"].mkdir()
    os.mkfifo(paths["pipe"])
    paths["link"].symlink_to("/dev/zero")
    with paths["large"].open("wb") as file:
        file.truncate(2**30)
    agents, refused = files.list_agents()
    assert len(agents) == len(ALL)
    reasons = {row["name"]: row["reason"] for row in refused}
    assert reasons.keys() == {*names}
    assert "othello" in reasons["game"]
    assert "larger than" in reasons["large"]
    assert not [r for r in reasons.values() if "\n" in r or str(tmp_path) in r]
    for name in reasons.keys() - {"game"}:
        with pytest.raises(ValueError, match="agent"):
            files.content(f"run/{name}")


def test_the_bytes_of_an_agent_are_those_of_its_file(client, tmp_path):
    path = save_run(tmp_path)
    shutil.copytree(SNAPSHOTS["table"], path.parent / "snapshots")
    for query, file in (
        ("shipped/table", SHIPPED["table"]),
        ("shipped/table&update=40", SNAPSHOTS["table"] / "00040.safetensors"),
        ("shipped/table&update=400", SHIPPED["table"]),
        ("run/a", path),
        ("run/a&update=0", path),
        ("run/a&update=40", SNAPSHOTS["table"] / "00040.safetensors"),
    ):
        reply = client.get(f"/api/agents/file?agent={query}")
        assert reply.content == file.read_bytes(), query
    assert client.get("/api/agents/file?agent=run/a&update=41").status_code == 404
    path.unlink()  # a run that was killed has its snapshots
    newest = SNAPSHOTS["table"] / "00400.safetensors"
    assert client.get("/api/agents/file?agent=run/a").content == newest.read_bytes()
    shutil.rmtree(path.parent / "snapshots")
    assert client.get("/api/agents/file?agent=run/a").status_code == 404


def test_an_agents_name_leads_to_no_other_folder(files, tmp_path):
    path = save_run(tmp_path)
    shutil.copy(path, tmp_path / "runs" / "b.safetensors")
    names = ("run/../runs/a", "run/a/../a", "run/.", "run/..", f"run{path.parent}")
    for agent_id in (*names, "shipped/../table", "live/x-1", "a"):
        with pytest.raises(KeyError):
            files.content(agent_id)


def test_a_replaced_agent_is_read_again(files, tmp_path):
    path = save_run(tmp_path)
    before = files.list_agents()[0][-1]
    shutil.copy(SHIPPED["table"], path)
    after = files.list_agents()[0][-1]
    assert (before["updates"], after["updates"]) == (0, 400)
    assert before["stamp"] != after["stamp"]
    path.write_bytes(b"noise")
    assert files.list_agents()[1][0]["name"] == "a"


def test_a_history_has_the_evaluations_with_the_loss_before_them(
    client, files, tmp_path
):
    grade = invented.exact((0.9, 0.1, 0), (0.6, 0.3, 0.1), unbeatable=False)
    proven = invented.grade(invented.searched(), env_id="tic_tac_toe")
    rows = [
        invented.evaluated(0, grade),
        invented.chunk(5),
        invented.evaluated(5, grade, games=70),
        invented.evaluated(5, proven, games=70),  # a search at the end
    ]
    text = "\n".join([*map(json_records.to_json, rows), '{"event": "evalu'])
    RunFolder(save_run(tmp_path).parent).metrics.write_text(text)
    first, last = client.get("/api/agents/history?agent=run/a").json()["rows"]
    assert first == {
        **{"update": 0, "games": 0, "loss": None, "seconds": 0.0},
        "grade": json_records.to_dict(grade) | {"by_file": True},
    }
    assert (last["update"], last["games"], last["loss"]) == (5, 70, 0.5)
    assert last["grade"] == json_records.to_dict(proven) | {"by_file": True}
    # Metrics that are noise are not a history.
    run = RunFolder(tmp_path / "runs" / "a")
    for noise in (b"\xff\xfe", b"[" * 10**5, b"{}", b"3\n"):
        run.metrics.write_bytes(noise)
        assert files.history("run/a") == []
