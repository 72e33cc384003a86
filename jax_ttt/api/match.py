"""A match of two players, and the cross table of many."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence

import jax

from jax_ttt.api.player import PlayerLike, distinct_players
from jax_ttt.config.errors import Refused
from jax_ttt.config.grade import Match, weakest
from jax_ttt.config.ranges import NumGames, Seed, check_value
from jax_ttt.games import tree as trees
from jax_ttt.grading import round_robin, sampled_match, tree_grade
from jax_ttt.grading.round_robin import CrossTable
from jax_ttt.players import registry
from jax_ttt.players.program import ProgramOptions


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
        result = sampled_match.sample_match(one, other, match_key, num_games)
    return dataclasses.replace(
        result, env_id=game, player=one.name, opponent=other.name
    )


def cross_table(
    players: Iterable[PlayerLike],
    *,
    env_id: str | None = None,
    num_games: int = 200,
    seed: int = 0,
    programs: ProgramOptions = registry.PROGRAMS,
    say: Callable[[str], None] = lambda text: None,
) -> CrossTable:
    """Return the results of a round-robin tournament, in both seats.

    Results of a pair are exact if both policies are known, else sampled.

    Args:
        players: Two players or more; see `player`.
        env_id: The game; by default the players', else tic-tac-toe.
        num_games: Games in each seat, 1 to 1,048,576: those of a sampled pair of a
            first and a second player.
        seed: The seed of all random numbers.
        programs: How programs are asked, as by `player`.
        say: A function that gets the progress as a line; for instance `print`.

    Raises:
        Refused: a player is unknown, or players are made for different games.

    Examples:
        >>> def first_free(env_state):
        ...     return env_state.legal_action_mask.argmax(axis=-1)
        >>> table = jax_ttt.cross_table([first_free, "random", "minimax"])
        >>> [row.player for row in table.ranking]
        ['minimax', 'first_free', 'random']
    """
    player_list = list(players) if isinstance(players, Iterable) else []
    if isinstance(players, str) or len(player_list) < 2:
        raise Refused("a cross table needs a list of at least two players")
    return tournament(
        player_list,
        env_id=env_id,
        num_games=num_games,
        seed=seed,
        programs=programs,
        say=say,
    )


def tournament(
    players: Sequence[PlayerLike],
    *,
    env_id: str | None,
    num_games: int,
    seed: int,
    programs: ProgramOptions,
    say: Callable[[str], None],
) -> CrossTable:
    """Return a cross table as `cross_table`; one player plays against itself."""
    check_value("num_games", NumGames, num_games)
    check_value("seed", Seed, seed)
    player_key, match_key = jax.random.split(jax.random.key(seed))
    game, named_players = distinct_players(
        players, env_id, player_key, dataclasses.replace(programs, say=say)
    )
    return round_robin.play_round_robin(named_players, game, match_key, num_games, say)
