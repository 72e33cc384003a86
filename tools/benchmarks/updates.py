"""The speed of updates, compared with a Python loop and with matrix products."""

import itertools
import math
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp

from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.dqn import metrics
from jax_ttt.dqn.base_learner import Learner
from jax_ttt.dqn.metrics import Metrics
from jax_ttt.games import pgx_games
from jax_ttt.networks import q_network
from jax_ttt.training import agent_batch, run_start
from jax_ttt.training.agent_batch import KeyData
from tools.benchmarks import plain_loop
from tools.benchmarks.timing import Figures, in_turn, ratios, show, show_rate

NUM_UPDATES = 90
"""Updates in a round: ten batches of games in lock-step."""
NUM_PRODUCTS = 200
"""Matrix products in a round."""


def measure_updates(rounds: int) -> Figures:
    """Time the updates of preset `article` as a Python loop and as one program.

    The loop computes in float32, as its author's program does.
    Matrix products of the hidden layer's size are timed in the same rounds. The share
    compares the time that the products of an update need at their rate, in the
    program's precision, with the time of the update.
    """
    config = PRESETS["article"]
    batch = config.num_envs
    size = config.hidden_size
    runs = [
        plain(config),
        fused(config),
        products(batch, size, jnp.float32),
        products(batch, size, jnp.bfloat16),
    ]
    loop, program, *bare = in_turn(runs, rounds)
    flops = 2 * batch * size**2 * NUM_PRODUCTS
    needed = update_flops(layer_sizes(config), config.num_envs) * NUM_UPDATES
    number = bare[q_network.learning_dtype(config.precision) == jnp.bfloat16]
    share = [
        100 * (needed / ours) / (flops / theirs)
        for ours, theirs in zip(program.wall, number.wall, strict=True)
    ]
    faster, unit = ratios(loop.wall, program.wall), "updates/s"
    return {
        "plain_loop": show_rate("article, a plain loop", NUM_UPDATES, loop, unit),
        "fused": show_rate("article, one program", NUM_UPDATES, program, unit),
        "ratio": show("one program, times the plain loop", faster, "x"),
        "compile": show("one program, compiled and run once", [program.first], "s"),
        "float32": show_rate("float32 products", flops / 1e9, bare[0], "GFLOP/s"),
        "bfloat16": show_rate("bfloat16 products", flops / 1e9, bare[1], "GFLOP/s"),
        "roofline": show("one program, share of such products", share, "%", 0),
        "flops_per_update": needed // NUM_UPDATES,
    }


def plain(config: Config) -> Callable[[], object]:
    """Return a function that continues the Python loop for `NUM_UPDATES`."""
    loop = plain_loop.train_plain_loop(config, jax.random.key(0))

    def run() -> None:
        for moment in itertools.islice(loop, NUM_UPDATES):
            jax.block_until_ready(moment.loss)

    return run


def fused(config: Config, num_updates: int = NUM_UPDATES) -> Callable[[], Metrics]:
    """Return a function that continues an agent's training for `num_updates`."""
    learner = run_start.make_learner([config], seeds=[0])
    return continued(learner, agent_batch.run_keys([0]), num_updates)


def continued(
    learner: Learner, keys: KeyData, num_updates: int
) -> Callable[[], Metrics]:
    """Return a function that continues a batch's training for `num_updates`.

    It computes what a run does; `keys` are the agents' keys.
    """
    state = agent_batch.start_program(learner, jnp.asarray(keys), mesh=None)
    before = jax.device_put(metrics.no_updates((len(keys),)))
    advance = agent_batch.chunk_program.jitted()

    def run() -> Metrics:
        nonlocal state
        state, done = advance(learner, state, num_updates, before, mesh=None)
        return jax.block_until_ready((state, done))[1]

    return run


def products(
    batch: int, size: int, dtype: jax.typing.DTypeLike
) -> Callable[[], object]:
    """Return a function of `NUM_PRODUCTS` products `(batch, size) @ (size, size)`."""
    x_key, w_key = jax.random.split(jax.random.key(0))
    x = jax.random.normal(x_key, (batch, size), dtype)
    w = jax.random.normal(w_key, (size, size), dtype) / math.sqrt(size)

    @jax.jit
    def chain(x: jax.Array, w: jax.Array) -> jax.Array:
        def product(x: jax.Array, _: None) -> tuple[jax.Array, None]:
            return jnp.dot(x, w, preferred_element_type=jnp.float32).astype(dtype), None

        return jax.lax.scan(product, x, None, NUM_PRODUCTS)[0]

    return lambda: jax.block_until_ready(chain(x, w.astype(dtype)))


def layer_sizes(config: Config) -> list[int]:
    """Return the widths of a perceptron with one value per action, inputs first."""
    planes, num_actions = pgx_games.sizes(config.env_id)
    hidden = config.architecture.hidden_sizes
    return [math.prod(planes), *hidden, num_actions]


def update_flops(sizes: Sequence[int], num_envs: int) -> int:
    """Return the floating-point operations of the matrix products in an update.

    Let `P` be the sum of the products of neighbouring `sizes`. A forward pass takes
    `2 * num_envs * P`. An update has one forward pass of the network, shared by acting
    and learning, one of the target network, and a backward pass of twice the cost,
    without the first layer's input gradient: `2 * num_envs * (4 * P - P_first)`.
    """
    layers = [num_in * num_out for num_in, num_out in itertools.pairwise(sizes)]
    return 2 * num_envs * (4 * sum(layers) - layers[0])
