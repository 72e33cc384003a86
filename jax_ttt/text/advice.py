"""The values of the legal moves, on boards or as a table."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from jax_ttt.config.game_facts import GAMES, LETTERS, SEATS, Seat
from jax_ttt.games.game import Game
from jax_ttt.players.analysis import (
    MoveValue,
    ReviewedMove,
    minimax_values,
    move_values,
    review_moves,
)
from jax_ttt.players.saved_agents import SavedAgent
from jax_ttt.runtime.words import counted, joined
from jax_ttt.text import board_text
from jax_ttt.text.board_text import Cells
from jax_ttt.text.screen import Screen
from jax_ttt.text.tables import aligned_lines

WORDS = ("loses", "draws", "wins")
"""What a move of exact value -1, 0 or 1 does for its mover under best play."""
_STYLES = ("red", "", "green")  # of these words
_GAP = "    "  # between two boards
_MOST_ROWS = 12  # of the table of values


def values_text(
    game: Game, worth: Sequence[MoveValue], opponent: str, screen: Screen
) -> str:
    """Return the values of the legal moves: on boards if these are small, or a table.

    `worth` has all legal moves.
    """
    exact = {row.move: v for row in worth if (v := row.minimax_value) is not None}
    learned = {row.move: v for row in worth if (v := row.q_value) is not None}
    cells = board_text.numbered_cells(game)
    on_cells = GAMES[game.env_id].moves_on == "cells" and (exact or learned)
    if cells is not None and on_cells and board_text.is_boxed(cells):
        return value_boards(cells, exact, learned, screen)
    return values_table(opponent, worth)


def value_boards(
    cells: Cells,
    exact: Mapping[int, float],
    learned: Mapping[int, float],
    screen: Screen,
) -> str:
    """Return two boards side by side: results under best play, the agent's values.

    `exact` and `learned` are the values of the legal moves; an empty one is left out.
    """
    highest = max(learned.values(), default=0.0)
    blocks = []
    if exact:
        words = {move: WORDS[int(value) + 1] for move, value in exact.items()}
        styles = {move: _STYLES[int(value) + 1] for move, value in exact.items()}
        blocks.append(_titled("best play", cells, words, styles, screen))
    if learned:
        texts = {move: f"{value:+.3f}" for move, value in learned.items()}
        bold = {move: "bold" * (value == highest) for move, value in learned.items()}
        blocks.append(_titled("the agent", cells, texts, bold, screen))
    return board_text.side_by_side(blocks, _GAP)


def _titled(
    title: str,
    cells: Cells,
    texts: Mapping[int, str],
    styles: Mapping[int, str],
    screen: Screen,
) -> list[str]:
    """Return the lines of a board with texts instead of numbers, and its title."""
    shown = cells.copy()
    for move, text in texts.items():
        shown.flat[move] = text
    lines = board_text.board_lines(shown, styles, screen.paint, screen.lines)
    rule = lines[1]  # which has no colour
    return [f"  {title:<{len(rule) - 2}}", *lines]


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
    return "\n".join(aligned_lines(shown, left=()))


class Hint(NamedTuple):
    """A move that a player to move may choose."""

    best: MoveValue
    as_good: tuple[int, ...]  # other moves of the same exact value, ascending


def suggest_move(game: Game, agent: SavedAgent | None) -> Hint | None:
    """Return a hint for the player to move; None if no move has a value.

    In an enumerable game it keeps the exact value; of such moves, it is one that wins
    soonest or loses latest, then the one that the agent values most. Elsewhere the
    agent's values decide; of equal ones, the lowest move.
    """
    rows = move_values(game, agent)
    exact = [row.minimax_value for row in rows if row.minimax_value is not None]
    if not exact:
        valued = [row for row in rows if row.q_value is not None]
        best = max(valued, key=lambda row: row.q_value or 0.0, default=None)
        return None if best is None else Hint(best, ())
    equal = [row for row in rows if row.minimax_value == max(exact)]
    quick = minimax_values(game, quick=True)
    best = max(
        equal,
        key=lambda row: (0.0 if quick is None else quick[row.move], row.q_value or 0.0),
    )
    return Hint(best, tuple(row.move for row in equal if row is not best))


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
    verb = "does" if len(hint.as_good) == 1 else "do"
    return f"hint: {best.move} {word}, as {joined(hint.as_good)} {verb}"


def review_text(game: Game, seat: Seat, opponent: str, screen: Screen) -> str:
    """Return the boards of a game, its moves beside best play, and the mistakes.

    `seat` is the person's, `opponent` the other player's name.
    """
    if not game.moves:
        return "nothing to review: no move is made"
    rows = review_moves(game)
    if rows is None:
        return f"no review: {game.env_id} is too large for exact values"
    lines = [
        _row(number, row, LETTERS[SEATS.index(row.mover)], row.mover == seat)
        for number, row in enumerate(rows, start=1)
    ]
    painted = [
        screen.paint(text, "red" if row.is_mistake else "")
        for text, row in zip(lines, rows, strict=True)
    ]
    return "\n".join(
        [
            board_text.game_boards(game),
            *("", "with best play after each move, its player", *painted, ""),
            f"you: {_summary([row for row in rows if row.mover == seat])}",
            f"{opponent}: {_summary([row for row in rows if row.mover != seat])}",
        ]
    )


def _row(number: int, row: ReviewedMove, letter: str, is_person: bool) -> str:
    before, after = (WORDS[int(v) + 1] for v in (row.value_before, row.value_after))
    who = "you" if is_person else ""
    text = f"{number:>3}. {letter}{row.move:<3}{who:<5}{after}"
    if row.is_mistake:
        text += f": a mistake; {joined(row.best_moves, 'or')} {before}"
    return text


def _summary(rows: Sequence[ReviewedMove]) -> str:
    wrong = sum(row.is_mistake for row in rows)
    return f"{counted(wrong, 'mistake')} in {counted(len(rows), 'move')}"
