"""Our own games of stones in a row, beside PGX's and an independent search for rows."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.config.game_facts import GAMES
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.players import basic


def random_games(env_id, num_games, seed=0):
    """Yield the states of random games after each move, until all are over."""
    env = pgx_games.make_env(env_id)
    state = pgx_games.init(env, jax.random.key(seed), num_games)

    @jax.jit
    def ply(key, state):
        action = basic.random_player(key, state)
        return pgx_games.step(env, state, action, 1.0)[0]

    yield jax.device_get(state)
    while not state.terminated.all():
        state = ply(
            jax.random.fold_in(jax.random.key(seed), state._step_count.max()), state
        )
        yield jax.device_get(state)


def rows_of(shape, length):
    """Return the cells of every row of this length."""
    height, width = shape
    found = []
    for row, column in itertools.product(range(height), range(width)):
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            cells = [(row + n * down, column + n * right) for n in range(length)]
            if all(0 <= r < height and 0 <= c < width for r, c in cells):
                found.append([r * width + c for r, c in cells])
    return np.array(found)


def test_connect_7x6_is_the_connect_four_of_pgx():
    pairs = zip(
        random_games("connect_7x6", 500),
        random_games("connect_four", 500),
        strict=True,
    )
    number = 0
    for number, (ours, of_pgx) in enumerate(pairs):
        named = [jax.tree_util.tree_leaves_with_path(x) for x in (ours, of_pgx)]
        for (path, leaf), (other_path, other) in zip(*named, strict=True):
            assert jax.tree_util.keystr(path) == jax.tree_util.keystr(other_path)
            assert leaf.dtype == other.dtype
            np.testing.assert_array_equal(leaf, other, err_msg=f"{path} {number}")
    assert number >= 35


@pytest.mark.parametrize(
    ("env_id", "num_rows"),
    [
        ("connect_4x4", 10),
        pytest.param("connect_4x5", 8 + 5 + 4, marks=pytest.mark.slow),
        ("mnk_4x4_4", 10),
    ],
)
def test_a_row_of_four_wins(env_id, num_rows):
    rows = rows_of(GAMES[env_id].shape, 4)
    assert len(rows) == num_rows
    drawn = 0
    for state in random_games(env_id, 2000):
        has_row = [(state._x.board[:, rows] == who).all(-1).any(-1) for who in (0, 1)]
        full = (state._x.board >= 0).all(axis=1)
        won = has_row[0] | has_row[1]
        np.testing.assert_array_equal(state.terminated, won | full)
        expected = np.where(has_row[0], 0, np.where(has_row[1], 1, -1))
        np.testing.assert_array_equal(state._x.winner, expected)
        drawn += int((full & ~won).sum())
    assert drawn > 100


def test_an_illegal_move_loses():
    env = pgx_games.make_env("connect_4x4")
    state = pgx_games.init(env, jax.random.key(0), 1)
    for _ in range(4):
        state = pgx_games.play_moves(env, state, jnp.array([2]))
    assert state.legal_action_mask.tolist() == [[True, True, False, True]]
    mover = int(state.current_player[0])
    state = pgx_games.play_moves(env, state, jnp.array([2]))
    assert state.terminated.all()
    assert float(state.rewards[0, mover]) == -1


@pytest.mark.slow
def test_the_tree_of_4x4():
    """161,029 legal positions, counted elsewhere too; best play is a draw."""
    env = pgx_games.make_env("connect_4x4")
    tree = trees.enumerate_positions(env, 200_000, None)
    assert len(tree.terminal) == 161_029
    values = tree.outcome.astype(int)
    levels = list(itertools.pairwise(tree.level_start))
    for begin, end in levels[::-1]:
        here = slice(begin, end)
        after = values[tree.successor[here]]
        legal = tree.legal_action_mask[here]
        best = np.where(legal, after, -2).max(axis=1)
        worst = np.where(legal, after, 2).min(axis=1)
        chosen = np.where(tree.first_to_move[here], best, worst)
        values[here] = np.where(tree.terminal[here], values[here], chosen)
    assert values[0] == 0
