"""Matches in one seating: on the device, or on the host if a program is asked.

Axes: `B` games.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from jax_ttt.games import pgx_games
from jax_ttt.games.played_game import choose_moves
from jax_ttt.grading import sampled_match
from jax_ttt.grading.grade import SeatGrade, sampled_seat
from jax_ttt.grading.sampled_match import SeatCounts
from jax_ttt.players.player import Player
from jax_ttt.players.program_players import ProgramPlayer


def sample_pair(
    first: Player, second: Player, key: Key[Array, ""], num_games: int
) -> SeatGrade:
    """Return the results of `first` in games against `second`, which moves second.

    `key` is consumed.

    Raises:
        PlayerError: a program gives no answer, or an illegal one.
    """
    if isinstance(first, ProgramPlayer) or isinstance(second, ProgramPlayer):
        return sampled_seat(play_pair(first, second, key, num_games))
    counts, _ = sampled_match.play_seats(
        env=pgx_games.make_env(first.env_id),
        key=key,
        first=first.choose,
        second=second.choose,
        num_games=num_games,
    )
    return sampled_seat(counts)


def play_pair(
    first: Player, second: Player, key: Key[Array, ""], num_games: int
) -> SeatCounts:
    """Play games on the host, `first` moving first; `key` is consumed.

    Returns the results of `first`.

    Raises:
        PlayerError: a program gives no answer, or an illegal one.
    """
    env = pgx_games.make_env(first.env_id)
    start_key, key = jax.random.split(key)
    states = pgx_games.init(env, start_key, num_games)
    first_id = pgx_games.player_in_seat(states, "first")
    lines: list[tuple[int, ...]] = [()] * num_games
    total = np.zeros(num_games)
    num_moves = 0
    while not (is_over := np.asarray(pgx_games.is_finished(states))).all():
        player = (first, second)[num_moves % 2]  # in all games
        key, move_key = jax.random.split(key)
        if isinstance(player, ProgramPlayer):
            legal = np.asarray(states.legal_action_mask)
            actions = _asked_moves(player, lines, legal, is_over)
        else:
            actions = np.asarray(
                choose_moves(player.choose, move_key, states), np.int32
            )
        states = pgx_games.play_moves(env, states, jnp.asarray(actions))
        total += np.asarray(pgx_games.reward_to(states, first_id))
        num_moves += 1
        for place in np.flatnonzero(~is_over).tolist():
            lines[place] = (*lines[place], int(actions[place]))
    return SeatCounts(
        won=jnp.int32((total > 0).sum()),
        drawn=jnp.int32((total == 0).sum()),
        lost=jnp.int32((total < 0).sum()),
    )


def _asked_moves(
    player: ProgramPlayer,
    lines: list[tuple[int, ...]],
    legal: np.ndarray,
    is_over: np.ndarray,
) -> Int[np.ndarray, " B"]:
    """Return the program's moves in the games that go on; 0 in the others."""
    open_games = np.flatnonzero(~is_over).tolist()
    actions = np.zeros(len(lines), np.int32)
    actions[open_games] = player.ask(
        [lines[place] for place in open_games],
        [np.flatnonzero(legal[place]).tolist() for place in open_games],
    )
    return actions
