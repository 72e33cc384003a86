"""The symmetries listed in the catalogue are symmetries of the games."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.config.game_facts import GAMES
from jax_ttt.dqn import equations
from jax_ttt.games import pgx_games, symmetry

LISTED = [name for name, game in GAMES.items() if game.symmetries]
PLAYED = ["tic_tac_toe", "connect_four", "connect_4x5", "mnk_4x4_4"]
NUM_GAMES = 256


def seen_as(env_id, env_state, view):
    """Return the observations of boards in a view."""
    planes = np.asarray(env_state.observation)
    flat = planes.reshape(len(planes), -1, planes.shape[-1])
    return flat[:, view].reshape(planes.shape)


@pytest.mark.parametrize("env_id", LISTED)
def test_views_are_permutations_and_the_first_is_the_identity(env_id):
    views = symmetry.views(env_id)
    assert views is not None
    planes, num_actions = pgx_games.sizes(env_id)
    num_cells = int(np.prod(planes[:2]))
    for permutations, size in ((views.cells, num_cells), (views.actions, num_actions)):
        assert (np.sort(permutations, axis=1) == np.arange(size)).all()
        assert (permutations[0] == np.arange(size)).all()
        assert len(np.unique(permutations, axis=0)) == len(permutations)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", PLAYED)
def test_a_game_played_in_a_view_stays_the_image_of_the_game(env_id):
    """Compares boards, legal moves, ends and rewards of random games."""
    views = symmetry.views(env_id)
    assert views is not None
    env = pgx_games.make_env(env_id)
    plain = start = pgx_games.init(env, jax.random.key(0), NUM_GAMES)
    draw = jax.jit(equations.random_legal)
    for cells, actions in zip(*views, strict=True):
        inverse = np.argsort(actions)
        plain = image = start
        for number in range(12):
            key = jax.random.key(number)
            uniform = jax.random.uniform(key, (NUM_GAMES,))
            legal = np.asarray(plain.legal_action_mask)
            action = draw(uniform, plain.legal_action_mask)
            plain = pgx_games.play_moves(env, plain, action)
            # Action `a` in the view is `actions[a]` on the board.
            moved = jnp.asarray(inverse[np.asarray(action)], jnp.int32)
            shown = np.asarray(image.legal_action_mask)
            np.testing.assert_array_equal(shown, legal[:, actions])
            image = pgx_games.play_moves(env, image, moved)
            np.testing.assert_array_equal(
                image.observation, seen_as(env_id, plain, cells)
            )
            np.testing.assert_array_equal(image.rewards, plain.rewards)
            np.testing.assert_array_equal(image.terminated, plain.terminated)
    assert plain.terminated.any()


def test_the_symmetries_are_a_group_of_eight():
    symmetries = GAMES["tic_tac_toe"].symmetries
    views = {view.cells for view in symmetries}
    assert len(views) == 8
    assert symmetries[0].cells == tuple(range(9))
    for a in views:
        for b in views:
            assert tuple(a[cell] for cell in b) in views
