"""Certificates of players that never lose: their moves, for others to check."""

import numpy as np

from jax_ttt.config.catalogue import SEATS, Seat, seat_name
from jax_ttt.config.errors import PlayerError
from jax_ttt.envs.tree import Tree
from jax_ttt.players.registry import Entrant
from jax_ttt.reports import text_board
from jax_ttt.results.certificates import Moves
from jax_ttt.solver import proof


def proven_moves(entrant: Entrant, env_id: str, tree: Tree) -> tuple[Moves, str]:
    """Return a player's moves in the seats where it is proven unbeatable.

    Also return why another seat that it learned is left out; empty if none is. `tree`
    holds NumPy arrays.

    Raises:
        PlayerError: the player's policy is unknown; or in every seat that it learned,
            it is beatable or has more than one move in a position.
    """
    if (probs := entrant.probs) is None:
        raise PlayerError(f"{entrant.name}: no certificate, since its moves are random")
    moves, reasons = Moves(), []
    for seat in entrant.seats:
        if reason := _reason_against(tree, probs, seat):
            reasons.append(f"as {seat_name(env_id, seat)} {reason}")
        else:
            moves[seat] = _moves(tree, probs, seat)
    missing = "; ".join(reasons)
    if not moves:
        raise PlayerError(f"{entrant.name}: no certificate: {missing}")
    return moves, missing


def _reason_against(tree: Tree, probs: np.ndarray, seat: Seat) -> str:
    """Return why there is no certificate for a seat; empty if there is one."""
    if not proof.unbeatable(tree, probs, (seat,)):
        stones = dict(zip(SEATS, text_board.LETTERS, strict=True))
        line = proof.losing_line(tree, probs, seat) or []
        moved = (f"{stones[tree.to_move(place)]}{action}" for place, action in line)
        return f"it loses the game {' '.join(moved)}"
    num_moves = proof.playable(tree, probs, seat).sum(axis=1)
    several = proof.decided(tree, probs, seat) & (num_moves != 1)
    if not several.any():
        return ""
    board = text_board.cells_as_text(tree, int(several.argmax()))
    return f"it has more than one move on {board}"


def _moves(tree: Tree, probs: np.ndarray, seat: Seat) -> dict[str, int]:
    """Return the player's moves by board; boards with fewer stones come first."""
    places = np.flatnonzero(proof.decided(tree, probs, seat)).tolist()
    boards = {text_board.cells_as_text(tree, place): place for place in places}
    in_order = sorted(boards, key=lambda board: (-board.count(text_board.FREE), board))
    return {board: int(probs[boards[board]].argmax()) for board in in_order}
