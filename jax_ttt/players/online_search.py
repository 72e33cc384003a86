"""Monte Carlo tree search (UCT) that steps the game, for games without a tree.

The search is that of `mcts`, but a board that several lines of play lead to is several
nodes. Both stay: the graph of `mcts` makes one search a policy of the whole game, and
in tic-tac-toe the same 200 playouts a move lose half as often with it.

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
from jax_ttt.players import mcts

MOST_EDGES = 2**24
"""Most pairs of a node and an action in memory at once, for all searches."""


class Nodes(NamedTuple):
    """The tree of each search. Node 0 is the root; N is no node."""

    child: jax.Array  # (B, N, A) int32 node after each move; N until it is tried
    parent: jax.Array  # (B, N) int32; N for the root
    first_moved: jax.Array  # (B, N) bool: the first player moved to the node
    visits: jax.Array  # (B, N) float32
    score: jax.Array  # (B, N) float32 of who moved there: wins plus half of the draws


class _Playout(NamedTuple):
    """The state of unfinished playouts, and the move of each that left its tree."""

    moves: int | jax.Array  # played so far
    state: pgx.State
    outcome: jax.Array  # (B,) float32 of the first player, -1 to 1
    node: jax.Array  # (B,) current node; N outside the tree
    leaf: jax.Array  # (B,) the last node before; N for none
    action: jax.Array  # (B,)
    first_moved: jax.Array  # (B,) bool: the first player left the tree


def grow_trees(
    env: pgx.Env, key: Key[Array, ""], root: pgx.State, num_playouts: int
) -> Nodes:
    """Return the trees after `num_playouts` playouts from each root.

    `key` is consumed.
    """
    num_games, num_actions = root.legal_action_mask.shape
    none = num_playouts + 1
    nothing = jnp.zeros((num_games, none))
    empty = jnp.full((num_games, none, num_actions), none)
    first_moved = jnp.zeros((num_games, none), bool)
    first_moved = first_moved.at[:, 0].set(~pgx_games.first_to_move(root))
    nodes = Nodes(empty, empty[..., 0], first_moved, nothing, nothing)

    def step(number: Int[Array, ""], nodes: Nodes) -> Nodes:
        drawn = jax.random.fold_in(key, number)
        return _play_out(env, nodes, drawn, root, number + 1)

    return jax.lax.fori_loop(0, num_playouts, step, nodes)


def _play_out(
    env: pgx.Env,
    nodes: Nodes,
    key: Key[Array, ""],
    root: pgx.State,
    new: Int[Array, ""],
) -> Nodes:
    """Play one game of each search from its root and record it.

    Moves maximize UCB up to the first move that is untried, which leads to the node
    `new`; a random one of equal moves is played. All later moves are random.
    """
    none = nodes.visits.shape[1]
    row = jnp.arange(len(nodes.visits))

    def ply(game: _Playout) -> _Playout:
        inside = ~pgx_games.finished(game.state) & (game.node < none)
        child = nodes.child[row, game.node]
        action = _selected(nodes, game, jax.random.fold_in(key, game.moves))
        after, move = pgx_games.step(env, game.state, action, 1.0)
        first = pgx_games.first_to_move(game.state)
        left = inside & (child[row, action] == none)
        return _Playout(
            game.moves + 1,
            after,
            game.outcome + jnp.where(first, move.reward, -move.reward),
            jnp.where(inside, child[row, action], game.node),
            jnp.where(left, game.node, game.leaf),
            jnp.where(left, action, game.action),
            jnp.where(left, first, game.first_moved),
        )

    def going(game: _Playout) -> jax.Array:
        return ~pgx_games.finished(game.state).all()

    zero, no_node = jnp.zeros_like(row), jnp.full_like(row, none)
    start = _Playout(
        *(0, root, jnp.zeros(len(row)), zero, no_node, zero),
        jnp.zeros(len(row), bool),
    )
    end = jax.lax.while_loop(going, ply, start)
    nodes = nodes._replace(
        child=nodes.child.at[row, end.leaf, end.action].set(new, mode="drop"),
        parent=nodes.parent.at[row, new].set(end.leaf),
        first_moved=nodes.first_moved.at[row, new].set(end.first_moved),
    )
    last = jnp.where(end.leaf < none, new, end.node)
    return _recorded(nodes, last, end.outcome)


def _selected(nodes: Nodes, game: _Playout, key: Key[Array, ""]) -> Int[Array, " B"]:
    """Return the moves of playouts: the best by UCB, at random outside the tree."""
    none = nodes.visits.shape[1]
    row = jnp.arange(len(nodes.visits))
    child = nodes.child[row, game.node]
    tried = child < none
    visits, score = (
        jnp.where(tried, x[row[:, None], child], 0.0)
        for x in (nodes.visits, nodes.score)
    )
    bound = mcts.ucb(visits, score, nodes.visits[row, game.node][:, None])
    bound = jnp.where(game.node[:, None] < none, bound, 0.0)
    bound = jnp.where(game.state.legal_action_mask, bound, -jnp.inf)
    return equations.random_legal(
        jax.random.uniform(key, row.shape), equations.is_highest(bound)
    )


def _recorded(
    nodes: Nodes, last: Int[Array, " B"], outcome: Float[Array, " B"]
) -> Nodes:
    """Return the trees with a game's result, in `last` and all nodes above it."""
    none = nodes.visits.shape[1]
    row = jnp.arange(len(nodes.visits))

    def up(above: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        node, visits, score = above
        to_first = (1 + outcome) / 2
        share = jnp.where(nodes.first_moved[row, node], to_first, 1 - to_first)
        return (
            jnp.where(node < none, nodes.parent[row, node], none),
            visits.at[row, node].add(1.0, mode="drop"),
            score.at[row, node].add(share, mode="drop"),
        )

    start = last, nodes.visits, nodes.score
    _, visits, score = jax.lax.while_loop(lambda x: (x[0] < none).any(), up, start)
    return nodes._replace(visits=visits, score=score)


def root_values(nodes: Nodes) -> Float[Array, "B A"]:
    """Return the mean score of each move at the root; -1 for moves not tried."""
    none = nodes.visits.shape[1]
    child = nodes.child[:, 0]
    means = mcts.mean_scores(mcts.Records(nodes.visits, nodes.score), child)
    return jnp.where(child < none, means, -1.0)


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class Budget:
    """The game and the playouts at each move; static, as the trees' size is."""

    env_id: EnvId
    num_playouts: int


def searching_player(env_id: EnvId, num_playouts: int) -> Partial:
    """Return the player that searches again at each move, for a batch of games."""
    return Partial(_played, Budget(env_id, num_playouts))


def _played(
    budget: Budget, key: Key[Array, ""], env_state: pgx.State
) -> Int[Array, " B"]:
    env = pgx_games.make_env(budget.env_id)
    num_games, num_actions = env_state.legal_action_mask.shape
    most = MOST_EDGES // ((budget.num_playouts + 1) * num_actions)
    at_once = max(min(most, num_games), 1)
    groups = -(-num_games // at_once)
    # The last group repeats games, so that all have one size.
    rows = (jnp.arange(groups * at_once) % num_games).reshape(groups, at_once)

    def values(group: tuple[Array, Array]) -> Float[Array, "B A"]:
        key, rows = group
        states = jax.tree.map(lambda x: x[rows], env_state)
        return root_values(grow_trees(env, key, states, budget.num_playouts))

    found = jax.lax.map(values, (jax.random.split(key, groups), rows))
    found = found.reshape(-1, num_actions)[:num_games]
    return equations.greedy(found, env_state.legal_action_mask)
