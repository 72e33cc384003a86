"""Settings of the network that gives the action values."""

import dataclasses
from collections.abc import Iterator
from typing import Annotated

from jax_ttt.config.choices import Activation, NetworkKind, Precision, TableKey
from jax_ttt.config.ranges import Conflict, Part, Range, Result, without_effect

_OF_MLP = (
    *("hidden_size", "hidden_layers", "two_planes", "filters"),
    *("activation", "precision"),
)


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
    """Neurons in each hidden layer of an mlp. 1 to 16,384."""
    hidden_layers: Annotated[int, Range(int, 0, 16)] = 2
    """Hidden layers of an mlp. 0 (a linear function) to 16."""
    two_planes: bool = False
    """Input of an mlp for a board of stones: two planes of 0 and 1, the mover's stones
    and the opponent's, instead of one plane of +1 and -1."""
    filters: Annotated[int, Range(int, 0, 2**10)] = 0
    """Filters of a convolution before an mlp's hidden layers. Each sees every patch of
    4 x 4 cells. 0 (no convolution) to 1,024."""
    activation: Activation = "relu"
    """Activation function of an mlp's hidden layers and filters."""
    precision: Precision = "auto"
    """dtype of an mlp's matrix products while training (accumulated in float32). auto:
    bfloat16 on a CPU with AMX or AVX-512 BF16, else float32. Grades and play always use
    float32."""
    table_key: TableKey = "position"
    """A table's rows. position: the game's positions; after-state: the positions that
    moves lead to, one value each; hash: any board, read as a number in base 3."""
    initial_value: Result = 0.0
    """Initial value of a table's entries. -1 to 1."""

    @property
    def is_table(self) -> bool:
        """Whether the network is a table."""
        return self.network == "table"

    @property
    def hidden_sizes(self) -> tuple[int, ...]:
        """Neurons in each hidden layer; none in a table."""
        return () if self.is_table else (self.hidden_size,) * self.hidden_layers

    def unused(self) -> Iterator[Conflict]:
        """Yield each field that others of the part leave without effect."""
        if self.is_table:
            for field in _OF_MLP:
                yield without_effect(field, "network table", "network")
            return
        if not self.hidden_layers:
            yield without_effect("hidden_size", "hidden_layers 0", "hidden_layers")
            if not self.filters:
                yield without_effect("activation", "hidden_layers 0", "hidden_layers")
        yield without_effect("table_key", "network mlp", "network")
        yield without_effect("initial_value", "network mlp", "network")
