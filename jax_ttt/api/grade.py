"""Grades of a player: exact results, and sampled ones."""

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path

import jax
from jax.sharding import NamedSharding

from jax_ttt.api.player import PlayerLike, common_game, examined_player
from jax_ttt.config.errors import SettingError
from jax_ttt.config.game_facts import GAMES, EnvId, SeatSetting
from jax_ttt.config.grade import Grade
from jax_ttt.config.player_kinds import ProgramOptions
from jax_ttt.config.ranges import NumGamesOrNone, Seed, check_value
from jax_ttt.games import tree as trees
from jax_ttt.grading import exam as exams
from jax_ttt.grading import grader, search_grade
from jax_ttt.players import asked_players
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
    exam: bool | str | os.PathLike[str] = False,
    sharding: NamedSharding | None = None,
    say: Callable[[str], None] = lambda text: None,
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
        exam: Ask the player for its move in positions whose moves have known values:
            True for the program's own exam in Connect Four, or a CSV file. In a game
            that is not enumerable, `num_games` and `max_positions` then ask for other
            grades.
        sharding: Splits the positions of a search over devices.
        say: A function that gets the progress as a line, a few times a second; for
            instance `print`.

    Raises:
        Refused: the player is unknown in this game, or the seat; no rate is exact and
            `num_games` is 0; the game is enumerable, so `max_positions` has no effect;
            there is no such exam; or a correction of the agent is not for a position
            that it reaches.

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
    if not isinstance(exam, bool | str | os.PathLike) or exam == "":
        raise SettingError("exam", "true, false or a file", exam)
    game = common_game([player], env_id)
    has_lines = follows_lines(game, has_exam=exam is not False, limit=max_positions)
    programs = ProgramOptions(in_advance=has_lines, say=say)
    examined = examined_player(player, game, seat, max_positions, seed, programs)
    _, key = jax.random.split(jax.random.key(seed))
    match_key, exam_key = jax.random.split(key)
    result = Grade(env_id=game, seats=examined.seats)
    if has_lines:
        result = grader.follow_lines(
            player=examined,
            max_positions=max_positions,
            sharding=sharding,
            on_batch=grade_text.search_progress(examined.name, say),
        )
    if exam is not False:
        questions = exams.read_exam(game, None if exam is True else Path(exam))
        examinee = asked_players.player_on_all_boards(examined)
        scores = exams.take_exam(game, examinee, questions, exam_key)
        examinee.close()
        result = dataclasses.replace(result, exam=scores)
    if has_lines or num_games is not None:
        result = grader.with_match(result, examined, match_key, num_games)
    examined.close()
    return dataclasses.replace(
        result,
        player=examined.name,
        note=_reason_sampled(examined, has_lines, max_positions) or None,
        likeliest_game=_likeliest_game(examined),
    )


def follows_lines(env_id: EnvId, *, has_exam: bool, limit: int | None) -> bool:
    """Return whether a grade has more than an exam: all that can be known exactly."""
    return not has_exam or GAMES[env_id].enumerable or limit is not None


def _reason_sampled(player: Player, has_lines: bool, limit: int | None) -> str:
    """Return why lines of play are not followed; empty if they need not be."""
    if note := asked_players.reason_not_exact(player):
        return note
    if not has_lines or GAMES[player.env_id].enumerable:
        return ""
    reason = search_grade.reason_not_searchable(player, has_limit=limit is not None)
    return f"not graded against every opponent: {reason}" if reason else ""


def _likeliest_game(player: Player) -> tuple[int, ...] | None:
    tree = trees.host_tree(player.env_id)
    if tree is None or player.policy is None:
        return None
    return proof.self_play_line(tree, player.policy)
