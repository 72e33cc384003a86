"""The review of a game: each move beside best play."""

from collections.abc import Sequence

from jax_ttt.config.catalogue import LETTERS, SEATS, Seat
from jax_ttt.games.game import Game
from jax_ttt.players.review import ReviewedMove, review_moves
from jax_ttt.runtime.words import counted, joined
from jax_ttt.text import board
from jax_ttt.text.screen import Screen
from jax_ttt.text.values_text import WORDS


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
            board.game_boards(game),
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
