"""Players that search: look-ahead with a network's values, and Monte Carlo tree search.

A look-ahead tries all moves to a depth, and then asks the network. Monte Carlo tree
search (UCT) needs no network: a playout makes the best moves by UCB down to the first
untried move, which becomes a node of the tree, and random moves from there to the end
of the game. Source: Kocsis and Szepesvari 2006, "Bandit based Monte-Carlo planning".

Axes: `B` searches or games, `N` nodes, `A` actions.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from flax import nnx
from jax.tree_util import Partial
from jaxtyping import Array, Bool, Float, Int, Key

from jax_ttt.config.game_facts import EnvId
from jax_ttt.dqn import equations
from jax_ttt.dqn.greedy_player import greedy_actions
from jax_ttt.games import pgx_games
from jax_ttt.games.played_game import choose_in_blocks
from jax_ttt.networks import q_network
from jax_ttt.networks.q_network import Network
from jax_ttt.players.saved_agents import near_best_moves

MAX_BOARDS = 2**13
"""Maximum number of boards of the deepest level at once: it bounds the memory of a
search."""

QFunction = Callable[[pgx.State], jax.Array]
"""A function from states to action values `(B, A)` for the player to move."""


def negamax(
    env: pgx.Env,
    q_fn: QFunction,
    env_state: pgx.State,
    depth: int,
    gamma: equations.ScalarLike = 1.0,
) -> Float[Array, "B A"]:
    """Return action values after `depth` moves of best play, which ends in `q_fn`.

    With depth 0, they are the values of `q_fn`. Each level computes one TD target with
    discount `gamma`, for A times as many boards as the level above. Games whose deepest
    level has more than `MAX_BOARDS` boards are searched in groups.
    """
    if not depth:
        return q_fn(env_state)
    num_games, num_actions = env_state.legal_action_mask.shape
    group_size = max(MAX_BOARDS // num_actions**depth, 1)
    if num_games > group_size:

        def values_of_game(game_state: pgx.State) -> jax.Array:
            batch = jax.tree.map(lambda x: x[None], game_state)
            return negamax(env, q_fn, batch, depth, gamma)[0]

        return jax.lax.map(values_of_game, env_state, batch_size=group_size)
    action = jnp.tile(jnp.arange(num_actions), num_games)
    boards = jax.tree.map(lambda x: jnp.repeat(x, num_actions, axis=0), env_state)
    after, move = pgx_games.step(env, boards, action, gamma)
    next_q = negamax(env, q_fn, after, depth - 1, gamma)
    target = equations.td_target(
        move.reward, move.discount, next_q, after.legal_action_mask
    )
    return target.reshape(num_games, num_actions)


def lookahead_player(
    network: Network, params: nnx.State, gamma: float, depth: int
) -> Partial:
    """Return the player that searches `depth` moves deep, then uses the network.

    `gamma` is the discount per move that the network was trained with. Between equal
    moves, `greedy_player.greedy_actions` decides.
    """
    values_fn = _values_fn(network, gamma, depth)
    return Partial(_searched_actions, network, values_fn, params)


def lookahead_near_best(
    network: Network, params: nnx.State, gamma: float, depth: int
) -> Partial:
    """Return the near-best moves of the lookahead player, for `Player.near_best`."""
    return Partial(near_best_moves, _values_fn(network, gamma, depth), params)


def _values_fn(network: Network, gamma: float, depth: int) -> Partial:
    """Return the function `(params, env_state) -> values` after the search."""
    discount = jax.device_put(np.float32(gamma))
    return Partial(_searched_values, Depth(depth), network, discount)


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class Depth:
    """The number of moves to look ahead; static, since the program depends on it."""

    moves: int


def _searched_actions(
    network: Network,
    values_fn: Partial,
    params: nnx.State,
    key: Key[Array, ""],
    env_state: pgx.State,
) -> Int[Array, " B"]:

    def play(key: Key[Array, ""], game: pgx.State) -> Int[Array, " one"]:
        del key  # the player is deterministic
        return greedy_actions(network, game, values_fn(params, game))

    # Game by game, since the last bits of a value depend on the number of boards.
    return choose_in_blocks(play, 1, key, env_state)


def _searched_values(
    depth: Depth,
    network: Network,
    gamma: Float[Array, ""],
    params: nnx.State,
    env_state: pgx.State,
) -> Float[Array, "B A"]:
    env = pgx_games.make_env(network.env_id)

    def q_fn(env_state: pgx.State) -> jax.Array:
        return q_network.action_values(network, params, env_state.observation)

    return negamax(env, q_fn, env_state, depth.moves, gamma)


EXPLORATION = 2.0
"""Weight of the exploration term, for results from -1 to 1. In tic-tac-toe, moves by
2,000 playouts are wrong more often with 1 or 4."""
MAX_EDGES = 2**21
"""Maximum number of pairs of a node and an action in memory at once, of all searches
together."""


class Nodes(NamedTuple):
    """The tree of each search. Node 0 is the root; the number N stands for no node."""

    child: jax.Array  # (B, N, A) int32 node after each move; N before its first try
    parent: jax.Array  # (B, N) int32; N for the root
    visits: jax.Array  # (B, N) float32
    total: jax.Array  # (B, N) float32 sum of the results of player 0, -1 to 1 each


class _Playout(NamedTuple):
    """The state of unfinished playouts."""

    moves: int | jax.Array  # played so far
    state: pgx.State
    result: jax.Array  # (B,) float32 of player 0, -1 to 1
    node: jax.Array  # (B,) the last node of the tree that was reached
    child: jax.Array  # as in `Nodes`
    parent: jax.Array


def grow_trees(
    env: pgx.Env, key: Key[Array, ""], root: pgx.State, num_playouts: int
) -> Nodes:
    """Return the trees after `num_playouts` playouts from each root.

    `key` is consumed.
    """
    num_games, num_actions = root.legal_action_mask.shape
    no_node = num_playouts + 1
    zeros = jnp.zeros((num_games, no_node))
    nodes = Nodes(
        child=jnp.full((num_games, no_node, num_actions), no_node),
        parent=jnp.full((num_games, no_node), no_node),
        visits=zeros,
        total=zeros,
    )

    def step(number: Int[Array, ""], nodes: Nodes) -> Nodes:
        playout_key = jax.random.fold_in(key, number)
        return _add_playout(env, nodes, playout_key, root, new_node=number + 1)

    return jax.lax.fori_loop(0, num_playouts, step, nodes)


def _add_playout(
    env: pgx.Env,
    nodes: Nodes,
    key: Key[Array, ""],
    root: pgx.State,
    new_node: Int[Array, ""],
) -> Nodes:
    """Return the trees after one more game of each search, played from its root.

    The first untried move leads to `new_node`, after which all moves are random. Of
    equal moves, a random one is played.
    """
    num_games, no_node = nodes.visits.shape
    row = jnp.arange(num_games)

    def ply(game: _Playout) -> _Playout:
        is_inside = (game.node != new_node) & ~pgx_games.is_finished(game.state)
        child = game.child[row, game.node]
        bound = _upper_bounds(nodes, child, nodes.visits[row, game.node], game.state)
        bound = jnp.where(is_inside[:, None], bound, 0.0)
        bound = jnp.where(game.state.legal_action_mask, bound, -jnp.inf)
        draw = jax.random.uniform(jax.random.fold_in(key, game.moves), row.shape)
        action = equations.random_legal(draw, _is_highest(bound))
        # An untried move leads to `no_node`, which is the larger number.
        after = jnp.where(is_inside, child[row, action].clip(max=new_node), no_node)
        state = pgx_games.play_moves(env, game.state, action)
        return _Playout(
            moves=game.moves + 1,
            state=state,
            result=game.result + state.rewards[:, 0],
            node=jnp.where(is_inside, after, game.node),
            child=game.child.at[row, game.node, action].min(after),
            parent=game.parent.at[row, after].set(game.node, mode="drop"),
        )

    def is_unfinished(game: _Playout) -> jax.Array:
        return ~pgx_games.is_finished(game.state).all()

    start = _Playout(
        moves=0,
        state=root,
        result=jnp.zeros(num_games),
        node=jnp.zeros_like(row),
        child=nodes.child,
        parent=nodes.parent,
    )
    end = jax.lax.while_loop(is_unfinished, ply, start)

    def record(step: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        node, visits, total = step
        return (
            end.parent.at[row, node].get(mode="fill", fill_value=no_node),
            visits.at[row, node].add(1.0, mode="drop"),
            total.at[row, node].add(end.result, mode="drop"),
        )

    _, visits, total = jax.lax.while_loop(
        lambda step: (step[0] < no_node).any(),
        record,
        (end.node, nodes.visits, nodes.total),
    )
    return Nodes(child=end.child, parent=end.parent, visits=visits, total=total)


def _upper_bounds(
    nodes: Nodes,
    child: Int[Array, "B A"],
    visits_of_node: Float[Array, " B"],
    env_state: pgx.State,
) -> Float[Array, "B A"]:
    """Return `mean + c * sqrt(ln(visits of the node) / visits)` of each move.

    It is infinite for an untried move. Source: UCB1, Auer et al. 2002.
    """
    means, visits = mean_results(nodes, child, env_state)
    spread = jnp.sqrt(jnp.log(visits_of_node.clip(1))[:, None] / visits.clip(1))
    return jnp.where(visits > 0, means + EXPLORATION * spread, jnp.inf)


def _is_highest(values: Float[Array, "B A"]) -> Bool[Array, "B A"]:
    """Return a mask of the highest values in each row."""
    best = values == values.max(axis=1, keepdims=True)
    # XLA may compute a value twice with different rounding, and then no value equals
    # the maximum. So the argmax is always in the mask.
    return best | (values.argmax(axis=1)[:, None] == jnp.arange(values.shape[1])[None])


def mean_results(
    nodes: Nodes, child: Int[Array, "B A"], env_state: pgx.State
) -> tuple[Float[Array, "B A"], Float[Array, "B A"]]:
    """Return the mean result of each move for the player to move, and its visits."""
    row = jnp.arange(len(child))[:, None]
    visits, total = (
        x.at[row, child].get(mode="fill", fill_value=0)
        for x in (nodes.visits, nodes.total)
    )
    is_first = pgx_games.is_turn(env_state, jnp.int32(0))[:, None]
    return jnp.where(is_first, total, -total) / visits.clip(1), visits


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class Budget:
    """The game and the playouts of a search; static, since they decide array sizes."""

    env_id: EnvId
    num_playouts: int


def searching_player(env_id: EnvId, num_playouts: int) -> Partial:
    """Return the player that searches at each move, and makes the best one by mean."""
    return Partial(_searched_moves, Budget(env_id, num_playouts))


def _searched_moves(
    budget: Budget, key: Key[Array, ""], env_state: pgx.State
) -> Int[Array, " B"]:
    num_games, num_actions = env_state.legal_action_mask.shape
    size = MAX_EDGES // ((budget.num_playouts + 1) * num_actions)
    size = min(max(size, 1), num_games)
    return choose_in_blocks(functools.partial(_search, budget), size, key, env_state)


def _search(
    budget: Budget, key: Key[Array, ""], env_state: pgx.State
) -> Int[Array, " B"]:
    env = pgx_games.make_env(budget.env_id)
    nodes = grow_trees(env, key, env_state, budget.num_playouts)
    means, visits = mean_results(nodes, nodes.child[:, 0], env_state)
    means = jnp.where(visits > 0, means, -2.0)  # an untried move is the worst
    return equations.greedy(means, env_state.legal_action_mask)
