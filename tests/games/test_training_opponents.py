"""The opponent in training: the agent's seat, and whose turn it is."""

import jax
import jax.numpy as jnp
import learners
import numpy as np
import pytest
from jax.tree_util import Partial

from jax_ttt.config.settings import Config
from jax_ttt.games import pgx_games, training_opponents
from jax_ttt.players.player import random_player

CONFIG = Config.of(opponent="random", seat="first", num_envs=8)
ENV = pgx_games.make_env("tic_tac_toe")


def play_last_cell(key, env_state):
    """Play the last free cell."""
    del key
    return 8 - jnp.argmax(env_state.legal_action_mask[:, ::-1], axis=1)


LAST_CELL = learners.versus(CONFIG, Partial(play_last_cell))
await_turn = jax.jit(training_opponents.await_turn, static_argnums=0)


@jax.jit
def start(opponent, key):
    return opponent.start(key)


def games_after(*moves):
    """Return eight games after these moves, and the player who moved first."""
    env_state = jax.device_get(pgx_games.init(ENV, jax.random.key(0), 8))
    first = env_state.current_player
    for move in moves:
        env_state = pgx_games.play_moves(ENV, env_state, np.full(8, move))
    return jax.device_get(env_state), first


def random_opponent(seat):
    """Return a random player against an agent in this seat, in 2,000 games."""
    config = CONFIG.replace(seat=seat, num_envs=2000)
    return learners.versus(config, random_player)


@pytest.mark.parametrize(
    ("seat", "share"), [("first", 0.0), ("second", 1.0), ("both", 0.5)]
)
def test_the_agent_has_the_seat_of_the_settings_and_the_opponent_opens_at_random(
    seat, share
):
    env_state = jax.device_get(start(random_opponent(seat), jax.random.key(3)))
    num_stones = env_state.observation.sum(axis=(1, 2, 3))
    assert set(num_stones) <= {0, 1}
    assert abs((num_stones == 1).mean() - share) < 0.05
    # It is the agent's turn, and only the opponent has a stone.
    assert not env_state.observation[..., 0].any()
    if share:
        counts = env_state.observation[..., 1].sum(axis=0).ravel()
        expected = counts.sum() / 9  # the Go program's opponent never opened in 8
        assert ((counts - expected) ** 2 / expected).sum() < 26.1  # 0.1%


def test_finished_games_are_replaced_by_games_in_both_seats():
    replacement = jax.jit(random_opponent("both").replacement)
    finished, _ = games_after()
    new_games = jax.device_get(replacement(jax.random.key(4), finished))
    has_opening = new_games.observation.any(axis=(1, 2, 3))
    assert abs(float(has_opening.mean()) - 0.5) < 0.05


def test_the_opponent_moves_until_it_is_the_players_turn():
    env_state, first = games_after(0)
    key, player = jax.random.key(1), LAST_CELL.player
    after, reward = jax.device_get(await_turn(ENV, key, env_state, first, player))
    assert (after.current_player == first).all()
    assert (after._step_count == 2).all()
    assert after.observation[:, 2, 2, 1].all()  # the opponent's stone in cell 8
    assert not reward.any()
    again, _ = await_turn(ENV, key, after, first, player)
    assert again._step_count.tolist() == [2] * 8


def test_a_game_in_which_nobody_waits_stays_while_others_go_on():
    """In half of the games it is X's turn, who would win in cell 8."""
    waiting, first = games_after(0)
    ready, _ = games_after(6, 0, 7, 1)
    waits = np.arange(8) % 2 == 0
    mixed = jax.jit(pgx_games.select_games)(waits, waiting, ready)
    after, reward = await_turn(ENV, jax.random.key(1), mixed, first, LAST_CELL.player)
    assert after._step_count.tolist() == np.where(waits, 2, 4).tolist()
    assert reward.tolist() == [0] * 8


@pytest.mark.parametrize(
    ("fields", "turns"),
    [({"opponent": "self", "seat": "both"}, 9), ({}, 5), ({"seat": "second"}, 4)],
)
def test_the_most_moves_of_the_agent_in_a_game(fields, turns):
    config = CONFIG.replace(**fields)
    assert training_opponents.max_turns(config) == turns


def test_an_unknown_length_of_a_game_is_an_error():
    with pytest.raises(ValueError, match="length of a game of hex is not known"):
        training_opponents.max_turns(CONFIG.replace(env_id="hex"))
