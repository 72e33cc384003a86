"""A learner that is no DQN: a policy gradient with a value baseline, in self-play.

python -m jax_ttt.train --learner docs/examples/policy_gradient.py
"""

import dataclasses
from typing import Annotated, Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from msgspec import Meta

import jax_ttt


class State(NamedTuple):
    """What an update changes."""

    params: Any  # the actor's weights and the critic's
    opt_state: Any
    games: Any


class PolicyGradient(jax_ttt.Learner):
    """Actor and critic, one step at a time, from games with many random moves."""

    @dataclasses.dataclass(frozen=True)
    class Settings:
        """The settings of this learner."""

        entropy: Annotated[float, Meta(ge=0, le=1)] = 0.1
        """Weight of the policy's entropy in the loss."""
        explore: Annotated[float, Meta(gt=0, lt=1)] = 0.5
        """Share of the moves that are random, in place of the policy's."""

    def init(self, key):
        """Return the state before the first update."""
        actor_key, critic_key, games_key = jax.random.split(key, 3)
        params = self.init_params(actor_key), self.init_params(critic_key)
        opt_state = self.optimizer.init(params)
        return State(params, opt_state, self.start_games(games_key))

    def update(self, state, random):
        """Play a move in every game, and take one gradient step."""
        action_key, reply_key, new_key = jax.random.split(random, 3)
        legal = state.games.legal_action_mask
        uniform = jnp.log(legal / legal.sum(axis=1, keepdims=True))
        share = self.settings.explore
        policy = self.log_policy(state.params[0], state.games)
        played = jnp.logaddexp(
            policy + jnp.log(1 - share), uniform + jnp.log(share)
        )
        action = jax.random.categorical(action_key, played)
        after, move, counts = self.move(state.games, action, reply_key)
        # How much likelier the move is by the policy than by what was played.
        weight = jnp.exp(of_action(policy, action) - of_action(played, action))

        def loss(params):
            actor, critic = params
            log_policy = self.log_policy(actor, state.games)
            value, target = self.value(critic, move.obs), move.reward
            ahead = move.discount * self.value(critic, move.next_obs)
            target += jax.lax.stop_gradient(jnp.where(move.discount == 0, 0.0, ahead))
            advantage = jax.lax.stop_gradient(target - value)
            cost = optax.huber_loss(value, target)
            cost -= advantage * of_action(log_policy, action)
            probs = jnp.exp(log_policy)
            entropy = -jnp.where(legal, probs * log_policy, 0.0).sum(axis=1)
            cost = weight * cost - self.settings.entropy * entropy
            return jnp.where(move.live, cost, 0.0).mean()

        cost, grads = jax.value_and_grad(loss)(state.params)
        changes, opt_state = self.optimizer.update(grads, state.opt_state)
        params = optax.apply_updates(state.params, changes)
        games = self.replace_finished(after, new_key)
        metrics = self.metrics(counts, loss=cost, grad_norm=optax.global_norm(grads))
        return State(params, opt_state, games), metrics

    def policy(self, state):
        """Return the player of the likeliest moves."""
        return self.player(state.params[0])

    @property
    def optimizer(self):
        """Adam, whose rate falls to `learning_rate_end`."""
        config = self.config
        ends = config.learning_rate, config.learning_rate_end
        return optax.adam(optax.linear_schedule(*ends, config.num_updates))

    def log_policy(self, actor, games):
        """Return the logarithms of the probabilities of moves, `(B, A)`."""
        logits = 10 * self.values(actor, games.observation)  # from -10 to 10
        return jax.nn.log_softmax(
            jnp.where(games.legal_action_mask, logits, -1e9)
        )

    def value(self, critic, obs):
        """Return the values of boards to their movers, `(B,)`."""
        return self.values(critic, obs).mean(axis=1)


def of_action(values, action):
    """Return the value of the action that was played, `(B,)`."""
    return jnp.take_along_axis(values, action[:, None], axis=1)[:, 0]
