"""Player registry: a name gives a function and, in enumerable games, a policy.

Axes: `P` positions, `A` actions.
"""

import math
import zlib
from typing import NamedTuple

import jax
import numpy as np
from jax.tree_util import Partial
from jaxtyping import Array, Float, Key

from jax_ttt.config.errors import PlayerError
from jax_ttt.config.game_facts import SEATS, EnvId, Seat
from jax_ttt.games import pgx_games, positions
from jax_ttt.games import tree as trees
from jax_ttt.games.tree import Tree
from jax_ttt.networks import q_network
from jax_ttt.players import (
    basic,
    lookahead,
    mcts,
    network_player,
    online_search,
    saved_agents,
)
from jax_ttt.players.names import Spec
from jax_ttt.players.saved_agents import Agent, AgentError
from jax_ttt.solver import minimax, policies

_MAX_BOARDS = 2**17  # per move of a lookahead; a core searches about 10 a second


class Entrant(NamedTuple):
    """A player that takes part in matches."""

    name: str
    player: Partial  # (key, env_state of B games) -> actions
    probs: np.ndarray | None  # (P, A) float64 policy; None if unknown
    agent: Agent | None = None  # the saved agent, if the player is one
    seats: tuple[Seat, ...] = SEATS  # the seats that it learned
    is_fixed: bool = False  # it plays one move in each position, whatever the key
    is_symmetric: bool = False  # mirrored moves on mirror images, by construction


def enter(spec: Spec, env_id: EnvId, key: Key[Array, ""]) -> Entrant:
    """Return the player of this name; `key` is for searches in advance.

    Raises:
        AgentError: the file is no usable agent for this game.
        PlayerError: a lookahead is too deep for this game.
    """
    # The name makes a player independent of the other players of a command.
    key = jax.random.fold_in(key, zlib.crc32(spec.name.encode()))
    tree = trees.host_tree(env_id)
    if spec.kind == "random":
        probs = policies.uniform(tree) if tree is not None else None
        return Entrant(spec.name, basic.random_player, probs)
    if spec.kind == "agent":
        return enter_agent(spec.name, saved_agents.load_agent(spec.path, env_id))
    if spec.kind == "blend" and spec.inner:
        return _blend(spec, enter(spec.inner, env_id, key), tree)
    if spec.kind == "lookahead" and spec.inner:
        return _lookahead(spec, spec.inner, env_id, key)
    if spec.kind == "mcts-online" and tree is None:
        player = online_search.searching_player(env_id, int(spec.number))
        return Entrant(spec.name, player, None)
    if spec.kind == "mcts-online":
        index, graph = positions.index(env_id), mcts.graph(env_id)
        player = mcts.online_player(graph, index, int(spec.number))
        return Entrant(spec.name, player, None)
    probs = _tree_policy(spec, env_id, key)
    player = basic.policy_player(positions.index(env_id), probs)
    return Entrant(spec.name, player, probs)


def enter_agent(name: str, agent: Agent) -> Entrant:
    """Return an agent as a player, with its greedy policy in an enumerable game.

    Raises:
        AgentError: an action value is not finite.
    """
    probs = _policy(name, agent)
    return Entrant(
        name=name,
        player=agent.player,
        probs=probs,
        agent=agent,
        seats=agent.config.seats,
        is_fixed=True,
        is_symmetric=network_player.is_symmetric(agent.network),
    )


def _policy(name: str, agent: Agent) -> np.ndarray | None:
    """Return an agent's greedy policy; None if the game is not enumerable.

    Raises:
        AgentError: an action value is not finite.
    """
    env_id = agent.config.env_id
    tree = trees.game_tree(env_id)
    if tree is not None:
        values = network_player.greedy_policy(agent.network, agent.params, tree)
    else:
        env, seen_key = pgx_games.make_env(env_id), jax.random.key(0)
        seen = basic.boards_of_random_games(env, seen_key, 64, num_moves=16)
        q_values = jax.jit(q_network.q_values)
        values = q_values(agent.network, agent.params, seen.observation)
    # With NaN values, the greedy move would be any legal one.
    if not np.isfinite(values).all():
        raise AgentError(f"{name}: its action values are not finite")
    return None if tree is None else np.asarray(values, float)


def _blend(spec: Spec, inner: Entrant, tree: Tree | None) -> Entrant:
    probs = None
    if tree is not None and inner.probs is not None:
        probs = policies.mixed(tree, spec.number, inner.probs)
    player = basic.blended(spec.number, inner.player)
    return Entrant(spec.name, player, probs, seats=inner.seats)


def _lookahead(spec: Spec, inner: Spec, env_id: EnvId, key: Key[Array, ""]) -> Entrant:
    depth = int(spec.number)
    most = int(math.log(_MAX_BOARDS, pgx_games.sizes(env_id).num_actions))
    if depth > most:
        raise PlayerError(f"{spec.name}: the depth is at most {most} in {env_id}")
    agent = saved_agents.load_agent(inner.path, env_id)
    _policy(inner.name, agent)
    player = lookahead.lookahead_player(
        agent.network, agent.params, agent.config.target.gamma, depth
    )
    tree, probs = trees.game_tree(env_id), None
    if tree is not None:
        deciding = jax.tree.map(lambda x: x[tree.decisions], tree.env_state)
        probs = np.asarray(
            policies.deterministic(tree, jax.jit(player)(key, deciding)), float
        )
    seats = agent.config.seats
    return Entrant(spec.name, player, probs, seats=seats, is_fixed=True)


def _tree_policy(
    spec: Spec, env_id: EnvId, key: Key[Array, ""]
) -> Float[np.ndarray, "P A"]:
    """Return the policy of a minimax or mcts player."""
    tree = trees.enumerated(env_id)
    if spec.kind == "mcts":
        return mcts.offline_policy(tree, mcts.graph(env_id), key, int(spec.number))
    quick = minimax.QUICK if spec.kind == "minimax-quick" else 1.0
    return minimax.policy(tree, quick, first_best=spec.kind != "minimax")
