"""Action values of a board, and the move with the highest value."""

import functools
from typing import Any

import jax
import numpy as np
import pytest

import jax_ttt
from jax_ttt.networks import q_network


def test_values_are_those_of_the_network(agent):
    values = jax_ttt.q_values(agent, [4, 0])
    obs = values.states[-1].observation
    q_values = jax.jit(functools.partial(q_network.action_values, agent.network))
    expected = np.asarray(q_values(agent.params, obs))[0]
    assert list(values) == [1, 2, 3, 5, 6, 7, 8]
    assert all(values[move] == float(expected[move]) for move in values)
    assert 4 not in values
    game = jax_ttt.new_game("minimax-first").play(4)
    assert dict(jax_ttt.q_values(agent, game)) == dict(values)


def test_a_board_may_be_text(agent):
    moves = [4, 0, 1, 2]
    values = jax_ttt.q_values(agent, "OXO.X....")
    assert dict(values) == dict(jax_ttt.q_values(agent, moves))
    assert jax_ttt.best_move(agent, "OXO-X----") == jax_ttt.best_move(agent, moves)
    with pytest.raises(jax_ttt.Refused, match="not 9 cells, each X, O"):
        jax_ttt.q_values(agent, "XX")


def test_exact_values_are_those_of_minimax(agent):
    # X at 0 and 1, O at 3 and 4: X wins at 2; elsewhere O wins at 5.
    values = jax_ttt.q_values(agent, [0, 3, 1, 4])
    assert values.exact == {2: 1.0, 5: 0.0, 6: -1.0, 7: -1.0, 8: -1.0}
    assert jax_ttt.best_move(agent, [0, 3, 1, 4]) == 2
    assert repr(values).startswith("{2: +1.000, ")
    assert ">X to move<" in values._repr_html_()


@pytest.mark.usefixtures("any_types")
def test_values_need_an_agent_and_a_board_to_move_on(agent):
    wrong: Any = "minimax"
    for function in (jax_ttt.best_move, jax_ttt.q_values):
        message = f"{function.__name__} needs an agent .* got 'minimax'"
        with pytest.raises(jax_ttt.Refused, match=message):
            function(wrong, [4, 0])
    with pytest.raises(jax_ttt.Refused, match="the game is over"):
        jax_ttt.best_move(agent, [0, 3, 1, 4, 2])
    for wrong, text in ((None, "None"), ({4, 0}, "a set")):
        with pytest.raises(jax_ttt.Refused, match=f"a board is a game .* got {text}"):
            jax_ttt.best_move(agent, wrong)


def test_values_of_connect_four_are_printed_without_a_picture(beaten):
    values = jax_ttt.q_values(beaten, [3, 3])
    assert list(values) == list(range(4))
    assert values.exact is None
    assert "<svg" not in values._repr_html_()
    with pytest.raises(jax_ttt.Refused, match="connect_4x4"):
        values.picture()
    assert np.argmax(list(values.values())) == jax_ttt.best_move(beaten, [3, 3])
