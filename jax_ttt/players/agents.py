"""Trained agents as safetensors files, with everything needed to use them.

Saving the same agent gives the same bytes: the file holds no time and no path.
"""

import contextlib
import dataclasses
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import safetensors
import safetensors.numpy

from jax_ttt import __version__
from jax_ttt.config import catalogue
from jax_ttt.config.catalogue import GAMES, EnvId
from jax_ttt.config.errors import PlayerError, SettingError
from jax_ttt.config.ranges import SEED_RANGE, Range
from jax_ttt.config.settings import FORMAT_VERSION, READABLE, Config, config_from_dict
from jax_ttt.players.names import Spec
from jax_ttt.results import plain
from jax_ttt.results.grades import Grades, read_grades
from jax_ttt.runtime import files, named_arrays

if TYPE_CHECKING:
    from jax_ttt.networks.q_network import Network

MAX_BYTES = 2**30  # far above the largest network that the flags allow in practice
UPDATES_DONE = Range(int, 0, 10**9)
_KEY = "jax_ttt"  # one entry: safetensors writes several in no fixed order


class AgentError(PlayerError):
    """An agent file is unusable; the message names the file and the reason."""


@dataclasses.dataclass(frozen=True)
class Agent:
    """A trained network with its settings, seed and last evaluation."""

    config: Config
    params: Any  # nnx.State, or its leaves by name
    seed: int
    num_updates: int  # learned from; fewer than in the settings if stopped early
    score: Grades = dataclasses.field(default_factory=Grades)  # the last evaluation

    @property
    def network(self) -> "Network":
        """The network that computes action values from `params`."""
        from jax_ttt.players.network import network_of

        return network_of(self.config.architecture)


def save_agent(agent: Agent, path: Path) -> None:
    """Write the agent to a file, completely or not at all.

    Raises:
        FloatingPointError: a weight is not finite.
        OSError: the file can't be written.
    """
    files.write_whole(path, agent_file(agent))


def agent_file(agent: Agent) -> bytes:
    """Return the contents of an agent's file; see `save_agent`."""
    tensors = tensors_of(agent.params)
    if not all(np.isfinite(x).all() for x in tensors.values()):
        raise FloatingPointError("a weight is not finite; the agent was not saved")
    about = {
        "format_version": FORMAT_VERSION,
        "version": __version__,
        "env_id": agent.config.env_id,
        "network": agent.config.network.network,
        "architecture": agent.config.architecture.as_dict(),
        "config": agent.config.as_dict(),
        "seed": agent.seed,
        "num_updates": agent.num_updates,
        "score": plain.to_dict(agent.score),
    }
    return as_bytes(about, tensors)


def load_agent(path: Path, env_id: str | None = None) -> Agent:
    """Return the agent of a file or of a run's folder.

    Raises:
        AgentError: the file is missing or damaged, another program or version wrote
            it, or its game is not `env_id` (None accepts any game).
    """
    path = _file(path)
    return _read(path, *contents(path), env_id)


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
            with _reading(path) as file:
                about = _about(file)
            found.setdefault(_described_game(path, about), path)
    if len(found) > 1:
        (first, path), (second, other), *_ = found.items()
        raise AgentError(f"{other}: made for {second}, but {path} for {first}")
    return next(iter(found)) if found else catalogue.DEFAULT


def as_bytes(about: dict[str, Any], tensors: dict[str, np.ndarray]) -> bytes:
    """Return a file of a description and tensors, which `contents` reads."""
    whole = about | {"sha256": _digest(tensors)}
    text = json.dumps(whole, sort_keys=True, allow_nan=False)
    return safetensors.numpy.save(tensors, {_KEY: text})


