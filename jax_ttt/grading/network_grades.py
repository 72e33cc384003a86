"""Grades of a network's greedy player: exact, and by a sampled match."""

import functools

import jax
from flax import nnx
from jaxtyping import Array, Key

from jax_ttt.config.catalogue import Seat
from jax_ttt.games import pgx_games
from jax_ttt.games.tree import Tree
from jax_ttt.grading import matches
from jax_ttt.grading.evaluation import Evaluation
from jax_ttt.grading.match_counts import Match
from jax_ttt.players import players
from jax_ttt.players.network import Network, greedy_moves, greedy_player
from jax_ttt.solver import outcomes, proof


@functools.partial(jax.jit, static_argnames="seats")
def grade_exactly(
    network: Network, params: nnx.State, tree: Tree, seats: tuple[Seat, ...]
) -> Evaluation:
    """Return the exact evaluation of the greedy player of `params`.

    `unbeatable` is for `seats`, which the agent learned.
    """
    moves, probs = greedy_moves(network, params, tree)
    return Evaluation(
        exact=outcomes.report(tree, probs),
        unbeatable=proof.unbeatable(tree, probs, seats),
        sampled=None,
        moves=moves,
    )


def play_random(
    network: Network, params: nnx.State, key: Key[Array, ""], num_games: int
) -> Match:
    """Play a match of the greedy player of `params` against random.

    `key` is consumed.
    """
    env = pgx_games.make_env(network.env_id)
    player = greedy_player(network, params)
    return matches.play_match(env, key, player, players.random_player, num_games)
