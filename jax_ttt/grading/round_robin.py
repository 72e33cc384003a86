"""Round-robin results in both seats, exact where possible and sampled elsewhere.

Axes: `N` players, rows as first player and columns as second.
"""

import dataclasses
from collections.abc import Callable

import jax
import numpy as np
from jaxtyping import Array, Float, Key

from jax_ttt.config.game_facts import EnvId
from jax_ttt.config.grade import Pair, Rates, weakest
from jax_ttt.games import tree as trees
from jax_ttt.grading import sampled_match
from jax_ttt.players.player import Player, policy_player
from jax_ttt.solver import outcomes


def ratings(scores: Float[np.ndarray, "N N"]) -> Float[np.ndarray, " N"]:
    """Return maximum-likelihood ratings on the Elo scale, with the mean 0.

    A difference of 400 points means odds of 10 to 1. Each score is mixed with 1% of a
    draw; otherwise a player that always wins would have an infinite rating. Sources:
    Elo 1978, "The rating of chessplayers"; Bradley and Terry 1952; the iteration is
    Hunter 2004, "MM algorithms for generalized Bradley-Terry models".
    """
    if len(scores) < 2:
        return np.zeros(len(scores))
    others = ~np.eye(len(scores), dtype=bool)
    won = np.where(others, 0.99 * scores + 0.005, 0).sum(axis=1)
    strength = np.ones(len(scores))
    for _ in range(10_000):
        pairs = others / (strength[:, None] + strength)
        new = won / pairs.sum(axis=1)
        new /= np.exp(np.log(new).mean())
        if np.allclose(new, strength, rtol=1e-9, atol=0):
            break
        strength = new
    return 400 * np.log10(strength)


def play_round_robin(
    players: list[Player],
    env_id: EnvId,
    key: Key[Array, ""],
    num_games: int,
    say: Callable[[str], None] = lambda text: None,
) -> tuple[Pair, ...]:
    """Return the rates of each row's player against each column's, row by row.

    `say` shows the progress.

    A pair of a first and a second player is one seating. It is exact if both policies
    are known, else sampled with `num_games` games. `key` is consumed.
    """
    size = len(players)
    policy_of = {
        place: player.policy
        for place, player in enumerate(players)
        if player.policy is not None
    }
    rates: dict[tuple[int, int], Rates] = {}
    if policy_of:
        probs = np.stack([*policy_of.values()])
        table = outcomes.pairwise_outcomes(trees.enumerated(env_id), probs, probs)
        for row, first in enumerate(policy_of):
            for column, second in enumerate(policy_of):
                evidence = weakest(players[first].evidence, players[second].evidence)
                rates[first, second] = Rates.of(table[row, column], evidence=evidence)
    # As policies, all players with a known policy share one compiled match.
    sampled_players = [
        player
        if player.policy is None
        else dataclasses.replace(
            player,
            choose=policy_player(trees.position_index(env_id), player.policy),
        )
        for player in players
    ]
    to_sample = [place for place in np.ndindex(size, size) if place not in rates]
    for number, (row, column) in enumerate(to_sample, start=1):
        say(f"playing pair {number:,} of {len(to_sample):,} that are sampled")
        pair_key = jax.random.fold_in(key, row * size + column)
        rates[row, column] = sampled_match.sample_pair(
            first=sampled_players[row],
            second=sampled_players[column],
            key=pair_key,
            num_games=num_games,
        )
    return tuple(
        Pair(
            first=players[row].name,
            second=players[column].name,
            **vars(rates[row, column]),
        )
        for row, column in np.ndindex(size, size)
    )
