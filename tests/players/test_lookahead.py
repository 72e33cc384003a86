"""Depth-limited search: exact values, values by hand, and the effect of gamma."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.games import pgx_games, positions, stones
from jax_ttt.networks import q_network
from jax_ttt.players import lookahead
from jax_ttt.players.network_player import network_of


def test_looking_ahead_changes_nothing_that_is_exact(tree, q_star, deciding):
    """Exact values are the fixed point of every depth."""
    index = jnp.asarray(positions.position_index("tic_tac_toe"))
    exact_values = jnp.asarray(np.nan_to_num(q_star))

    def q_fn(env_state):
        return exact_values[stones.locate(index, env_state.observation)]

    env = pgx_games.make_env("tic_tac_toe")
    some = jax.tree.map(lambda x: np.asarray(x)[::8], deciding)
    legal = some.legal_action_mask
    expected = q_star[tree.decisions][::8]
    found = jax.jit(lambda state: lookahead.negamax(env, q_fn, state, 2))(some)
    np.testing.assert_array_equal(np.asarray(found)[legal], expected[legal])


def test_looking_one_move_ahead_sees_a_win_and_two_a_threat(deciding, tree):
    """With values of 0 everywhere, results are those of the tree's successors."""
    env = pgx_games.make_env("tic_tac_toe")
    legal, successor = (np.asarray(x) for x in (tree.legal_action_mask, tree.successor))
    to_mover = np.where(tree.first_to_move, 1, -1)
    won = np.asarray(tree.outcome) * to_mover  # to the player to move
    expected = np.where(legal, -won[successor], 0)  # depth 1
    decisions = np.asarray(tree.decisions)[::8]
    some = jax.tree.map(lambda x: np.asarray(x)[::8], deciding)
    q_fn = lambda env_state: jnp.zeros(env_state.legal_action_mask.shape)  # noqa: E731
    for depth in (1, 2):
        if depth == 2:
            best = np.where(legal, expected, -np.inf).max(axis=1)
            reply = np.where(np.asarray(tree.terminal), won, best)
            expected = np.where(legal, -reply[successor], 0)
        found = jax.jit(lambda s, d=depth: lookahead.negamax(env, q_fn, s, d))(some)
        mask = legal[decisions]
        np.testing.assert_array_equal(
            np.asarray(found)[mask], expected[decisions][mask]
        )


def test_boards_that_do_not_fit_are_searched_in_parts(deciding, monkeypatch):
    env = pgx_games.make_env("tic_tac_toe")
    few = jax.tree.map(lambda x: np.asarray(x)[::300], deciding)
    assert len(few.current_player) == 16
    seen = set()

    def q_fn(env_state):
        seen.add(len(env_state.current_player))
        return stones.cells(env_state.observation) / 8  # exact, and no two are equal

    def values():
        search = jax.jit(lambda state: lookahead.negamax(env, q_fn, state, 2, 0.5))
        return np.asarray(search(few))

    whole = values()
    assert seen == {16 * 81}
    seen.clear()
    monkeypatch.setattr(lookahead, "MAX_BOARDS", 100)
    np.testing.assert_array_equal(values(), whole)
    assert seen == {81}


@pytest.fixture(scope="module")
def forked():
    """Return a game, as a batch of one, in which X can win in 8 and O threatens 6.

    X has 2 and 5, O has 0 and 3. In 6, X makes two more threats and wins later.
    """
    env = pgx_games.make_env("tic_tac_toe")
    env_state = pgx_games.init(env, jax.random.key(0), 1)
    for cell in (2, 0, 5, 3):
        env_state = pgx_games.play_moves(env, env_state, jnp.array([cell], jnp.int32))
    return env_state


def test_each_move_looked_ahead_is_discounted(forked):
    """Gamma is 0.5, and every value of the network is 0.75 to the player to move."""
    env = pgx_games.make_env("tic_tac_toe")

    def q_fn(env_state):
        return jnp.full(env_state.legal_action_mask.shape, 0.75)

    found = jax.jit(
        lambda env_state: [
            lookahead.negamax(env, q_fn, env_state, depth, 0.5) for depth in range(4)
        ]
    )(forked)
    empty = np.array([1, 4, 6, 7, 8])
    assert [values[0, empty].tolist() for values in found] == [
        [0.75] * 5,
        [-0.375, -0.375, -0.375, -0.375, 1],  # minus 0.5 x 0.75, or the win
        [-0.5, -0.5, 0.1875, -0.5, 1],  # O wins at once, or 0.5 x 0.5 x 0.75
        [-0.5, -0.5, 0.25, -0.5, 1],  # X wins two moves later: 0.5 x 0.5
    ]


@pytest.mark.parametrize(("gamma", "cell"), [(1.0, 6), (0.5, 8)])
def test_a_player_who_looks_ahead_discounts_by_its_agents_gamma(gamma, cell, forked):
    """Undiscounted, both cells are certain wins, and the lowest is played."""
    config = Config.of(hidden_size=4, hidden_layers=1, canonical=False, gamma=gamma)
    params = q_network.init_params(network_of(config.architecture), jax.random.key(0))
    player = jax.jit(
        lookahead.lookahead_player(network_of(config.architecture), params, gamma, 3)
    )
    assert player(jax.random.key(0), forked).tolist() == [cell]
