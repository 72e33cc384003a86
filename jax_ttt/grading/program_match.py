"""Matches in one seating: on the device, or on the host if a program is asked.

Axes: `B` games.
"""

import jax
import numpy as np
from jaxtyping import Array, Int, Key

from jax_ttt.config.grade import SeatGrade, sampled_seat
from jax_ttt.games import pgx_games
from jax_ttt.grading import sampled_match
from jax_ttt.players.asked_players import HostPlayer
from jax_ttt.players.player import Player
from jax_ttt.players.program import Line


def sample_pair(
    first: Player, second: Player, key: Key[Array, ""], num_games: int
) -> SeatGrade:
    """Return the results of `first` in games against `second`, which moves second.

    `key` is consumed.

    Raises:
        PlayerError: a program gives no answer, or an illegal one.
    """
    if isinstance(first, HostPlayer) or isinstance(second, HostPlayer):
        return sampled_seat(play_pair(first, second, key, num_games).tolist())
    counts, _ = sampled_match.play_seats(
        env=pgx_games.make_env(first.env_id),
        key=key,
        first=first.choose,
        second=second.choose,
        num_games=num_games,
    )
    return sampled_seat(counts.tolist())


def play_pair(
    first: Player, second: Player, key: Key[Array, ""], num_games: int
) -> Int[np.ndarray, " 3"]:
    """Play games on the host, `first` moving first; `key` is consumed.

    Returns the numbers of games that `first` wins, draws and loses.

    Raises:
        PlayerError: a program gives no answer, or an illegal one.
    """
    env = pgx_games.make_env(first.env_id)
    start_key, key = jax.random.split(key)
    states = pgx_games.init(env, start_key, num_games)
    first_id = pgx_games.player_in_seat(states, "first")
    lines: list[Line] = [()] * num_games
    total = np.zeros(num_games)
    num_moves = 0
    while not (is_over := np.asarray(pgx_games.is_finished(states))).all():
        player = (first, second)[num_moves % 2]  # in all games
        key, move_key = jax.random.split(key)
        actions = player.moves(lines, states, move_key)
        states = pgx_games.play_moves(env, states, actions)
        total += np.asarray(pgx_games.reward_to(states, first_id))
        num_moves += 1
        for place in np.flatnonzero(~is_over).tolist():
            lines[place] = (*lines[place], int(actions[place]))
    return np.array([(total > 0).sum(), (total == 0).sum(), (total < 0).sum()])
