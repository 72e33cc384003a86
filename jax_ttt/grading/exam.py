"""Exams: positions whose moves have known values, and a player's scores in them.

Axes: `N` questions, `A` actions.
"""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pgx
from jaxtyping import Array, Bool, Int, Key

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import GAMES, EnvId
from jax_ttt.config.grade import Exam, ExamScore, wilson_interval
from jax_ttt.games import pgx_games
from jax_ttt.games.played_game import replay
from jax_ttt.players.player import Player

_FOLDER = Path(__file__).parent


class Questions(NamedTuple):
    """The questions of an exam: a position each, with its good moves."""

    moves: tuple[tuple[int, ...], ...]  # the actions that lead to each position
    keeps: Bool[np.ndarray, "N A"]  # whether a move keeps the position's value
    kinds: tuple[str, ...]  # "random" or "tactical"

    @property
    def plies(self) -> Int[np.ndarray, " N"]:
        """The number of moves before each question."""
        return np.array([len(moves) for moves in self.moves])


def read_exam(env_id: EnvId, path: Path | None) -> Questions:
    """Return the questions of a file; None is the exam that comes with the package.

    A file is a CSV with the columns `moves`, a digit for each move, from 1; `s1`, `s2`
    and so on, the score of each move to its mover, above 0 if it wins, 0 if it draws,
    empty if it is illegal; and `kind`.

    Raises:
        Refused: the game has no exam, or the file is not one.
    """
    game = GAMES[env_id]
    if path is None and game.exam is None:
        with_exam = ", ".join(name for name, other in GAMES.items() if other.exam)
        raise Refused(f"exam: {env_id} has none; games that do: {with_exam}")
    path = path or _FOLDER / str(game.exam)
    num_actions = pgx_games.sizes(env_id).num_actions
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        moves = tuple(tuple(int(x) - 1 for x in row["moves"]) for row in rows)
        scores = [_scores(row, num_actions) for row in rows]
        kinds = tuple(row["kind"] for row in rows)
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        reason = f"{type(error).__name__}: {error}"
        raise Refused(f"exam {path}: not an exam of {env_id} ({reason})") from None
    if not rows:
        raise Refused(f"exam {path}: no questions")
    values = np.sign(np.array(scores))
    keeps = values == np.nanmax(values, axis=1, keepdims=True)
    return Questions(moves=moves, keeps=keeps, kinds=kinds)


def _scores(row: dict[str, str], num_actions: int) -> list[float]:
    """Return the score of each move; NaN if it is illegal."""
    texts = [row[f"s{number}"] for number in range(1, num_actions + 1)]
    scores = [float(text) if text else np.nan for text in texts]
    if np.isnan(scores).all():
        raise ValueError(f"no legal move after {row['moves']}")
    return scores


def question_states(env_id: EnvId, questions: Questions) -> pgx.State:
    """Return the states of the questions, `(N, ...)`, by playing the moves.

    Raises:
        Refused: a move is not legal, or a game is over.
    """
    states = replay(env_id, questions.moves)
    num_played = np.asarray(pgx_games.num_moves(states))
    if (is_wrong := num_played < questions.plies).any():
        place = int(is_wrong.argmax())
        number = num_played[place] + 1
        raise Refused(f"exam: question {place + 1}: move {number} is not legal")
    if bool(pgx_games.is_finished(states).any()):
        raise Refused("exam: a game is over before the question")
    return states


def take_exam(
    env_id: EnvId, player: Player, questions: Questions, key: Key[Array, ""]
) -> Exam:
    """Return the scores of a player; `key` is consumed.

    Raises:
        Refused: a question is not a position of the game; a program gives no answer, or
            an illegal one.
    """
    states = question_states(env_id, questions)
    action = player.moves(questions.moves, states, key)
    keeps = questions.keeps[np.arange(len(action)), action]
    kinds, plies = np.array(questions.kinds), questions.plies
    return Exam(
        all=exam_score(keeps),
        by_kind={
            kind: exam_score(keeps[kinds == kind]) for kind in sorted({*kinds.tolist()})
        },
        by_ply={
            str(n): exam_score(keeps[plies == n]) for n in np.unique(plies).tolist()
        },
    )


def exam_score(keeps: Bool[np.ndarray, " N"] | Sequence[bool]) -> ExamScore:
    """Return the share of moves that keep the value, with its 95 % interval."""
    num_kept, num_positions = int(np.sum(keeps)), len(keeps)
    return ExamScore(
        num_positions=num_positions,
        share=num_kept / num_positions,
        interval=wilson_interval(num_kept, num_positions),
    )
