"""A game session in a terminal: prompts, messages and the table of values."""

import textwrap
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Array, Key

from jax_ttt.config.catalogue import GAMES, EnvId, Seat
from jax_ttt.players import session
from jax_ttt.players.registry import Entrant
from jax_ttt.players.session import MoveValue, Session
from jax_ttt.reports import text_board
from jax_ttt.results.counting import counted
from jax_ttt.runtime.compile_events import Status

HELP = "v for the values, u to undo, q to quit"
_MOST_ROWS = 12  # of the table of values
_RESULTS = {"won": "you win", "drawn": "a draw", "lost": "you lose"}


def play_session(
    opponent: Entrant,
    env_id: EnvId,
    seat: Seat,
    key: Key[Array, ""],
    ask: Callable[[str], str] = input,
    say: Callable[[str], None] = print,
) -> str:
    """Play a game against `opponent` and return its result in one line.

    `ask` shows the legal moves and returns the input of the person in `seat`; if it
    raises `EOFError`, the game ends unfinished. `key` is consumed.
    """
    game = session.start_session(env_id, opponent, seat, key)
    you, other = _letters(game)
    while (result := session.result(game)) is None:
        if not session.is_persons_turn(game):
            with Status(f"{opponent.name} is thinking"):
                game = session.play_reply(game)
            say(f"{opponent.name} ({other}) plays {game.moves[-1]}")
            continue
        say(board(game))
        word = _asked(game, ask, say)
        if word == "q":
            return f"left after {counted(len(game.moves), 'move')}: nobody wins"
        if word == "v":
            say(values_table(opponent.name, session.move_values(game)))
        elif word == "u":
            game = session.undo(game)
        else:
            game = session.play_move(game, int(word))
    say(board(game))
    return f"{_RESULTS[result]}: {you} (you) vs. {other} ({opponent.name})"


def _letters(game: Session) -> tuple[str, str]:
    """Return the letters of the person's stones and of the opponent's."""
    first, second = text_board.letters_of(game.env_id)
    return (first, second) if game.seat == "first" else (second, first)


def _asked(game: Session, ask: Callable[[str], str], say: Callable[[str], None]) -> str:
    """Ask until the input is a legal move, v, u or q, and return it."""
    legal = [str(move) for move in session.legal_moves(game)]
    listed = textwrap.fill(f"legal moves: {' '.join(legal)}", 88)
    while True:
        try:
            word = ask(f"{listed}\n{_letters(game)[0]} ({HELP}): ").strip().lower()
        except EOFError:
            return "q"
        if word in ("v", "u", "q", *legal):
            return word
        say(f"{word[:20]!r} is not a legal move: type a legal move, {HELP}")


def board(game: Session) -> str:
    """Return the board, with the moves on their cells or below their columns.

    Games with several kinds of pieces are not drawn.
    """
    obs = np.asarray(game.state.observation[0])
    moves_on = GAMES[game.env_id].moves_on
    if moves_on is None:
        return f"({game.env_id} is not drawn in text)"
    cells = text_board.grid(
        obs,
        session.to_move(game),
        text_board.letters_of(game.env_id),
        free=".",
    )
    return text_board.with_moves(cells, moves_on, session.legal_moves(game))


def values_table(opponent: str, worth: Sequence[MoveValue]) -> str:
    """Return a table of the values of the moves, the best first.

    The order is by the opponent's values if it has any, else by those of best play.
    """
    exact = [row.minimax_value for row in worth if row.minimax_value is not None]
    learned = [row.q_value for row in worth if row.q_value is not None]
    columns = {"move": [str(row.move) for row in worth]}
    if exact:
        columns["best play"] = [("loses", "draws", "wins")[int(v) + 1] for v in exact]
    if learned:
        columns["the agent"] = [f"{value:+.3f}" for value in learned]
    if len(columns) == 1:
        return f"{opponent} has no values to show"
    order = np.argsort(-np.array(learned or exact), kind="stable")
    rows = list(zip(*columns.values(), strict=True))
    shown = [tuple(columns), *(rows[row] for row in order[:_MOST_ROWS])]
    return "\n".join("".join(f"{cell:>11}" for cell in row) for row in shown)
