"""The architecture: what is needed to use a trained network. Imports no JAX."""

import dataclasses

from jax_ttt.config.catalogue import EnvId
from jax_ttt.config.choices import Heads
from jax_ttt.config.parts.network import NetworkSettings

PATCH_SIDE = 4
"""Cells of the side of a filter's patch: as many as make a line in Connect Four."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Architecture:
    """The game, the network's settings and its heads, without how it learns.

    Compiled matches and policies are cached by it, so networks of one architecture
    share their programs.
    """

    env_id: EnvId
    heads: Heads
    network: NetworkSettings
