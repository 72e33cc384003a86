"""The grade of a player: exact, searched and sampled."""

import jax
import pytest

import jax_ttt


def any_free(key, env_state):
    return jax.random.categorical(key, jax.numpy.log(env_state.legal_action_mask))


def test_an_exact_grade(agent):
    grade = jax_ttt.grade(agent)
    assert (grade.unbeatable, grade.loss_rate, grade.sampled) == (True, 0, None)
    assert grade.win_rate + grade.draw_rate == pytest.approx(1)


def test_a_grade_is_of_the_learned_seat(one_seat):
    grade = jax_ttt.grade(one_seat)
    assert (grade.seats, grade.unbeatable) == (("first",), True)
    assert "graded as X only" in repr(grade)


@pytest.mark.slow
def test_a_sampled_grade():
    grade = jax_ttt.grade(any_free, num_games=512)
    assert grade.unbeatable is None
    assert not grade.followed
    assert 0.4 < grade.win_rate < 0.6
    assert "95% intervals" in repr(grade)


@pytest.mark.slow
def test_in_a_game_without_a_tree_the_grade_is_that_of_a_search(beaten):
    grade = jax_ttt.grade(beaten)
    assert (grade.unbeatable, grade.sampled) == (False, None)
    wins = [seat.win_rate for seat in grade.searched.values()]
    assert grade.win_rate == pytest.approx(sum(wins) / 2)
    assert grade.loss_rate > 0
    assert grade.verdict in repr(grade)
    assert grade.verdict == jax_ttt.prove(beaten).verdict


@pytest.mark.slow
def test_a_search_that_reaches_its_limit_proves_nothing(beaten):
    grade = jax_ttt.grade(beaten, max_positions=20, num_games=16)
    assert grade.unbeatable is None
    assert grade.sampled is not None
    assert grade.win_rate == grade.sampled.both.win_rate
    assert "not decided" in grade.verdict


@pytest.mark.parametrize(
    ("player", "options", "message"),
    [
        ("random", {"num_games": -1}, "num_games must be"),
        (any_free, {"num_games": 0}, r"any_free .* nothing is exact"),
        ("minimax", {"max_positions": 5}, "max_positions must be left out"),
    ],
)
def test_numbers_without_effect_are_refused(player, options, message):
    with pytest.raises(jax_ttt.Refused, match=message):
        jax_ttt.grade(player, **options)


@pytest.mark.slow
def test_a_note_says_why_a_player_is_not_searched():
    options = {"env_id": "connect_four", "max_positions": 5}
    grade = jax_ttt.grade("random", **options, num_games=4)
    reason = "not graded against every opponent: random does not play one move"
    assert grade.note is not None
    assert grade.note.startswith(reason)
    assert f"note: {reason}" in repr(grade)
    with pytest.raises(jax_ttt.Refused, match="does not play one move"):
        jax_ttt.prove("random", **options)
