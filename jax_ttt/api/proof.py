"""The proof that a player is unbeatable, or the line of play that beats it."""

import dataclasses

import jax
import numpy as np

from jax_ttt.api import html
from jax_ttt.api.entrant import PlayerLike, player
from jax_ttt.config.catalogue import GAMES, EnvId, Seat
from jax_ttt.config.errors import PlayerError, SettingError
from jax_ttt.config.ranges import MAX_POSITIONS
from jax_ttt.games import tree as trees
from jax_ttt.games.game import Game, own_game
from jax_ttt.grading import reached_grades
from jax_ttt.grading.grade import Grades
from jax_ttt.pictures import boards
from jax_ttt.pictures.picture import Picture, Theme
from jax_ttt.players.registry import Entrant
from jax_ttt.solver import proof
from jax_ttt.text import result_text


@dataclasses.dataclass(frozen=True, repr=False)
class Proof:
    """The proof result of a player, over a game's tree or the positions it reaches.

    Attributes:
        env_id: The game.
        player: The player's name.
        seats: The seats that the proof covers: those that the player learned.
        unbeatable: Whether no line of play by any opponent beats it in these seats;
            None if the search was cut before that was decided.
        losing_line: The moves of both players in the shortest game that it can lose;
            None if none is found.
        losing_seat: The player's seat in that game; None if none is found.
        likeliest_game: The moves of its likeliest game against itself.
        verdict: The result in words.

    Example:
        >>> found = jax_ttt.prove("minimax")
        >>> found.unbeatable, found.losing_line
        (True, None)
        >>> found
        unbeatable: no line of play by any opponent wins against it, as X or as O \
(5,478 positions)
    """

    env_id: EnvId
    player: str
    seats: tuple[Seat, ...]
    unbeatable: bool | None
    losing_line: tuple[int, ...] | None
    losing_seat: Seat | None
    likeliest_game: tuple[int, ...]
    verdict: str

    def picture(self, theme: Theme = "light") -> Picture:
        """Draw the losing line, or if there is none the likeliest game."""
        moves = self.losing_line or self.likeliest_game
        states = Game.start(self.env_id, moves).states
        # After each move, side by side.
        return boards.position_picture(
            jax.tree.map(lambda *x: np.concatenate(x), *states[1:]), theme
        )

    def __repr__(self) -> str:
        return self.verdict

    def _repr_html_(self) -> str:
        described = html.preformatted(f"{self.player}: {self.verdict.splitlines()[0]}")
        return html.with_picture(described, self.picture)


def prove(
    who: PlayerLike, *, env_id: str | None = None, max_positions: int | None = None
) -> Proof:
    """Prove that a player is unbeatable, or find a line of play that beats it.

    The proof checks every move that the player may make and every reply that an
    opponent could choose: in an enumerable game over its tree, in the other games of
    stones over the positions that a player with one move in each position reaches.
    Ctrl-C ends such a search with what is known.

    Args:
        who: An agent, a built-in player's name or a function; see `player`.
        env_id: The game; by default the player's, else tic-tac-toe.
        max_positions: Most positions in a seat, in a game without a tree only; by
            default as many as memory holds. Beyond them nothing is claimed.

    Raises:
        Refused: the player is unknown; positions of the game have no keys; the
            player's moves are random; or `max_positions` has no effect.

    Example:
        >>> agent = jax_ttt.train(seed=1, preset="table").agent
        >>> jax_ttt.prove(agent).unbeatable
        True
        >>> len(jax_ttt.prove("random").losing_line)
        5
    """
    entered = player(who, env_id=env_id)
    check_max_positions(max_positions, entered.env_id)
    tree, entrant = trees.host_tree(entered.env_id), entered.entrant
    if tree is None:
        return _searched(entered.env_id, entrant, max_positions)
    if entrant.probs is None:
        raise PlayerError(
            f"{entrant.name}: no proof is possible, since its moves are random"
        )
    seats = entrant.seats
    lost: dict[Seat, proof.Line] = {}
    for seat in seats:
        if (line := proof.losing_line(tree, entrant.probs, seat)) is not None:
            lost[seat] = line
    lost_as = min(lost, key=lambda seat: len(lost[seat]), default=None)
    likeliest = proof.self_play_line(tree, entrant.probs)
    return Proof(
        env_id=entered.env_id,
        player=entrant.name,
        seats=seats,
        unbeatable=bool(proof.unbeatable(tree, entrant.probs, seats)),
        losing_line=None if lost_as is None else _moves(lost[lost_as]),
        losing_seat=lost_as,
        likeliest_game=_moves(likeliest),
        verdict=result_text.verdict(
            entered.env_id, Grades(), tree, entrant.probs, seats
        ),
    )


def check_max_positions(max_positions: int | None, env_id: EnvId) -> None:
    """Raise `SettingError` if the limit of a search is wrong, or has no effect."""
    if max_positions is None:
        return
    MAX_POSITIONS.check("max_positions", max_positions)
    if GAMES[env_id].enumerable:
        rule = f"left out: the whole tree of {env_id} is enumerated"
        raise SettingError("max_positions", rule, max_positions)


def _searched(env_id: EnvId, entrant: Entrant, max_positions: int | None) -> Proof:
    """Return the proof over the positions that a player reaches."""
    reached = reached_grades.grade_by_seat(entrant, env_id, max_positions)
    grades = Grades(reached=reached)
    lines: dict[Seat, tuple[int, ...]] = {
        seat: found.losing_line for seat, found in reached.items() if found.losing_line
    }
    lost_as = min(lines, key=lambda seat: len(lines[seat]), default=None)
    return Proof(
        env_id=env_id,
        player=entrant.name,
        seats=tuple(reached),
        unbeatable=grades.is_proven if grades.has_verdict else None,
        losing_line=None if lost_as is None else lines[lost_as],
        losing_seat=lost_as,
        likeliest_game=own_game(env_id, entrant.player).moves,
        verdict=result_text.verdict(env_id, grades, None, None, entrant.seats),
    )


def _moves(line: proof.Line) -> tuple[int, ...]:
    return tuple(move for _, move in line)
