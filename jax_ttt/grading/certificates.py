"""Certificates of players that never lose: their moves, for others to check.

Axes: `P` positions of a level.
"""

import bisect
import dataclasses
import itertools
from collections.abc import Callable

import jax
import numpy as np
from jaxtyping import UInt64

from jax_ttt.config.errors import PlayerError
from jax_ttt.config.game_facts import LETTERS, EnvId, Seat, seat_name
from jax_ttt.games import packing
from jax_ttt.games.tree import Tree
from jax_ttt.grading import exact, search
from jax_ttt.players.player import Player
from jax_ttt.solver import proof, reach, successors
from jax_ttt.solver.proof import Line
from jax_ttt.solver.reach import Reach
from jax_ttt.solver.successors import SearchedPlayer

CertifiedMoves = dict[Seat, dict[str, int]]
"""A player's moves in each seat, by board: its cells, such as `X---O----`."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Certificate:
    """A player's move in every position that it can reach, and what the moves prove.

    The same player gives the same bytes: there is no time, path or version.
    """

    format_version: int = 1
    """Version of the format."""
    env_id: str
    """The game."""
    player: str
    """The player's name, with AGENT for a saved agent."""
    sha256: str
    """Checksum of the saved agent's file, in hexadecimal digits; empty for others."""
    result: str = "never loses"
    """What is proven, for every seat in `moves`."""
    num_positions: int
    """The number of positions in `moves`."""
    moves: CertifiedMoves
    """In each seat that is proven: the positions that the player can reach on its turn,
    as the cells of the board, row by row, and its move there."""


MOST_POSITIONS = 200_000
"""Most positions of a seat where the tree is too large, for a file of 10 MB at most."""
_BATCH = 2**12

BoardText = Callable[[int], str]
"""A function from a position to its board as text."""


def proven_moves(
    player: Player, tree: Tree, text_of: BoardText
) -> tuple[CertifiedMoves, str]:
    """Return a player's moves in the seats where it is proven unbeatable.

    Also return why another seat that it learned is left out; empty if none is. `tree`
    holds NumPy arrays. `text_of` gives the boards of the moves.

    Raises:
        PlayerError: the player's policy is unknown; or in every seat that it learned,
            it is beatable or has more than one move in a position.
    """
    if (probs := player.policy) is None:
        raise PlayerError(f"{player.name}: no certificate, since its moves are random")
    moves, reasons = CertifiedMoves(), []
    grade = exact.grade_seats(player.env_id, tree, probs, player.seats)
    for seat in player.seats:
        name, followed = seat_name(player.env_id, seat), grade.followed[seat]
        if not followed.unbeatable:
            line = _as_text(followed.losing_line or ())
            reasons.append(f"as {name} it loses the game {line}")
        elif (place := _several_moves(tree, probs, seat)) is not None:
            board = text_of(place)
            reasons.append(f"as {name} it has more than one move on {board}")
        else:
            moves[seat] = _moves(tree, probs, seat, text_of)
    missing = "; ".join(reasons)
    if not moves:
        raise PlayerError(f"{player.name}: no certificate: {missing}")
    return moves, missing


def _as_text(line: Line) -> str:
    """Return the moves of a line with their players' letters, such as `X4 O0`."""
    letters = itertools.cycle(LETTERS)
    return " ".join(
        f"{letter}{action}" for letter, action in zip(letters, line, strict=False)
    )


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


def proven_by_search(player: Player) -> tuple[CertifiedMoves, str]:
    """Return a player's moves in the seats where no line of play beats it.

    Also return why another seat that it learned is left out; empty if none is.

    Raises:
        PlayerError: the player does not play one move in each position, plays an
            illegal one, or has too many positions or loses in every seat.
    """
    if reason := search.reason_not_searchable(player):
        raise PlayerError(f"{player.name}: no certificate: {reason}")
    moves, reasons = CertifiedMoves(), []
    for seat in player.seats:
        found = Reach(
            SearchedPlayer(
                env_id=player.env_id,
                player=player.choose,
                seat=seat,
                merged=False,  # a certificate names every board
                batch=_BATCH,
            )
        )
        try:
            reach.follow(found, MOST_POSITIONS)
        except reach.IllegalMoveError as error:
            raise PlayerError(f"{player.name}: {error}") from None
        if search.seat_grade(found).unbeatable:
            moves[seat] = _reached_moves(found)
        else:
            reasons.append(f"as {seat_name(player.env_id, seat)} {_why(found)}")
    missing = "; ".join(reasons)
    if not moves:
        raise PlayerError(f"{player.name}: no certificate: {missing}")
    return moves, missing


def _why(found: Reach) -> str:
    """Return why a seat has no certificate."""
    if found.losing_line is None:
        return f"it reaches more than {MOST_POSITIONS:,} positions"
    line = _as_text(found.losing_line)
    return f"it loses the game {line}"


def _reached_moves(found: Reach) -> dict[str, int]:
    """Return the player's moves by board; boards with fewer moves played come first."""
    subject, moves = found.subject, {}
    for number, keys in enumerate(found.keys):
        if not subject.is_own(number):
            continue
        of_level: dict[str, int] = {}
        for rows, after in successors.expand(subject, number, keys):
            boards = boards_of(subject.env_id, keys[rows])
            of_level |= zip(boards, after.action[:, 0].tolist(), strict=True)
        moves |= dict(sorted(of_level.items()))
    return moves


def boards_of(env_id: EnvId, keys: UInt64[np.ndarray, " P"]) -> list[str]:
    """Return the boards with these keys: their cells row by row, from the top."""
    # Powers of two, so that few programs are compiled.
    filled = np.resize(keys, 1 << max(len(keys) - 1, 0).bit_length())
    first, second = jax.device_get(_unpack(env_id, packing.numbers_to_keys(filled)))
    cells = np.where(first, LETTERS[0], np.where(second, LETTERS[1], "-"))
    return ["".join(row) for row in cells[: len(keys)]]


_unpack = jax.jit(packing.unpack, static_argnums=0)
