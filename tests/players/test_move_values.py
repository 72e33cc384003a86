"""The values of a game's legal moves: exact, and an agent's own."""

import jax
import pytest
import tiny

from jax_ttt.config.settings import Config
from jax_ttt.games.game import Game
from jax_ttt.networks import q_network
from jax_ttt.players.analysis import MoveValue, move_values


def test_values_are_exact_and_the_agents_own():
    """O must take the centre after a corner."""
    agent = tiny.untrained(Config.of(hidden_size=8))
    game = Game.start("tic_tac_toe", [0])
    worth = move_values(game, agent)
    assert {row.move: row.minimax_value for row in worth} == {
        move: 0.0 if move == 4 else -1.0 for move in range(1, 9)
    }
    q_values = jax.jit(q_network.q_values)
    learned = q_values(agent.network, agent.params, game.state.observation)[0]
    assert [row.q_value for row in worth] == pytest.approx(learned[1:].tolist())
    best = max(worth, key=lambda row: row.q_value or 0.0)
    assert game.move_of(agent.player, jax.random.key(0)) == best.move


def test_without_a_tree_or_an_agent_there_are_no_values():
    for row in move_values(Game.start("tic_tac_toe"), None):
        assert (row.q_value, row.minimax_value) == (None, 0.0)
    assert move_values(Game.start("connect_4x4"), None) == tuple(
        MoveValue(move, None, None) for move in range(4)
    )


def test_a_game_that_is_over_has_no_moves_to_value():
    assert move_values(Game.start("tic_tac_toe", [0, 3, 1, 4, 2]), None) == ()
