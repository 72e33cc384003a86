"""Networks of integers: the page computes the same integers as JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import rule_cases
import tiny

from jax_ttt.config.settings import Config
from jax_ttt.networks import q_network
from jax_ttt.players import saved_agents

SHAPE = (6, 7)
MANY = pytest.param(100_000, marks=pytest.mark.slow)


@pytest.mark.parametrize("num_boards", [500, MANY])
def test_the_page_computes_the_integers_of_jax(script_page, num_boards):
    config = Config.of(env_id="connect_7x6", two_planes=True, filters=4, hidden_size=16)
    agent, rng = tiny.untrained(config), np.random.default_rng(0)
    agent = tiny.ungraded(config, rule_cases.random_integers(agent.params, rng))
    # Stones of the player to move are 1, of the opponent -1. Columns are filled from
    # below, and not all of them up to the top.
    cells = rng.choice([-1, 1], (num_boards, *SHAPE)).astype(np.int8)
    heights = rng.integers(0, SHAPE[0], (num_boards, 1, SHAPE[1]))
    cells[np.arange(SHAPE[0])[::-1, None] >= heights] = 0
    obs = jnp.asarray(np.stack([cells == 1, cells == -1], axis=-1))
    scores = jax.jit(q_network.action_scores)(agent.network, agent.params, obs)
    compared = script_page.evaluate(
        """async (cases) => {
            const { checks } = await import("/static/same_rules.js");
            return checks.integers(cases);
        }""",
        {
            "env_id": "connect_7x6",
            "file": rule_cases.as_base64(saved_agents.agent_bytes(agent)),
            "cells": rule_cases.as_base64(cells.tobytes()),
            "scores": rule_cases.as_base64(np.asarray(scores, np.int32).tobytes()),
        },
    )
    assert len(np.unique(np.asarray(scores))) > 100
    assert compared == {"compared": num_boards, "different": []}
