"""Files with a learner or a network, as users write them, which train quickly."""

import re
from typing import Any

import tiny

PLAIN = '''"""A learner that is not a DQN."""

import dataclasses
from typing import Annotated, Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from msgspec import Meta

import jax_ttt


class State(NamedTuple):
    params: Any
    games: Any


class Plain(jax_ttt.Learner):
    """Random moves, whose values are learned."""

    @dataclasses.dataclass(frozen=True)
    class Settings:
        step_size: Annotated[float, Meta(gt=0, le=1)] = 0.5
        """Length of a step."""
        cost: Literal["square", "absolute"] = "square"
        """What an error costs."""

    def init(self, key):
        params_key, games_key = jax.random.split(key)
        return State(self.init_params(params_key), self.start_games(games_key))

    def update(self, state, random):
        action_key, reply_key, new_key = jax.random.split(random, 3)
        legal = state.games.legal_action_mask
        action = jax.random.categorical(action_key, jnp.log(legal))
        after, move, counts = self.move(state.games, action, reply_key)
        ahead = jnp.where(
            move.next_legal_action_mask,
            self.values(state.params, move.next_obs),
            -1.0,
        ).max(axis=1)
        target = move.reward + move.discount * ahead

        def loss(params):
            values = self.values(params, move.obs)
            chosen = jnp.take_along_axis(values, action[:, None], axis=1)[:, 0]
            error = chosen - target
            square = self.settings.cost == "square"
            costs = error**2 if square else jnp.abs(error)
            return costs.mean(where=move.live)

        cost, grads = jax.value_and_grad(loss)(state.params)
        step = self.settings.step_size
        params = jax.tree.map(lambda w, g: w - step * g, state.params, grads)
        norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(grads)))
        metrics = self.metrics(counts, loss=cost, grad_norm=norm)
        return State(params, self.replace_finished(after, new_key)), metrics

    def policy(self, state):
        return self.player(state.params)
'''

NETWORK = '''"""A network of one layer."""

import jax.numpy as jnp
from flax import nnx

import jax_ttt


class OneLayer(nnx.Module):
    def __init__(self, shape, num_values, *, rngs):
        height, width, planes = shape
        self.layer = nnx.Linear(height * width * planes, num_values, rngs=rngs)

    def __call__(self, planes):
        return jnp.tanh(self.layer(planes.reshape(len(planes), -1)))
'''

SAME = "import jax_ttt\n\n\nclass Same(jax_ttt.DQN):\n    pass\n"
"""A DQN with nothing changed."""

FIELDS: dict[str, Any] = {**tiny.FIELDS, "preset": "plain"}
"""Settings of a short run."""
FOR_NETWORK: dict[str, Any] = {
    name: x for name, x in FIELDS.items() if name != "hidden_size"
}
"""Those of a run with a network of a user."""


def written(path, text):
    """Write a file, and return its path as a text."""
    path.write_text(text, "utf-8")
    return str(path)


def changed(text, old, new):
    """Return a text with one part changed, which it must have once."""
    assert len(re.findall(re.escape(old), text)) == 1, old
    return text.replace(old, new)
