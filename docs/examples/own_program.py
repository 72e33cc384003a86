"""Use an agent's network and parameters in your own JAX program."""

import jax
import jax.numpy as jnp
import pgx

import jax_ttt
from jax_ttt.networks import q_network

agent = jax_ttt.train(seed=1).agent
print([leaf.shape for leaf in jax.tree.leaves(agent.params)])  # a pytree of arrays
env = pgx.make("tic_tac_toe")


@jax.jit
def draw_rate(params, key):
    """Return the share of draws in 1,000 games whose moves are sampled by a softmax."""

    def step(state, key):
        values = q_network.action_values(agent.network, params, state.observation)
        logits = jnp.where(state.legal_action_mask, values / 0.1, -jnp.inf)
        state = jax.vmap(env.step)(state, jax.random.categorical(key, logits))
        return state, state.rewards

    start_key, *keys = jax.random.split(key, 10)
    start = jax.vmap(env.init)(jax.random.split(start_key, 1000))
    _, rewards = jax.lax.scan(step, start, jnp.stack(keys))  # (9, 1000, 2)
    return (rewards == 0).all(axis=(0, 2)).mean()


print("draws:", draw_rate(agent.params, jax.random.key(0)))
