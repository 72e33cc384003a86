"""The figures are made of real runs, light and dark."""

import xml.etree.ElementTree as ET
from typing import get_args

import commands
import made
import pytest
import tiny

import jax_ttt
from jax_ttt.api.training_result import Run
from jax_ttt.config.game_facts import Seat
from jax_ttt.config.grade import SeatGrade
from jax_ttt.config.player_kinds import CONNECT_FOUR
from jax_ttt.config.presets import PRESETS
from jax_ttt.players import saved_agents
from tools import figures

CORRECTED = made.reached(positions=(1, 7, 49, 238, 1120), corrections=(0, 0, 2, 0, 13))


@pytest.fixture
def short(monkeypatch, tmp_path_factory):
    """Let every system learn for twelve updates, of which all are evaluated.

    The shipped agent of the usual board is a small one.
    """
    small = {"num_envs": 8, "num_updates": 12}
    presets = {
        "default": PRESETS["default"].replace(**small, hidden_size=8),
        "table": PRESETS["table"].replace(**small),
    }
    connect = PRESETS["connect-4x4"].replace(**small, hidden_size=8, eval_every=6)
    others = {
        "article": presets["table"],
        "connect-4x4": connect,
        "connect-5x4": connect,
    }
    grade = made.grade({"first": CORRECTED})
    agent = tiny.untrained(connect).with_grade(grade)
    path = tmp_path_factory.mktemp("shipped") / "agent.safetensors"
    saved_agents.save_agent(agent, path)
    monkeypatch.setattr(figures, "PRESETS", presets | others)
    monkeypatch.setattr(figures, "SYSTEMS", dict.fromkeys(presets))
    monkeypatch.setattr(figures, "CONNECT_FOUR", {"connect-7x6": path})
    caches = (figures.trained, figures.corrections_by_update)
    for function in caches:
        function.cache_clear()
    yield
    for function in caches:
        function.cache_clear()


@pytest.mark.slow
def test_every_figure_is_drawn_in_both_themes(short, tmp_path):
    names = [name for name in get_args(figures.Drawing) if "line" not in name]
    flags = ["--out", str(tmp_path), "--num-seeds", "2", "--first-seed", "7"]
    commands.run(figures, *flags, "--only", *names)
    files = {f"{name}-{theme}.svg" for name in names for theme in ("light", "dark")}
    assert {path.name for path in tmp_path.iterdir()} == files
    for path in tmp_path.iterdir():
        ET.parse(path)
    seeds = (tmp_path / "seeds-light.svg").read_text()
    assert ">seeds 7 to 8, exact, against random<" in seeds
    assert ">winning replies<" in (tmp_path / "rounds-light.svg").read_text()
    corrections = (tmp_path / "corrections-light.svg").read_text()
    assert ">shipped:connect-7x6 moving first: 15 corrections<" in corrections
    assert ">connect-5x4, seed 7: corrections<" in corrections


def test_the_line_that_beat_an_agent_is_not_played_by_the_last_one(monkeypatch):
    """X has a column of four in the line; the shipped agent, as O, is unbeatable."""
    line = (0, 1, 0, 1, 0, 1, 0)
    lost_second: dict[Seat, SeatGrade] = {
        "second": made.reached(losing_ends=1, losing_line=line)
    }
    searched = [
        made.evaluated(update, made.grade(reached, env_id="connect_5x4"))
        for update, reached in enumerate(
            (made.searched(), lost_second, made.searched())
        )
    ]
    agent = jax_ttt.load(CONNECT_FOUR["connect-5x4"])
    run = Run(agent, tuple(searched), (agent,))
    monkeypatch.setattr(figures, "trained", lambda preset, seed: run)
    lost, other = figures.lost_line.__wrapped__(1000)
    assert (lost.moves, lost.result("first")) == (line, "won")
    assert other.moves[: len(line)] != line
    assert other.result("second") in ("won", "drawn")
