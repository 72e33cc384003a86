"""The proof of a player, the line that beats it, and the grades of a search."""

import jax
import pytest

import jax_ttt
from jax_ttt.games.game import Game


def any_free(key, env_state):
    return jax.random.categorical(key, jax.numpy.log(env_state.legal_action_mask))


def last_free(key, env_state):
    return 8 - env_state.legal_action_mask[:, ::-1].argmax(axis=-1)


def test_an_agent_is_proven(agent):
    found = jax_ttt.prove(agent)
    assert found.unbeatable
    assert (found.losing_line, found.losing_seat) == (None, None)
    assert found.seats == ("first", "second")


def test_the_losing_line_is_a_lost_game():
    found = jax_ttt.prove(last_free)
    assert not found.unbeatable
    assert found.losing_seat == "second"
    assert found.losing_line is not None
    lost = Game.start("tic_tac_toe", found.losing_line)
    result = lost.result(found.losing_seat)
    assert result == "lost"
    assert len(found.losing_line) == 5, "no game is shorter"


def test_the_likeliest_game_is_finished():
    found = jax_ttt.prove("minimax-first")
    assert Game.start("tic_tac_toe", found.likeliest_game).result("first") == "drawn"


def test_without_a_tree_or_a_policy_there_is_no_proof():
    with pytest.raises(jax_ttt.Refused, match=r"^random does not play one move"):
        jax_ttt.prove("random", env_id="connect_four")
    with pytest.raises(jax_ttt.Refused, match="positions of go_9x9 have no keys"):
        jax_ttt.prove("random", env_id="go_9x9")
    with pytest.raises(jax_ttt.Refused, match="any_free: no proof"):
        jax_ttt.prove(any_free)


@pytest.mark.slow
def test_where_there_is_no_tree_the_positions_that_an_agent_reaches_are_searched(
    beaten,
):
    """An untrained agent loses; a search that is cut before that claims nothing."""
    found = jax_ttt.prove(beaten)
    assert found.unbeatable is False
    assert found.losing_line is not None
    assert found.losing_seat is not None
    lost = Game.start("connect_4x4", found.losing_line)
    assert lost.result(found.losing_seat) == "lost"
    assert Game.start("connect_4x4", found.likeliest_game).is_over
    assert "<svg" in found._repr_html_()

    cut = jax_ttt.prove(beaten, max_positions=20)
    assert (cut.unbeatable, cut.losing_line, cut.losing_seat) == (None, None, None)
    assert repr(cut).startswith("not decided beyond move ")
    lost = jax_ttt.prove(beaten, max_positions=1500)
    assert (lost.unbeatable, lost.losing_line) == (False, found.losing_line)
    with pytest.raises(jax_ttt.Refused, match="max_positions"):
        jax_ttt.prove(beaten, max_positions=0)


@pytest.mark.slow
def test_a_grade_searches_what_an_agent_reaches_in_a_game_without_a_tree(beaten):
    """Its rates are those of the search."""
    found = jax_ttt.grade(beaten)
    assert found.unbeatable is False
    assert found.sampled is None
    wins = [seat.win_rate for seat in found.searched.values()]
    assert found.win_rate == pytest.approx(sum(wins) / 2)
    assert found.loss_rate > 0
    assert found.verdict in repr(found)
    assert found.verdict == jax_ttt.prove(beaten).verdict


def test_a_grade_of_a_search_that_is_cut_claims_nothing(beaten):
    found = jax_ttt.grade(beaten, max_positions=20, num_games=16)
    assert found.unbeatable is None
    assert found.sampled is not None
    assert found.win_rate == found.sampled.both.win_rate
    assert "not decided" in found.verdict


def test_a_limit_of_positions_is_refused_where_there_is_a_tree():
    with pytest.raises(jax_ttt.Refused, match="max_positions must be left out"):
        jax_ttt.prove("minimax", max_positions=10)


@pytest.mark.slow
def test_the_shipped_agent_of_connect_5x4_is_graded_unbeatable():
    grade = jax_ttt.grade("shipped:connect-5x4")
    assert grade.unbeatable is True
    assert grade.loss_rate == 0
    assert "unbeatable" in repr(grade)
