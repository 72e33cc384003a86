"""Hints and the table of values, in words."""

from collections.abc import Sequence

import numpy as np

from jax_ttt.config.catalogue import GAMES
from jax_ttt.players.review import Hint
from jax_ttt.players.session import MoveValue, Session
from jax_ttt.reports import session_text
from jax_ttt.terminal import board_text
from jax_ttt.terminal.board_text import WORDS
from jax_ttt.terminal.screen import Screen

_MOST_ROWS = 12  # of the table of values


def values(game: Session, worth: Sequence[MoveValue], screen: Screen) -> str:
    """Return the values of the legal moves: on boards if these are small, or a table.

    `worth` are the values of all legal moves.
    """
    cells = session_text.numbered_cells(game)
    known = any(value is not None for row in worth for value in row[1:])
    on_cells = GAMES[game.env_id].moves_on == "cells"
    if known and on_cells and cells is not None and board_text.is_boxed(cells):
        return board_text.value_boards(game.env_id, cells, worth, screen)
    return values_table(game.opponent.name, worth)


def values_table(opponent: str, worth: Sequence[MoveValue]) -> str:
    """Return a table of the values of the moves, the best first.

    The order is by the agent's values if there are any, else by those of best play.
    """
    exact = [row.minimax_value for row in worth if row.minimax_value is not None]
    learned = [row.q_value for row in worth if row.q_value is not None]
    columns = {"move": [str(row.move) for row in worth]}
    if exact:
        columns["best play"] = [WORDS[int(value) + 1] for value in exact]
    if learned:
        columns["the agent"] = [f"{value:+.3f}" for value in learned]
    if len(columns) == 1:
        return f"{opponent} has no values to show"
    order = np.argsort(-np.array(learned or exact), kind="stable")
    rows = list(zip(*columns.values(), strict=True))
    shown = [tuple(columns), *(rows[row] for row in order[:_MOST_ROWS])]
    return "\n".join("".join(f"{cell:>11}" for cell in row) for row in shown)


def hint_line(hint: Hint | None, num_legal: int, opponent: str) -> str:
    """Return a hint in one line; `num_legal` is the number of legal moves."""
    if hint is None:
        return f"no hint: {opponent} has no values, and this game has no exact ones"
    best = hint.best
    if best.minimax_value is None:
        return (
            f"hint: {best.move}, which the agent values most ({best.q_value:+.3f}); "
            "this game has no exact values"
        )
    word = WORDS[int(best.minimax_value) + 1]
    others = num_legal - 1 - len(hint.as_good)
    if num_legal == 1:
        return f"hint: {best.move}, the only move; it {word}"
    if not others:
        return f"hint: {best.move}; with best play, each move {word}"
    if not hint.as_good:
        return f"hint: {best.move} {word}; no other move does"
    return f"hint: {best.move} {word}, as {listed(hint.as_good)}"


def listed(moves: Sequence[int]) -> str:
    """Return moves as words, with a verb's form: "4 does", "0, 2 and 6 do"."""
    verb = "does" if len(moves) == 1 else "do"
    return f"{joined(moves)} {verb}"


def joined(moves: Sequence[int], word: str = "and") -> str:
    """Return moves as a list in words, for instance "0, 2 and 6"."""
    *rest, last = map(str, moves)
    return f"{', '.join(rest)} {word} {last}" if rest else last
