"""Lines of play that beat a player, the positions on them, and samples of them.

That a recursive search marks as many positions is in test_reached_positions.py.
"""

import jax.numpy as jnp
import numpy as np
import pytest
from jax.tree_util import Partial
from rule_player import RULE, reached

from jax_ttt.games import position_keys
from jax_ttt.games.played_game import Game
from jax_ttt.solver import losing_lines

ENV = "connect_4x4"


@pytest.fixture(scope="module")
def search():
    """Return what the rule player, which can be beaten, reaches as the second one."""
    return reached(ENV, RULE, "second")


def first_free_column(key, env_state):
    """Play the first column that is not full."""
    del key
    return env_state.legal_action_mask.argmax(axis=1).astype(jnp.int32)


def test_a_losing_line_may_lead_to_a_later_batch_of_its_level():
    """The level has 53 positions, the 20th is the first that loses: in batches of 16
    it is in the second one.
    """
    search = reached(ENV, Partial(first_free_column), "first", most=200, batch=256)
    assert len(search.keys[9]) == 53
    game = Game.start(ENV, search.losing_line or ())
    assert len(game.moves) == 10
    assert game.result("first") == "lost"
    for number in range(0, 10, 2):
        legal = game.back_to(number).legal_moves
        assert game.moves[number] == legal[0]


def test_choices_are_marked_positions_of_the_player_with_two_moves(search):
    levels = range(len(search.keys))
    marks = losing_lines.mark_losing_lines(search.player, search.keys)
    choices = losing_lines.losing_choices(search.player, search.keys)
    own_levels = [level for level in levels if search.player.moves_at(level)]
    marked = np.concatenate([search.keys[level][marks[level]] for level in own_levels])
    stones = position_keys.unpack(ENV, position_keys.numbers_to_keys(marked))
    several = position_keys.legal_action_mask(ENV, stones).sum(axis=1) > 1
    np.testing.assert_array_equal(np.concatenate(choices), marked[several])
    assert 10 < several.sum() < len(marked)
    assert not any(len(choices[level]) for level in {*levels} - {*own_levels})


def test_up_to_the_level_before_the_first_loss_nothing_is_marked(search):
    shortest = len(search.losing_line)
    marks = losing_lines.mark_losing_lines(search.player, search.keys[: shortest - 1])
    assert not any(mark.any() for mark in marks)
    marks = losing_lines.mark_losing_lines(search.player, search.keys[:shortest])
    assert all(mark.any() for mark in marks)


def test_a_sample_has_some_positions_of_each_level_in_order(search):
    """A large one has all of them; the generator decides what is drawn."""
    cut = reached(ENV, RULE, "second", most=100)
    later_levels = search.keys[cut.num_expanded :]

    def sample(num_positions, seed=0):
        return losing_lines.sample_levels(
            player=cut.player,
            level=cut.num_expanded,
            keys=cut.keys[-1],
            num_positions=num_positions,
            rng=np.random.default_rng(seed),
        )

    assert all(map(np.array_equal, sample(10**9), later_levels))
    small = sample(30)
    assert len(small[0]) == 30 < len(later_levels[0])
    assert len(later_levels) // 2 < len(small) <= len(later_levels)
    for keys, all_keys in zip(small, later_levels, strict=False):
        assert len(keys) <= 30
        assert (keys[1:] > keys[:-1]).all()
        assert set(keys) <= set(all_keys)
    assert all(map(np.array_equal, small, sample(30)))
    assert not np.array_equal(small[0], sample(30, seed=1)[0])
