"""Players written by users: what is checked, and when results are exact."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.config.errors import PlayerError
from jax_ttt.players import user_players


def first_free(key, env_state):
    return env_state.legal_action_mask.argmax(axis=-1)


def any_free(key, env_state):
    return jax.random.categorical(key, jnp.log(env_state.legal_action_mask))


def last_free(key, env_state):
    mask = env_state.legal_action_mask
    return mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=-1)


def by_player_id(key, env_state):
    """Play the last free cell as PGX's player 1, whose seat is random."""
    moves = last_free(key, env_state), first_free(key, env_state)
    return jnp.where(env_state.current_player == 1, *moves)


def test_a_function_of_the_board_is_a_policy(row_by_row):
    entered = user_players.from_function("mine", first_free, "tic_tac_toe")
    assert entered.name == "mine"
    np.testing.assert_array_equal(entered.policy, row_by_row.policy)


@pytest.mark.parametrize("function", [any_free, by_player_id])
def test_what_depends_on_chance_is_no_policy(function):
    assert user_players.from_function("mine", function, "tic_tac_toe").policy is None


def rarely_another(key, env_state):
    """Play the first free cell, in one of 100 games at random the last one."""
    rare = jax.random.bernoulli(key, 0.01, env_state.terminated.shape)
    return jnp.where(rare, last_free(key, env_state), first_free(key, env_state))


def by_chance_outside_of_jax(key, env_state):
    """Play a free cell that NumPy draws, whatever the key."""
    mask = env_state.legal_action_mask

    def draw(mask):
        scores = np.where(mask, np.random.default_rng().random(mask.shape), -1)
        return scores.argmax(axis=-1).astype(np.int32)

    of_games = jax.ShapeDtypeStruct(mask.shape[:1], np.int32)
    return jax.pure_callback(draw, of_games, mask)


@pytest.mark.parametrize(
    ("function", "env_id"),
    [(rarely_another, "connect_4x4"), (by_chance_outside_of_jax, "tic_tac_toe")],
)
def test_a_move_by_chance_is_found_in_any_game(function, env_id):
    entered = user_players.from_function("mine", function, env_id)
    assert (entered.policy, entered.is_deterministic) == (None, False)


def test_a_key_that_changes_nothing_leaves_the_policy_known(row_by_row):
    def with_key(key, env_state):
        return first_free(key, env_state) + jax.random.randint(key, (), 0, 1)

    entered = user_players.from_function("mine", with_key, "tic_tac_toe")
    np.testing.assert_array_equal(entered.policy, row_by_row.policy)


def by_place(key, env_state):
    """Play the first free cell in every other game of the batch, else the last."""
    even = jnp.arange(len(env_state.terminated)) % 2 == 0
    return jnp.where(even, first_free(key, env_state), last_free(key, env_state))


def by_company(key, env_state):
    """Play the first free cell if a board is fuller than the batch, else the last."""
    free = env_state.legal_action_mask.sum(axis=-1)
    full = free < free.mean()
    return jnp.where(full, first_free(key, env_state), last_free(key, env_state))


@pytest.mark.parametrize(
    ("function", "env_id"), [(by_place, "tic_tac_toe"), (by_company, "connect_4x4")]
)
def test_a_move_that_depends_on_the_other_games_is_refused(function, env_id):
    with pytest.raises(PlayerError, match=r"mine: .* other games of the batch"):
        user_players.from_function("mine", function, env_id)


def test_in_a_large_game_it_is_a_player_without_a_policy():
    entered = user_players.from_function("mine", first_free, "connect_4x4")
    assert (entered.policy, entered.is_deterministic) == (None, True)


def of_numpy(key, env_state):
    return np.asarray(env_state.legal_action_mask).argmax(axis=-1)


def one_move(key, env_state):
    return env_state.legal_action_mask[0].argmax()


def as_floats(key, env_state):
    return first_free(key, env_state).astype(float)


def of_no_arguments():
    return 0


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (of_numpy, "mine: can't be compiled; a player is a function .* with jax.numpy"),
        (of_no_arguments, "mine: can't be compiled"),
        (one_move, r"one whole number per game, got int32 of shape \(\)"),
        (as_floats, "got float32"),
        (lambda key, env_state: None, "got NoneType"),
        (lambda key, env_state: first_free(key, env_state) * 0, "plays 0, but the"),
        (lambda key, env_state: first_free(key, env_state) - 99, "plays -99, but"),
    ],
)
def test_a_function_that_is_no_player_is_refused(function, message):
    with pytest.raises(PlayerError, match=message):
        user_players.from_function("mine", function, "tic_tac_toe")


@pytest.mark.slow
def test_an_illegal_move_is_found_in_a_large_game():
    with pytest.raises(PlayerError, match="plays 3, but the legal moves are 0"):
        user_players.from_function(
            "mine", lambda key, s: jnp.full(len(s.terminated), 3), "connect_four"
        )
