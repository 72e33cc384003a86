"""Agents' files with finite weights whose values are not: refused in one line.

Each table of the file is finite, and so is the policy of its corrections, but the mean
of the two tables is not. The checksum is right.
"""

import dataclasses

import commands
import jax
import numpy as np
import pytest
import tiny

from jax_ttt.config.presets import PRESETS
from jax_ttt.games.played_game import Game
from jax_ttt.games.position_keys import keys_of, keys_to_numbers
from jax_ttt.networks import q_network
from jax_ttt.players import saved_agents
from jax_ttt.solver.corrections import Corrections

ENV_ID = "tic_tac_toe"
PRESET = "tictac-double-q"
CONFIG = PRESETS[PRESET]


@pytest.fixture(scope="module", params=["one board", "every board"])
def path(request, tmp_path_factory):
    shapes = q_network.param_shapes(saved_agents.network_from(CONFIG.architecture))
    (leaf,) = jax.tree.leaves(shapes)
    table = np.zeros(leaf.shape, leaf.dtype)
    rows = slice(5, 6) if request.param == "one board" else slice(None)
    table[rows] = -3e38
    params = jax.tree.unflatten(jax.tree.structure(shapes), [table])
    start = keys_to_numbers(np.asarray(keys_of(ENV_ID, Game.start(ENV_ID).state)))
    corrections = Corrections(start, np.array([4], np.uint8))
    agent = dataclasses.replace(tiny.ungraded(CONFIG, params), corrections=corrections)
    path = tmp_path_factory.mktemp("forged") / "forged.safetensors"
    saved_agents.save_agent(agent, path)
    return path


@pytest.mark.parametrize(
    "words",
    [
        "evaluate FILE",
        "evaluate FILE --json",
        "evaluate lookahead:1:FILE",
        "evaluate blend:0.5:FILE --json",
        "play FILE",
        "arena FILE random --json",
        "correct FILE --out out.safetensors",
        "train --opponent FILE --network table --run-dir run",
        f"train --start-agent FILE --preset {PRESET} --run-dir run",
    ],
)
def test_every_command_refuses_it(words, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, *argv = words.replace("FILE", str(path)).split()
    out, err = commands.run(commands.module_of(name), *argv, code=2)
    assert err == f"error: {path}: its action values are not finite\n"
    assert name == "train" or out == ""
