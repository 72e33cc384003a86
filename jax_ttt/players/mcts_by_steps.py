"""Monte Carlo tree search (UCT) that steps the game, for games without a tree.

The search is the same as in `mcts_on_tree`, but the tree grows during the search, and a
board that several lines of play reach is several nodes. Both searches are needed:
`mcts_on_tree` gives a policy of the whole game, and with the same 200 playouts a move
it loses half as often in tic-tac-toe; this one needs no list of the positions.

Axes: `B` searches, `N` nodes, `A` actions.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import pgx
from jax.tree_util import Partial
from jaxtyping import Array, Float, Int, Key

from jax_ttt.config.game_facts import EnvId
from jax_ttt.dqn import equations
from jax_ttt.games import pgx_games
from jax_ttt.players import mcts_on_tree

MAX_EDGES = 2**24
"""Maximum number of pairs of a node and an action in memory at once, of all searches
together."""


class Nodes(NamedTuple):
    """The tree of each search. Node 0 is the root; the number N stands for no node."""

    child: jax.Array  # (B, N, A) int32 node after each move; N before its first try
    parent: jax.Array  # (B, N) int32; N for the root
    first_moved: jax.Array  # (B, N) bool: player 0 moved to the node
    visits: jax.Array  # (B, N) float32
    score: jax.Array  # (B, N) float32 wins plus half of the draws of who moved there


class _Playout(NamedTuple):
    """The state of unfinished playouts, and the move with which each left its tree."""

    moves: int | jax.Array  # played so far
    state: pgx.State
    outcome: jax.Array  # (B,) float32 of player 0, -1 to 1
    node: jax.Array  # (B,) current node; N outside the tree
    leaf: jax.Array  # (B,) node from which it left the tree; N if it did not
    action: jax.Array  # (B,) with which it left the tree
    first_moved: jax.Array  # (B,) bool: player 0 made that move


def grow_trees(
    env: pgx.Env, key: Key[Array, ""], root: pgx.State, num_playouts: int
) -> Nodes:
    """Return the trees after `num_playouts` playouts from each root.

    `key` is consumed.
    """
    num_games, num_actions = root.legal_action_mask.shape
    max_nodes = num_playouts + 1
    first_moved = jnp.zeros((num_games, max_nodes), bool)
    nodes = Nodes(
        child=jnp.full((num_games, max_nodes, num_actions), max_nodes),
        parent=jnp.full((num_games, max_nodes), max_nodes),
        first_moved=first_moved.at[:, 0].set(~pgx_games.is_turn(root, jnp.int32(0))),
        visits=jnp.zeros((num_games, max_nodes)),
        score=jnp.zeros((num_games, max_nodes)),
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

    Moves maximize UCB up to the first untried move, which leads to `new_node`; of equal
    moves, a random one is played. All later moves are random.
    """
    no_node = nodes.visits.shape[1]
    row = jnp.arange(len(nodes.visits))

    def ply(game: _Playout) -> _Playout:
        is_inside = ~pgx_games.is_finished(game.state) & (game.node < no_node)
        child = nodes.child[row, game.node]
        action = _select_actions(nodes, game, jax.random.fold_in(key, game.moves))
        after, move = pgx_games.step(env, game.state, action, 1.0)
        is_first = pgx_games.is_turn(game.state, jnp.int32(0))
        leaves = is_inside & (child[row, action] == no_node)
        return _Playout(
            moves=game.moves + 1,
            state=after,
            outcome=game.outcome + jnp.where(is_first, move.reward, -move.reward),
            node=jnp.where(is_inside, child[row, action], game.node),
            leaf=jnp.where(leaves, game.node, game.leaf),
            action=jnp.where(leaves, action, game.action),
            first_moved=jnp.where(leaves, is_first, game.first_moved),
        )

    def is_unfinished(game: _Playout) -> jax.Array:
        return ~pgx_games.is_finished(game.state).all()

    start = _Playout(
        moves=0,
        state=root,
        outcome=jnp.zeros(len(row)),
        node=jnp.zeros_like(row),
        leaf=jnp.full_like(row, no_node),
        action=jnp.zeros_like(row),
        first_moved=jnp.zeros(len(row), bool),
    )
    end = jax.lax.while_loop(is_unfinished, ply, start)
    nodes = nodes._replace(
        child=nodes.child.at[row, end.leaf, end.action].set(new_node, mode="drop"),
        parent=nodes.parent.at[row, new_node].set(end.leaf),
        first_moved=nodes.first_moved.at[row, new_node].set(end.first_moved),
    )
    last = jnp.where(end.leaf < no_node, new_node, end.node)
    return _record_outcome(nodes, last, end.outcome)


