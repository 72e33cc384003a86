"""Hints, beside independent rules of the game."""

import dataclasses

import jax
import numpy as np
import pytest
import rules
import tiny

from jax_ttt.games import tree as trees
from jax_ttt.games.game import Game
from jax_ttt.players import saved_agents
from jax_ttt.players.analysis import MoveValue, move_values
from jax_ttt.text import advice
from jax_ttt.text.advice import Hint

WORTH = {"X": 1, "O": -1}


@pytest.fixture(scope="module")
def agent_path(tmp_path_factory):
    return tiny.save_untrained(tmp_path_factory.mktemp("hints") / "agent.safetensors")


@pytest.fixture(scope="module")
def states():
    """Return the states of all positions as NumPy arrays: slices are not compiled."""
    return trees.enumerated("tic_tac_toe").env_state


def at(position, states):
    """Return a game whose board is a position of the tree."""
    state = jax.device_put(jax.tree.map(lambda x: x[position : position + 1], states))
    return Game("tic_tac_toe", moves=(), states=(state,))


def test_a_hint_always_keeps_the_exact_value(agent_path, states):
    agent = saved_agents.load_agent(agent_path)
    tree = trees.enumerated("tic_tac_toe")
    for position in tree.decisions[::80]:
        game = at(int(position), states)
        own, other = ("X", "O") if tree.first_to_move[position] else ("O", "X")
        cells = np.asarray(tree.obs[position]).reshape(9, 2)
        board = "".join(own if a else other if b else "-" for a, b in cells)
        hint = advice.suggest_move(game, agent)
        assert hint is not None
        assert sorted((hint.best.move, *hint.as_good)) == rules.best_moves(board)
        sign = WORTH[own]
        assert hint.best.minimax_value == sign * rules.value(board)


def test_a_hint_wins_at_once_and_loses_late():
    def hint_after(moves):
        hint = advice.suggest_move(Game.start("tic_tac_toe", moves), None)
        assert hint is not None
        return hint

    # X wins with 6 now, and with 4, 5, 7 and 8 one move later.
    soon = hint_after([0, 1, 3, 2])
    assert (soon.best.move, soon.as_good) == (6, (4, 5, 7, 8))
    # O loses anyway; without 6, X wins with the next move.
    late = hint_after([0, 1, 3])
    assert late.best == MoveValue(6, -1.0, None)
    assert late.as_good == (2, 4, 5, 7, 8)


def test_of_equally_good_moves_the_agents_favourite_is_the_hint(agent_path):
    game = Game.start("tic_tac_toe")
    agent, chosen = saved_agents.load_agent(agent_path), set()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        params = jax.tree.map(
            lambda x, rng=rng: x + rng.normal(size=x.shape).astype(np.float32),
            agent.params,
        )
        other = dataclasses.replace(agent, params=params)
        rows = move_values(game, other)
        hint = advice.suggest_move(game, other)
        assert hint is not None
        assert hint.best == max(rows, key=lambda row: row.q_value or 0)
        assert len(hint.as_good) == 8
        chosen.add(hint.best.move)
    assert len(chosen) > 1


def test_without_exact_values_and_an_agent_there_is_no_hint():
    assert advice.suggest_move(Game.start("connect_four"), None) is None


def test_there_is_no_hint_after_the_end():
    over = Game.start("tic_tac_toe", [0, 3, 1, 4, 2])
    assert advice.suggest_move(over, None) is None


def test_a_hint_in_words(snapshot):
    wins, loses = MoveValue(4, 1.0, None), MoveValue(7, -1.0, 0.5)
    lines = [
        advice.hint_line(hint, num_legal, "it")
        for hint, num_legal in (
            *((Hint(wins, ()), 5), (Hint(wins, (6,)), 5), (Hint(wins, (0, 2, 6)), 5)),
            *((Hint(loses, (1, 2)), 3), (Hint(loses, ()), 1), (None, 7)),
            (Hint(MoveValue(3, None, 0.5), ()), 7),
        )
    ]
    assert "\n".join(lines) == snapshot
