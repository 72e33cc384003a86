"""Players as functions and as matrices: both views agree."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.games import pgx_games
from jax_ttt.players import basic

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


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("random", "minimax", "minimax-first", "mcts:50"),
        *("AGENT", "blend:0.1:AGENT", "lookahead:1:AGENT"),
    ],
)
@pytest.mark.usefixtures("optimized")  # it plays 452,000 moves
def test_function_and_matrix_agree(enter, name, agent_path, tree, deciding):
    player, probs = enter(name.replace("AGENT", str(agent_path)))
    probs = probs[np.asarray(tree.decisions)]
    np.testing.assert_allclose(probs.sum(axis=1), 1, atol=1e-12)
    counts = np.asarray(frequencies(player, deciding))
    assert counts[probs == 0].sum() == 0
    expected = NUM_KEYS * probs
    certain = probs.max(axis=1) == 1
    assert (counts[certain] == expected[certain]).all()
    # Chi-square over all rows that leave a choice: near its degrees of freedom.
    drawn = probs[~certain] > 0
    error = (counts - expected)[~certain][drawn] ** 2 / expected[~certain][drawn]
    freedom = drawn.sum() - len(drawn)
    assert abs(error.sum() - freedom) < 5 * np.sqrt(4 * max(freedom, 1)) + 1


_random_move = jax.jit(basic.random_player)


@pytest.mark.parametrize("num_legal", [1, 2, 5, 9])
def test_random_moves_are_uniform(num_legal):
    """Chi-square of 40,000 moves, for each number of legal ones."""
    mask = np.random.default_rng(num_legal).permutation(np.arange(9) < num_legal)
    env_state = pgx_games.init(
        pgx_games.make_env("tic_tac_toe"), jax.random.key(0), 40_000
    )
    env_state = env_state.replace(legal_action_mask=np.tile(mask, (40_000, 1)))
    actions = np.asarray(_random_move(jax.random.key(num_legal), env_state))
    counts = np.bincount(actions, minlength=9)
    assert counts[~mask].sum() == 0
    expected = 40_000 / num_legal
    chi_square = ((counts[mask] - expected) ** 2 / expected).sum()
    assert (
        chi_square
        < (10.8, 13.8, 16.3, 18.5, 20.5, 22.5, 24.3, 26.1, 27.9)[max(num_legal - 2, 0)]
    )  # the 99.9 % points of 1 to 8 degrees of freedom


def test_keys_decide_what_is_drawn(enter, deciding):
    few = jax.tree.map(lambda x: x[:64], deciding)
    player, _ = enter("blend:0.7:random")
    one, same, other = (player(jax.random.key(k), few) for k in (0, 0, 1))
    assert (one == same).all()
    assert (one != other).any()
