"""Certificates of players that never lose: their moves, for others to check."""

import bisect
from collections.abc import Callable

import numpy as np

from jax_ttt.config.catalogue import GAMES, SEATS, EnvId, Seat, seat_name
from jax_ttt.config.errors import PlayerError
from jax_ttt.envs.tree import Tree
from jax_ttt.players.registry import Entrant
from jax_ttt.results.certificates import Moves
from jax_ttt.solver import proof

BoardText = Callable[[int], str]
"""A function from a position to its board as text."""


def proven_moves(
    entrant: Entrant, env_id: EnvId, tree: Tree, text_of: BoardText
) -> tuple[Moves, str]:
    """Return a player's moves in the seats where it is proven unbeatable.

    Also return why another seat that it learned is left out; empty if none is. `tree`
    holds NumPy arrays. `text_of` gives the boards of the moves.

    Raises:
        PlayerError: the player's policy is unknown; or in every seat that it learned,
            it is beatable or has more than one move in a position.
    """
    if (probs := entrant.probs) is None:
        raise PlayerError(f"{entrant.name}: no certificate, since its moves are random")
    moves, reasons = Moves(), []
    stones = dict(zip(SEATS, GAMES[env_id].letters, strict=True))
    for seat in entrant.seats:
        name = seat_name(env_id, seat)
        if line := _losing_moves(tree, probs, seat, stones):
            reasons.append(f"as {name} it loses the game {line}")
        elif (place := _several_moves(tree, probs, seat)) is not None:
            board = text_of(place)
            reasons.append(f"as {name} it has more than one move on {board}")
        else:
            moves[seat] = _moves(tree, probs, seat, text_of)
    missing = "; ".join(reasons)
    if not moves:
        raise PlayerError(f"{entrant.name}: no certificate: {missing}")
    return moves, missing


def _losing_moves(
    tree: Tree, probs: np.ndarray, seat: Seat, stones: dict[Seat, str]
) -> str:
    """Return the shortest game that the player loses; empty if it is unbeatable."""
    if proof.unbeatable(tree, probs, (seat,)):
        return ""
    line = proof.losing_line(tree, probs, seat) or []
    return " ".join(f"{stones[tree.to_move(place)]}{action}" for place, action in line)


def _several_moves(tree: Tree, probs: np.ndarray, seat: Seat) -> int | None:
    """Return the first position that the player reaches and has several moves in."""
    num_moves = proof.playable(tree, probs, seat).sum(axis=1)
    several = proof.decided(tree, probs, seat) & (num_moves != 1)
    return int(several.argmax()) if several.any() else None


def _moves(
    tree: Tree, probs: np.ndarray, seat: Seat, text_of: BoardText
) -> dict[str, int]:
    """Return the player's moves by board; boards with fewer moves played come first."""
    places = np.flatnonzero(proof.decided(tree, probs, seat)).tolist()
    rows = sorted((bisect.bisect(tree.level_start, p), text_of(p), p) for p in places)
    return {board: int(probs[place].argmax()) for _, board, place in rows}
