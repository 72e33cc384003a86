"""Opponents as policies over the tree, computed once each in a worker thread.

Axes: `P` positions, `A` actions.
"""

import collections
import concurrent.futures
import hashlib
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import jax
import numpy as np
from jaxtyping import Float

from jax_ttt.config import catalogue
from jax_ttt.games import tree as trees
from jax_ttt.players import agents, levels, names, registry
from jax_ttt.players.agents import Agent, AgentError
from jax_ttt.players.levels import Level
from jax_ttt.players.shipped import SHIPPED
from jax_ttt.serving.replies import Refusal
from jax_ttt.sessions.agent_list import AgentList
from jax_ttt.sessions.games import Opponent
from jax_ttt.solver import policies

DEFAULT_AGENT = f"shipped/{next(iter(SHIPPED))}"
"""The learned agent of the levels, unless another one is asked for."""
LIVE = "live"
"""The id of the agent that is in training in the server."""
MOST_POLICIES = 64
_ANY = "random"  # stands for the learned agent where a level's player is named

Key = tuple[object, ...]


@runtime_checkable
class Trained(Protocol):
    """Where the agent in training comes from."""

    def agent(self, update: int | None = None) -> Agent | None:
        """Return the agent as it is now, or after `update`; None if there is none."""
        ...


class Opponents:
    """Agents by id and levels, as policies. Its methods run in the worker thread."""

    def __init__(self, listed: AgentList, trained: Trained) -> None:
        self.listed, self._trained = listed, trained
        self.worker = concurrent.futures.ThreadPoolExecutor(1, "agents")
        self._policies: collections.OrderedDict[Key, np.ndarray] = (
            collections.OrderedDict()
        )

    def agent(self, agent_id: str, update: int | None = None) -> Agent:
        """Return an agent, as it was after `update` if given.

        Raises:
            Refusal: there is no such agent, or it has no such snapshot.
        """
        if agent_id == LIVE:
            found = self._trained.agent(update)
            if found is None:
                raise Refusal(404, "no agent is in training, or it has no such update")
            return found
        entry = self.listed.find(agent_id)
        if update is None or update == entry.agent.num_updates:
            return entry.agent
        snapshot = self.listed.snapshot(entry, update)
        if snapshot is None:
            raise Refusal(404, f"this agent has no snapshot of update {update}")
        return snapshot

    def policy(
        self, agent_id: str, update: int | None = None
    ) -> Float[np.ndarray, "P A"]:
        """Return the greedy policy of an agent.

        Raises:
            Refusal: there is no such agent, or its values are not finite.
        """
        return self._policy(*self._versioned(agent_id, update))

    def level(
        self, level: Level, agent_id: str, update: int | None = None
    ) -> Float[np.ndarray, "P A"]:
        """Return the policy of a level; the learned agent behind it is given by id."""
        spec = names.read_name(levels.player_name(level, _ANY), catalogue.DEFAULT)
        if spec.name == _ANY:
            return self.policy(agent_id, update)
        if spec.kind == "blend":
            key, agent = self._versioned(agent_id, update)

            def mixed() -> np.ndarray:
                inner = self._policy(key, agent)
                tree = trees.enumerated(catalogue.DEFAULT)
                return policies.mixed(tree, float(spec.number), inner)

            return self._kept((level, *key), mixed)

        def entered() -> np.ndarray:
            probs = registry.enter(spec, catalogue.DEFAULT, jax.random.key(0)).probs
            assert probs is not None  # the game is enumerable
            return probs

        return self._kept((spec.name,), entered)

    def opponent(
        self, level: str | None, agent_id: str | None, update: int | None
    ) -> Opponent:
        """Return the opponent that the page asks for, by level or by agent.

        Raises:
            Refusal: there is none.
        """
        if level is None and agent_id is None:
            raise Refusal(400, "opponent needs a level or an agent")
        asked = {"level": level, "agent": agent_id, "update": update}
        about = {name: value for name, value in asked.items() if value is not None}
        if level is None:
            assert agent_id is not None
            return Opponent(about, self.policy(agent_id, update))
        if level not in levels.LEVELS:
            raise Refusal(400, f"level must be one of {', '.join(levels.LEVELS)}")
        known = levels.LEVELS[levels.LEVELS.index(level)]
        probs = self.level(known, agent_id or DEFAULT_AGENT, update)
        return Opponent(about, probs)

    def prepare(self) -> None:
        """Compute what the first page asks for, so that it need not wait."""
        for level in levels.LEVELS:
            self.level(level, DEFAULT_AGENT)

    def close(self) -> None:
        """Take no more work, and wait for what is being computed."""
        self.worker.shutdown(cancel_futures=True)

    def _versioned(self, agent_id: str, update: int | None) -> tuple[Key, Agent]:
        """Return an agent, and what tells it from its other versions.

        Games share the policies of one version: 1,000 of their own would take 0.4 GB.
        """
        agent = self.agent(agent_id, update)
        if agent_id != LIVE:
            return (agent_id, update, self.listed.find(agent_id).stamp), agent
        digest = hashlib.sha256()
        for tensor in agents.tensors_of(agent.params).values():
            digest.update(tensor.tobytes())
        return (agent_id, digest.hexdigest()), agent

    def _policy(self, key: Key, agent: Agent) -> Float[np.ndarray, "P A"]:
        return self._kept(key, lambda: _policy_of(agent))

    def _kept(self, key: Key, make: Callable[[], np.ndarray]) -> np.ndarray:
        if key not in self._policies:
            self._policies[key] = make()
            while len(self._policies) > MOST_POLICIES:
                self._policies.popitem(last=False)
        self._policies.move_to_end(key)
        return self._policies[key]


def _policy_of(agent: Agent) -> Float[np.ndarray, "P A"]:
    try:
        probs = registry.enter_agent("the agent", agent).probs
    except AgentError as error:
        raise Refusal(409, str(error)) from None
    assert probs is not None  # the game is enumerable
    return probs
