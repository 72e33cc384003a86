"""PGX's behaviour that the package relies on, in every position; restarts."""

import functools
from unittest.mock import Mock

import jax
import jax.numpy as jnp
import numpy as np
import pgx
import pytest
import rules
from marks import mark_slow

from jax_ttt.games import pgx_games
from jax_ttt.players.player import random_player

ENV = pgx_games.make_env("tic_tac_toe")
STEP = jax.jit(pgx_games.step, static_argnames=("env", "gamma"))


def test_the_rules_in_every_position_are_those_of_independent_rules(host_tree, boards):
    """test_tree.py shows that PGX's moves lead to the successors."""
    outcomes = {"X": 1, "O": -1, None: 0}
    for position, board in enumerate(boards):
        moves = rules.moves(board)
        assert host_tree.terminal[position] == (not moves)
        assert host_tree.outcome[position] == outcomes[rules.winner(board)]
        assert np.flatnonzero(host_tree.legal_action_mask[position]).tolist() == moves
        after = [boards[child] for child in host_tree.successor[position, moves]]
        assert after == [rules.after(board, move) for move in moves]


def test_an_illegal_move_loses_the_game(host_tree, boards):
    illegal = [
        (position, move)
        for position, board in enumerate(boards)
        if rules.moves(board)
        for move in set(range(9)).difference(rules.moves(board))
    ]
    assert len(illegal) == 24_513
    position, action = np.array(illegal, np.int32).T
    before = jax.tree.map(lambda leaf: leaf[position], host_tree.env_state)
    after, move = STEP(ENV, before, action, 1.0)
    assert after.terminated.all()
    assert (move.reward == -1).all()
    assert (move.discount == 0).all()


def test_a_finished_game_does_not_change(host_tree):
    before = jax.tree.map(lambda leaf: leaf[host_tree.terminal], host_tree.env_state)
    assert len(before.terminated) == 958
    for action in range(9):
        actions = np.full(958, action, np.int32)
        after, move = jax.device_get(STEP(ENV, before, actions, 1.0))
        assert (after.observation == before.observation).all()
        assert after.terminated.all()
        assert after.legal_action_mask.all()  # so callers must check `terminated`
        for values in move:
            assert not values.any()


def test_reward_and_discount_are_the_movers():
    """The player who moves then is the action's last digit; the first ends the game."""

    def scripted_step(env_state, action):
        return env_state.replace(
            current_player=action % 10,
            rewards=jnp.array([0.25, -0.75]),
            terminated=action // 10 == 1,
            truncated=action // 10 == 2,
        )

    cases = [
        (0, 1, 0.25, -0.9),
        (1, 0, -0.75, -0.9),
        (0, 0, 0.25, 0.9),  # the same player moves again
        (1, 10, -0.75, 0.0),  # terminated
        (1, 20, -0.75, -0.9),  # truncated: still bootstrapped
    ]
    mover, action, reward, discount = zip(*cases, strict=True)
    start = pgx_games.init(ENV, jax.random.key(0), len(cases))
    before = start.replace(current_player=np.array(mover, np.int32))
    env = Mock(spec=pgx.Env, step=scripted_step)
    after, move = jax.device_get(STEP(env, before, np.array(action, np.int32), 0.9))
    assert move.reward.tolist() == [*reward]
    np.testing.assert_allclose(move.discount, discount)
    assert (after.terminated | after.truncated).tolist() == [False] * 3 + [True] * 2
    assert pgx_games.is_finished(after).tolist() == [False] * 3 + [True] * 2
    assert move.live.all()


def test_finished_games_restart_at_once_or_in_lockstep_together():
    env_state = pgx_games.init(ENV, jax.random.key(0), 3)
    new_games = jax.device_get(pgx_games.init(ENV, jax.random.key(1), 3))
    for action in ([0, 0, 0], [3, 3, 3], [1, 1, 1], [4, 4, 4], [2, 8, 8]):
        env_state = pgx_games.play_moves(ENV, env_state, np.array(action, np.int32))
    env_state = jax.device_get(env_state)
    assert env_state.terminated.tolist() == [True, False, False]
    restart = jax.jit(pgx_games.restart, static_argnums=2)
    waiting = restart(new_games, env_state, True)
    jax.tree.map(np.testing.assert_array_equal, waiting, env_state)
    again = jax.device_get(restart(new_games, env_state, False))
    for leaf, old, new in zip(
        *map(jax.tree.leaves, (again, env_state, new_games)), strict=True
    ):
        assert np.array_equal(leaf[1:], old[1:])
        assert np.array_equal(leaf[0], new[0])
    over = env_state.replace(terminated=np.ones(3, bool))
    for lockstep in (False, True):
        again = restart(new_games, over, lockstep)
        jax.tree.map(np.testing.assert_array_equal, again, new_games)


def test_the_first_player_is_random():
    starts, other = (
        np.asarray(pgx_games.init(ENV, jax.random.key(seed), 1000).current_player)
        for seed in (0, 1)
    )
    assert 400 < starts.sum() < 600
    assert not np.array_equal(starts, other)


# In Othello, a player may move twice.
PGX_GAMES = ["connect_four", "othello", "go_9x9", "gardner_chess"]


@pytest.mark.usefixtures("promoted_ranks")
@pytest.mark.parametrize("env_id", mark_slow(PGX_GAMES, "go_9x9", "gardner_chess"))
def test_a_random_game_keeps_the_contract(env_id):
    env = pgx_games.make_env(env_id)
    env_state = pgx_games.init(env, jax.random.key(0), 8)

    @functools.partial(jax.jit, static_argnames="env")
    def ply(env, key, env_state):
        action = random_player(key, env_state)
        return pgx_games.step(env, env_state, action, 1.0)

    live = np.ones(8, bool)
    for number in range(1000):
        env_state, move = jax.device_get(ply(env, jax.random.key(number), env_state))
        assert env_state.legal_action_mask.any(axis=1).all()
        assert set(env_state.current_player.tolist()) <= {0, 1}
        assert not env_state.rewards.sum(axis=1).any()
        live = ~(env_state.terminated | env_state.truncated)
        assert not env_state.rewards[live].any()
        assert (move.discount[live] != 0).all()
        if not live.any():
            break
    assert not live.any()
