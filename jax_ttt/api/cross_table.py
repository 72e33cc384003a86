"""The cross table of a round-robin tournament.

Axes: `N` players, rows as first player and columns as second.
"""

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Sequence

import jax
import numpy as np
from jaxtyping import Float

from jax_ttt.api.player import PlayerLike, distinct_players
from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import LETTERS, Seat
from jax_ttt.config.grade import Pair, Ranked
from jax_ttt.config.player_kinds import ProgramOptions
from jax_ttt.config.ranges import NumGames, Seed, check_value
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.grading import round_robin
from jax_ttt.pictures import group_charts
from jax_ttt.players import registry
from jax_ttt.text import grade_text, html
from jax_ttt.text.tables import (
    GAP,
    aligned_lines,
    table_lines,
    terminal_width,
    wrapped_lines,
)

_CELL_WIDTH = len("~33.3/33.3/33.3")


@dataclasses.dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class CrossTable:
    """The results of all pairs of players; a notebook shows them as a table.

    Its fields are what `arena --json` prints.

    Examples:
        >>> table = jax_ttt.cross_table(["random", "minimax", "minimax-first"])
        >>> table.ranking[-1].player
        'random'
        >>> table.rates.shape
        (3, 3, 3)
    """

    env_id: str
    """The game."""
    names: tuple[str, ...]
    """The players, in the order of the rows and columns."""
    pairs: tuple[Pair, ...]
    """Every player against every player, in both seats, row by row."""
    ranking: tuple[Ranked, ...] = dataclasses.field(init=False)
    """The players, the strongest first: their ratings, with the mean 0, and their
    scores against all others; a win counts 1, a draw 0.5."""
    learned_seats: dict[str, tuple[Seat, ...]] = dataclasses.field(default_factory=dict)
    """The seats that each player learned; both for players that do not learn."""
    notes: dict[str, str] = dataclasses.field(default_factory=dict)
    """Why a program's results are sampled, by its name."""

    def __post_init__(self) -> None:
        size = len(self.names)
        others = ~np.eye(size, dtype=bool)
        score = np.where(others, self.scores, 0).sum(axis=1) / max(size - 1, 1)
        score = score if size > 1 else np.array([0.5])
        elo = round_robin.ratings(self.scores)
        ranking = tuple(
            Ranked(player=self.names[i], elo=float(elo[i]), score=float(score[i]))
            for i in np.argsort(-elo, kind="stable")
        )
        object.__setattr__(self, "ranking", ranking)

    @property
    def rows(self) -> tuple[tuple[Pair, ...], ...]:
        """The pairs of each row's player, who moves first, with each column's."""
        size = len(self.names)
        starts = range(0, size * size, size)
        return tuple(self.pairs[start : start + size] for start in starts)

    @property
    def rates(self) -> Float[np.ndarray, "N N 3"]:
        """The rates of the row's wins, draws and losses, moving first."""
        return np.array([[pair.rates for pair in row] for row in self.rows])

    @property
    def scores(self) -> Float[np.ndarray, "N N"]:
        """The row player's mean score against the column player, over both seats.

        A win counts 1, a draw 0.5.
        """
        moving_first = self.rates @ [1, 0.5, 0]
        return (moving_first + 1 - moving_first.T) / 2

    def picture(self, theme: Theme = "light") -> Picture:
        """Draw a heat map of the first player's mean score."""
        return group_charts.cross_table_chart(self.names, self.rows, theme)

    def __repr__(self) -> str:
        return _text(self)

    def _repr_html_(self) -> str:
        first, second = LETTERS
        rows = [
            [f"{name} as {first}", *map(grade_text.pair_text, pairs)]
            for name, pairs in zip(self.names, self.rows, strict=True)
        ]
        title = f"{first} wins / draws / {second} wins, in %; ~ sampled, others exact"
        results = html.html_table(
            title, rows, ["", *(f"{n} as {second}" for n in self.names)]
        )
        ranks = [(r.player, f"{r.elo:+.0f}", f"{r.score:.2%}") for r in self.ranking]
        head = ["player", "Elo", "score against the others"]
        return f"<div>{results}\n{html.html_table('Order', ranks, head)}</div>"


