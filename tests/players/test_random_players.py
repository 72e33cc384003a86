"""Players as functions and as matrices: both views agree."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.games import pgx_games
from jax_ttt.players.player import random_player

NUM_KEYS = 100


@jax.jit
def frequencies(player, states):
    """Return how often each action is played over the keys, `(D, A)`."""
    keys = jax.random.split(jax.random.key(7), NUM_KEYS)
    return jax.lax.fori_loop(
        0,
        NUM_KEYS,
        lambda i, counts: counts + jax.nn.one_hot(player(keys[i], states), 9),
        jnp.zeros((len(states.current_player), 9)),
    )


@pytest.mark.parametrize("name", ["random", "minimax", "AGENT", "blend:0.5:AGENT"])
def test_function_and_matrix_agree(player_of, name, agent_path, tree, undecided):
    player = player_of(name.replace("AGENT", str(agent_path)))
    probs = player.policy[np.asarray(tree.decisions)[::10]]
    np.testing.assert_allclose(probs.sum(axis=1), 1, atol=1e-12)
    few = jax.tree.map(lambda x: x[::10], undecided)
    counts = np.asarray(frequencies(player.choose, few))
    assert counts[probs == 0].sum() == 0
    expected = NUM_KEYS * probs
    certain = probs.max(axis=1) == 1
    assert (counts[certain] == expected[certain]).all()
    # Chi-square over all rows that leave a choice: near its degrees of freedom.
    possible = probs[~certain] > 0
    expected = expected[~certain][possible]
    error = (counts[~certain][possible] - expected) ** 2 / expected
    freedom = possible.sum() - len(possible)
    assert abs(error.sum() - freedom) < 5 * np.sqrt(4 * max(freedom, 1)) + 1


@pytest.mark.parametrize(("num_legal", "limit"), [(1, 0.1), (5, 18.5), (9, 26.1)])
def test_random_moves_are_uniform(num_legal, limit):
    """Chi-square of 40,000 moves is below the 99.9% point of its distribution."""
    mask = np.random.default_rng(num_legal).permutation(np.arange(9) < num_legal)
    env = pgx_games.make_env("tic_tac_toe")
    env_state = pgx_games.init(env, jax.random.key(0), 40_000)
    env_state = env_state.replace(legal_action_mask=np.tile(mask, (40_000, 1)))
    actions = jax.jit(random_player)(jax.random.key(num_legal), env_state)
    counts = np.bincount(np.asarray(actions), minlength=9)
    assert counts[~mask].sum() == 0
    expected = 40_000 / num_legal
    assert ((counts[mask] - expected) ** 2 / expected).sum() < limit


def test_the_key_decides_what_is_drawn(player_of, undecided):
    few = jax.tree.map(lambda x: x[:64], undecided)
    player = player_of("blend:0.7:random")
    choose = jax.jit(player.choose)
    one, same, other = (np.asarray(choose(jax.random.key(k), few)) for k in (0, 0, 1))
    assert (one == same).all()
    assert (one != other).any()
