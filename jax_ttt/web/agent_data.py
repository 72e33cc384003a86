"""What the page gets of an agent: its action values, its grade, its description.

Axes: `P` positions, `A` actions.
"""

import numpy as np
from jaxtyping import Float

from jax_ttt.config.choices import NetworkKind
from jax_ttt.files.records import JsonObject
from jax_ttt.games import tree as trees
from jax_ttt.grading import exact
from jax_ttt.grading.grade import Grade
from jax_ttt.players import network
from jax_ttt.players.agents import Agent, AgentError
from jax_ttt.web import tree_data

KINDS: dict[NetworkKind, str] = {"mlp": "network", "table": "table"}
"""The names of the kinds of agents in the page's data."""


def action_values(agent: Agent) -> Float[np.ndarray, "P A"]:
    """Return the agent's value of each move to its mover, float32; NaN where illegal.

    Raises:
        AgentError: an action value is not finite.
        ValueError: the agent's game is too large to enumerate.
    """
    host = trees.enumerated(agent.config.env_id)
    tree = trees.game_tree(agent.config.env_id)
    assert tree is not None  # `enumerated` found it
    decided = np.asarray(network.decision_values(agent.network, agent.params, tree))
    if not np.isfinite(decided).all():
        raise AgentError("an action value of the agent is not finite")
    values = np.full(host.legal_action_mask.shape, np.nan, np.float32)
    values[host.decisions] = decided
    values[~host.legal_action_mask] = np.nan
    return values


def policy_of(agent: Agent) -> Float[np.ndarray, "P A"]:
    """Return the agent's policy; see `network.greedy_actions`."""
    tree = trees.game_tree(agent.config.env_id)
    return np.asarray(network.greedy_policy(agent.network, agent.params, tree), float)


def moves_text(agent: Agent) -> str:
    """Return the agent's move in each position, 0 where the game is over.

    They are bytes in base64. The page takes them, since only Python knows how an agent
    chooses between equal values.
    """
    return tree_data.encoded(policy_of(agent).argmax(axis=1), "u1")


def values_json(agent_id: str, update: int, agent: Agent) -> JsonObject:
    """Return the agent's action values and moves as JSON data.

    The values are float32, little-endian, in base64.

    Raises:
        AgentError: an action value is not finite.
    """
    return {
        "agent": agent_id,
        "update": update,
        "values": tree_data.encoded(action_values(agent), "<f4"),
        "moves": moves_text(agent),
    }


def grade(agent: Agent) -> Grade:
    """Return the exact grade of an agent.

    Raises:
        AgentError: an action value is not finite.
    """
    probs = policy_of(agent)
    if not np.isfinite(probs).all():
        raise AgentError("an action value of the agent is not finite")
    return exact.grade_seats(
        env_id=agent.config.env_id,
        tree=trees.enumerated(agent.config.env_id),
        probs=probs,
        seats=agent.config.seats,
    )


def agent_json(agent_id: str, name: str, source: str, agent: Agent) -> JsonObject:
    """Return what the page's list of agents says about an agent."""
    kind = KINDS[agent.config.network.network]
    return {
        "id": agent_id,
        "name": name,
        "kind": kind,
        "source": source,
        "updates": agent.num_updates,
    }
