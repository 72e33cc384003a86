"""Trained agents: a network's weights with everything needed to use them."""

import dataclasses
import functools
import hashlib
import importlib
import types
from pathlib import Path

import jax
import numpy as np
from flax import nnx
from jax.tree_util import Partial

from jax_ttt.config.errors import AgentError, Refused
from jax_ttt.config.game_facts import EnvId
from jax_ttt.config.grade import Grade
from jax_ttt.config.settings import Config
from jax_ttt.dqn import greedy_player
from jax_ttt.files import tensor_file
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.files.run_folder import agent_path
from jax_ttt.files.tensor_file import AgentDescription, Tensors
from jax_ttt.games import tree as trees
from jax_ttt.games.played_game import Game, game_against_itself
from jax_ttt.networks import integer_network, q_network
from jax_ttt.networks.q_network import Network
from jax_ttt.players import corrections as corrected
from jax_ttt.players import network_player, random_players
from jax_ttt.players.corrections import Corrections
from jax_ttt.runtime import atomic_files, pytrees
from jax_ttt.runtime.words import count_phrase


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Agent:
    """A trained agent; a notebook shows its results and a game against itself.

    Attributes:
        config: The settings of its training.
        params: The weights of its network, a pytree.
        network: The network without its weights, for `jax_ttt.networks.q_network`.
        seed: The seed of its training.
        num_updates: The number of updates that it learned from.
        grade: The grade of its last evaluation.
        precision: `"float32"`, or `"int8"` for a network of integers.
        corrections: The positions with a move to play in place of the network's, and
            these moves; None without any. See `correct`.

    Examples:
        >>> agent = jax_ttt.train(seed=1, preset="table").agent
        >>> agent
        <agent of tic_tac_toe: table, seed 1, 400 updates>
        >>> agent.config.env_id, agent.config.seats
        ('tic_tac_toe', ('first', 'second'))
    """

    description: AgentDescription
    params: nnx.State
    corrections: Corrections | None = None

    @classmethod
    def of(
        cls,
        config: Config,
        params: nnx.State,
        seed: int = 0,
        num_updates: int = 0,
        grade: Grade | None = None,
    ) -> "Agent":
        """Return the agent of these weights, by default without results."""
        grade = grade or Grade(env_id=config.env_id, seats=config.seats)
        description = AgentDescription(
            config=config, seed=seed, num_updates=num_updates, grade=grade
        )
        return cls(description, params)

    @property
    def config(self) -> Config:
        """The settings of its training."""
        return self.description.config

    @property
    def seed(self) -> int:
        """The seed of its training."""
        return self.description.seed

    @property
    def num_updates(self) -> int:
        """The number of updates that it learned from."""
        return self.description.num_updates

    @property
    def grade(self) -> Grade:
        """The grade of its last evaluation."""
        return self.description.grade

    def with_grade(self, grade: Grade) -> "Agent":
        """Return the agent with another grade."""
        description = dataclasses.replace(self.description, grade=grade)
        return dataclasses.replace(self, description=description)

    @property
    def network(self) -> Network:
        """The network that computes action values from `params`."""
        return network_player.network_from(self.config.architecture)

    @functools.cached_property
    def player(self) -> Partial:
        """The agent's play, as a function `(key, env_state) -> actions`.

        It is greedy, except in positions with a correction. The last bits of a value
        depend on how many boards a program computes, and what plays is what was proven.
        So in an enumerable game the moves are computed once, in all positions; in
        others, a network of floats computes as many boards at a time in each program.

        Raises:
            AgentError: in an enumerable game, an action value is not finite.
        """
        env_id, network = self.config.env_id, self.network
        tree = trees.game_tree(env_id)
        if tree is None:
            greedy = network_player.steady_player(network, self.params)
        else:
            policy = network_player.greedy_policy(network, self.params, tree)
            # With NaN values, the greedy move would be any legal one.
            if not np.isfinite(policy).all():
                raise AgentError("its action values are not finite")
            index = trees.position_index(env_id)
            greedy = random_players.policy_player(index, np.asarray(policy))
        if self.corrections is None:
            return greedy
        is_symmetric = greedy_player.is_symmetric(network)
        return corrected.corrected_player(
            env_id, greedy, self.corrections, is_symmetric
        )

    @property
    def near_best(self) -> Partial | None:
        """Its near-best moves, for `Player.near_best`."""
        network = self.network
        near_best = network_player.near_best_player(network, self.params)
        if near_best is None or self.corrections is None:
            return near_best
        return corrected.corrected_near_best(
            env_id=self.config.env_id,
            near_best=near_best,
            corrections=self.corrections,
            is_symmetric=greedy_player.is_symmetric(network),
        )

    @property
    def precision(self) -> str:
        """The dtype of the weights: float32, or int8 for a network of integers."""
        return "int8" if integer_network.is_integer(self.params) else "float32"

    def game_against_itself(self) -> Game:
        """Return the game in which the agent plays both sides."""
        return game_against_itself(self.config.env_id, self.player)

    def picture(self, theme: Theme = "light") -> Picture:
        """Draw the agent's likeliest game against itself, move by move.

        Raises:
            Refused: the game is too large to enumerate.
        """
        return _pictures().agent_picture(self, theme)

    def __repr__(self) -> str:
        own = self.config.own
        parts = [
            "" if own is None else own.learner,
            self.config.network_name,
            f"seed {self.seed}",
            count_phrase(self.num_updates, "update"),
        ]
        if self.precision != "float32":
            parts.append(self.precision)
        if self.corrections is not None:
            parts.append(count_phrase(len(self.corrections), "correction"))
        return f"<agent of {self.config.env_id}: {', '.join(filter(None, parts))}>"

    def _repr_html_(self) -> str:
        return _pictures().agent_html(self)


