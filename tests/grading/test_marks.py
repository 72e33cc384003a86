"""A player's marks: shares by kind and by moves made."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.tree_util import Partial

from jax_ttt.grading import marks, questions
from jax_ttt.players import players

ENV = "connect_four"


@pytest.fixture(scope="module")
def exam():
    """Return the exam that comes with the package."""
    return questions.read_exam(ENV, None)


def marked(exam, player):
    """Return the marks of a player."""
    return marks.take_exam(ENV, player, exam, jax.random.key(0))


def test_who_knows_the_values_has_full_marks(exam):
    best = jnp.asarray(exam.keeps.argmax(axis=1))
    found = marked(exam, lambda key, state: best)
    assert (found.all.num_positions, found.all.share) == (1012, 1)
    assert list(found.by_kind) == ["random", "tactical"]
    assert list(found.by_ply) == [str(n) for n in range(8, 31)]
    every = (*found.by_kind.values(), *found.by_ply.values())
    assert all(part.share == 1 for part in every)
    assert sum(part.num_positions for part in found.by_ply.values()) == 1012


def test_the_first_legal_column_has_the_share_that_is_counted_here(exam):
    first = Partial(lambda key, state: state.legal_action_mask.argmax(axis=1))
    states = questions.asked_states(ENV, exam)
    action = np.asarray(states.legal_action_mask).argmax(axis=1)
    kept = exam.keeps[np.arange(1012), action]
    tactical = np.array(exam.kinds) == "tactical"
    found = marked(exam, first)
    assert found.all.share == kept.mean()
    assert found.by_kind["tactical"].share == kept[tactical].mean()
    assert found.by_kind["random"].share == kept[~tactical].mean()
    assert found.by_ply["9"].share == kept[exam.plies == 9].mean()
    assert 0.2 < kept.mean() < 0.6


def test_a_random_player_keeps_the_mean_share_of_the_legal_moves(exam):
    states = questions.asked_states(ENV, exam)
    legal = np.asarray(states.legal_action_mask).sum(axis=1)
    expected = (exam.keeps.sum(axis=1) / legal).mean()
    found = marked(exam, players.random_player).all
    assert found.interval[0] - 0.02 < expected < found.interval[1] + 0.02
