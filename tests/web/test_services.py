"""What the routes work with, made and ended."""

import asyncio
import sqlite3
from typing import Any

import pytest
import served

from jax_ttt.games.game import Game
from jax_ttt.live.live_training import LiveTraining
from jax_ttt.players import agents
from jax_ttt.players.shipped import SHIPPED
from jax_ttt.serving.replies import Refusal
from jax_ttt.web import services
from jax_ttt.web.services import make_services


def test_live_training_has_what_the_routes_use():
    assert isinstance(LiveTraining(), services.Training)


def test_the_agent_in_training_is_kept_at_the_end(tmp_path):
    training = served.Training()
    made = make_services(tmp_path / "runs", tmp_path, training)
    training.trained = agents.load_agent(SHIPPED["table"])
    made.close()
    assert training.closed
    again = make_services(tmp_path / "runs", tmp_path, served.Training())
    found: Any = asyncio.run(again.computed(again.descriptions.all))
    (kept,) = [one for one in found["agents"] if one["source"] == "imported"]
    assert kept["updates"] == 400
    again.close()


def test_a_game_that_can_not_be_written_goes_on(made, monkeypatch, capsys, training):
    def full(games):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(made.statistics, "add", full)
    found = made.opponents.opponent("expert", None, None)
    served_game = made.games.start(found, "x")
    served_game.game = Game.start("tic_tac_toe", (0, 3, 1, 4, 2))
    asyncio.run(made.count(served_game))
    assert "disk is full" in capsys.readouterr().err
    assert training.learned == [(0, 3, 1, 4, 2)]


def test_a_backup_holds_the_agent_in_training(made, training, tmp_path):
    training.trained = agents.load_agent(SHIPPED["table"])
    file = made.backup()
    other = make_services(tmp_path / "none", None, served.Training())
    with pytest.raises(Refusal, match="no data folder"):
        other.restore(file)
    other.close()
    assert made.restore(file) == {"games": 0, "agents": 1}
    assert made.restore(file) == {"games": 0, "agents": 0}
