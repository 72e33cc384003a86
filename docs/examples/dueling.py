"""A network of your own: dueling heads (Wang et al. 2016).

python -m jax_ttt.train --learner docs/examples/dueling.py
"""

import jax.numpy as jnp
from flax import nnx


class Dueling(nnx.Module):
    """A value of the board, plus an advantage of each action over their mean."""

    def __init__(self, shape, num_values, *, rngs):
        height, width, planes = shape
        self.hidden = nnx.Linear(height * width * planes, 128, rngs=rngs)
        self.middle = nnx.Linear(128, 128, rngs=rngs)
        self.value = nnx.Linear(128, 1, rngs=rngs)
        self.advantage = nnx.Linear(128, num_values, rngs=rngs)

    def __call__(self, planes):
        """Return the values, -1 to 1, of boards `(B, H, W, C)`: `(B, num_values)`."""
        hidden = nnx.relu(self.hidden(planes.reshape(len(planes), -1)))
        hidden = nnx.relu(self.middle(hidden))
        advantage = self.advantage(hidden)
        mean = advantage.mean(axis=1, keepdims=True)
        return jnp.tanh(self.value(hidden) + advantage - mean)
