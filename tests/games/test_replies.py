"""Replies of an opponent, and forced openings."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.tree_util import Partial

from jax_ttt.games import opponents, pgx_games

ENV = pgx_games.make_env("tic_tac_toe")
NUM_GAMES = 8


def _highest(key, env_state):
    """Play the last free cell."""
    del key
    return 8 - jnp.argmax(env_state.legal_action_mask[:, ::-1], axis=1)


HIGHEST = Partial(_highest)
await_turn = jax.jit(opponents.await_turn, static_argnums=0)
reply = jax.jit(opponents.reply, static_argnums=0)
step = jax.jit(pgx_games.step, static_argnums=0)


def played(*moves):
    """Return games after these moves, and the player who is to move first."""
    env_state = pgx_games.init(ENV, jax.random.key(0), NUM_GAMES)
    first = env_state.current_player
    for move in moves:
        env_state = pgx_games.play_moves(ENV, env_state, np.full(NUM_GAMES, move))
    return env_state, first


def test_the_opponent_moves_until_it_is_the_players_turn():
    env_state, first = played(0)
    after, gained = await_turn(ENV, jax.random.key(1), env_state, first, HIGHEST)
    assert pgx_games.is_turn(after, first).all()
    assert (after._step_count == 2).all()
    assert after.observation[:, 2, 2, 1].all()  # the opponent's stone in cell 8
    assert not gained.any()
    # It is already the player's turn, so nothing happens.
    again, gained = await_turn(ENV, jax.random.key(1), after, first, HIGHEST)
    assert (again._step_count == 2).all()
    assert not gained.any()


def test_the_movers_reward_includes_the_effect_of_the_reply():
    """X leaves cell 8 to O, who completes 6, 7, 8."""
    before, first = played(0, 6, 1, 7)
    after, move = step(ENV, before, np.full(NUM_GAMES, 4), 0.5)
    assert (move.discount == -0.5).all()
    ended, found = reply(ENV, jax.random.key(0), before, after, move, HIGHEST)
    assert ended.terminated.all()
    assert (found.reward == -1).all()
    assert (found.discount == 0).all()
    np.testing.assert_array_equal(found.live, move.live)
    before, first = played(0, 6)
    after, move = step(ENV, before, np.full(NUM_GAMES, 1), 0.5)
    on, found = reply(ENV, jax.random.key(0), before, after, move, HIGHEST)
    assert pgx_games.is_turn(on, first).all()
    assert (found.reward == 0).all()
    assert (found.discount == 0.5).all()  # the mover decides next


@pytest.mark.parametrize("num_moves", [0, 1])
def test_an_opening_is_forced_only_in_new_games(num_moves):
    env_state, _ = played(*range(num_moves))
    action = jnp.full(NUM_GAMES, 8)
    forced = opponents.opening(env_state, action, 4)
    assert (forced == (4 if num_moves == 0 else 8)).all()
    assert (opponents.opening(env_state, action, None) == 8).all()


def test_a_game_that_does_not_wait_is_left_alone_while_others_do():
    """In half of the games it is X's turn, who would win in cell 8."""
    waiting, first = played(0)
    ready, _ = played(6, 0, 7, 1)
    waits = np.arange(NUM_GAMES) % 2 == 0
    mixed = pgx_games.pick(jnp.asarray(waits), waiting, ready)
    after, gained = await_turn(ENV, jax.random.key(1), mixed, first, HIGHEST)
    assert after._step_count.tolist() == np.where(waits, 2, 4).tolist()
    assert not gained.any()
