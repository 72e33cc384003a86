"""Settings that are one of a few words. Imports no JAX."""

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
"""A backup and, of a one-ply one, who chooses the best next action: the values
themselves; the network in training (double); or the other one of two tables."""
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
"""What a network says of an action: its value to the mover; also its value to the
player who waits for the reply; or what each of two tables says."""
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
