"""Intervals of sampled rates, and ratings from pairwise scores.

Axes: `N` players.
"""

import math

import numpy as np
from jaxtyping import Float


def wilson_interval(
    successes: int, num_games: int, z: float = 1.96
) -> tuple[float, float]:
    """Return the interval, 95 % by default, of a rate observed in `num_games` games.

    Without games it is 0 to 1. Source: Wilson 1927, "Probable inference, the law of
    succession, and statistical inference".
    """
    if not num_games:
        return 0.0, 1.0
    rate, share = successes / num_games, z * z / num_games
    centre = (rate + share / 2) / (1 + share)
    half = math.sqrt(rate * (1 - rate) * share + share * share / 4) / (1 + share)
    return max(0.0, centre - half), min(1.0, centre + half)


def ratings(scores: Float[np.ndarray, "N N"]) -> Float[np.ndarray, " N"]:
    """Return maximum-likelihood ratings on the Elo scale, with the mean 0.

    A difference of 400 points means odds of 10 to 1. Each score is mixed with 1 % of a
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
