"""Settings of the network that gives the action values."""

import dataclasses
from typing import Annotated

from jax_ttt.config.choices import Activation, NetworkKind, TableKey
from jax_ttt.config.ranges import Part, Range, Result

_OF_MLP = ("hidden_size", "hidden_layers", "two_planes", "filters", "activation")


@dataclasses.dataclass(frozen=True, kw_only=True)
class NetworkSettings(Part):
    """The function from boards to action values."""

    network: NetworkKind = "mlp"
    """mlp: a multilayer perceptron. table: a lookup table, see table_key; only in
    enumerable games. With a preset that trains a table, mlp needs a learning_rate too:
    a table's is a share of the error."""
    canonical: bool = True
    """Map rotated and mirrored boards to one canonical board."""
    hidden_size: Annotated[int, Range(int, 1, 2**14)] = 128
    """Neurons in each hidden layer of an mlp."""
    hidden_layers: Annotated[int, Range(int, 0, 16)] = 2
    """Hidden layers of an mlp. 0: a linear function."""
    two_planes: bool = False
    """Input of an mlp for a board of stones: two planes of 0 and 1, the mover's stones
    and the opponent's, instead of one plane of +1 and -1."""
    filters: Annotated[int, Range(int, 0, 2**10)] = 0
    """Filters of a convolution before an mlp's hidden layers. Each sees every patch of
    4 x 4 cells. 0: no convolution."""
    activation: Activation = "relu"
    """Activation function of an mlp's hidden layers and filters."""
    table_key: TableKey = "position"
    """A table's rows. position: the game's positions; after-state: the positions that
    moves lead to, one value each; hash: any board, read as a number in base 3."""
    initial_value: Result = 0.0
    """Initial value of a table's entries."""

    @property
    def is_table(self) -> bool:
        """Whether the network is a table."""
        return self.network == "table"

    @property
    def hidden_sizes(self) -> tuple[int, ...]:
        """Neurons in each hidden layer; none in a table."""
        return () if self.is_table else (self.hidden_size,) * self.hidden_layers

    def without_effect(self) -> dict[str, str]:
        """Return the fields that others leave without effect, each with its cause."""
        if self.is_table:
            return dict.fromkeys(_OF_MLP, "network table")
        causes = {"table_key": "network mlp", "initial_value": "network mlp"}
        if not self.hidden_layers:
            causes["hidden_size"] = "hidden_layers 0"
            if not self.filters:
                causes["activation"] = "hidden_layers 0"
        return causes
