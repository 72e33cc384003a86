"""Agents in files: found, refused, replaced, kept, and their histories."""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import made as invented
import pytest
import tiny

from jax_ttt.files import records
from jax_ttt.files.run_folder import RunFolder
from jax_ttt.players.shipped import ALL, SHIPPED, SNAPSHOTS
from jax_ttt.web import agent_files
from jax_ttt.web.agent_files import AgentFiles

HOSTILE = "<img src=x onerror=alert(1)>"
TABLE = SHIPPED["table"].read_bytes()


@pytest.fixture
def runs(tmp_path):
    return tmp_path / "runs"


def save_run(runs, name, **fields):
    return tiny.save_untrained(runs / name / "agent.safetensors", **fields)


def ids(files):
    return [agent["id"] for agent in files.as_json()[0]]


def stamp_of(path):
    status = path.stat()
    return f"{status.st_mtime_ns}-{status.st_size}"


def test_the_shipped_agents_and_the_runs_with_an_agent_are_listed(files, runs):
    (runs / "training").mkdir(parents=True)
    path = save_run(runs, HOSTILE, env_id="mnk_4x4_4")
    listed, refused = files.as_json()
    assert refused == []
    run = listed.pop()
    assert [agent["id"] for agent in listed] == [f"shipped/{name}" for name in ALL]
    assert run == {
        **{"id": f"run/{HOSTILE}", "name": HOSTILE, "source": "run", "updates": 0},
        **{"env_id": "mnk_4x4_4", "kind": "network", "stamp": stamp_of(path)},
        "snapshots": [],
    }
    by_name = {agent["name"]: agent for agent in listed}
    assert by_name["table"] == {
        **{"id": "shipped/table", "name": "table", "source": "shipped"},
        **{"env_id": "tic_tac_toe", "kind": "table", "updates": 400},
        "stamp": stamp_of(SHIPPED["table"]),
        "snapshots": list(range(0, 401, 40)),
    }
    assert by_name["connect-7x6"]["env_id"] == "connect_7x6"
    assert by_name["connect-7x6"]["kind"] == "network"


def test_files_that_can_not_be_used_are_refused_with_the_reason(files, runs, tmp_path):
    save_run(runs, "other game", env_id="othello")
    damaged = save_run(runs, "damaged")
    damaged.write_bytes(damaged.read_bytes()[:-10])
    changed = bytearray(save_run(runs, "changed").read_bytes())
    changed[-1] ^= 1
    (runs / "changed" / "agent.safetensors").write_bytes(changed)
    for name in ("empty", "pipe", "link", "large"):
        (runs / name).mkdir()
    (runs / "empty" / "agent.safetensors").touch()
    (runs / "folder" / "agent.safetensors").mkdir(parents=True)
    os.mkfifo(runs / "pipe" / "agent.safetensors")
    (runs / "link" / "agent.safetensors").symlink_to("/dev/zero")
    with (runs / "large" / "agent.safetensors").open("wb") as file:
        file.truncate(2**30)
    listed, refused = files.as_json()
    assert len(listed) == len(ALL)
    reasons = {row["name"]: row["reason"] for row in refused}
    assert reasons.keys() == {
        *("other game", "damaged", "changed", "empty", "folder", "pipe", "link"),
        "large",
    }
    assert "othello" in reasons["other game"]
    assert "larger than" in reasons["large"]
    assert not [r for r in reasons.values() if "\n" in r or str(tmp_path) in r]
    for name in reasons.keys() - {"other game"}:
        with pytest.raises(ValueError, match="agent"):
            files.content(f"run/{name}")


def test_the_bytes_of_an_agent_are_those_of_its_file(client, runs):
    path = save_run(runs, "a")
    shutil.copytree(SNAPSHOTS["table"], runs / "a" / "snapshots")
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
    path.unlink()
    assert client.get("/api/agents/file?agent=run/a").status_code == 404


