"""Monte Carlo tree search (UCT) over an enumerated game, in batches.

Rotated and mirrored copies of a position share one node, so a node can have several
parents. The whole graph exists before a search, so a search is two arrays of visits and
scores, and one search is a policy for the whole game.

Sources: Kocsis and Szepesvari 2006, "Bandit based Monte-Carlo planning"; Childs et al.
2008, "Transpositions and move groups in Monte Carlo tree search".

Axes: `B` searches, `N` nodes, `A` actions, `P` positions, `L` moves of the longest
game, `K` board numbers.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jax.tree_util import Partial
from jaxtyping import Array, Bool, Float, Int, Key

from jax_ttt.config.game_facts import EnvId
from jax_ttt.dqn import equations
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.games.board_index import PositionIndex
from jax_ttt.games.tree import Tree
from jax_ttt.solver import policies

EXPLORATION = 2**0.5
"""Weight of the exploration term in UCB1, for scores from 0 to 1."""


class Graph(NamedTuple):
    """The graph of a game, in which symmetric positions are one node."""

    node: jax.Array  # (P,) int32 node of each position
    after: jax.Array  # (P, A) int32 node after each move; N for an illegal move
    child: jax.Array  # (N, A) int32 `after` of the node's representative position
    first_moved: jax.Array  # (N,) bool: the first player made the latest move
    terminal: jax.Array  # (N,) bool
    outcome: jax.Array  # (N,) float32 of the first player: loss 0, draw 0.5, win 1
    depth: jax.Array  # (L,) numbers of moves, from 0 to L - 1


class Records(NamedTuple):
    """The statistics of each search; a score is of the player who moved to the node."""

    visits: jax.Array  # (B, N) float32
    score: jax.Array  # (B, N) float32: wins plus half of the draws


class _Playout(NamedTuple):
    """The state of unfinished playouts."""

    moves: int | jax.Array  # played so far
    node: jax.Array  # (B,) current node
    visits: jax.Array  # (B,) visits of the node, 0 after the first unvisited node
    path: jax.Array  # (L + 1, B) nodes to record; N for none


@pgx_games.cache_of_games
def game_graph(env_id: EnvId) -> Graph:
    """Return the graph of an enumerable game; each call returns the same arrays."""
    tree = trees.enumerated(env_id)
    representative, node = np.unique(tree.representative, return_inverse=True)
    after = np.where(tree.legal_action_mask, node[tree.successor], len(representative))
    arrays = {
        "node": node.astype(np.int32),
        "after": after.astype(np.int32),
        "child": after[representative].astype(np.int32),
        "first_moved": ~tree.first_to_move[representative],
        "terminal": tree.terminal[representative],
        "outcome": ((1 + tree.outcome[representative]) / 2).astype(np.float32),
        "depth": np.arange(len(tree.level_start) - 2, dtype=np.int32),
    }
    return Graph(**jax.device_put(arrays))


def ucb(
    visits: Float[Array, "*shape"],
    score: Float[Array, "*shape"],
    parent_visits: Float[Array, "*#shape"],
) -> Float[Array, "*shape"]:
    """Return `score / visits + c * sqrt(ln(parent_visits) / visits)`, c = sqrt 2.

    It is infinite for an unvisited node. Source: UCB1, Auer et al. 2002.
    """
    tried = jnp.maximum(visits, 1)
    spread = jnp.sqrt(jnp.log(jnp.maximum(parent_visits, 1)) / tried)
    return jnp.where(visits > 0, score / tried + EXPLORATION * spread, jnp.inf)


def is_highest(values: Float[Array, "B A"]) -> Bool[Array, "B A"]:
    """Return a mask of the highest values in each row, or of the first NaN.

    Illegal actions must have the value -inf.
    """
    best = values == values.max(axis=1, keepdims=True)
    # XLA may compute a value twice with different rounding, and then no value equals
    # the maximum. So the argmax is always in the mask.
    return best | (values.argmax(axis=1)[:, None] == jnp.arange(values.shape[1])[None])


def search_graph(
    graph: Graph,
    key: Key[Array, ""],
    root: Int[Array, " B"],
    num_playouts: int | Int[Array, ""],
) -> Records:
    """Return the records of `num_playouts` playouts from each root.

    `key` is consumed.
    """
    zeros = jnp.zeros((len(root), len(graph.terminal)))

    def step(number: Int[Array, ""], records: Records) -> Records:
        return add_playout(graph, records, jax.random.fold_in(key, number), root)

    return jax.lax.fori_loop(0, num_playouts, step, Records(zeros, zeros))


def add_playout(
    graph: Graph, records: Records, key: Key[Array, ""], root: Int[Array, " B"]
) -> Records:
    """Return the records after one more game of each search, played from its root.

    Moves maximize UCB up to the first unvisited node; of equal moves, a random one is
    played. All later moves are random. The game's result is recorded in the nodes up to
    and including the first unvisited one. `key` is consumed.
    """
    row = jnp.arange(len(root))
    num_nodes, longest = len(graph.terminal), len(graph.depth)
    draws = jax.random.uniform(key, (longest, len(root)))

    def ply(playout: _Playout) -> _Playout:
        moves, node, visits, path = playout
        child = graph.child[node]
        child_visits, score = (x[row[:, None], child] for x in records)
        bound = ucb(child_visits, score, visits[:, None])
        bound = jnp.where(visits[:, None] > 0, bound, 0.0)
        bound = jnp.where(child < num_nodes, bound, -jnp.inf)
        action = equations.random_legal(draws[moves], is_highest(bound))
        over = graph.terminal[node]
        after = jnp.where(over, num_nodes, child[row, action])
        path = path.at[moves + 1].set(jnp.where(visits > 0, after, num_nodes))
        visits = jnp.where(visits > 0, child_visits[row, action], 0.0)
        return _Playout(moves + 1, jnp.where(over, node, after), visits, path)

    def is_unfinished(playout: _Playout) -> jax.Array:
        return ~graph.terminal[playout.node].all()

    # Writes to the node `num_nodes` are dropped. The root counts as visited, since its
    # moves are the ones to choose from.
    path = jnp.full((longest + 1, len(root)), num_nodes).at[0].set(root)
    visits = jnp.maximum(records.visits[row, root], 1)
    start = _Playout(moves=0, node=root, visits=visits, path=path)
    _, last, _, path = jax.lax.while_loop(is_unfinished, ply, start)
    outcome = graph.outcome[last]
    score = jnp.where(graph.first_moved[path], outcome, 1 - outcome)
    return Records(
        records.visits.at[row, path].add(1.0, mode="drop"),
        records.score.at[row, path].add(score, mode="drop"),
    )


def mean_scores(records: Records, after: Int[Array, "B A"]) -> Float[Array, "B A"]:
    """Return the mean scores of nodes, one search per row; -1 for unvisited nodes."""
    row = jnp.arange(len(after))[:, None]
    visits, score = (x[row, after] for x in records)
    return jnp.where(visits > 0, score / jnp.maximum(visits, 1), -1.0)


def offline_policy(
    tree: Tree, graph: Graph, key: Key[Array, ""], num_playouts: int
) -> Float[np.ndarray, "P A"]:
    """Return the policy of one search from the start, made before any game.

    In each position it plays the move with the highest mean score; equal moves have
    equal probability. `tree` holds NumPy arrays. `key` is consumed.
    """
    values = np.asarray(_values_everywhere(graph, key, num_playouts))
    values = np.where(tree.legal_action_mask, values, -np.inf)
    is_best = values == values.max(axis=1, keepdims=True)
    return policies.share_equally(is_best & tree.legal_action_mask)


@jax.jit
def _values_everywhere(
    graph: Graph, key: Key[Array, ""], num_playouts: int | Int[Array, ""]
) -> Float[Array, "P A"]:
    """Return each position's move values, all from one search from the start."""
    records = search_graph(graph, key, graph.node[:1], num_playouts)
    records_by_position = jax.tree.map(
        lambda x: jnp.broadcast_to(x, (len(graph.after), x.shape[1])), records
    )
    return mean_scores(records_by_position, graph.after)


def online_player(
    graph: Graph, index: PositionIndex[np.ndarray], num_playouts: int
) -> Partial:
    """Return the player that searches again at each move.

    `index` is the result of `tree.position_index`.
    """
    arrays = jax.device_put((index, np.int32(num_playouts)))
    return Partial(_searched_actions, graph, *arrays)


def _searched_actions(
    graph: Graph,
    index: PositionIndex[jax.Array],
    num_playouts: Int[Array, ""],
    key: Key[Array, ""],
    env_state: pgx.State,
) -> Int[Array, " B"]:
    position = index.of_states(env_state)
    records = search_graph(graph, key, graph.node[position], num_playouts)
    values = mean_scores(records, graph.after[position])
    return equations.greedy(values, env_state.legal_action_mask)
