"""Players written by users: what is checked, and when results are exact.

`tests/api/test_player.py` has policies as arrays.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.config.errors import PlayerError
from jax_ttt.players import user_players


def first_free(key, env_state):
    return env_state.legal_action_mask.argmax(axis=-1)


def last_free(key, env_state):
    mask = env_state.legal_action_mask
    return mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=-1)


def either(is_last, env_state):
    """Return the last free cell where `is_last`, else the first one."""
    last, first = last_free(None, env_state), first_free(None, env_state)
    return jnp.where(is_last, last, first)


def with_unused_key(key, env_state):
    noise = jax.random.uniform(key, env_state.legal_action_mask.shape)
    return (env_state.legal_action_mask + 0.0 * noise).argmax(axis=-1)


@pytest.mark.parametrize("function", [first_free, with_unused_key])
def test_a_function_of_the_board_is_a_policy(function, row_by_row):
    player = user_players.from_function("mine", function, "tic_tac_toe")
    assert player.name == "mine"
    np.testing.assert_array_equal(player.policy, row_by_row.policy)
    player = user_players.from_function("mine", function, "connect_4x4")
    assert (player.policy, player.evidence) == (None, "signature")


def any_free(key, env_state):
    return jax.random.categorical(key, jnp.log(env_state.legal_action_mask))


def by_player_id(key, env_state):
    """Play the last free cell as PGX's player 1, whose seat is random."""
    return either(env_state.current_player == 1, env_state)


def rarely_last(key, env_state):
    rare = jax.random.bernoulli(key, 0.01, env_state.terminated.shape)
    return either(rare, env_state)


def by_numpy(key, env_state):
    """Play a free cell that NumPy draws, whatever the key."""
    mask = env_state.legal_action_mask

    def draw(mask):
        scores = np.where(mask, np.random.default_rng().random(mask.shape), -1)
        return scores.argmax(axis=-1).astype(np.int32)

    shape = jax.ShapeDtypeStruct(mask.shape[:1], np.int32)
    return jax.pure_callback(draw, shape, mask)


@pytest.mark.parametrize(
    ("function", "env_id"),
    [
        (any_free, "tic_tac_toe"),
        (by_player_id, "tic_tac_toe"),
        (rarely_last, "connect_4x4"),
        (by_numpy, "tic_tac_toe"),
    ],
)
def test_what_depends_on_chance_is_not_a_policy(function, env_id):
    player = user_players.from_function("mine", function, env_id)
    assert (player.policy, player.evidence) == (None, "none")


def by_place(key, env_state):
    return either(jnp.arange(len(env_state.terminated)) % 2 == 0, env_state)


def by_mean(key, env_state):
    """Play the last free cell if a board is emptier than the mean of the batch."""
    num_free = env_state.legal_action_mask.sum(axis=-1)
    return either(num_free > num_free.mean(), env_state)


@pytest.mark.parametrize(
    ("function", "env_id"), [(by_place, "tic_tac_toe"), (by_mean, "connect_4x4")]
)
def test_a_move_that_depends_on_the_other_games_is_refused(function, env_id):
    with pytest.raises(PlayerError, match=r"mine: .* other games of the batch"):
        user_players.from_function("mine", function, env_id)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda key, state: np.asarray(state.legal_action_mask).argmax(axis=-1),
            "mine: can't be compiled; a player is a function .* with jax.numpy",
        ),
        (lambda: 0, "mine: can't be compiled"),
        (
            lambda key, state: state.legal_action_mask[0].argmax(),
            r"one whole number per game, got int32 of shape \(\)",
        ),
        (lambda key, state: first_free(key, state).astype(float), "got float32"),
        (lambda key, state: None, "got NoneType"),
        (lambda key, state: first_free(key, state) * 0, "plays 0, but the"),
        (lambda key, state: first_free(key, state) - 99, "plays -99, but"),
    ],
)
def test_other_functions_are_refused(function, message):
    with pytest.raises(PlayerError, match=message):
        user_players.from_function("mine", function, "tic_tac_toe")