def test_an_agent_that_is_replaced_is_read_again(files, runs):
    path = save_run(runs, "a")
    before = files.as_json()[0][-1]
    shutil.copy(SHIPPED["table"], path)
    after = files.as_json()[0][-1]
    assert (before["updates"], after["updates"]) == (0, 400)
    assert before["stamp"] != after["stamp"]
    path.write_bytes(b"noise")
    assert files.as_json()[1][0]["name"] == "a"
    largest = max(path.stat().st_size for path in ALL.values())
    assert largest < agent_files.MOST_AGENT_BYTES / 10


def test_an_agent_is_kept_under_its_name_and_none_is_replaced(files, client, tmp_path):
    other = SHIPPED["network"].read_bytes()
    paths = [files.keep("table-1-400", content) for content in (TABLE, other, TABLE)]
    names = ["table-1-400", "table-1-400-2", "table-1-400-3"]
    assert [path.stem for path in paths] == names
    assert [path.read_bytes() for path in paths] == [TABLE, other, TABLE]
    assert paths[0].parent == tmp_path / "data" / "agents"
    assert paths[0].parent.stat().st_mode & 0o077 == 0
    kept = [f"kept/{name}" for name in names]
    later = AgentFiles(tmp_path / "runs", tmp_path / "data")
    assert {*ids(later)[len(ALL) :]} == {*kept}
    assert client.get(f"/api/agents/file?agent={kept[1]}").content == other
    for agent_id in (kept[1], "shipped/table"):
        reply = client.get(f"/api/agents/history?agent={agent_id}")
        assert reply.json() == {"rows": []}
    assert client.delete(f"/api/agents?agent={kept[1]}").status_code == 200
    assert {*ids(files)[len(ALL) :]} == {kept[0], kept[2]}


def test_servers_that_end_together_do_not_replace_each_others_agents(tmp_path):
    servers = [AgentFiles(tmp_path / "runs", tmp_path / "data") for _ in range(8)]
    contents = [bytes([number]) for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        paths = [*pool.map(lambda s, c: s.keep("table", c), servers, contents)]
    assert [path.read_bytes() for path in paths if path is not None] == contents


def test_an_agent_that_can_not_be_kept_leaves_no_file(files, tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(agent_files.files, "write_atomic", full)
    with pytest.raises(OSError, match="No space"):
        files.keep("table", TABLE)
    assert [*(tmp_path / "data" / "agents").iterdir()] == []


def test_only_what_was_kept_can_be_removed(client, runs):
    path = save_run(runs, "a")
    without_data_folder = AgentFiles(runs)
    assert without_data_folder.keep("x", TABLE) is None
    assert len(ids(without_data_folder)) == len(ALL) + 1
    for agent_id in ("run/a", "shipped/table", "kept/a", "live/x-1"):
        assert client.delete(f"/api/agents?agent={agent_id}").status_code == 404
    assert path.exists()
    assert SHIPPED["table"].exists()


def write_metrics(runs, rows, end=""):
    folder = save_run(runs, "a").parent
    text = "\n".join([*map(records.to_json, rows), end])
    RunFolder(folder).metrics.write_text(text)


def test_a_history_has_the_evaluations_with_the_loss_before_them(client, runs):
    grade = invented.exact((0.9, 0.1, 0), (0.6, 0.3, 0.1), unbeatable=False)
    proven = invented.grade(invented.searched(), env_id="tic_tac_toe")
    rows = [
        invented.evaluated(0, grade),
        invented.chunk(5),
        invented.evaluated(5, grade, games=70),
        invented.evaluated(5, proven, games=70),  # a search at the end
    ]
    write_metrics(runs, rows, end='{"event": "evalu')
    first, last = client.get("/api/agents/history?agent=run/a").json()["rows"]
    assert first == {
        **{"update": 0, "games": 0, "loss": None, "seconds": 0.0},
        "grade": records.to_dict(grade),
    }
    assert (last["update"], last["games"], last["loss"]) == (5, 70, 0.5)
    assert last["grade"] == records.to_dict(proven)


def test_metrics_that_are_missing_or_noise_are_no_history(files, runs):
    run = RunFolder(save_run(runs, "a").parent)
    assert files.history("run/a") == []
    for noise in (b"\xff\xfe", b"[" * 10**5, b"{}", b"3\n"):
        run.metrics.write_bytes(noise)
        assert files.history("run/a") == []
