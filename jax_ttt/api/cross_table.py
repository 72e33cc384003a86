"""The cross table of many players."""

import dataclasses
from collections.abc import Iterable

import jax

from jax_ttt.api import html
from jax_ttt.api.player import PlayerLike, distinct_players
from jax_ttt.config.errors import PlayerError
from jax_ttt.config.game_facts import LETTERS
from jax_ttt.config.ranges import NUM_GAMES_RANGE, SEED_RANGE
from jax_ttt.grading import round_robin
from jax_ttt.pictures import group_charts
from jax_ttt.pictures.picture import Picture, Theme
from jax_ttt.text import summary_tables


@dataclasses.dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class CrossTable(round_robin.RoundRobinTable):
    """The results of all pairs of players; a notebook shows them as a table.

    Attributes:
        env_id: The game.
        names: The players, in the order of the rows and columns.
        pairs: The results of each row's player against each column's, as records.
        rates: `(N, N, 3)`: the win, draw and loss rates of the row's player, which
            moves first, against the column's.
        counts: `(N, N, 3)`: the same as numbers of games; 0 if the rates are exact.
        ranking: One record per player, the strongest first: `player`, `elo` (with the
            mean 0) and `score` (against all others; a win counts 1, a draw 0.5).

    Example:
        >>> table = jax_ttt.cross_table(["random", "minimax", "minimax-first"])
        >>> table.ranking[-1].player
        'random'
        >>> table.rates.shape
        (3, 3, 3)
    """

    env_id: str

    def picture(self, theme: Theme = "light") -> Picture:
        """Draw a heat map of the first player's mean score."""
        return group_charts.cross_table_chart(self, theme)

    def __repr__(self) -> str:
        return summary_tables.cross_table_text(self)

    def _repr_html_(self) -> str:
        first, second = LETTERS
        rows = [
            [f"{name} as {first}", *(self._cell(i, j) for j in range(len(self.names)))]
            for i, name in enumerate(self.names)
        ]
        title = f"{first} wins / draws / {second} wins, in %; ~ sampled, others exact"
        results = html.html_table(
            title, rows, ["", *(f"{n} as {second}" for n in self.names)]
        )
        ranks = [(r.player, f"{r.elo:+.0f}", f"{r.score:.2%}") for r in self.ranking]
        head = ["player", "Elo", "score against the others"]
        return f"<div>{results}\n{html.html_table('Order', ranks, head)}</div>"

    def _cell(self, row: int, column: int) -> str:
        rates = "/".join(f"{100 * rate:.1f}" for rate in self.rates[row, column])
        return ("~" if self.sampled[row, column] else "") + rates


def cross_table(
    players: Iterable[PlayerLike],
    *,
    env_id: str | None = None,
    num_games: int = 200,
    seed: int = 0,
) -> CrossTable:
    """Return the results of a round-robin tournament, in both seats.

    Results of a pair are exact if both policies are known, else sampled.

    Args:
        players: Two players or more; see `player`.
        env_id: The game; by default the players', else tic-tac-toe.
        num_games: Games in each seat, 1 to 1,048,576: those of a sampled pair of a
            first and a second player.
        seed: The seed of all random numbers.

    Raises:
        Refused: a player is unknown, or players are made for different games.

    Example:
        >>> def first_free(key, env_state):
        ...     return env_state.legal_action_mask.argmax(axis=-1)
        >>> table = jax_ttt.cross_table([first_free, "random", "minimax"])
        >>> [row.player for row in table.ranking]
        ['minimax', 'first_free', 'random']
    """
    NUM_GAMES_RANGE.check("num_games", num_games)
    SEED_RANGE.check("seed", seed)
    player_list = list(players) if isinstance(players, Iterable) else []
    if isinstance(players, str) or len(player_list) < 2:
        raise PlayerError("a cross table needs a list of at least two players")
    player_key, match_key = jax.random.split(jax.random.key(seed))
    game, named_players = distinct_players(player_list, env_id, player_key)
    table = round_robin.play_round_robin(named_players, game, match_key, num_games)
    return CrossTable(table.names, table.pairs, env_id=game)
