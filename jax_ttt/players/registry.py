"""Player registry: a name gives a function and, in enumerable games, a policy.

Axes: `P` positions, `A` actions.
"""

import dataclasses
import math
import zlib

import jax
import numpy as np
from jaxtyping import Array, Float, Key

from jax_ttt.config.errors import PlayerError
from jax_ttt.config.game_facts import EnvId
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
from jax_ttt.players.names import PlayerSpec
from jax_ttt.players.player import Player
from jax_ttt.players.saved_agents import AgentError, SavedAgent
from jax_ttt.solver import minimax, policies

_MAX_BOARDS = 2**17  # per move of a lookahead; a core searches about 10 a second


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AgentPlayer(Player):
    """A saved agent as a player.

    Attributes:
        agent: The agent, with its network and its history.
    """

    agent: SavedAgent


def make_player(spec: PlayerSpec, env_id: EnvId, key: Key[Array, ""]) -> Player:
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
        return Player(
            env_id=env_id, name=spec.name, choose=basic.random_player, policy=probs
        )
    if spec.kind == "agent":
        return agent_player(spec.name, saved_agents.load_agent(spec.path, env_id))
    if spec.kind == "blend" and spec.inner:
        return _blend(spec, make_player(spec.inner, env_id, key), tree)
    if spec.kind == "lookahead" and spec.inner:
        return _lookahead(spec, spec.inner, env_id, key)
    if spec.kind == "mcts-online" and tree is None:
        choose = online_search.searching_player(env_id, int(spec.number))
        return Player(env_id=env_id, name=spec.name, choose=choose)
    if spec.kind == "mcts-online":
        index, graph = positions.position_index(env_id), mcts.game_graph(env_id)
        choose = mcts.online_player(graph, index, int(spec.number))
        return Player(env_id=env_id, name=spec.name, choose=choose)
    probs = _tree_policy(spec, env_id, key)
    choose = basic.policy_player(positions.position_index(env_id), probs)
    return Player(env_id=env_id, name=spec.name, choose=choose, policy=probs)


def agent_player(name: str, agent: SavedAgent) -> AgentPlayer:
    """Return an agent as a player, with its greedy policy in an enumerable game.

    Raises:
        AgentError: an action value is not finite.
    """
    return AgentPlayer(
        env_id=agent.config.env_id,
        name=name,
        choose=agent.player,
        policy=_policy(name, agent),
        agent=agent,
        seats=agent.config.seats,
        is_deterministic=True,
        is_symmetric=network_player.is_symmetric(agent.network),
    )


def _policy(name: str, agent: SavedAgent) -> np.ndarray | None:
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


def _blend(spec: PlayerSpec, inner: Player, tree: Tree | None) -> Player:
    probs = None
    if tree is not None and inner.policy is not None:
        probs = policies.mix_with_random(tree, spec.number, inner.policy)
    return Player(
        env_id=inner.env_id,
        name=spec.name,
        choose=basic.blended_player(spec.number, inner.choose),
        policy=probs,
        seats=inner.seats,
    )


def _lookahead(
    spec: PlayerSpec, inner: PlayerSpec, env_id: EnvId, key: Key[Array, ""]
) -> Player:
    depth = int(spec.number)
    most = int(math.log(_MAX_BOARDS, pgx_games.sizes(env_id).num_actions))
    if depth > most:
        raise PlayerError(f"{spec.name}: the depth is at most {most} in {env_id}")
    agent = saved_agents.load_agent(inner.path, env_id)
    _policy(inner.name, agent)
    choose = lookahead.lookahead_player(
        agent.network, agent.params, agent.config.target.gamma, depth
    )
    tree, probs = trees.game_tree(env_id), None
    if tree is not None:
        deciding = jax.tree.map(lambda x: x[tree.decisions], tree.env_state)
        probs = np.asarray(
            policies.deterministic(tree, jax.jit(choose)(key, deciding)), float
        )
    return Player(
        env_id=env_id,
        name=spec.name,
        choose=choose,
        policy=probs,
        seats=agent.config.seats,
        is_deterministic=True,
    )


def _tree_policy(
    spec: PlayerSpec, env_id: EnvId, key: Key[Array, ""]
) -> Float[np.ndarray, "P A"]:
    """Return the policy of a minimax or mcts player."""
    tree = trees.enumerated(env_id)
    if spec.kind == "mcts":
        return mcts.offline_policy(tree, mcts.game_graph(env_id), key, int(spec.number))
    quick = minimax.QUICK if spec.kind == "minimax-quick" else 1.0
    return minimax.policy(tree, quick, first_best=spec.kind != "minimax")
