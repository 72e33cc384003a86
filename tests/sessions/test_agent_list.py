"""Agents in files: found, refused, replaced."""

import os
import shutil

import pytest
import tiny

from jax_ttt.players.shipped import SHIPPED
from jax_ttt.sessions.agent_list import AgentList

HOSTILE = "<img src=x onerror=alert(1)>"


def save_run(runs, name, **fields):
    return tiny.save_untrained(runs / name / "agent.safetensors", **fields)


@pytest.fixture
def listed(tmp_path):
    return AgentList(tmp_path / "runs", tmp_path / "data")


def ids(listed):
    return [entry.id for entry in listed.scan()[0]]


def test_shipped_agents_and_runs_are_found_also_later(listed, tmp_path):
    assert ids(listed) == ["shipped/network", "shipped/table"]
    save_run(tmp_path / "runs", HOSTILE)
    assert ids(listed)[2:] == [f"run/{HOSTILE}"]
    assert listed.find(f"run/{HOSTILE}").name == HOSTILE


def test_files_that_can_not_be_used_are_refused_with_the_reason(listed, tmp_path):
    runs = tmp_path / "runs"
    save_run(runs, "other game", env_id="connect_four")
    damaged = save_run(runs, "damaged")
    damaged.write_bytes(damaged.read_bytes()[:-10])
    (runs / "empty").mkdir()
    (runs / "empty" / "agent.safetensors").touch()
    (runs / "folder" / "agent.safetensors").mkdir(parents=True)
    os.mkfifo(save_run(runs, "pipe").parent / "fifo")
    (runs / "pipe" / "agent.safetensors").unlink()
    os.rename(runs / "pipe" / "fifo", runs / "pipe" / "agent.safetensors")
    (runs / "link" / "deep").mkdir(parents=True)
    (runs / "link" / "agent.safetensors").symlink_to("/dev/zero")
    (runs / "large").mkdir()
    with (runs / "large" / "agent.safetensors").open("wb") as file:
        file.truncate(2**30)
    entries, refused = listed.scan()
    assert len(entries) == 2
    reasons = {row["name"]: row["reason"] for row in refused}
    assert reasons.keys() == {
        *("other game", "damaged", "empty", "folder", "pipe", "link", "large")
    }
    assert "connect_four" in reasons["other game"]
    assert "larger than" in reasons["large"]
    assert not [r for r in reasons.values() if "\n" in r or str(tmp_path) in r]
    assert listed.scan()[1] == refused, "kept, not read again"


def test_an_agent_stays_if_its_file_is_deleted_or_damaged(listed, tmp_path):
    path = save_run(tmp_path / "runs", "a")
    before = listed.find("run/a")
    path.write_bytes(b"noise")
    assert listed.scan()[1][0]["name"] == "a"
    assert listed.find("run/a") is before
    path.unlink()
    assert listed.scan()[1] == []
    assert listed.find("run/a") is before


def test_an_agent_that_is_replaced_is_read_again(listed, tmp_path):
    path = save_run(tmp_path / "runs", "a")
    before = listed.find("run/a")
    shutil.copy(SHIPPED["table"], path)
    listed.scan()
    after = listed.find("run/a")
    assert after.stamp != before.stamp
    assert after.agent.num_updates != before.agent.num_updates


@pytest.mark.parametrize("name", [HOSTILE, "../../x", ""])
def test_imported_agents_are_kept_once_under_a_plain_name(listed, tmp_path, name):
    contents = SHIPPED["table"].read_bytes()
    agent_id = listed.add(name, contents)
    assert listed.add("another name", contents) == agent_id
    (path,) = (tmp_path / "data" / "agents").iterdir()
    assert path.read_bytes() == contents
    assert path.parent.stat().st_mode & 0o077 == 0
    assert listed.find(agent_id).agent.num_updates == 400
    again = AgentList(tmp_path / "runs", tmp_path / "data")
    assert agent_id in ids(again)


def test_a_planted_link_is_not_followed(listed, tmp_path):
    """Another user may have made a link with a name that we are about to use."""
    folder = tmp_path / "data" / "agents"
    folder.mkdir(parents=True)
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    contents = SHIPPED["table"].read_bytes()
    agent_id = listed.add("x", contents)
    path = folder / f"{agent_id.removeprefix('imported/')}.safetensors"
    path.unlink()
    path.symlink_to(victim)
    for old in folder.glob("x-*"):
        os.rename(old, folder / f"{old.stem}.other")
    listed.add("x", contents)
    assert victim.read_text() == "untouched"


def test_without_a_data_folder_nothing_is_imported(tmp_path):
    listed = AgentList(tmp_path / "runs", None)
    assert listed.add("x", SHIPPED["table"].read_bytes()) is None
    assert len(ids(listed)) == 2
