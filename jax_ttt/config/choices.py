"""Settings that are one of a few words. Imports no JAX."""

from typing import Literal, get_args

from jax_ttt.config.catalogue import GAMES, SEATS, Seat, SeatSetting

Network = Literal["mlp", "table"]
Activation = Literal["relu", "tanh", "sigmoid"]
Optimizer = Literal["adamw", "sgd"]
Loss = Literal["huber", "mse"]
EpsilonSchedule = Literal["linear", "steps", "exponential"]
Backup = Literal["one-ply", "two-ply"]
Precision = Literal["auto", "float32", "bfloat16"]
TableKey = Literal["position", "after-state", "hash"]
SEATS_OF: dict[SeatSetting, tuple[Seat, ...]] = {
    "both": SEATS,
    "first": ("first",),
    "second": ("second",),
}
"""The seats that an agent learns, by `Config.seat`."""
LEARNED: dict[SeatSetting, tuple[str, ...]] = {
    setting: tuple(f"as_{seat}" for seat in seats)
    for setting, seats in SEATS_OF.items()
}
"""The same seats, as an agent's grades name them."""
RATES = ("win_rate", "draw_rate", "loss_rate")
"""The results of a seat, as its grades name them."""
CHOICES = {
    "env_id": tuple(GAMES),
    "network": get_args(Network),
    "activation": get_args(Activation),
    "optimizer": get_args(Optimizer),
    "loss": get_args(Loss),
    "epsilon_schedule": get_args(EpsilonSchedule),
    "backup": get_args(Backup),
    "seat": get_args(SeatSetting),
    "table_key": get_args(TableKey),
    "precision": get_args(Precision),
}
"""Settings that are one of a few words."""
