"""Trained agents as safetensors files, with everything needed to use them.

Saving the same agent gives the same bytes: the file holds no time and no path.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from flax import nnx

from jax_ttt import __version__
from jax_ttt.config import catalogue
from jax_ttt.config.catalogue import GAMES, EnvId
from jax_ttt.config.ranges import SEED_RANGE, Range
from jax_ttt.config.settings import FORMAT_VERSION, Config
from jax_ttt.networks.q_network import Network
from jax_ttt.players import network
from jax_ttt.players.names import Spec
from jax_ttt.results import plain, reading, tensor_files
from jax_ttt.results.grades import Grades, read_grades
from jax_ttt.results.plain import JsonObject
from jax_ttt.results.tensor_files import AgentError as AgentError  # the callers' too
from jax_ttt.results.tensor_files import TensorSpec
from jax_ttt.runtime import files, pytrees

UPDATES_DONE = Range(int, 0, 10**9)
_TRANSPOSED = ".kernel"
"""The end of the names of tensors whose axes have another order in files."""


@dataclasses.dataclass(frozen=True)
class Agent:
    """A trained network with its settings, seed and last evaluation."""

    config: Config
    params: nnx.State
    seed: int
    num_updates: int  # learned from; fewer than in the settings if stopped early
    score: Grades = dataclasses.field(default_factory=Grades)  # the last evaluation

    @property
    def network(self) -> Network:
        """The network that computes action values from `params`."""
        return network.network_of(self.config.architecture)


def save_agent(agent: Agent, path: Path) -> None:
    """Write the agent to a file, completely or not at all.

    Raises:
        FloatingPointError: a weight is not finite.
        OSError: the file can't be written.
    """
    files.write_whole(path, agent_file(agent))


def agent_file(agent: Agent) -> bytes:
    """Return the contents of an agent's file.

    Raises:
        FloatingPointError: a weight is not finite.
    """
    tensors = tensors_of(agent.params)
    if not all(np.isfinite(tensor).all() for tensor in tensors.values()):
        raise FloatingPointError("a weight is not finite; the agent was not saved")
    about = {
        "format_version": FORMAT_VERSION,
        "version": __version__,
        "env_id": agent.config.env_id,
        "network": agent.config.network.network,
        "config": agent.config.as_dict(),
        "seed": agent.seed,
        "num_updates": agent.num_updates,
        "score": plain.to_dict(agent.score),
    }
    return tensor_files.as_bytes(about, tensors)


def load_agent(path: Path, env_id: str | None = None) -> Agent:
    """Return the agent of a file or of a run's folder.

    Raises:
        AgentError: the file is missing or damaged, another program or version wrote
            it, or its game is not `env_id` (None accepts any game).
    """
    path = _file(path)
    with tensor_files.open_tensors(path) as file:
        about = _described(path, file.about, env_id)
        shapes = check_specs(path, about.config, file.specs)
        tensors = file.tensors()
    return Agent(
        config=about.config,
        params=_params(path, shapes, tensors),
        seed=about.seed,
        num_updates=about.num_updates,
        score=about.score,
    )


def game(specs: Sequence[Spec], asked: EnvId | None) -> EnvId:
    """Return the game that the players play.

    It is `asked` if given, else the game of the saved agents among them, else the
    default game. Only the descriptions of the files are read.

    Raises:
        AgentError: a file can't be read, or two agents are made for different games.
    """
    if asked is not None:
        return asked
    found: dict[EnvId, Path] = {}
    for spec in specs:
        while spec.inner is not None:
            spec = spec.inner
        if spec.kind == "agent":
            path = _file(spec.path)
            found.setdefault(_described_game(path), path)
    if len(found) > 1:
        (first, path), (second, other), *_ = found.items()
        raise AgentError(f"{other}: made for {second}, but {path} for {first}")
    return next(iter(found)) if found else catalogue.DEFAULT


def _file(path: Path) -> Path:
    """Return the path of the agent's file; `path` may be its folder."""
    return path / "agent.safetensors" if path.is_dir() else path


def _described_game(path: Path) -> EnvId:
    """Return the game of an agent, read from its description."""
    return _game_of(path, tensor_files.description(path))


