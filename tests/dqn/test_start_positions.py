"""New games that start in a pool of positions."""

import functools

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jax_ttt.config.settings import Config
from jax_ttt.dqn import start_positions
from jax_ttt.dqn.start_positions import Pool
from jax_ttt.games import pgx_games, position_keys

ENV = "connect_4x4"
KEY = 2**20
"""Numbers times this are keys that need both words."""


def numbers_of(pool):
    """Return the positions of a pool as numbers, the oldest first."""
    keys = position_keys.keys_to_numbers(np.asarray(pool.keys)[: int(pool.size)])
    return (keys // KEY).tolist()


def pool_of(*rounds, capacity=3, seed=0):
    """Return a pool to which these numbers were added."""
    empty = start_positions.empty_pool(ENV)
    pool = empty._replace(keys=np.asarray(empty.keys)[:capacity])
    for numbers in rounds:
        keys = np.array(numbers, np.uint64) * KEY
        pool = start_positions.add_positions(pool, keys, np.random.default_rng(seed))
    return pool


@given(st.lists(st.lists(st.integers(0, 30), max_size=12), max_size=5))
def test_a_pool_keeps_all_rounds_once_in_their_order(rounds):
    expected = []
    for numbers in rounds:
        expected += sorted(set(numbers) - set(expected))
    assert numbers_of(pool_of(*rounds, capacity=40)) == expected


def test_the_oldest_leave_a_full_pool_first():
    assert numbers_of(pool_of([9, 8], [1, 9, 2])) == [9, 1, 2]


def test_of_more_than_it_holds_a_pool_gets_a_sample_of_all():
    numbers = numbers_of(pool_of([50, 51], range(40)))
    assert len(set(numbers) & set(range(40))) == 3
    assert numbers == numbers_of(pool_of([50, 51], range(40)))
    assert numbers != numbers_of(pool_of([50, 51], range(40), seed=1))
    assert min(numbers) < 37, "not those of the highest keys"


@functools.cache
def games_after(*actions):
    """Return one game after these moves."""
    env = pgx_games.make_env(ENV)
    state = pgx_games.init(env, jax.random.key(0), 1)
    for action in actions:
        state = pgx_games.play_moves(env, state, np.array([action], np.int32))
    return jax.device_get(state)


LINES = ((0,), (0, 1), (0, 0, 3), (1, 2, 1), (3, 3, 3))


@pytest.fixture(scope="module")
def drawn():
    """Return many new games of which a quarter starts in a pool of five positions."""
    keys = [
        np.asarray(position_keys.keys_of(ENV, games_after(*line)))[0] for line in LINES
    ]
    padded = np.concatenate([np.stack(keys), np.zeros((3, 2), np.uint32)])
    settings = Config(env_id=ENV, start_share=0.25, num_envs=20_000)
    new_games = jax.jit(start_positions.start_in_pool, static_argnums=0)
    uniform = np.random.default_rng(1).random(settings.num_envs, np.float32)
    return functools.partial(new_games, settings, Pool(padded, np.int32(5))), uniform


def test_a_share_of_the_games_starts_in_the_pool_and_the_others_at_the_beginning(drawn):
    new_games, uniform = drawn
    boards = np.asarray(new_games(uniform, games_after()).observation)
    counts = [
        (boards == np.asarray(games_after(*line).observation)).all(axis=(1, 2, 3)).sum()
        for line in ((), *LINES)
    ]
    assert sum(counts) == len(uniform)
    assert counts[0] / len(uniform) == pytest.approx(0.75, abs=0.015)
    assert min(counts[1:]) > 0
    # The newest of five positions has sqrt(1/5) of the games in the pool.
    assert counts[-1] / sum(counts[1:]) == pytest.approx(0.2**0.5, abs=0.03)


def test_a_game_of_the_pool_goes_on_as_if_it_had_been_played(drawn):
    new_games, uniform = drawn
    (latest,) = np.nonzero(np.asarray(uniform) < 0.01)  # the newest position
    state = jax.device_get(new_games(uniform, games_after()))
    chosen = jax.tree.map(lambda x: x[latest[:1]], state)
    played = games_after(*LINES[-1])
    for name in ("observation", "legal_action_mask", "terminated", "rewards"):
        a, b = getattr(chosen, name), getattr(played, name)
        assert (a == b).all(), name
        assert a.dtype == b.dtype, name
    env = pgx_games.make_env(ENV)
    move = np.array([3], np.int32)
    one, other = (pgx_games.play_moves(env, state, move) for state in (chosen, played))
    assert (one.observation == other.observation).all()
    assert (one.legal_action_mask == other.legal_action_mask).all()


def test_an_empty_pool_starts_no_game(drawn):
    new_games, uniform = drawn
    settings, pool = new_games.args
    empty = Pool(pool.keys, np.int32(0))
    state = new_games.func(settings, empty, uniform, games_after())
    assert not np.asarray(state.observation).any()
    assert not np.asarray(state.terminated).any()
