"""The marks of an exam. Imports no JAX."""

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mark:
    """How often a player's move keeps the value of the position."""

    num_positions: int
    share: float  # 0 to 1
    interval: tuple[float, float]  # 95 %


@dataclasses.dataclass(frozen=True, kw_only=True)
class Exam:
    """A player's marks in an exam."""

    all: Mark
    by_kind: dict[str, Mark]
    by_ply: dict[str, Mark]  # by the number of moves made, as text
