"""A trained agent's file: its weights, and everything needed to use them.

Saving the same agent gives the same bytes: the file holds no time and no path. This
module doesn't import JAX, so that commands can read agents before it is loaded.
"""

import dataclasses
import hashlib
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec
import numpy as np

from jax_ttt.config.game_facts import EnvId
from jax_ttt.config.grade import Grade
from jax_ttt.config.ranges import Seed
from jax_ttt.config.settings import Config
from jax_ttt.files import json_records, tensor_file
from jax_ttt.files.tensor_file import AgentError, TensorFile, Tensors
from jax_ttt.runtime import atomic_files

CORRECTIONS = {"corrections.keys": "<u8", "corrections.actions": "|u1"}
"""The names of the tensors of corrections, and their dtypes."""
AGENT_NAME = "agent.safetensors"
"""The name of the trained agent's file in a run's folder."""


def agent_path(path: Path) -> Path:
    """Return the path of an agent's file; `path` may be the folder of its run.

    Raises:
        AgentError: the folder is not that of one run, but holds runs.
    """
    if not path.is_dir():
        return path
    file = path / AGENT_NAME
    if not file.exists() and (hint := runs_hint(file)):
        raise AgentError(f"{path}: not a run's folder{hint}")
    return file


def runs_hint(file: Path) -> str:
    """Return the end of an error about a run's missing file, if there are runs below.

    It names the run with the last name.
    """
    agents = [] if file.exists() else sorted(file.parent.glob(f"*/{AGENT_NAME}"))
    return f"; it holds runs, for instance {agents[-1].parent}" if agents else ""


def checksum(path: Path) -> str:
    """Return the SHA-256 of an agent's file, in hexadecimal digits.

    Raises:
        AgentError: the file can't be read.
    """
    with tensor_file.errors_naming(path):
        content = atomic_files.read_bounded(path, tensor_file.MAX_BYTES)
    return hashlib.sha256(content).hexdigest()


@dataclasses.dataclass(frozen=True, kw_only=True)
class AgentDescription:
    """An agent without its weights: the description in its file."""

    kind: Literal["agent"] = "agent"
    """The kind of file."""
    config: Config
    """The settings."""
    seed: Seed
    """Seed of all random numbers."""
    num_updates: Annotated[int, msgspec.Meta(ge=0)]
    """Updates that the agent learned from; fewer than in the settings if its training
    was stopped early."""
    grade: Grade = dataclasses.field(repr=False)
    """Its last evaluation."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class AgentMetadata(AgentDescription, TensorFile):
    """The entry `jax_ttt` in the metadata of an agent's file."""


class AgentFile(NamedTuple):
    """The contents of an agent's file."""

    description: AgentDescription
    tensors: Tensors
    """The network's weights, and in a corrected agent the columns of its corrections,
    `CORRECTIONS`."""


def encode_agent(agent: AgentFile) -> bytes:
    """Return the contents of an agent's file.

    Raises:
        FloatingPointError: a weight is not finite.
    """
    for name, tensor in agent.tensors.items():
        if not np.isfinite(tensor).all():
            raise FloatingPointError(f"{name} is not finite; the agent was not saved")
    metadata = json_records.extend(AgentMetadata, agent.description)
    return tensor_file.encode_tensors(metadata, agent.tensors)


def read_agent(path: Path) -> AgentFile:
    """Return the agent of a file.

    Whether the tensors fit a network and a game is not checked: that needs JAX.

    Raises:
        AgentError: the file is missing or damaged, another program or version wrote it,
            a weight is not finite, or corrections are incomplete.
    """
    description, tensors = tensor_file.read_tensors(path, AgentDescription)
    agent = AgentFile(description, tensors)
    for name, tensor in agent.tensors.items():
        if not np.isfinite(tensor).all():
            raise AgentError(f"{path}: {name} has a weight that is not finite")
    columns = [name for name in CORRECTIONS if name in agent.tensors]
    for name in columns:
        if agent.tensors[name].dtype.str != CORRECTIONS[name]:
            raise AgentError(
                f"{path}: {name} has another dtype than {CORRECTIONS[name]}"
            )
    if len(columns) == 1:
        raise AgentError(f"{path}: corrections need both keys and actions")
    return agent


def read_env_id(path: Path) -> EnvId:
    """Return the game of a file's agent; its weights are not read.

    Raises:
        AgentError: the file is missing or damaged, or another program or version wrote
            it.
    """
    return tensor_file.read_description(path, AgentDescription).config.env_id
