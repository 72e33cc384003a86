"""Grade a search of Mctx, in tic-tac-toe: can it be beaten?

pip install mctx; python docs/examples/mctx_search.py [SIMULATIONS]
"""

import sys

import jax
import jax.numpy as jnp
import mctx
import pgx

import jax_ttt

env = pgx.make("tic_tac_toe")


def logits(state):
    return jnp.where(state.legal_action_mask, 0.0, -jnp.inf)


def after_move(params, key, action, state):
    """Return what a move leads to, and the state after it."""
    after = jax.vmap(env.step)(state, action)
    mover = state.current_player[:, None]
    reward = jnp.take_along_axis(after.rewards, mover, axis=1)[:, 0]
    output = mctx.RecurrentFnOutput(
        reward=reward,
        discount=jnp.where(after.terminated, 0.0, -1.0),  # then the opponent moves
        prior_logits=logits(after),
        value=jnp.zeros_like(reward),  # of a network, if there is one
    )
    return output, after


def search(num_simulations):
    """Return a player: one that takes the state alone plays one move everywhere."""

    def player(state):
        value = jnp.zeros(len(state.terminated))
        root = mctx.RootFnOutput(
            prior_logits=logits(state), value=value, embedding=state
        )
        return mctx.muzero_policy(
            params=(),
            rng_key=jax.random.key(0),
            root=root,
            recurrent_fn=after_move,
            num_simulations=num_simulations,
            invalid_actions=~state.legal_action_mask,
            dirichlet_fraction=0.0,
            temperature=0.0,
        ).action

    return player


if __name__ == "__main__":
    num_simulations = int([*sys.argv[1:], 100][0])
    print(jax_ttt.prove(search(num_simulations), env_id="tic_tac_toe"))