def _select_actions(
    nodes: Nodes, game: _Playout, key: Key[Array, ""]
) -> Int[Array, " B"]:
    """Return the moves of playouts: the best by UCB, random ones outside the tree."""
    no_node = nodes.visits.shape[1]
    row = jnp.arange(len(nodes.visits))
    child = nodes.child[row, game.node]
    is_tried = child < no_node
    visits, score = (
        jnp.where(is_tried, x[row[:, None], child], 0.0)
        for x in (nodes.visits, nodes.score)
    )
    bound = mcts_on_tree.ucb(visits, score, nodes.visits[row, game.node][:, None])
    bound = jnp.where(game.node[:, None] < no_node, bound, 0.0)
    bound = jnp.where(game.state.legal_action_mask, bound, -jnp.inf)
    return equations.random_legal(
        jax.random.uniform(key, row.shape), mcts_on_tree.is_highest(bound)
    )


def _record_outcome(
    nodes: Nodes, last: Int[Array, " B"], outcome: Float[Array, " B"]
) -> Nodes:
    """Return the trees with a game's result added to `last` and all nodes above it.

    Each step of the loop records one node of every tree and goes up to its parent.
    """
    no_node = nodes.visits.shape[1]
    row = jnp.arange(len(nodes.visits))
    score_of_first = (1 + outcome) / 2

    def record_node(step: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        node, visits, score = step
        first_moved = nodes.first_moved[row, node]
        node_score = jnp.where(first_moved, score_of_first, 1 - score_of_first)
        return (
            jnp.where(node < no_node, nodes.parent[row, node], no_node),
            visits.at[row, node].add(1.0, mode="drop"),
            score.at[row, node].add(node_score, mode="drop"),
        )

    def has_node(step: tuple[Array, Array, Array]) -> Array:
        return (step[0] < no_node).any()

    start = (last, nodes.visits, nodes.score)
    _, visits, score = jax.lax.while_loop(has_node, record_node, start)
    return nodes._replace(visits=visits, score=score)


def root_values(nodes: Nodes) -> Float[Array, "B A"]:
    """Return the mean score of each move at the root; -1 for an untried move."""
    no_node = nodes.visits.shape[1]
    child = nodes.child[:, 0]
    means = mcts_on_tree.mean_scores(
        mcts_on_tree.Records(nodes.visits, nodes.score), child
    )
    return jnp.where(child < no_node, means, -1.0)


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class Budget:
    """The game and the playouts at each move; static, since they decide array sizes."""

    env_id: EnvId
    num_playouts: int


def searching_player(env_id: EnvId, num_playouts: int) -> Partial:
    """Return the player that searches again at each move."""
    return Partial(_searched_actions, Budget(env_id, num_playouts))


def _searched_actions(
    budget: Budget, key: Key[Array, ""], env_state: pgx.State
) -> Int[Array, " B"]:
    env = pgx_games.make_env(budget.env_id)
    num_games, num_actions = env_state.legal_action_mask.shape
    most_games = MAX_EDGES // ((budget.num_playouts + 1) * num_actions)
    group_size = max(min(most_games, num_games), 1)
    num_groups = -(-num_games // group_size)
    # The last group repeats games, so that all groups have the same size.
    rows = jnp.arange(num_groups * group_size) % num_games
    rows = rows.reshape(num_groups, group_size)

    def search_group(group: tuple[Array, Array]) -> Float[Array, "B A"]:
        key, rows = group
        states = jax.tree.map(lambda x: x[rows], env_state)
        return root_values(grow_trees(env, key, states, budget.num_playouts))

    keys = jax.random.split(key, num_groups)
    values = jax.lax.map(search_group, (keys, rows))
    values = values.reshape(-1, num_actions)[:num_games]
    return equations.greedy(values, env_state.legal_action_mask)
