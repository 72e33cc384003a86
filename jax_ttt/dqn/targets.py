"""The TD targets of a batch of moves.

Axes: `H` values of an action (see `q_network.heads`), `B` moves.
"""

import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Float

from jax_ttt.config.settings import Config
from jax_ttt.dqn import equations
from jax_ttt.networks import q_network
from jax_ttt.networks.q_network import Network


def targets(
    config: Config,
    network: Network,
    params: nnx.State,
    target_params: nnx.State,
    batch: equations.Transition,
) -> Float[Array, "H B"]:
    """Return what the played actions' values should become."""
    reward, discount = batch.reward, batch.discount
    legal = batch.next_legal_action_mask
    dtype = q_network.learning_dtype(config)
    worth = q_network.heads(network, target_params, batch.next_obs, dtype)
    if config.backup == "two-ply":
        to_mover, to_waiting = worth
        return jnp.stack(
            equations.two_ply_targets(
                reward, discount, to_mover, to_waiting, legal, config.tremble
            )
        )
    chosen_by = [None]
    if q_network.double_table(config):
        # Each table's best action, by what the other says of it.
        chosen_by, worth = list(worth), worth[::-1]
    elif config.double:
        chosen_by = [q_network.q_values(network, params, batch.next_obs, dtype)]
    return jnp.stack(
        [
            equations.td_target(reward, discount, values, legal, config.tremble, choice)
            for values, choice in zip(worth, chosen_by, strict=True)
        ]
    )
