"""What the header of an agent's file says."""

import shutil
from pathlib import Path

import pytest

from jax_ttt.results.file_headers import saved_game

DATA = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize("game", ["connect_four", "tic_tac_toe"])
def test_the_game_of_an_agent_is_read_from_its_file(game, tmp_path):
    file = DATA / f"agent-1-{game}.safetensors"
    assert saved_game(file) == game
    shutil.copy(file, tmp_path / "agent.safetensors")
    assert saved_game(tmp_path) == game


@pytest.mark.parametrize("content", [b"", b"\xff" * 9, b"\x02" + b"\0" * 7 + b"{}"])
def test_what_is_no_agent_has_no_game(content, tmp_path):
    (tmp_path / "agent.safetensors").write_bytes(content)
    assert saved_game(tmp_path) is None
    assert saved_game(tmp_path / "none") is None
