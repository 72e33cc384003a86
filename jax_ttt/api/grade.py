"""Grades of a player: exact results, and sampled ones."""

import dataclasses
from collections.abc import Callable

import jax
from jax.sharding import NamedSharding

from jax_ttt.api.player import PlayerLike, examined_player
from jax_ttt.config.game_facts import GAMES, SeatSetting
from jax_ttt.config.grade import Grade
from jax_ttt.config.player_kinds import ProgramOptions
from jax_ttt.config.ranges import NumGamesOrNone, Seed, check_value
from jax_ttt.games import tree as trees
from jax_ttt.grading import grader, search_grade
from jax_ttt.players.player import Player
from jax_ttt.solver import proof
from jax_ttt.text import grade_text


def grade(
    player: PlayerLike,
    *,
    env_id: str | None = None,
    seat: SeatSetting | None = None,
    num_games: int | None = None,
    seed: int = 0,
    max_positions: int | None = None,
    sharding: NamedSharding | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Grade:
    """Return a player's grade against random, minimax and the best response.

    In an enumerable game the grade is exact. In all others, a deterministic player is
    searched as by `prove`, which can take minutes. Ctrl-C ends the search; the grade
    then has what was found so far. Where a program or a function is asked, it is
    raised.

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
            default as many as memory holds, and 50,000 of a program or a function
            that is asked. A search that reaches this limit proves nothing.
        sharding: Splits the positions of a search over devices.
        say: A function that gets the progress as a line, a few times a second; for
            instance `print`.

    Raises:
        Refused: the player is unknown in this game, or the seat; no rate is exact and
            `num_games` is 0; the game is enumerable, so `max_positions` has no effect;
            or a correction of the agent is not for a position that it reaches.

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
    programs = ProgramOptions(say=say)
    examined = examined_player(player, env_id, seat, max_positions, seed, programs)
    result = grader.follow_lines(
        player=examined,
        max_positions=max_positions,
        sharding=sharding,
        on_batch=grade_text.search_progress(examined.name, say),
    )
    _, match_key = jax.random.split(jax.random.key(seed))  # the other: of the player
    result = grader.with_match(result, examined, match_key, num_games)
    examined.close()
    return dataclasses.replace(
        result,
        player=examined.name,
        note=result.note or _reason_sampled(examined, max_positions) or None,
        likeliest_game=_likeliest_game(examined),
    )


def _reason_sampled(player: Player, limit: int | None) -> str:
    """Return why lines of play are not followed; empty if they need not be."""
    if player.note or GAMES[player.env_id].enumerable:
        return player.note
    reason = search_grade.reason_not_searchable(player, has_limit=limit is not None)
    return f"not graded against every opponent: {reason}" if reason else ""


def _likeliest_game(player: Player) -> tuple[int, ...] | None:
    tree = trees.host_tree(player.env_id)
    if tree is None or player.policy is None:
        return None
    return proof.self_play_line(tree, player.policy)