def _pictures() -> types.ModuleType:
    """Return the module that draws agents: it is in a higher folder than this one."""
    return importlib.import_module("jax_ttt.api.agent")


def agent_bytes(agent: Agent) -> bytes:
    """Return the contents of an agent's file.

    The same agent gives the same bytes: they hold no time and no path.

    Raises:
        FloatingPointError: a weight is not finite.
        Refused: nothing has the source of its own learner or network.
    """
    if (own := agent.config.own) is not None and not own.sha256:
        names = " and ".join(filter(None, (own.learner, own.network)))
        raise Refused(f"{names} must be in a file, so that the saved agent can be used")
    tensors = params_as_tensors(agent.params)
    if (corrections := agent.corrections) is not None:
        columns = corrections.keys, corrections.actions
        tensors |= zip(tensor_file.CORRECTIONS, columns, strict=True)
    return tensor_file.encode_tensors(agent.description, tensors)


def save_agent(agent: Agent, path: Path) -> None:
    """Write the agent to a file, completely or not at all.

    Raises:
        FloatingPointError: a weight is not finite.
        OSError: the file can't be written.
    """
    atomic_files.write_atomic(path, agent_bytes(agent))


def load_agent(path: Path) -> Agent:
    """Return the agent of a file or of a run's folder.

    Raises:
        AgentError: the file is missing or damaged, or another program or version wrote
            it.
    """
    path = agent_path(path)
    description, tensors = tensor_file.read_tensors(path, AgentDescription)
    columns = tensor_file.take_corrections(path, tensors)
    return Agent(
        description=description,
        corrections=_corrections(path, description.config.env_id, columns),
        params=_params(path, description.config, tensors),
    )


def read_env_id(path: Path) -> EnvId:
    """Return the game of a file's agent; its weights are not read.

    Raises:
        AgentError: the file is missing or damaged, or another program or version wrote
            it.
    """
    return tensor_file.read_description(path, AgentDescription).config.env_id


def file_checksum(path: Path) -> str:
    """Return the SHA-256 of an agent's file, in hexadecimal digits.

    Raises:
        AgentError: the file can't be read.
    """
    with tensor_file.errors_naming(path):
        content = atomic_files.read_bounded(path, tensor_file.MAX_BYTES)
    return hashlib.sha256(content).hexdigest()


def _params(path: Path, config: Config, tensors: Tensors) -> nnx.State:
    """Return the weights of a file as the network's pytree.

    Raises:
        AgentError: the name, the shape or the dtype of a tensor is not the network's.
    """
    network = network_player.network_from(config.architecture)
    shapes = q_network.param_shapes(network)
    is_integer = any(tensor.dtype.kind == "i" for tensor in tensors.values())
    if is_integer:
        with tensor_file.errors_naming(path):
            shapes = _integer_shapes(network, shapes)
    try:
        params = jax.device_put(pytrees.with_leaves(shapes, tensors))
    except ValueError as error:
        rule = f"its weights don't fit a network for {config.env_id}: {error}"
        raise AgentError(f"{path}: {rule}") from None
    if is_integer:
        with tensor_file.errors_naming(path):
            integer_network.check_integers(params)
    return params


def _integer_shapes(network: Network, float_shapes: nnx.State) -> nnx.State:
    """Return the shapes of the network's integers; `ValueError` if it has none."""
    if reason := integer_network.reason_not_possible(network.architecture):
        raise ValueError(reason)
    return integer_network.integer_shapes(float_shapes)


def _corrections(path: Path, env_id: EnvId, columns: Tensors) -> Corrections | None:
    """Return the corrections of a file; None without any.

    Raises:
        AgentError: they are not boards of the game with legal moves, in order.
    """
    if not columns:
        return None
    with tensor_file.errors_naming(path):
        corrections = Corrections(*columns.values())
        corrected.check_corrections(env_id, corrections)
    return corrections


def params_as_tensors(params: nnx.State) -> Tensors:
    """Return a network's weights as arrays by name, as they are stored in a file."""
    leaves = pytrees.leaves_by_name(params)
    return {name: np.asarray(leaf) for name, leaf in leaves.items()}
