"""The board of a game as plain text."""

import numpy as np
from jaxtyping import Shaped

from jax_ttt.config.catalogue import GAMES
from jax_ttt.games.game import Game
from jax_ttt.text import text_board


def board(game: Game) -> str:
    """Return the board, with the moves on their cells or below their columns.

    Games with several kinds of pieces are not drawn.
    """
    cells = numbered_cells(game)
    if cells is None:
        return f"({game.env_id} is not drawn in text)"
    return text_board.as_lines(cells)


def numbered_cells(game: Game) -> Shaped[np.ndarray, "rows W"] | None:
    """Return the cells of `board`; None if the game is not drawn in text."""
    moves_on = GAMES[game.env_id].moves_on
    if moves_on is None:
        return None
    cells = text_board.grid(
        np.asarray(game.state.observation[0]),
        game.to_move,
        text_board.letters_of(game.env_id),
        free=".",
    )
    return text_board.numbered(cells, moves_on, game.legal_moves)
