"""Certificates of players that never lose: their moves, for others to check.

Axes: `P` positions of a level.
"""

import dataclasses
from typing import Literal

import numpy as np
from jaxtyping import UInt64

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import (
    LETTERS,
    EnvId,
    Seat,
    line_text,
    seat_name,
)
from jax_ttt.games import position_keys
from jax_ttt.games import tree as trees
from jax_ttt.grading import search_grade
from jax_ttt.players.player import Player, moves_of_policy
from jax_ttt.solver import reached_positions, successors
from jax_ttt.solver.asked_moves import ChangedAnswerError
from jax_ttt.solver.batches import IllegalMoveError, SearchedPlayer
from jax_ttt.solver.reached_positions import Reach

CertifiedMoves = dict[Seat, dict[str, int]]
"""A player's moves in each seat, by board: its cells, such as `X---O----`."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Certificate:
    """A player's move in every position that it can reach, and what the moves prove.

    The same player gives the same bytes: there is no time, path or version.
    """

    version: Literal[1] = 1
    """Version of the format."""
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
"""Maximum number of positions of a seat, for a file of 10 MB at most."""
_BATCH = 2**12
"""Positions in a call of the compiled programs."""


def proven_moves(player: Player) -> tuple[CertifiedMoves, str]:
    """Return a player's moves in the seats where it is proven unbeatable.

    A search of all positions that the player reaches proves it. Also return why a seat
    that it learned is left out; empty if none is.

    Raises:
        Refused: no seat can be certified, or the player plays an illegal move.
    """
    if reason := search_grade.reason_not_searchable(player):
        raise Refused(f"no certificate: {reason}")
    moves, reasons = CertifiedMoves(), []
    for seat in player.seats:
        proven = _moves_in_seat(player, seat)
        if isinstance(proven, str):
            reasons.append(f"as {seat_name(seat)} {proven}")
        else:
            moves[seat] = proven
    missing = "; ".join(reasons)
    if not moves:
        raise Refused(f"{player.name}: no certificate: {missing}")
    return moves, missing


def _moves_in_seat(player: Player, seat: Seat) -> dict[str, int] | str:
    """Return the moves by board, or why a search does not prove them.

    Boards with fewer moves played come first. All moves that a policy may play are
    followed, so one that draws between several moves is found.

    Raises:
        Refused: the player plays an illegal move.
    """
    may_play = None
    if player.policy is not None:
        index = trees.position_index(player.env_id)
        may_play = moves_of_policy(index, player.policy)
    searched = SearchedPlayer(
        env_id=player.env_id,
        choose=player.choose,
        seat=seat,
        merge_symmetric=False,  # a certificate names every board
        batch=_BATCH,
        may_play=may_play,
        asked=player.asked_moves(seat),
    )
    reach = Reach(searched)
    try:
        reached_positions.follow_all_lines(reach, MAX_POSITIONS)
    except (IllegalMoveError, ChangedAnswerError) as error:
        raise Refused(f"{player.name}: {error}") from None
    if reach.losing_line is not None:
        return f"it loses the game {line_text(player.env_id, reach.losing_line)}"
    if not search_grade.seat_grade(reach, player.evidence).unbeatable:
        return f"it reaches more than {MAX_POSITIONS:,} positions"
    moves: dict[str, int] = {}
    for level, keys in enumerate(reach.keys):
        if not searched.moves_at(level):
            continue
        level_moves: dict[str, int] = {}
        for places, after in successors.expand_level(searched, keys):
            boards = board_texts(player.env_id, keys[places])
            has_choice = np.bincount(after.row) > 1
            if has_choice.any():
                return f"it has more than one move on {boards[has_choice.argmax()]}"
            level_moves |= zip(boards, after.action.tolist(), strict=True)
        moves |= dict(sorted(level_moves.items()))
    return moves


def board_texts(env_id: EnvId, keys: UInt64[np.ndarray, " P"]) -> list[str]:
    """Return the boards with these keys: their cells row by row, from the top."""
    stones = position_keys.unpack(env_id, position_keys.numbers_to_keys(keys))
    of_second = np.where(stones.second, LETTERS[1], "-")
    cells = np.where(stones.first, LETTERS[0], of_second)
    return ["".join(row) for row in cells]
