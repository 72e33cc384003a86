"""Players written by users: what is checked, and when results are exact."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.config.errors import PlayerError
from jax_ttt.players import own


def first_free(key, env_state):
    return env_state.legal_action_mask.argmax(axis=-1)


def any_free(key, env_state):
    return jax.random.categorical(key, jnp.log(env_state.legal_action_mask))


def by_player_id(key, env_state):
    """Play the last free cell as PGX's player 1, whose seat is random."""
    mask = env_state.legal_action_mask
    last = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=-1)
    return jnp.where(env_state.current_player == 1, last, mask.argmax(axis=-1))


def test_a_function_of_the_board_is_a_policy(row_by_row):
    entered = own.enter_function("mine", first_free, "tic_tac_toe")
    assert entered.name == "mine"
    np.testing.assert_array_equal(entered.probs, row_by_row.probs)


@pytest.mark.parametrize("function", [any_free, by_player_id])
def test_what_depends_on_chance_is_no_policy(function):
    assert own.enter_function("mine", function, "tic_tac_toe").probs is None


def test_a_compiled_function_is_read_too():
    entered = own.enter_function("mine", jax.jit(any_free), "tic_tac_toe")
    assert entered.probs is None


def test_in_a_large_game_it_is_a_player_without_a_policy():
    assert own.enter_function("mine", first_free, "connect_four").probs is None


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
        (lambda key, env_state: first_free(key, env_state) + 99, "plays 99, but"),
        (lambda key, env_state: first_free(key, env_state) - 99, "plays -99, but"),
    ],
)
def test_a_function_that_is_no_player_is_refused(function, message):
    with pytest.raises(PlayerError, match=message):
        own.enter_function("mine", function, "tic_tac_toe")


@pytest.mark.slow
def test_an_illegal_move_is_found_in_a_large_game():
    with pytest.raises(PlayerError, match="plays 3, but the legal moves are 0"):
        own.enter_function(
            "mine", lambda key, s: jnp.full(len(s.terminated), 3), "connect_four"
        )
