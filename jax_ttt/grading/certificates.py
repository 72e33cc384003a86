"""Certificates of players that never lose: their moves, for others to check.

Axes: `P` positions of a level.
"""

import bisect
import dataclasses
from collections.abc import Callable

import numpy as np
from jaxtyping import UInt64

from jax_ttt.config.errors import PlayerError
from jax_ttt.config.game_facts import (
    LETTERS,
    SEATS,
    EnvId,
    Seat,
    move_with_letter,
    seat_name,
)
from jax_ttt.files.json_records import Versioned
from jax_ttt.games import position_keys
from jax_ttt.games.tree import Tree
from jax_ttt.grading import search_grade, tree_grade
from jax_ttt.players.player import Player
from jax_ttt.solver import proof, reached_positions, successors
from jax_ttt.solver.proof import Line
from jax_ttt.solver.reached_positions import Reach
from jax_ttt.solver.successors import SearchedPlayer

CertifiedMoves = dict[Seat, dict[str, int]]
"""A player's moves in each seat, by board: its cells, such as `X---O----`."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Certificate(Versioned):
    """A player's move in every position that it can reach, and what the moves prove.

    The same player gives the same bytes: there is no time, path or version.
    """

    env_id: str
    """The game."""
    player: str
    """The player's name, with AGENT for a saved agent, and COMMAND for a program's; and
    whether the moves are those that it gave when it was asked."""
    sha256: str
    """Checksum of the saved agent's file, in hexadecimal digits; empty for others."""
    result: str = "never loses"
    """What is proven, for every seat in `moves`."""
    num_positions: int
    """The number of positions in `moves`."""
    moves: CertifiedMoves
    """For each proven seat: the player's move in each position that it can reach and in
    which it is to move. A position is the cells of its board, row by row."""

    @classmethod
    def of(
        cls, player: Player, name: str, moves: CertifiedMoves, sha256: str = ""
    ) -> "Certificate":
        """Return the certificate of these moves; `name` stands for the player."""
        if player.evidence == "asked":
            name += ", by the moves that it gave"
        return cls(
            env_id=player.env_id,
            player=name,
            sha256=sha256,
            num_positions=sum(map(len, moves.values())),
            moves=moves,
        )


MAX_POSITIONS = 200_000
"""Maximum number of positions of a seat where the tree is too large, for a file of 10
MB at most."""
_BATCH = 2**12
"""Positions in a call of the compiled programs."""

BoardText = Callable[[int], str]
"""A function from a position to its board as text."""


def proven_moves(
    player: Player, tree: Tree, text_of: BoardText
) -> tuple[CertifiedMoves, str]:
    """Return a player's moves in the seats where the game's tree proves it unbeatable.

    Also return why a seat that it learned is left out; empty if none is. `tree` holds
    NumPy arrays.

    Raises:
        PlayerError: the player's policy is unknown; or in every seat that it learned,
            it is beatable or has more than one move in a position.
    """
    probs, reason = player.policy, search_grade.reason_not_searchable(player)
    if probs is None or reason:
        raise PlayerError(f"no certificate: {reason}")
    moves, reasons = CertifiedMoves(), []
    grade = tree_grade.grade_seats(
        player.env_id, tree, probs, player.evidence, player.seats
    )
    for seat in player.seats:
        name, seat_grade = seat_name(seat), grade.followed[seat]
        if not seat_grade.unbeatable:
            line = _line_text(player.env_id, seat_grade.losing_line or ())
            reasons.append(f"as {name} it loses the game {line}")
        elif (position := _position_with_choice(tree, probs, seat)) is not None:
            board = text_of(position)
            reasons.append(f"as {name} it has more than one move on {board}")
        else:
            moves[seat] = _moves_in_tree(tree, probs, seat, text_of)
    missing = "; ".join(reasons)
    if not moves:
        raise PlayerError(f"{player.name}: no certificate: {missing}")
    return moves, missing


def _line_text(env_id: EnvId, line: Line) -> str:
    """Return the moves of a line with their players' letters, such as `X4 O0`."""
    return " ".join(
        move_with_letter(env_id, SEATS[place % 2], move)
        for place, move in enumerate(line)
    )


def _position_with_choice(tree: Tree, probs: np.ndarray, seat: Seat) -> int | None:
    """Return the first position that the player reaches and has several moves in."""
    num_moves = proof.playable(tree, probs, seat).sum(axis=1)
    has_choice = proof.own_decisions(tree, probs, seat) & (num_moves != 1)
    return int(has_choice.argmax()) if has_choice.any() else None


def _moves_in_tree(
    tree: Tree, probs: np.ndarray, seat: Seat, text_of: BoardText
) -> dict[str, int]:
    """Return the player's moves by board; boards with fewer moves played come first."""
    positions = np.flatnonzero(proof.own_decisions(tree, probs, seat)).tolist()
    rows = sorted(
        (bisect.bisect(tree.level_start, position), text_of(position), position)
        for position in positions
    )
    return {board: int(probs[position].argmax()) for _, board, position in rows}


def proven_by_search(player: Player) -> tuple[CertifiedMoves, str]:
    """Return a player's moves in the seats where a search proves it unbeatable.

    Also return why a seat that it learned is left out; empty if none is.

    Raises:
        PlayerError: the player does not play one move in each position, plays an
            illegal one, or has too many positions or loses in every seat.
    """
    if reason := search_grade.reason_not_searchable(player):
        raise PlayerError(f"no certificate: {reason}")
    moves, reasons = CertifiedMoves(), []
    for seat in player.seats:
        reach = Reach(
            SearchedPlayer(
                env_id=player.env_id,
                choose=player.choose,
                seat=seat,
                merge_symmetric=False,  # a certificate names every board
                batch=_BATCH,
            )
        )
        try:
            reached_positions.follow_all_lines(reach, MAX_POSITIONS)
        except reached_positions.IllegalMoveError as error:
            raise PlayerError(f"{player.name}: {error}") from None
        if search_grade.seat_grade(reach, player.evidence).unbeatable:
            moves[seat] = _moves_of_search(reach)
        else:
            reasons.append(f"as {seat_name(seat)} {_reason_not_proven(reach)}")
    missing = "; ".join(reasons)
    if not moves:
        raise PlayerError(f"{player.name}: no certificate: {missing}")
    return moves, missing


def _reason_not_proven(reach: Reach) -> str:
    """Return why a seat has no certificate."""
    if reach.losing_line is None:
        return f"it reaches more than {MAX_POSITIONS:,} positions"
    line = _line_text(reach.player.env_id, reach.losing_line)
    return f"it loses the game {line}"


def _moves_of_search(reach: Reach) -> dict[str, int]:
    """Return the player's moves by board; boards with fewer moves played come first."""
    player, moves = reach.player, {}
    for level, keys in enumerate(reach.keys):
        if not player.moves_at(level):
            continue
        level_moves: dict[str, int] = {}
        for places, after in successors.expand_level(player, level, keys):
            boards = board_texts(player.env_id, keys[places])
            level_moves |= zip(boards, after.action[:, 0].tolist(), strict=True)
        moves |= dict(sorted(level_moves.items()))
    return moves


def board_texts(env_id: EnvId, keys: UInt64[np.ndarray, " P"]) -> list[str]:
    """Return the boards with these keys: their cells row by row, from the top."""
    stones = position_keys.unpack(env_id, position_keys.numbers_to_keys(keys))
    of_second = np.where(stones.second, LETTERS[1], "-")
    cells = np.where(stones.first, LETTERS[0], of_second)
    return ["".join(row) for row in cells]