def contents(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return a file's description and tensors; the caller checks what they hold.

    Raises:
        AgentError: the file is missing or damaged, another program or version wrote it,
            or the tensors were changed.
    """
    with _reading(path) as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        about = _of_this_format(path, _about(file))
    if about.get("sha256") != _digest(tensors):
        raise AgentError(f"{path}: the weights were changed after they were saved")
    return about, tensors


def _file(path: Path) -> Path:
    """Return the path of an agent's file, given it or its folder."""
    return path / "agent.safetensors" if path.is_dir() else path


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[Any]:
    """Open an agent's file; errors in its contents name the file."""
    if not path.is_file():
        reason = "not a regular file" if path.exists() else "no such file"
        raise AgentError(f"{path}: {reason}")
    if path.stat().st_size > MAX_BYTES:
        raise AgentError(f"{path}: larger than {MAX_BYTES:,} bytes, not an agent")
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            yield file
    except (
        *(safetensors.SafetensorError, OSError, ValueError, RecursionError),
        *(AttributeError, TypeError),  # a dtype that NumPy does not have
    ) as error:
        raise AgentError(f"{path}: damaged or not an agent ({error})") from error


def _about(file: Any) -> object:  # noqa: ANN401
    """Return a file's description, unchecked; None if it has none."""
    return json.loads((file.metadata() or {}).get(_KEY, "null"))


def _of_this_format(path: Path, about: object) -> dict[str, Any]:
    """Return a file's description if this program and version can read it."""
    if not isinstance(about, dict):
        raise AgentError(f"{path}: not saved by jax_ttt")
    if about.get("format_version") not in READABLE:
        raise AgentError(
            f"{path}: format version {about.get('format_version')!r}; "
            f"this program reads {' and '.join(map(str, READABLE))}"
        )
    return about


def _described_game(path: Path, about: object) -> EnvId:
    """Return the game of an agent, read from its description."""
    named = _of_this_format(path, about).get("env_id")
    if isinstance(named, str) and named in GAMES:
        return named
    raise AgentError(f"{path}: made for {named!r}, which is an unknown game")


def _read(
    path: Path, about: dict[str, Any], tensors: named_arrays.Named, env_id: str | None
) -> Agent:
    """Return the agent of a file's contents, all of which are checked."""
    game = about.get("env_id")
    if env_id is not None and game != env_id:
        raise AgentError(f"{path}: made for {game}, not for {env_id}")
    with describing(path):
        config, seed = settings_of(about), about["seed"]
        updates, score = about["num_updates"], read_grades(about["score"], "score")
        SEED_RANGE.check("seed", seed)
        UPDATES_DONE.check("num_updates", updates)
    if config.env_id != game:
        raise AgentError(f"{path}: its game does not match its settings")
    if about.get("network") != config.network.network:
        raise AgentError(f"{path}: its network does not match its settings")
    own = config.architecture.as_dict()
    if about.get("architecture", own) != own:
        raise AgentError(f"{path}: its architecture does not match its settings")
    return Agent(config, params_of(path, config, tensors), seed, updates, score)


@contextlib.contextmanager
def describing(path: Path) -> Iterator[None]:
    """Name the file in errors that its description causes meanwhile."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        reason = str(error) if isinstance(error, SettingError) else repr(error)
        raise AgentError(f"{path}: damaged description ({reason})") from error


def settings_of(about: dict[str, Any]) -> Config:
    """Return the settings in a file's description.

    Raises:
        SettingError: a field is unknown or outside its range.
        KeyError, TypeError, ValueError: there are no settings.
    """
    config, version = config_from_dict(dict(about["config"])), about["format_version"]
    if version < GAMES[config.env_id].symmetries_since:
        return config.replace(canonical=False)
    return config


def params_of(path: Path, config: Config, tensors: dict[str, np.ndarray]) -> Any:  # noqa: ANN401
    """Return the weights as the network's pytree, checked against its shapes.

    Raises:
        AgentError: the weights of the file don't fit, or one is not finite.
    """
    from jax_ttt.players import network

    own = network.network_of(config.architecture)
    flat = named_arrays.flat(network.shapes(own))
    leaves = {name: _transposed(name, tensor) for name, tensor in tensors.items()}
    if {n: (t.shape, t.dtype) for n, t in flat.items()} != {
        n: (t.shape, t.dtype) for n, t in leaves.items()
    }:
        raise AgentError(f"{path}: its weights don't fit a network for {config.env_id}")
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            raise AgentError(f"{path}: {name} has a weight that is not finite")
    return network.params_from(own, leaves)


def tensors_of(params: Any) -> dict[str, np.ndarray]:  # noqa: ANN401
    """Return a network's weights as tensors of a file, by name."""
    flat = named_arrays.flat(params).items()
    return {name: _transposed(name, np.asarray(leaf)) for name, leaf in flat}


def _transposed(name: str, tensor: np.ndarray) -> np.ndarray:
    """Return a network's leaf as a file's tensor, or a file's tensor as a leaf.

    A kernel is `(inputs, outputs)` in files and `(outputs, inputs)` in networks.
    """
    return np.ascontiguousarray(tensor.T) if name.endswith(".kernel") else tensor


def _digest(tensors: dict[str, np.ndarray]) -> str:
    """Return the SHA-256 of the weights; safetensors does not detect a flipped bit."""
    found = hashlib.sha256()
    for name in sorted(tensors):
        found.update(name.encode() + np.ascontiguousarray(tensors[name]).tobytes())
    return found.hexdigest()
