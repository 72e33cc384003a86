"""Trained agents: a network's weights with everything needed to use them."""

import dataclasses
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.tree_util import Partial

from jax_ttt.config.settings import Config
from jax_ttt.files import agent_file
from jax_ttt.files.agent_file import AgentFile, agent_path
from jax_ttt.files.tensor_file import AgentError as AgentError  # the callers' too
from jax_ttt.games.played_game import Game, game_against_itself
from jax_ttt.grading.grade import Grade
from jax_ttt.networks.q_network import Network
from jax_ttt.players import network_player
from jax_ttt.runtime import atomic_files, pytrees


@dataclasses.dataclass(frozen=True)
class SavedAgent:
    """A trained network with its settings, seed and last evaluation."""

    config: Config
    params: nnx.State
    seed: int
    num_updates: int  # learned from; fewer than in the settings if stopped early
    grade: Grade  # of the last evaluation

    @property
    def network(self) -> Network:
        """The network that computes action values from `params`."""
        return network_player.network_from(self.config.architecture)

    @property
    def player(self) -> Partial:
        """The agent's greedy play, as a function `(key, env_state) -> actions`."""
        return network_player.greedy_player(self.network, self.params)

    def game_against_itself(self) -> Game:
        """Return the game in which the agent plays both sides."""
        return game_against_itself(self.config.env_id, self.player)


def make_agent_file(agent: SavedAgent) -> AgentFile:
    """Return the record that the agent's file holds."""
    return AgentFile(
        config=agent.config,
        seed=agent.seed,
        num_updates=agent.num_updates,
        grade=agent.grade,
        tensors=params_as_tensors(agent.params),
    )


def agent_bytes(agent: SavedAgent) -> bytes:
    """Return the contents of an agent's file.

    Raises:
        FloatingPointError: a weight is not finite.
    """
    return agent_file.encode_agent(make_agent_file(agent))


def save_agent(agent: SavedAgent, path: Path) -> None:
    """Write the agent to a file, completely or not at all.

    Raises:
        FloatingPointError: a weight is not finite.
        OSError: the file can't be written.
    """
    atomic_files.write_atomic(path, agent_bytes(agent))


def load_agent(path: Path, env_id: str | None = None) -> SavedAgent:
    """Return the agent of a file or of a run's folder.

    Its game must be `env_id`; None accepts any game.

    Raises:
        AgentError: the file is missing or damaged, another program or version wrote
            it, or its game is another one.
    """
    path = agent_path(path)
    saved = agent_file.read_agent(path)
    if env_id is not None and saved.config.env_id != env_id:
        raise AgentError(f"{path}: made for {saved.config.env_id}, not for {env_id}")
    return SavedAgent(
        config=saved.config,
        params=_params(path, saved),
        seed=saved.seed,
        num_updates=saved.num_updates,
        grade=saved.grade,
    )


def _params(path: Path, saved: AgentFile) -> nnx.State:
    """Return the weights of a file as the network's pytree.

    Raises:
        AgentError: the name, the shape or the dtype of a tensor is not the network's.
    """
    shapes = network_player.param_shapes(
        network_player.network_from(saved.config.architecture)
    )
    expected = {
        name: (leaf.dtype, leaf.shape)
        for name, leaf in pytrees.leaves_by_name(shapes).items()
    }
    actual = {
        name: (tensor.dtype, tensor.shape) for name, tensor in saved.tensors.items()
    }
    if actual != expected:
        env_id = saved.config.env_id
        raise AgentError(f"{path}: its weights don't fit a network for {env_id}")
    leaves = {name: jnp.asarray(tensor) for name, tensor in saved.tensors.items()}
    return pytrees.with_leaves(shapes, leaves)


def params_as_tensors(params: nnx.State) -> dict[str, np.ndarray]:
    """Return a network's weights as arrays by name, as they are stored in a file."""
    leaves = pytrees.leaves_by_name(params)
    return {name: np.asarray(leaf) for name, leaf in leaves.items()}
