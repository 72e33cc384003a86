"""The proof of a player, and the line that beats it."""

import jax
import pytest

import jax_ttt
from jax_ttt.envs import one_game


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
    states = one_game.states("tic_tac_toe", found.losing_line)
    result = one_game.result(states[0], states[-1], found.losing_seat)
    assert result == "lost"
    assert len(found.losing_line) == 5, "no game is shorter"


def test_the_likeliest_game_is_finished():
    found = jax_ttt.prove("minimax-first")
    states = one_game.states("tic_tac_toe", found.likeliest_game)
    assert one_game.result(states[0], states[-1], "first") == "drawn"


def test_without_a_tree_or_a_policy_there_is_no_proof():
    with pytest.raises(jax_ttt.Refused, match=r"^random does not play one move"):
        jax_ttt.prove("random", env_id="connect_four")
    with pytest.raises(jax_ttt.Refused, match="positions of go_9x9 have no keys"):
        jax_ttt.prove("random", env_id="go_9x9")
    with pytest.raises(jax_ttt.Refused, match="any_free: no proof"):
        jax_ttt.prove(any_free)


def test_where_there_is_no_tree_the_positions_that_an_agent_reaches_are_searched(
    beaten,
):
    """An untrained agent loses; a search that is cut before that claims nothing."""
    found = jax_ttt.prove(beaten)
    assert found.unbeatable is False
    assert found.losing_line is not None
    assert found.losing_seat is not None
    states = one_game.states("connect_4x4", found.losing_line)
    assert one_game.result(states[0], states[-1], found.losing_seat) == "lost"
    own = one_game.states("connect_4x4", found.likeliest_game)
    assert one_game.legal_moves(own[-1]) == ()
    assert "<svg" in found._repr_html_()

    cut = jax_ttt.prove(beaten, max_positions=20)
    assert (cut.unbeatable, cut.losing_line, cut.losing_seat) == (None, None, None)
    assert repr(cut).startswith("not decided beyond move ")
    lost = jax_ttt.prove(beaten, max_positions=1500)
    assert (lost.unbeatable, lost.losing_line) == (False, found.losing_line)
    with pytest.raises(jax_ttt.Refused, match="max_positions"):
        jax_ttt.prove(beaten, max_positions=0)


def test_a_limit_of_positions_is_refused_where_there_is_a_tree():
    with pytest.raises(jax_ttt.Refused, match="max_positions must be left out"):
        jax_ttt.prove("minimax", max_positions=10)
