"""Player registry: from a name to a player and, in enumerable games, its policy.

Axes: `P` positions, `A` actions.
"""

import dataclasses
import math
import zlib
from dataclasses import replace

import jax
import numpy as np
from jax.tree_util import Partial
from jaxtyping import Array, Float, Key

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import EnvId
from jax_ttt.config.player_kinds import ProgramOptions
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.games.played_game import choose_moves
from jax_ttt.games.tree import Tree
from jax_ttt.players import (
    asked_players,
    lookahead,
    mcts_by_steps,
    mcts_on_tree,
    network_player,
    random_players,
    saved_agents,
)
from jax_ttt.players.asked_players import AskedPlayer, SampledPlayer
from jax_ttt.players.player import Player
from jax_ttt.players.player_names import PlayerSpec
from jax_ttt.players.program import ProgramCopies
from jax_ttt.players.saved_agents import Agent, AgentError
from jax_ttt.runtime import standard_streams
from jax_ttt.solver import policies

PROGRAMS = ProgramOptions()
"""How programs are asked by default: in advance, by one process in each seat."""
_MAX_BOARDS = 2**17
"""Maximum number of boards at the deepest level of a lookahead, for each move.

A processor core searches about ten such moves a second; with one level more, a match of
1,024 games would last for hours.
"""


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AgentPlayer(Player):
    """A saved agent as a player.

    Attributes:
        agent: The agent, with its network and its history.
    """

    agent: Agent

    @property
    def is_symmetric(self) -> bool:
        """Whether its network plays mirrored moves on mirrored boards."""
        return network_player.is_symmetric(self.agent.network)

    @property
    def sees_state(self) -> bool:
        """False: its network sees the observation, and it plays a legal move."""
        return False


def make_player(
    spec: PlayerSpec,
    env_id: EnvId,
    key: Key[Array, ""],
    programs: ProgramOptions = PROGRAMS,
) -> Player:
    """Return the player of this name; `key` is for a search before the games.

    Raises:
        AgentError: the file does not hold a usable agent for this game.
        Refused: a lookahead is too deep for this game, or a program can't be started or
            gives a wrong answer.
    """
    key = _key_of(spec, key)
    tree = trees.host_tree(env_id)
    if spec.kind == "random":
        probs = policies.uniform_policy(tree) if tree is not None else None
        return Player(
            env_id=env_id,
            name=spec.name,
            policy=probs,
            evidence="none" if probs is None else "construction",
        )
    if spec.kind == "agent":
        return agent_player(spec.name, saved_agents.load_agent(spec.path, env_id))
    if spec.kind == "program":
        copies = ProgramCopies(spec.name, spec.command, env_id, programs)
        return asked_players.make_asked_player(copies, env_id)
    if spec.kind == "blend" and spec.inner:
        if spec.program is not None and tree is None:
            # Its random moves lead to positions that the program does not reach.
            rule = f"a blend of a program needs an enumerable game, not {env_id}"
            raise Refused(f"{spec.name}: {rule}")
        inner = make_player(spec.inner, env_id, key, replace(programs, in_advance=True))
        if isinstance(inner, SampledPlayer):
            raise Refused(f"{spec.name}: {inner.name}: {inner.note}")
        return _blend(spec, inner, tree)
    if spec.kind == "lookahead" and spec.inner:
        return _lookahead(spec, spec.inner, env_id, key)
    if spec.kind == "mcts-online":
        num_playouts = int(spec.number)
        if tree is None:
            choose = mcts_by_steps.searching_player(env_id, num_playouts)
        else:
            graph, index = (
                mcts_on_tree.game_graph(env_id),
                trees.position_index(env_id),
            )
            choose = mcts_on_tree.online_player(graph, index, num_playouts)
        return Player(env_id=env_id, name=spec.name, choose=choose)
    return Player(
        env_id=env_id,
        name=spec.name,
        policy=_tree_policy(spec, env_id, key),
        evidence="construction",
    )


def training_opponent(spec: PlayerSpec, env_id: EnvId, key: Key[Array, ""]) -> Partial:
    """Return how an opponent moves in a training; see `make_player`.

    A random part draws its own numbers, instead of a move of the player's policy.
    """
    if spec.kind == "random":
        return random_players.random_player
    if spec.kind == "blend" and spec.inner:
        key = _key_of(spec, key)
        inner = training_opponent(spec.inner, env_id, key)
        return random_players.blended_player(spec.number, inner)
    return make_player(spec, env_id, key).choose


