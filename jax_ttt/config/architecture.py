"""The architecture: the settings needed to use a trained network. Imports no JAX."""

import dataclasses

from jax_ttt.config.catalogue import EnvId
from jax_ttt.config.choices import Activation, Heads, NetworkKind, TableKey

PATCH_SIDE = 4
"""Cells of the side of a filter's patch: as many as make a line in Connect Four."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Architecture:
    """The game, the kind of network and its sizes, without the settings of training.

    It is stored with the weights. Compiled matches and policies are cached by it, so
    networks of one architecture share their programs. Fields that a kind of network
    does not use have their defaults.
    """

    env_id: EnvId
    network: NetworkKind
    heads: Heads
    canonical: bool
    hidden_sizes: tuple[int, ...] = ()
    two_planes: bool = False
    filters: int = 0
    activation: Activation = "relu"
    table_key: TableKey = "position"

    def as_dict(self) -> dict[str, object]:
        """Return the fields by name, as values for JSON.

        `two_planes` and `filters` are left out if they are False or 0: files from
        before them have none.
        """
        fields = dataclasses.asdict(self) | {"hidden_sizes": list(self.hidden_sizes)}
        return {
            name: value
            for name, value in fields.items()
            if value or name not in ("two_planes", "filters")
        }
