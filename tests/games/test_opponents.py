"""The opponent in training: seats, turns and results."""

import jax
import jax.numpy as jnp
import learners
import numpy as np
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.games import opponents, pgx_games
from jax_ttt.games.opponents import SelfPlay
from jax_ttt.players import basic

CONFIG = Config.of(opponent="random", num_envs=2000)
ENV = pgx_games.make_env("tic_tac_toe")


def random_opponent(config):
    return learners.versus(config, basic.random_player)


def itself(config):
    return SelfPlay(config.env_id, config.run.num_envs)


@jax.jit
def start(opponent, key):
    return opponent.start(key)


@jax.jit
def moved(opponent, before, action):
    """Return the games after a move and the opponent's reply, if any."""
    after, move = pgx_games.step(ENV, before, action, 1.0)
    after, move = opponent.reply(jax.random.key(2), before, after, move)
    return (
        after,
        opponent.moves_made(before, after),
        opponent.result(before, move.reward),
    )


@pytest.mark.parametrize(
    ("seat", "share"), [("first", 0.0), ("second", 1.0), ("both", 0.5)]
)
def test_the_agent_has_the_seat_of_the_settings(seat, share):
    opponent = random_opponent(CONFIG.replace(seat=seat))
    env_state = start(opponent, jax.random.key(3))
    stones = env_state.observation.sum(axis=(1, 2, 3))
    assert set(np.unique(stones)) <= {0, 1}
    assert abs(float((stones == 1).mean()) - share) < 0.05
    # It is the agent's turn, and only the opponent has a stone.
    assert not env_state.observation[..., 0].any()
    if share:
        opened = np.asarray(env_state.observation[..., 1].reshape(2000, 9))
        counts = opened[np.asarray(stones == 1)].sum(axis=0)
        expected = counts.sum() / 9  # the Go program's opponent never played cell 8
        assert ((counts - expected) ** 2 / expected).sum() < 26.1  # 0.1 %


@pytest.mark.parametrize(
    ("make_opponent", "per_game"), [(itself, 1), (random_opponent, 2)]
)
def test_a_step_is_a_move_and_against_an_opponent_its_reply(make_opponent, per_game):
    opponent = make_opponent(CONFIG.replace(seat="first", num_envs=64))
    before = start(opponent, jax.random.key(0))
    after, made, result = moved(opponent, before, jnp.full(64, 4))
    assert int(made) == 64 * per_game
    assert (after.observation.sum(axis=(1, 2, 3)) == per_game).all()
    assert not result.any()


def test_a_result_is_the_agents_or_in_self_play_the_first_players():
    config = CONFIG.replace(num_envs=2)
    own, versus = itself(config), random_opponent(config)
    state = start(own, jax.random.key(0))
    reward = np.array([1, -1], np.float32)
    step = jax.jit(pgx_games.step, static_argnums=0)
    results = jax.jit(lambda *args: (own.result(*args), versus.result(*args)))
    for sign in (1, -1, 1):  # as the first player moves, the second, the first
        first, agent = results(state, reward)
        assert first.tolist() == [sign, -sign]
        assert agent.tolist() == [1, -1]
        action = np.asarray(state.legal_action_mask).argmax(axis=1).astype(np.int32)
        state, _ = step(ENV, state, action, 1.0)


def test_finished_games_are_replaced_by_games_in_both_seats():
    opponent = random_opponent(CONFIG.replace(seat="both"))
    begun = start(opponent, jax.random.key(3))
    one = jax.tree.map(lambda leaf: leaf[:1], begun)
    fresh = jax.jit(opponent.replacement)(jax.random.key(4), one)
    opened = fresh.observation.sum(axis=(1, 2, 3)) == 1
    assert abs(float(opened.mean()) - 0.5) < 0.05


def test_the_moves_of_both_sides_count_with_the_first_one():
    config = CONFIG.replace(seat="second", num_envs=64)
    opponent = random_opponent(config)
    before = start(opponent, jax.random.key(3))
    action = jnp.argmax(before.legal_action_mask, axis=1).astype(jnp.int32)
    after, made, _ = moved(opponent, before, action)
    assert int(made) == int(after._step_count.sum()) == 3 * 64
    after, made, _ = moved(itself(config), before, action)
    assert int(made) == 64


@pytest.mark.parametrize(
    ("fields", "turns"),
    [
        ({"opponent": "self", "seat": "both"}, 9),
        ({"seat": "first"}, 5),
        ({"seat": "both"}, 5),
        ({"seat": "second"}, 4),
    ],
)
def test_the_most_moves_of_the_agent_in_a_game(fields, turns):
    config = Config.of(**{"opponent": "random"} | fields)
    assert opponents.max_turns(config.env_id, config.opponent) == turns
