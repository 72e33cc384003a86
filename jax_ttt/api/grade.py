"""Grades of a player: exact results, and sampled ones."""

import dataclasses

import jax

from jax_ttt.api.player import PlayerLike, examined_player
from jax_ttt.config.game_facts import SeatSetting
from jax_ttt.config.grade import Grade
from jax_ttt.config.ranges import NumGamesOrNone, Seed, check_value
from jax_ttt.grading import grader


def grade(
    player: PlayerLike,
    *,
    env_id: str | None = None,
    seat: SeatSetting | None = None,
    num_games: int | None = None,
    seed: int = 0,
    max_positions: int | None = None,
) -> Grade:
    """Return a player's grade against random, minimax and the best response.

    In an enumerable game the grade is exact. In all others, a deterministic player is
    searched as by `prove`, which can take minutes. Ctrl-C ends the search; the grade
    then has what was found so far.

    Args:
        player: An agent, a built-in player's name or a function; see `player`.
        env_id: The game; by default the player's, else tic-tac-toe.
        seat: `"first"`, `"second"` or `"both"`; by default the seats that the player
            learned.
        num_games: Games in each seat of a sampled match against random, up to
            1,048,576; by default 0 if the rates of the graded seats are exact, else
            512.
        seed: The seed of all random numbers.
        max_positions: Maximum number of positions that a search visits in a seat; by
            default as many as memory holds. A search that reaches this limit proves
            nothing.

    Raises:
        Refused: the player is unknown in this game, or the seat; no rate is exact and
            `num_games` is 0; `max_positions` has no effect; or a correction of the
            agent is not for a position that it reaches.

    Examples:
        >>> agent = jax_ttt.train(seed=1, preset="table").agent
        >>> grade = jax_ttt.grade(agent)
        >>> grade.unbeatable, grade.loss_rate
        (True, 0.0)
        >>> round(grade.win_rate, 3)
        0.956
    """
    check_value("seed", Seed, seed)
    if num_games is not None:
        check_value("num_games", NumGamesOrNone, num_games)
    examined = examined_player(player, env_id, seat, max_positions, seed)
    exact_grade = grader.follow_lines(examined, max_positions)
    match_key = jax.random.fold_in(jax.random.key(seed), 1)
    result = grader.with_match(exact_grade, examined, match_key, num_games)
    return dataclasses.replace(result, player=examined.name)
