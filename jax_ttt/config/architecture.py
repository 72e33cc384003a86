"""What is needed to use a trained network. Imports no JAX."""

import dataclasses
from typing import Any

from jax_ttt.config.catalogue import EnvId
from jax_ttt.config.choices import Activation, Heads, NetworkKind, TableKey


@dataclasses.dataclass(frozen=True, kw_only=True)
class Architecture:
    """The game, the kind of the network and its sizes; nothing of how it learned.

    It is stored with the weights, and it is what compiled matches and policies are
    keyed by: networks of one architecture share their programs. A field that the kind
    of network doesn't have is at its default.
    """

    env_id: EnvId
    network: NetworkKind
    heads: Heads
    canonical: bool
    hidden_sizes: tuple[int, ...] = ()
    activation: Activation = "relu"
    table_key: TableKey = "position"

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by their names, as JSON has them."""
        return dataclasses.asdict(self) | {"hidden_sizes": list(self.hidden_sizes)}
