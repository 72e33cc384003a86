"""A trained agent's file: its weights, and everything needed to use them.

Saving the same agent gives the same bytes: the file holds no time and no path. This
module doesn't import JAX, so that commands can read agents before it is loaded.
"""

import dataclasses
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np

from jax_ttt.config.game_facts import EnvId
from jax_ttt.config.ranges import SEED_RANGE, Setting
from jax_ttt.config.settings import Config
from jax_ttt.files import tensor_file
from jax_ttt.files.tensor_file import AgentError
from jax_ttt.grading.grade import Grade

AGENT_NAME = "agent.safetensors"
"""The name of the trained agent's file in a run's folder."""


def agent_path(path: Path) -> Path:
    """Return the path of an agent's file; `path` may be the folder of its run."""
    return path / AGENT_NAME if path.is_dir() else path


@dataclasses.dataclass(frozen=True, kw_only=True)
class _AgentGame:
    """The part of the description in an agent's file that tells its game."""

    kind: Literal["agent"] = "agent"
    """The kind of file."""
    env_id: EnvId
    """The game."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class AgentDescription(_AgentGame):
    """The description in an agent's file, beside its tensors."""

    config: dict[str, Setting]
    """The settings, by the names of their fields."""
    seed: int
    """Seed of all random numbers."""
    num_updates: Annotated[int, msgspec.Meta(ge=0)]
    """Updates that the agent learned from."""
    score: Grade
    """Its last evaluation."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class AgentFile:
    """The contents of an agent's file."""

    config: Config
    seed: int
    num_updates: int  # learned from; fewer than in the settings if stopped early
    grade: Grade  # of the last evaluation
    tensors: dict[str, np.ndarray]  # the network's weights by name


def encode_agent(agent: AgentFile) -> bytes:
    """Return the contents of an agent's file.

    Raises:
        FloatingPointError: a weight is not finite.
    """
    for name, tensor in agent.tensors.items():
        if not np.isfinite(tensor).all():
            raise FloatingPointError(f"{name} is not finite; the agent was not saved")
    description = AgentDescription(
        env_id=agent.config.env_id,
        config=agent.config.as_dict(),
        seed=agent.seed,
        num_updates=agent.num_updates,
        score=agent.grade,
    )
    return tensor_file.encode_tensors(description, agent.tensors)


def read_agent(path: Path) -> AgentFile:
    """Return the agent of a file.

    Whether the weights fit a network is not checked: that needs JAX.

    Raises:
        AgentError: the file is missing or damaged, another program or version wrote it,
            or a weight is not finite.
    """
    description, tensors = tensor_file.read_tensors(path, AgentDescription)
    with tensor_file.errors_naming(path):
        config = Config.of(**description.config)
        SEED_RANGE.check("seed", description.seed)
    if config.env_id != description.env_id:
        raise AgentError(f"{path}: its game does not match its settings")
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            raise AgentError(f"{path}: {name} has a weight that is not finite")
    return AgentFile(
        config=config,
        seed=description.seed,
        num_updates=description.num_updates,
        grade=description.score,
        tensors=tensors,
    )


def read_env_id(path: Path) -> EnvId:
    """Return the game of a file's agent; its weights are not read.

    Raises:
        AgentError: the file is missing or damaged, or another program or version wrote
            it.
    """
    return tensor_file.read_description(path, _AgentGame).env_id
