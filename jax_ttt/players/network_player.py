"""A network's greedy player, as a function and as a policy over a tree.

Axes: `B` games, `P` positions, `D` positions to decide, `A` actions.
"""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from flax import nnx
from jax.tree_util import Partial
from jaxtyping import Array, Bool, Float, Int, Key, Shaped

from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.settings import Architecture
from jax_ttt.dqn import equations
from jax_ttt.dqn.greedy_player import GreedyPlayer, action_places, is_symmetric
from jax_ttt.games import pgx_games
from jax_ttt.games.played_game import choose_in_blocks
from jax_ttt.games.tree import Tree
from jax_ttt.networks import integer_network, q_network, table
from jax_ttt.networks.q_network import Network
from jax_ttt.runtime import pytrees
from jax_ttt.solver import policies


def network_from(architecture: Architecture) -> Network:
    """Return the network of this architecture, with the positions of a table.

    The first call for a table enumerates its game by compiled programs, so it must not
    be inside a trace.
    """
    return Network(architecture, table.positions_for(architecture))


_BLOCK = 128
"""Boards that a network of floats computes at a time to play."""


@jax.jit
def board_values(
    network: Network, params: nnx.State, obs: Shaped[Array, "B *shape"]
) -> Float[Array, "B A"]:
    """Return the action values of boards.

    It is compiled, since a network would otherwise run as one program per operation.
    """
    return q_network.action_values(network, params, obs)


def largest_sum(params: nnx.State) -> float:
    """Return a bound of all sums that a network computes on any board of stones.

    Such boards have planes of 0 and 1. Sums of integers are checked when they are read.
    """
    largest = 1.0
    if integer_network.is_integer(params):
        return largest
    for name, leaf in pytrees.leaves_by_name(params).items():
        sizes = np.abs(np.asarray(leaf, float))
        is_kernel = name.endswith("kernel")
        # |kernel @ x + bias| <= max(1, sum(|kernel|)) * (1 + |bias|) * max(1, |x|)
        largest *= float(
            max(1, sizes.sum(axis=1).max()) if is_kernel else 1 + sizes.max()
        )
    return largest


def first_move_values(architecture: Architecture, params: nnx.State) -> np.ndarray:
    """Return a network's values of the moves on the empty board, `(A,)`."""
    env = pgx_games.make_env(architecture.env_id)
    start = pgx_games.init(env, jax.random.key(0), 1)
    network = network_from(architecture)
    return np.asarray(board_values(network, params, start.observation))[0]


def steady_player(network: Network, params: nnx.State) -> Partial:
    """Return the greedy player whose move on a board is the same among any others.

    Sums of integers are exact, so only a network of floats plays in blocks.
    """
    greedy = GreedyPlayer(network, params)
    if integer_network.is_integer(params):
        return Partial(GreedyPlayer.__call__, greedy)
    return Partial(_actions_in_blocks, greedy)


def _actions_in_blocks(
    greedy: GreedyPlayer, key: Key[Array, ""], env_state: pgx.State
) -> Int[Array, " B"]:
    return choose_in_blocks(greedy, _BLOCK, key, env_state)


ValuesFn = Callable[[nnx.State, pgx.State], jax.Array]
"""A function `(params, env_state) -> action values (B, A)`."""
NEAR = 2.0**-18
"""The least margin of `near_best_moves`, 3.8e-6; values are from -1 to 1."""


def near_best_moves(
    values_fn: ValuesFn, params: nnx.State, env_state: pgx.State
) -> Bool[Array, "B A"]:
    """Return the legal moves whose values are the highest one but for rounding.

    The last bits of a sum of floats depend on its order: on the device, the version,
    and how many boards a program computes. So the player may play any of these moves
    elsewhere. Their values are at most a margin below the highest: `NEAR`, or more
    where the values change by more if the weights change by `2**-19` of themselves, up
    or down at random. Integers have no such margin.
    """
    values = values_fn(params, env_state)
    margin = jnp.full(len(values), NEAR)
    is_integer = integer_network.is_integer(params)
    for key in () if is_integer else jax.random.split(jax.random.key(0)):
        # Both signs, since a unit that is 0 below a threshold could hide a change.
        for size in (2.0**-19, -(2.0**-19)):
            nearby = jax.tree.map(functools.partial(_changed, key, size), params)
            changes = abs(values_fn(nearby, env_state) - values)
            margin = jnp.maximum(margin, changes.max(axis=1))
    legal = env_state.legal_action_mask
    highest = jnp.where(legal, values, -jnp.inf).max(axis=1)
    return legal & (values >= (highest - margin)[:, None])


def _changed(
    key: Key[Array, ""], size: float, weights: Float[Array, "*n"]
) -> Float[Array, "*n"]:
    signs = jax.random.rademacher(key, weights.shape, weights.dtype)
    return weights * (1 + size * signs)


def near_best_player(network: Network, params: nnx.State) -> Partial | None:
    """Return the near-best moves of the greedy player, for `Player.near_best`.

    It is None for a network of integers, and in enumerable games, in which the moves
    are computed once.
    """
    is_enumerable = GAMES[network.env_id].enumerable
    if is_enumerable or integer_network.is_integer(params):
        return None
    return Partial(near_best_moves, Partial(_network_values, network), params)


def _network_values(
    network: Network, params: nnx.State, env_state: pgx.State
) -> Float[Array, "B A"]:
    return q_network.action_values(network, params, env_state.observation)


def ordered_actions(
    network: Network, params: nnx.State, env_state: pgx.State
) -> Int[Array, "B A"]:
    """Return all actions, the best one first and the illegal ones last.

    The first one is the move of the greedy player, and equal ones have the order in
    which `greedy_actions` prefers them.
    """
    scores = q_network.action_scores(network, params, env_state.observation)
    worse_first = jnp.where(env_state.legal_action_mask, scores, -jnp.inf)
    places = jnp.broadcast_to(jnp.arange(scores.shape[1]), scores.shape)
    if is_symmetric(network):
        places = action_places(network.env_id, env_state.observation)
    return jnp.lexsort((places, -worse_first), axis=-1).astype(jnp.int32)


@jax.jit
def greedy_policy(
    network: Network, params: nnx.State, tree: Tree
) -> Float[Array, "P A"]:
    """Return the greedy player's policy over the tree.

    All entries are NaN if any action value is not finite.
    """
    scores = _of_decisions(q_network.action_scores, network, params, tree)
    moves = equations.greedy(scores, tree.legal_action_mask[tree.decisions])
    probs = policies.deterministic_policy(tree, moves)
    return jnp.where(jnp.isfinite(scores).all(), probs, jnp.nan)


@jax.jit
def decision_values(
    network: Network, params: nnx.State, tree: Tree
) -> Float[Array, "D A"]:
    """Return the action values in the positions in which a move must be chosen."""
    return _of_decisions(q_network.action_values, network, params, tree)


def _of_decisions(
    values_fn: Callable[..., jax.Array], network: Network, params: nnx.State, tree: Tree
) -> Float[Array, "D A"]:
    """Return the values or scores in the positions in which a move must be chosen.

    With canonical boards, only one board of each symmetry class is evaluated: 627
    instead of 4,520 in tic-tac-toe, which halves the time of an exact evaluation.
    """
    if tree.classes is None or not network.architecture.canonical:
        return values_fn(network, params, tree.obs[tree.decisions])
    classes = tree.classes
    values = values_fn(network, params, tree.obs[classes.boards])
    return jnp.take_along_axis(values[classes.row], classes.actions, axis=1)
