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
    assert repr(found).startswith("unbeatable: ")


def test_the_losing_line_is_a_lost_game():
    found = jax_ttt.prove(last_free)
    assert not found.unbeatable
    assert found.losing_seat == "second"
    assert found.losing_line is not None
    states = one_game.states("tic_tac_toe", found.losing_line)
    result = one_game.result(states[0], states[-1], found.losing_seat)
    assert result == "lost"
    assert len(found.losing_line) == 5, "no game is shorter"
    assert repr(found).startswith("beatable: the shortest line")


def test_the_likeliest_game_is_finished():
    found = jax_ttt.prove("minimax-first")
    states = one_game.states("tic_tac_toe", found.likeliest_game)
    assert one_game.result(states[0], states[-1], "first") == "drawn"


@pytest.mark.parametrize("who", ["minimax", "random"])
def test_a_notebook_shows_the_game(who):
    shown = jax_ttt.prove(who)._repr_html_()
    assert shown.count("<svg") == 1
    assert f"{who}: " in shown


def test_without_a_tree_or_a_policy_there_is_no_proof():
    with pytest.raises(jax_ttt.Refused, match="connect_four is too large for a proof"):
        jax_ttt.prove("random", env_id="connect_four")
    with pytest.raises(jax_ttt.Refused, match="any_free: no proof"):
        jax_ttt.prove(any_free)
