"""The addresses of the tree and the agents, compared with the library."""

import base64
import dataclasses
import time

import numpy as np
import pytest
import tiny

from jax_ttt.config.catalogue import SEATS
from jax_ttt.players import agents, registry
from jax_ttt.players.shipped import SHIPPED
from jax_ttt.solver import proof
from jax_ttt.web import agent_data, connect_four_data

HOSTILE = "<img src=x onerror=alert(1)>"


def test_the_tree_has_every_position(client, host_tree):
    tree = client.get("/api/tree").json()
    assert tree["num_positions"] == host_tree.num_positions
    successor = np.frombuffer(base64.b64decode(tree["successor"]), "<u2")
    np.testing.assert_array_equal(successor, host_tree.successor.reshape(-1))


def test_the_agents_of_connect_four_are_sent_once(client):
    first = client.get("/api/connect_four")
    assert first.json() == connect_four_data.connect_four_json()
    tag = {"if-none-match": first.headers["etag"]}
    assert client.get("/api/connect_four", headers=tag).status_code == 304


def test_agents_are_listed_with_their_proof(client, tmp_path):
    found = client.get("/api/agents").json()
    assert [one["id"] for one in found["agents"]] == [
        "shipped/network",
        "shipped/table",
    ]
    assert {str(one["unbeatable"]) for one in found["agents"]} == {
        "{'x': True, 'o': True}"
    }
    tiny.save_untrained(tmp_path / "runs" / HOSTILE / "agent.safetensors")
    (tmp_path / "runs" / "bad").mkdir()
    (tmp_path / "runs" / "bad" / "agent.safetensors").write_bytes(b"noise")
    found = client.get("/api/agents").json()
    new = found["agents"][2]
    assert (new["id"], new["source"]) == (f"run/{HOSTILE}", "run")
    assert new["unbeatable"] == {"x": False, "o": False}
    assert [row["name"] for row in found["refused"]] == ["bad"]


@pytest.mark.slow
def test_every_agent_is_listed_with_its_proof_on_a_slow_machine(
    client, tmp_path, monkeypatch
):
    """Each proof takes a while here; the list waits for all of them."""
    for name in ("one", "two", "three"):
        tiny.save_untrained(tmp_path / "runs" / name / "agent.safetensors")
    quick = agent_data.action_values

    def slow(agent):
        time.sleep(0.6)
        return quick(agent)

    monkeypatch.setattr(agent_data, "action_values", slow)
    agents = client.get("/api/agents").json()["agents"]
    assert len(agents) == 5
    assert all(agent["unbeatable"] is not None for agent in agents)


@pytest.mark.parametrize("name", SHIPPED)
def test_values_choose_the_moves_of_the_agent(client, host_tree, name):
    found = client.get(f"/api/values?agent=shipped/{name}").json()
    values = np.frombuffer(base64.b64decode(found["values"]), "<f4").reshape(-1, 9)
    legal = host_tree.legal_action_mask
    assert np.isfinite(values[legal]).all()
    assert np.isnan(values[~legal]).all()
    entrant = registry.enter_agent(name, agents.load_agent(SHIPPED[name]))
    assert entrant.probs is not None
    here = host_tree.decisions
    played = entrant.probs[here].argmax(axis=1)
    best = np.where(legal, values, -np.inf)[here].max(axis=1)
    np.testing.assert_array_equal(values[here, played], best)
    moves = np.frombuffer(base64.b64decode(found["moves"]), "u1")
    np.testing.assert_array_equal(moves[here], played)


def test_the_proof_is_that_of_the_solver(client, host_tree, tmp_path):
    path = tiny.save_untrained(tmp_path / "runs" / "a" / "agent.safetensors")
    probs = registry.enter_agent("a", agents.load_agent(path)).probs
    assert probs is not None
    found = client.get("/api/grade?agent=run/a").json()
    for seat in SEATS:
        lines = proof.lines(host_tree, probs, seat)
        assert found[seat]["lines"] == dataclasses.asdict(lines)
        assert found[seat]["unbeatable"] == (lines.lost == 0)
        line = proof.losing_line(host_tree, probs, seat)
        assert found[seat].get("losing_line") == (None if line is None else [*line])


def test_an_agent_in_training_is_listed_while_there_is_one(client, training):
    training.trained = agents.load_agent(SHIPPED["table"])
    training.shown |= {"unbeatable": None, "snapshots": [0, 10]}
    live = client.get("/api/agents").json()["agents"][-1]
    assert (live["id"], live["source"], live["snapshots"]) == ("live", "live", [0, 10])
    assert client.get("/api/values?agent=live").status_code == 200
    training.trained = None
    assert client.get("/api/values?agent=live").status_code == 404
    assert client.get("/api/agents").json()["agents"][-1]["id"] != "live"