def cross_table(
    players: Iterable[PlayerLike],
    *,
    env_id: str | None = None,
    num_games: int = 200,
    seed: int = 0,
    programs: ProgramOptions = registry.PROGRAMS,
    say: Callable[[str], None] = lambda text: None,
) -> CrossTable:
    """Return the results of a round-robin tournament, in both seats.

    Results of a pair are exact if both policies are known, else sampled.

    Args:
        players: Two players or more; see `player`.
        env_id: The game; by default the players', else tic-tac-toe.
        num_games: Games in each seat, 1 to 1,048,576: those of a sampled pair of a
            first and a second player.
        seed: The seed of all random numbers.
        programs: How programs are asked, as by `player`.
        say: A function that gets the progress as a line; for instance `print`.

    Raises:
        Refused: a player is unknown, or players are made for different games.

    Examples:
        >>> def first_free(env_state):
        ...     return env_state.legal_action_mask.argmax(axis=-1)
        >>> table = jax_ttt.cross_table([first_free, "random", "minimax"])
        >>> [row.player for row in table.ranking]
        ['minimax', 'first_free', 'random']
    """
    player_list = list(players) if isinstance(players, Iterable) else []
    if isinstance(players, str) or len(player_list) < 2:
        raise Refused("a cross table needs a list of at least two players")
    return tournament(
        player_list,
        env_id=env_id,
        num_games=num_games,
        seed=seed,
        programs=programs,
        say=say,
    )


def tournament(
    players: Sequence[PlayerLike],
    *,
    env_id: str | None,
    num_games: int,
    seed: int,
    programs: ProgramOptions,
    say: Callable[[str], None],
) -> CrossTable:
    """Return a cross table as `cross_table`; one player plays against itself."""
    check_value("num_games", NumGames, num_games)
    check_value("seed", Seed, seed)
    player_key, match_key = jax.random.split(jax.random.key(seed))
    game, named_players = distinct_players(
        players, env_id, player_key, dataclasses.replace(programs, say=say)
    )
    with contextlib.ExitStack() as ends:
        for player in named_players:
            ends.callback(player.close)
        pairs = round_robin.play_round_robin(
            players=named_players,
            env_id=game,
            key=match_key,
            num_games=num_games,
            say=say,
        )
    reasons = {player.name: player.note for player in named_players}
    return CrossTable(
        env_id=game,
        names=tuple(player.name for player in named_players),
        pairs=pairs,
        learned_seats={player.name: player.seats for player in named_players},
        notes={name: reason for name, reason in reasons.items() if reason},
    )


def _text(table: CrossTable) -> str:
    """Return the Elo-like order, a cross table, and the intervals of sampled pairs.

    A table that is wider than the terminal is divided into blocks of columns.
    """
    first, second = LETTERS
    caption = (
        f"row as {first}, column as {second}: {first} wins / draws / {second} wins, "
        "in %; ~ sampled, others exact"
    )
    if any(pair.evidence == "asked" for row in table.rows for pair in row):
        caption += ", of some players by the moves that they gave"
    size, width = len(table.names), terminal_width()
    longest = width // 3  # the order has the whole names
    labels = [
        _row_label(number, name, longest)
        for number, name in enumerate(table.names, start=1)
    ]
    block_size = (width - max(map(len, labels))) // (len(GAP) + _CELL_WIDTH)
    blocks = []
    for begin in range(0, size, block_size):
        columns = range(begin, min(begin + block_size, size))
        head = ["", *(f"vs. {column + 1}" for column in columns)]
        rows = [
            [label, *(grade_text.pair_text(pairs[column]) for column in columns)]
            for label, pairs in zip(labels, table.rows, strict=True)
        ]
        blocks.append(aligned_lines([head, *rows]))
    blocks[0] = [*wrapped_lines(caption), *blocks[0]]
    intervals = _interval_rows(table)
    if intervals:
        head = ["95% intervals, in %", f"{first} wins", "draws", f"{second} wins"]
        blocks.append(table_lines([[*head, "games"], *intervals]))
    parts = [_order_lines(table), *blocks]
    return "\n\n".join("\n".join(lines) for lines in parts)


def _row_label(number: int, name: str, longest: int) -> str:
    """Return a row's number and its player's name; of a long name, the end."""
    if len(name) > longest:
        name = f"...{name[3 - longest :]}"
    return f"{number} {name}"


def _interval_rows(table: CrossTable) -> list[list[str]]:
    """Return the cells of each sampled pair: who plays, the intervals, the games."""
    return [
        [
            f"~ {row} vs. {column}",
            *(
                f"{100 * low:.1f} to {100 * high:.1f}"
                for low, high in zip(pair.low, pair.high, strict=True)
            ),
            f"{pair.num_games:,}",
        ]
        for row, pairs in enumerate(table.rows, start=1)
        for column, pair in enumerate(pairs, start=1)
        if not pair.is_exact
    ]


def _order_lines(table: CrossTable) -> list[str]:
    """Return the players in the order of their ratings, a line each."""
    rows = [["Elo-like order", "Elo", "score vs. others", "player"]]
    rows += [
        [f"{place:>2}.", f"{ranked.elo:+.0f}", f"{ranked.score:.2%}", ranked.player]
        for place, ranked in enumerate(table.ranking, start=1)
    ]
    return aligned_lines(rows, left=(0, 3))
