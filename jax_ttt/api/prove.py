"""The proof that a player is unbeatable, or the line of play that beats it."""

import dataclasses
from collections.abc import Callable

import jax
import numpy as np
from jax.sharding import NamedSharding

from jax_ttt.api import grade as grades
from jax_ttt.api.player import PlayerLike, examined_player
from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import Seat, SeatSetting
from jax_ttt.config.grade import Grade
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.games.played_game import Game, game_against_itself
from jax_ttt.grading import search_grade
from jax_ttt.pictures.board_svg import position_picture
from jax_ttt.players.user_players import AskedPlayer
from jax_ttt.text import grade_text, html


@dataclasses.dataclass(frozen=True, repr=False)
class Proof:
    """The result of a proof: unbeatable, a line that beats the player, or undecided.

    Attributes:
        player: The player's name.
        grade: The player's grade in the seats that the proof covers.
        likeliest_game: The moves of its likeliest game against itself; none of a player
            that would have to be asked again.

    Examples:
        >>> proof = jax_ttt.prove("minimax")
        >>> proof.unbeatable, proof.losing_line
        (True, None)
        >>> proof
        unbeatable: no line of play by any opponent wins against it, as X or as O \
(5,478 positions)
    """

    player: str
    grade: Grade
    likeliest_game: tuple[int, ...]

    @property
    def env_id(self) -> str:
        """The game."""
        return self.grade.env_id

    @property
    def seats(self) -> tuple[Seat, ...]:
        """The seats that the proof covers."""
        return self.grade.seats

    @property
    def unbeatable(self) -> bool | None:
        """Whether no line of play by any opponent beats it in these seats.

        None if the search ended before that was decided.
        """
        return self.grade.unbeatable

    @property
    def losing_line(self) -> tuple[int, ...] | None:
        """The moves of both players in a shortest game that it loses, or None."""
        loss = self.grade.shortest_loss
        return None if loss is None else loss[1]

    @property
    def losing_seat(self) -> Seat | None:
        """The player's seat in that game, or None."""
        loss = self.grade.shortest_loss
        return None if loss is None else loss[0]

    @property
    def verdict(self) -> str:
        """The result in words."""
        return grade_text.verdict(self.grade)

    def picture(self, theme: Theme = "light") -> Picture:
        """Draw the losing line, or if there is none the likeliest game."""
        moves = self.losing_line or self.likeliest_game
        states = Game.start(self.env_id, moves).states
        # After each move, side by side.
        shown = states[1:] or states
        return position_picture(
            jax.tree.map(lambda *x: np.concatenate(x), *shown), theme
        )

    def __repr__(self) -> str:
        return self.verdict

    def _repr_html_(self) -> str:
        text = f"{self.player}: {self.verdict}"
        first_line, text = map(html.preformatted, (text.splitlines()[0], text))
        return html.with_picture(first_line, self.picture, alone=text)


def prove(
    player: PlayerLike,
    *,
    env_id: str | None = None,
    seat: SeatSetting | None = None,
    max_positions: int | None = None,
    sharding: NamedSharding | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Proof:
    """Prove that a player is unbeatable, or find a line of play that beats it.

    The proof checks every move that the player may make and every reply that an
    opponent could choose. In an enumerable game it uses the whole tree. In all others
    it searches all positions that the player reaches, so the player must be
    deterministic. Ctrl-C ends the search, which then proves nothing more.

    Args:
        player: An agent, a built-in player's name or a function; see `player`.
        env_id: The game; by default the player's, else tic-tac-toe.
        seat: `"first"`, `"second"` or `"both"`; by default the seats that the player
            learned.
        max_positions: Maximum number of positions that a search visits in a seat; by
            default as many as memory holds, and 50,000 of a program or a function
            that is asked. A search that reaches this limit proves nothing.
        sharding: As in `grade`.
        say: As in `grade`.

    Raises:
        Refused: the player or the seat is unknown; the player's moves are random;
            `max_positions` has no effect; a correction of the agent is not for a
            position that it reaches; or a position breaks a rule of `register_game`.

    Examples:
        >>> agent = jax_ttt.train(seed=1, preset="table").agent
        >>> jax_ttt.prove(agent).unbeatable
        True
        >>> len(jax_ttt.prove("random").losing_line)
        5
    """
    examined = examined_player(player, env_id, seat, max_positions)
    has_limit = max_positions is not None
    if reason := search_grade.reason_not_searchable(examined, has_limit):
        raise Refused(reason)
    result = grades.grade(
        examined,
        num_games=0,
        max_positions=max_positions,
        sharding=sharding,
        say=say,
    )
    moves = result.likeliest_game
    if moves is None and isinstance(examined, AskedPlayer):
        moves = ()  # it would have to be asked again
    elif moves is None:
        moves = game_against_itself(examined.env_id, examined.choose).moves
    return Proof(player=examined.name, grade=result, likeliest_game=moves)
