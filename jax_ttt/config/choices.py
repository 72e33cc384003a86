"""Types of the settings that take one of several words. Imports no JAX."""

from typing import Literal

from jax_ttt.config.catalogue import SEATS, Seat, SeatSetting

NetworkKind = Literal["mlp", "table"]
Activation = Literal["relu", "tanh", "sigmoid"]
OptimizerKind = Literal["adamw", "sgd"]
Loss = Literal["huber", "mse"]
EpsilonSchedule = Literal["linear", "steps", "exponential"]
Backup = Literal["one-ply", "two-ply"]
Precision = Literal["auto", "float32", "bfloat16"]
TableKey = Literal["position", "after-state", "hash"]
BackupRule = Literal["one-ply", "two-ply", "double", "double-tables"]
"""A backup. If it is one-ply, also what chooses the best next action: the target values
themselves, the network in training (double), or the other of two tables."""
RULE_OF: dict[tuple[Backup, bool, NetworkKind], BackupRule] = {
    ("one-ply", False, "mlp"): "one-ply",
    ("one-ply", False, "table"): "one-ply",
    ("one-ply", True, "mlp"): "double",
    ("one-ply", True, "table"): "double-tables",
    ("two-ply", False, "mlp"): "two-ply",
    ("two-ply", False, "table"): "two-ply",
}
"""The rule by the settings `backup`, `double` and `network`."""
Heads = Literal["value", "value-and-reply", "two-tables"]
"""The values of an action: one, to the mover; two, to the mover and to the player who
waits for the reply; or one from each of two tables."""
HEADS_OF: dict[BackupRule, Heads] = {
    "one-ply": "value",
    "two-ply": "value-and-reply",
    "double": "value",
    "double-tables": "two-tables",
}
SEATS_OF: dict[SeatSetting, tuple[Seat, ...]] = {
    "both": SEATS,
    "first": ("first",),
    "second": ("second",),
}
"""The seats that an agent learns, by the setting `seat`."""
