"""New games that start in a pool of positions."""

import functools

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jax_ttt.config.settings import RunSettings
from jax_ttt.dqn import start_positions
from jax_ttt.dqn.start_positions import Pool
from jax_ttt.games import packing, pgx_games

ENV = "connect_4x4"
NUMBERS = st.lists(st.integers(0, 30), max_size=12)


def numbers_of(pool):
    """Return the positions of a pool as 64-bit numbers, the oldest first."""
    words = np.ascontiguousarray(np.asarray(pool.keys)[: int(pool.size)])
    return words.view("<u8")[:, 0].tolist()


def small(capacity):
    """Return an empty pool."""
    return Pool(np.zeros((capacity, 2), np.uint32), np.int32(0))


def generator(seed=0):
    return np.random.default_rng(seed)


def array(numbers):
    """Return keys that need both words."""
    return np.array(numbers, np.uint64) << np.uint64(20)


@given(st.lists(NUMBERS, max_size=5))
def test_a_pool_keeps_all_rounds_once_in_their_order(rounds):
    pool, wanted = small(40), []
    for found in rounds:
        pool = start_positions.add_positions(pool, array(found), generator())
        wanted += sorted(set(found) - set(wanted))
    assert numbers_of(pool) == array(wanted).tolist()
    assert pool.keys.shape == (40, 2)


def test_the_oldest_leave_a_full_pool_first():
    pool = start_positions.add_positions(small(3), array([9, 8]), generator())
    pool = start_positions.add_positions(pool, array([1, 9, 2]), generator())
    assert numbers_of(pool) == array([9, 1, 2]).tolist()


def test_of_more_than_it_holds_a_pool_gets_a_sample_of_all():
    full = start_positions.add_positions(small(3), array([50, 51]), generator())
    pool = start_positions.add_positions(full, array(range(40)), generator())
    again = start_positions.add_positions(full, array(range(40)), generator())
    other = start_positions.add_positions(full, array(range(40)), generator(1))
    assert len(set(numbers_of(pool)) & set(array(range(40)).tolist())) == 3
    assert numbers_of(pool) == numbers_of(again) != numbers_of(other)
    assert min(numbers_of(pool)) < array([37])[0], "not those of the highest keys"


_init = jax.jit(pgx_games.init, static_argnums=(0, 2))
_play_moves = jax.jit(pgx_games.play_moves, static_argnums=0)


@functools.cache
def games_after(*actions):
    """Return one game after these moves."""
    env = pgx_games.make_env(ENV)
    state = _init(env, jax.random.key(0), 1)
    for action in actions:
        state = _play_moves(env, state, np.array([action], np.int32))
    return jax.device_get(state)


LINES = ((0,), (0, 1), (0, 0, 3), (1, 2, 1), (3, 3, 3))


@pytest.fixture(scope="module")
def drawn():
    """Return many new games of which a quarter starts in a pool of five positions."""
    pack = jax.jit(lambda state: packing.pack(ENV, packing.stones_of(state)))
    keys = [np.asarray(pack(games_after(*line)))[0] for line in LINES]
    padded = np.concatenate([np.stack(keys), np.zeros((3, 2), np.uint32)])
    settings = RunSettings(env_id=ENV, start_share=0.25, num_envs=20_000)
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
    after = [jax.device_get(_play_moves(env, x, move)) for x in (chosen, played)]
    assert (after[0].observation == after[1].observation).all()
    assert (after[0].legal_action_mask == after[1].legal_action_mask).all()


def test_an_empty_pool_starts_no_game(drawn):
    new_games, uniform = drawn
    settings, pool = new_games.args
    empty = Pool(pool.keys, np.int32(0))
    fresh = new_games.func(settings, empty, uniform, games_after())
    assert not np.asarray(fresh.observation).any()
    assert not np.asarray(fresh.terminated).any()
