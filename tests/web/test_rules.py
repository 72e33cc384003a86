"""The rules that the page has too: in JavaScript they give what Python gives.

Node.js runs the page's modules. What only a browser can run is in `browser`.
"""

import json
import shutil
from pathlib import Path

import jax
import numpy as np
import pytest
import rule_cases
import tiny
from marks import mark_slow
from page_modules import printed_by_node

from jax_ttt.config.settings import Config
from jax_ttt.networks import q_network
from jax_ttt.players import saved_agents
from jax_ttt.web import export

SCRIPT = Path(__file__).with_name("browser") / "same_rules.js"
RUN = """
import { readFileSync } from "node:fs";
import { checks } from "./same_rules.js";
const { names, cases } = JSON.parse(readFileSync("cases.json", "utf-8"));
const results = [];
for (const name of names) results.push([name, await checks[name](cases)]);
console.log(JSON.stringify(Object.fromEntries(results)));
"""
QUICK = (
    "games",
    "bestResults",
    "impossible",
    "exact",
    "reviews",
    "histories",
    "digests",
    "refused",
)


def compare(folder, names, cases):
    """Compare JavaScript with Python in a folder that is made; return the results."""
    shutil.copytree(export.STATIC, folder)
    shutil.copy(SCRIPT, folder)
    text = json.dumps({"names": names, "cases": cases}, allow_nan=False)
    (folder / "cases.json").write_text(text, "utf-8")
    results = printed_by_node(["--input-type=module", "--eval", RUN], folder=folder)
    assert [*results] == [*names]
    for name, result in results.items():
        assert result["different"][:5] == [], name
        assert result["compared"] > 0, name
    return results


def test_games_and_files_are_the_same_in_javascript(tmp_path):
    compare(tmp_path / "page", QUICK, rule_cases.quick_cases())


@pytest.mark.slow
def test_agents_and_searches_are_the_same_in_javascript(tmp_path):
    cases = rule_cases.agent_cases(tmp_path)
    names = ("games", "agents", "grades", "exact", "hints", "refused")
    compare(tmp_path / "page", names, cases)


SHAPE = (6, 7)


@pytest.mark.parametrize("num_boards", mark_slow([500, 100_000], 100_000))
def test_the_page_computes_the_integers_of_jax(tmp_path, num_boards):
    config = Config.of(env_id="connect_7x6", two_planes=True, filters=4, hidden_size=16)
    shapes = jax.eval_shape(lambda: tiny.untrained(config).params)
    rng = np.random.default_rng(0)
    agent = tiny.ungraded(config, rule_cases.random_integers(shapes, rng))
    # Stones of the player to move are 1, of the opponent -1. Columns are filled from
    # below, and not all of them up to the top.
    cells = rng.choice([-1, 1], (num_boards, *SHAPE)).astype(np.int8)
    heights = rng.integers(0, SHAPE[0], (num_boards, 1, SHAPE[1]))
    cells[np.arange(SHAPE[0])[::-1, None] >= heights] = 0
    obs = np.stack([cells == 1, cells == -1], axis=-1)
    scores = jax.jit(q_network.action_scores)(agent.network, agent.params, obs)
    scores = np.asarray(scores, np.int32)
    assert len(np.unique(scores)) > 100
    cases = {
        "env_id": "connect_7x6",
        "file": rule_cases.as_base64(saved_agents.agent_bytes(agent)),
        "cells": rule_cases.as_base64(cells.tobytes()),
        "scores": rule_cases.as_base64(scores.tobytes()),
    }
    results = compare(tmp_path / "page", ("integers",), cases)
    assert results["integers"]["compared"] == num_boards
