"""The grade of a player, exact and sampled."""

import jax
import pytest

import jax_ttt


def any_free(key, env_state):
    return jax.random.categorical(key, jax.numpy.log(env_state.legal_action_mask))


def test_an_exact_grade(agent):
    found = jax_ttt.grade(agent)
    assert found.unbeatable is True
    assert found.loss_rate == 0
    assert found.win_rate + found.draw_rate == pytest.approx(1)
    assert found.sampled is None


def test_a_grade_is_of_the_learned_seat(one_seat):
    found = jax_ttt.grade(one_seat)
    assert (found.seats, found.unbeatable) == (("first",), True)
    assert "first only, as X" in repr(found)


def test_a_sampled_grade():
    found = jax_ttt.grade(any_free, num_games=512)
    assert found.exact is None
    assert found.unbeatable is None
    assert 0.4 < found.win_rate < 0.6
    assert "95 % intervals" in repr(found)


def test_the_number_of_games_is_checked():
    with pytest.raises(jax_ttt.Refused, match="num_games must be"):
        jax_ttt.grade("random", num_games=-1)
    with pytest.raises(jax_ttt.Refused, match=r"any_free .* nothing is exact"):
        jax_ttt.grade(any_free, num_games=0)


def test_a_limit_of_a_search_without_effect_is_refused():
    with pytest.raises(jax_ttt.Refused, match="max_positions must be left out"):
        jax_ttt.grade("minimax", max_positions=5)
    with pytest.raises(jax_ttt.Refused, match="does not play one move"):
        jax_ttt.grade("random", env_id="connect_four", max_positions=5)
