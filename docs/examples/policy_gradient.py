"""A learner that is not a DQN: a policy gradient with a value baseline, in self-play.

python -m jax_ttt.train --learner docs/examples/policy_gradient.py
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

import jax_ttt


class State(NamedTuple):
    """What an update changes: the weights of actor and critic, and the games."""

    params: Any
    opt_state: Any
    games: Any


class PolicyGradient(jax_ttt.Learner):
    """Actor and critic; half of the moves are random, so that all boards are seen."""

    @dataclasses.dataclass(frozen=True)
    class Settings:
        entropy: float = 0.2
        """Weight of the policy's entropy, which keeps it from being sure too early."""

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
        probs = jnp.exp(self.log_policy(state.params[0], state.games))
        played = (probs + legal / legal.sum(axis=1, keepdims=True)) / 2
        action = jax.random.categorical(action_key, jnp.log(played))
        chosen = jax.nn.one_hot(action, legal.shape[1])
        importance = (chosen * probs / played).sum(axis=1, where=legal)
        after, move, counts = self.move(state.games, action, reply_key)

        def loss(params):
            log_policy = self.log_policy(params[0], state.games)
            value = self.values(params[1], move.obs).mean(axis=1)
            ahead = self.values(params[1], move.next_obs).mean(axis=1)
            target = move.reward + jax.lax.stop_gradient(move.discount * ahead)
            advantage = jax.lax.stop_gradient(target - value)
            gain = advantage * (chosen * log_policy).sum(axis=1)
            entropy = -(jnp.exp(log_policy) * log_policy).sum(axis=1, where=legal)
            costs = importance * (optax.huber_loss(value, target) - gain)
            return (costs - self.settings.entropy * entropy).mean(where=move.live)

        cost, grads = jax.value_and_grad(loss)(state.params)
        changes, opt_state = self.optimizer.update(grads, state.opt_state)
        params = optax.apply_updates(state.params, changes)
        norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(grads)))
        metrics = self.metrics(counts, loss=cost, grad_norm=norm)
        return State(params, opt_state, self.replace_finished(after, new_key)), metrics

    def policy(self, state):
        """Return the player of the likeliest moves."""
        return self.player(state.params[0])

    @property
    def optimizer(self):
        """Adam with the learning rate of the settings."""
        return optax.adam(self.config.learning_rate)

    def log_policy(self, actor, games):
        """Return the logarithms of the probabilities of moves, `(B, A)`."""
        logits = 10 * self.values(actor, games.observation)  # from -10 to 10
        return jax.nn.log_softmax(jnp.where(games.legal_action_mask, logits, -1e9))