def _key_of(spec: PlayerSpec, key: Key[Array, ""]) -> Key[Array, ""]:
    """Return a player's key: it depends on its name, not on its place among others."""
    return jax.random.fold_in(key, zlib.crc32(spec.name.encode()))


def agent_player(name: str, agent: Agent) -> AgentPlayer:
    """Return an agent as a player, with its policy in an enumerable game.

    Raises:
        AgentError: an action value is not finite.
    """
    policy = _checked_policy(name, agent)
    return AgentPlayer(
        env_id=agent.config.env_id,
        name=name,
        choose=agent.player,
        policy=policy,
        agent=agent,
        seats=agent.config.seats,
        evidence="construction",
        corrections=agent.corrections,
        near_best=agent.near_best,
    )


def _checked_policy(name: str, agent: Agent) -> np.ndarray | None:
    """Return an agent's policy; None if the game is not enumerable.

    Raises:
        AgentError: an action value is not finite, or might not be on some board.
    """
    tree = trees.game_tree(agent.config.env_id)
    if tree is not None:
        try:
            return _policy_of(agent.player, tree, jax.random.key(0))
        except AgentError as error:
            raise AgentError(f"{name}: {error}") from None
    largest = network_player.largest_sum(agent.params)
    if largest > float(np.finfo(np.float32).max):
        rule = f"its weights have sums of up to {largest:.0e}"
        raise AgentError(f"{name}: some action values may be not finite: {rule}")
    return None


def _blend(spec: PlayerSpec, inner: Player, tree: Tree | None) -> Player:
    choose = random_players.blended_player(spec.number, inner.choose)
    probs = None
    if tree is not None and inner.policy is not None:
        probs = policies.mix_with_random(tree, spec.number, inner.policy)
    if isinstance(inner, AskedPlayer):
        return replace(inner, name=spec.name, choose=choose, policy=probs)
    return Player(
        env_id=inner.env_id,
        name=spec.name,
        choose=choose,
        policy=probs,
        seats=inner.seats,
        evidence="none" if probs is None else inner.evidence,
    )


def _lookahead(
    spec: PlayerSpec, inner: PlayerSpec, env_id: EnvId, key: Key[Array, ""]
) -> Player:
    depth = int(spec.number)
    max_depth = int(math.log(_MAX_BOARDS, pgx_games.sizes(env_id).num_actions))
    if depth > max_depth:
        raise Refused(f"{spec.name}: the depth is at most {max_depth} in {env_id}")
    agent = saved_agents.load_agent(inner.path, env_id)
    _checked_policy(inner.name, agent)
    if agent.corrections is not None:
        rule = "its corrections take no part: it searches with the network's values"
        standard_streams.print_stderr(f"note: {spec.name}: {rule}")
    gamma = agent.config.target.gamma
    choose = lookahead.lookahead_player(agent.network, agent.params, gamma, depth)
    tree = trees.game_tree(env_id)
    probs, near_best = None, None
    if tree is not None:
        probs = _policy_of(choose, tree, key)
    else:
        near_best = lookahead.lookahead_near_best(
            agent.network, agent.params, gamma, depth
        )
    return Player(
        env_id=env_id,
        name=spec.name,
        choose=choose,
        policy=probs,
        seats=agent.config.seats,
        evidence="construction",
        near_best=near_best,
    )


def _policy_of(
    choose: Partial, tree: Tree, key: Key[Array, ""]
) -> Float[np.ndarray, "P A"]:
    """Return the policy of a deterministic player over a tree."""
    boards = jax.tree.map(lambda x: x[tree.decisions], tree.env_state)
    actions = choose_moves(choose, key, boards)
    return np.asarray(policies.deterministic_policy(tree, actions), float)


def _tree_policy(
    spec: PlayerSpec, env_id: EnvId, key: Key[Array, ""]
) -> Float[np.ndarray, "P A"]:
    """Return the policy of a minimax or mcts player."""
    tree = trees.enumerated(env_id)
    if spec.kind == "mcts":
        graph = mcts_on_tree.game_graph(env_id)
        return mcts_on_tree.offline_policy(
            tree, graph, key, num_playouts=int(spec.number)
        )
    quick = policies.QUICK if spec.kind == "minimax-quick" else 1.0
    return policies.minimax_policy(tree, quick, first_best=spec.kind != "minimax")
