"""The opponent in training: seats, replies, forced openings and results."""

import jax
import jax.numpy as jnp
import learners
import numpy as np
import pytest
from jax.tree_util import Partial

from jax_ttt.config.settings import Config
from jax_ttt.games import opponents, pgx_games
from jax_ttt.games.opponents import SelfPlay
from jax_ttt.players import basic

CONFIG = Config.of(opponent="random", seat="first", num_envs=8)
ENV = pgx_games.make_env("tic_tac_toe")


def play_last_cell(key, env_state):
    """Play the last free cell."""
    del key
    return 8 - jnp.argmax(env_state.legal_action_mask[:, ::-1], axis=1)


LAST_CELL = learners.versus(CONFIG, Partial(play_last_cell))
await_turn = jax.jit(opponents.await_turn, static_argnums=0)


@jax.jit
def start(opponent, key):
    return opponent.start(key)


@jax.jit
def played(opponent, before, action, gamma=0.5):
    """Return the games after a move and the reply, the move, its count and result."""
    after, move = pgx_games.step(ENV, before, action, gamma)
    after, move = opponent.reply(jax.random.key(2), before, after, move)
    made = opponent.moves_made(before, after)
    return after, move, made, opponent.result(before, move.reward)


def games_after(*moves):
    """Return eight games after these moves, and the player who moved first."""
    env_state = pgx_games.init(ENV, jax.random.key(0), 8)
    first = env_state.current_player
    for move in moves:
        env_state = pgx_games.play_moves(ENV, env_state, np.full(8, move))
    return env_state, first


def test_the_agent_has_the_seat_of_the_settings_and_the_opponent_opens_at_random():
    for seat, share in {"first": 0.0, "second": 1.0, "both": 0.5}.items():
        config = CONFIG.replace(seat=seat, num_envs=2000)
        opponent = learners.versus(config, basic.random_player)
        env_state = start(opponent, jax.random.key(3))
        num_stones = np.asarray(env_state.observation.sum(axis=(1, 2, 3)))
        assert set(num_stones) <= {0, 1}
        assert abs((num_stones == 1).mean() - share) < 0.05
        # It is the agent's turn, and only the opponent has a stone.
        assert not env_state.observation[..., 0].any()
        if share:
            counts = env_state.observation[..., 1].sum(axis=0).ravel()
            expected = counts.sum() / 9  # the Go program's opponent never opened in 8
            assert ((counts - expected) ** 2 / expected).sum() < 26.1  # 0.1 %
    finished = jax.tree.map(lambda leaf: leaf[:1], env_state)
    fresh = jax.jit(opponent.replacement)(jax.random.key(4), finished)
    opened = fresh.observation.sum(axis=(1, 2, 3)) == 1
    assert abs(float(opened.mean()) - 0.5) < 0.05


def test_the_opponent_moves_until_it_is_the_players_turn():
    env_state, first = games_after(0)
    key, player = jax.random.key(1), LAST_CELL.player
    after, reward = await_turn(ENV, key, env_state, first, player)
    assert pgx_games.is_turn(after, first).all()
    assert (after._step_count == 2).all()
    assert after.observation[:, 2, 2, 1].all()  # the opponent's stone in cell 8
    assert not reward.any()
    again, _ = await_turn(ENV, key, after, first, player)
    assert (again._step_count == 2).all()


def test_a_game_in_which_nobody_waits_stays_while_others_go_on():
    """In half of the games it is X's turn, who would win in cell 8."""
    waiting, first = games_after(0)
    ready, _ = games_after(6, 0, 7, 1)
    waits = np.arange(8) % 2 == 0
    mixed = pgx_games.select_games(jnp.asarray(waits), waiting, ready)
    after, reward = await_turn(ENV, jax.random.key(1), mixed, first, LAST_CELL.player)
    assert after._step_count.tolist() == np.where(waits, 2, 4).tolist()
    assert not reward.any()


def test_the_movers_reward_includes_the_effect_of_the_reply():
    """X leaves cell 8 to O, who completes 6, 7, 8."""
    before, _ = games_after(0, 6, 1, 7)
    after, move, _, result = played(LAST_CELL, before, np.full(8, 4))
    assert after.terminated.all()
    assert (move.reward == -1).all()
    assert (result == -1).all()
    assert (move.discount == 0).all()
    assert move.live.all()
    before, first = games_after(0, 6)
    after, move, _, _ = played(LAST_CELL, before, np.full(8, 1))
    assert pgx_games.is_turn(after, first).all()
    assert (move.reward == 0).all()
    assert (move.discount == 0.5).all()  # the mover decides next


def test_a_step_counts_the_moves_of_both_sides_and_the_opening():
    itself = SelfPlay(CONFIG.env_id, 8)
    for opponent, seat, num_moves in (
        (itself, "first", 1),
        (LAST_CELL, "first", 2),
        (LAST_CELL, "second", 3),
    ):
        before, _ = games_after(*[8] * (seat == "second"))
        after, _, made, _ = played(opponent, before, np.full(8, 4))
        assert int(made) == 8 * num_moves
        assert (after._step_count == num_moves).all()


def test_a_result_in_self_play_is_the_first_players():
    itself = SelfPlay(CONFIG.env_id, 8)
    reward = np.array([1, -1] * 4, np.float32)
    for num_moves, sign in ((0, 1), (1, -1), (2, 1)):
        state, _ = games_after(*range(num_moves))
        result = jax.jit(itself.result)(state, reward)
        np.testing.assert_array_equal(result, sign * reward)


def test_only_the_first_move_of_a_game_is_forced():
    action = jnp.full(8, 8)
    for num_moves, forced in ((0, 4), (1, 8)):
        env_state, _ = games_after(*range(num_moves))
        assert (opponents.force_first_move(env_state, action, 4) == forced).all()
        assert (opponents.force_first_move(env_state, action, None) == 8).all()


@pytest.mark.parametrize(
    ("fields", "turns"),
    [({"opponent": "self", "seat": "both"}, 9), ({}, 5), ({"seat": "second"}, 4)],
)
def test_the_most_moves_of_the_agent_in_a_game(fields, turns):
    config = CONFIG.replace(**fields)
    assert opponents.max_turns(config.env_id, config.opponent) == turns
