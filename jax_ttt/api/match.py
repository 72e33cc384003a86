"""A match of two players."""

import contextlib
import dataclasses

import jax

from jax_ttt.api.player import PlayerLike, distinct_players
from jax_ttt.config.grade import Match, weakest
from jax_ttt.config.ranges import NumGames, Seed, check_value
from jax_ttt.games import tree as trees
from jax_ttt.grading import sampled_match, tree_grade


def match(
    player: PlayerLike,
    opponent: PlayerLike,
    *,
    env_id: str | None = None,
    num_games: int = 1000,
    seed: int = 0,
) -> Match:
    """Return a player's results against an opponent, in both seats.

    They are exact if the game is enumerable and both policies are known, else sampled.

    Args:
        player: The player whose results are returned; see `player`.
        opponent: The other player.
        env_id: The game; by default the players', else tic-tac-toe.
        num_games: Games in each seat of a sampled match, 1 to 1,048,576.
        seed: The seed of all random numbers.

    Raises:
        Refused: a player is unknown, or the two are made for different games.

    Examples:
        >>> agent = jax_ttt.train(seed=1, preset="table").agent
        >>> jax_ttt.match(agent, "minimax")
        agent of seed 1 against minimax: exact
               wins    draws  losses
        as X  0.00%  100.00%   0.00%
        as O  0.00%  100.00%   0.00%
    """
    check_value("num_games", NumGames, num_games)
    check_value("seed", Seed, seed)
    player_key, match_key = jax.random.split(jax.random.key(seed))
    game, (one, other) = distinct_players([player, opponent], env_id, player_key)
    if one.policy is not None and other.policy is not None:
        matches = tree_grade.exact_matches(
            tree=trees.enumerated(game),
            probs=one.policy,
            opponents={other.name: other.policy},
            evidence=weakest(one.evidence, other.evidence),
        )
        result = matches[other.name]
    else:
        with contextlib.closing(one), contextlib.closing(other):
            result = sampled_match.sample_match(one, other, match_key, num_games)
    return dataclasses.replace(
        result, env_id=game, player=one.name, opponent=other.name
    )