def _game_of(path: Path, about: JsonObject) -> EnvId:
    game = about.get("env_id")
    if game is None:  # for instance, snapshots
        raise AgentError(f"{path}: not an agent")
    if isinstance(game, str) and game in GAMES:
        return game
    text = reading.one_line(repr(game))
    raise AgentError(f"{path}: made for {text}, which is an unknown game")


class _Description(NamedTuple):
    """What a file tells of an agent, without the weights."""

    config: Config
    seed: int
    num_updates: int
    score: Grades


def _described(path: Path, about: JsonObject, env_id: str | None) -> _Description:
    """Return what a description tells, all of which is checked."""
    game = _game_of(path, about)
    if env_id is not None and game != env_id:
        raise AgentError(f"{path}: made for {game}, not for {env_id}")
    with tensor_files.describing(path):
        config, score = settings_of(about), read_grades(about["score"], "score")
        SEED_RANGE.check("seed", about["seed"])
        UPDATES_DONE.check("num_updates", about["num_updates"])
        seed = plain.field(about, "seed", int)
        updates = plain.field(about, "num_updates", int)
    if config.env_id != game:
        raise AgentError(f"{path}: its game does not match its settings")
    if about.get("network") != config.network.network:
        raise AgentError(f"{path}: its network does not match its settings")
    return _Description(config, seed, updates, score)


def settings_of(about: JsonObject) -> Config:
    """Return the settings in a file's description.

    Raises:
        SettingError: a field is unknown or outside its range.
        KeyError, TypeError, ValueError: there are no settings.
    """
    config = Config.of(**plain.field(about, "config", dict))
    version = plain.field(about, "format_version", int)
    if version < GAMES[config.env_id].symmetries_since:
        return config.replace(canonical=False)
    return config


def check_specs(path: Path, config: Config, specs: dict[str, TensorSpec]) -> nnx.State:
    """Return the network's pytree with shapes as leaves; nothing is allocated.

    Raises:
        AgentError: a name, a shape or a dtype of a tensor is not the network's.
    """
    shapes = network.shapes(network.network_of(config.architecture))
    expected = {}
    for name, leaf in pytrees.leaves_by_name(shapes).items():
        shape = leaf.shape[::-1] if name.endswith(_TRANSPOSED) else leaf.shape
        expected[name] = TensorSpec(np.dtype(leaf.dtype), shape)
    if specs != expected:
        game = config.env_id
        raise AgentError(f"{path}: its weights don't fit a network for {game}")
    return shapes


def params_of(path: Path, config: Config, tensors: dict[str, np.ndarray]) -> nnx.State:
    """Return the weights as the network's pytree, checked against its shapes.

    Raises:
        AgentError: the weights of the file don't fit, or one is not finite.
    """
    specs = {name: TensorSpec(t.dtype, t.shape) for name, t in tensors.items()}
    return _params(path, check_specs(path, config, specs), tensors)


def _params(path: Path, shapes: nnx.State, tensors: dict[str, np.ndarray]) -> nnx.State:
    """Return tensors of the right shapes as the network's pytree, copied."""
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            raise AgentError(f"{path}: {name} has a weight that is not finite")
    # Copied by NumPy: a copy by JAX compiles a program for each shape.
    copies = {n: np.array(_transposed(n, t)) for n, t in tensors.items()}
    leaves = {n: jnp.asarray(copy) for n, copy in copies.items()}
    return pytrees.with_leaves(shapes, leaves)


def tensors_of(params: nnx.State) -> dict[str, np.ndarray]:
    """Return a network's weights as tensors of a file, by name."""
    named = pytrees.leaves_by_name(params)
    return {name: _transposed(name, np.asarray(leaf)) for name, leaf in named.items()}


def _transposed(name: str, tensor: np.ndarray) -> np.ndarray:
    """Return a network's leaf as a file's tensor, or a file's tensor as a leaf.

    A kernel is `(inputs, outputs)` in files and `(outputs, inputs)` in networks.
    """
    return np.ascontiguousarray(tensor.T) if name.endswith(_TRANSPOSED) else tensor
