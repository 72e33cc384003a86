"""Matches with a program that is asked in each game: games on the host, by seat.

Axes: `B` games.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from jax_ttt.games import pgx_games
from jax_ttt.games.played_game import choose_moves
from jax_ttt.grading.sampled_match import MatchCounts, SeatCounts
from jax_ttt.players import random_players
from jax_ttt.players.player import Player
from jax_ttt.players.program_players import ProgramPlayer


def play_against_random(
    player: Player, key: Key[Array, ""], num_games: int
) -> MatchCounts:
    """Play against random, half of the games in each seat; `key` is consumed.

    Raises:
        PlayerError: a program gives no answer, or an illegal one.
    """
    random = Player(
        env_id=player.env_id, name="random", choose=random_players.random_player
    )
    first_key, second_key = jax.random.split(key)
    num_second = num_games // 2
    first = play_pair(player, random, first_key, num_games - num_second)
    second = play_pair(random, player, second_key, num_second)
    # The player's results are those of `random`, turned round.
    return MatchCounts(
        first=first,
        second=SeatCounts(won=second.lost, drawn=second.drawn, lost=second.won),
    )


def play_pair(
    first: Player, second: Player, key: Key[Array, ""], num_games: int
) -> SeatCounts:
    """Play games of two players, `first` moving first; `key` is consumed.

    Returns the results of `first`.

    Raises:
        PlayerError: a program gives no answer, or an illegal one.
    """
    if not num_games:
        nothing = jnp.int32(0)
        return SeatCounts(won=nothing, drawn=nothing, lost=nothing)
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
