"""The review of a game: each move beside best play."""

from collections.abc import Sequence

from jax_ttt.config.catalogue import SEATS, Seat
from jax_ttt.envs import tree as trees
from jax_ttt.players.review import ReviewedMove, review_moves
from jax_ttt.players.session import Session
from jax_ttt.reports import text_board
from jax_ttt.results.counting import counted
from jax_ttt.terminal.board_text import WORDS
from jax_ttt.terminal.screen import Screen
from jax_ttt.terminal.values_text import joined


def review_text(game: Session, screen: Screen) -> str:
    """Return the boards of a game, its moves beside best play, and the mistakes."""
    if not game.moves:
        return "nothing to review: no move is made"
    rows = review_moves(game.env_id, game.moves)
    if rows is None:
        return (
            f"no review: exact values of {game.env_id} are not known, it is too large"
        )
    letters = text_board.letters_of(game.env_id)
    line = [(row.position, row.move) for row in rows]
    boards = text_board.side_by_side(trees.enumerated(game.env_id), line, letters)
    lines = [
        _row(number, row, letters[SEATS.index(row.mover)], row.mover == game.seat)
        for number, row in enumerate(rows, start=1)
    ]
    painted = [
        screen.paint(text, "red" if row.is_mistake else "")
        for text, row in zip(lines, rows, strict=True)
    ]
    other: Seat = SEATS[1] if game.seat == SEATS[0] else SEATS[0]
    return "\n".join(
        [
            *(boards, "", "with best play after each move, its player"),
            *(*painted, ""),
            f"you: {_summary(rows, game.seat)}",
            f"{game.opponent.name}: {_summary(rows, other)}",
        ]
    )


def _row(number: int, row: ReviewedMove, letter: str, is_person: bool) -> str:
    before, after = (WORDS[int(v) + 1] for v in (row.value_before, row.value_after))
    who = "you" if is_person else ""
    text = f"{number:>3}. {letter}{row.move:<3}{who:<5}{after}"
    if row.is_mistake:
        text += f": a mistake; {joined(row.best_moves, 'or')} {before}"
    return text


def _summary(rows: Sequence[ReviewedMove], seat: Seat) -> str:
    made = [row for row in rows if row.mover == seat]
    wrong = sum(row.is_mistake for row in made)
    return f"{counted(wrong, 'mistake')} in {counted(len(made), 'move')}"
