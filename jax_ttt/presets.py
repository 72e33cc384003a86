"""Named settings: what differs from the defaults of `Config`, and why."""

from typing import Literal

from jax_ttt.config import Config

Preset = Literal["default", "article"]

PRESETS: dict[Preset, Config] = {
    # Our own: canonical boards and a trembling next mover.
    "default": Config(),
    # J. Antognini's article and program, "jax-tic-tac-toe": one 2,048-game batch
    # played in lock-step, the plain maximum in the target.
    "article": Config(
        num_envs=2048,
        num_updates=2500,
        learning_rate=2e-3,
        weight_decay=1e-4,
        epsilon_start=0.9,
        epsilon_end=0.05,
        tau=0.005,
        tremble=0.0,
        canonical=False,
        lockstep=True,
        eval_every=200,
    ),
}
