"""Values, hints and reviews as text; hints are compared with independent rules."""

import dataclasses

import jax
import numpy as np
import pytest
import rules
import tiny

from jax_ttt.config.settings import Config
from jax_ttt.games.played_game import Game
from jax_ttt.grading.move_values import agent_values
from jax_ttt.text import dialogue_advice
from jax_ttt.text.dialogue_advice import Hint
from jax_ttt.text.screen import LINES, Screen

PLAIN = Screen(input, print)
COLOURED = Screen(input, print, True, LINES)


@pytest.fixture(scope="module")
def agent():
    return tiny.untrained(Config.of(hidden_size=8))


def test_values_are_drawn_side_by_side(snapshot):
    """X has 4 and 8, O 0 and 1: X must take 2, which wins by 2-5-8 and 2-4-6."""
    cells = np.array([["O", "O", 2], [3, "X", 5], [6, 7, "X"]], object)
    exact = {move: 1.0 if move == 2 else -1.0 for move in (2, 3, 5, 6, 7)}
    learned = {2: 0.5, 3: -0.25, 5: 0.125, 6: -1.0, 7: 0.0}
    assert dialogue_advice.value_boards(cells, exact, learned, PLAIN) == snapshot
    text = dialogue_advice.value_boards(cells, {}, learned, COLOURED)
    assert "best play" not in text
    assert text.count("\x1b[1m+0.500") == 1
    text = dialogue_advice.value_boards(cells, exact, {}, COLOURED)
    assert "the agent" not in text
    assert text.count("\x1b[31mloses\x1b[0m") == 4


def test_moves_are_ordered_by_the_agents_values_if_there_are_any():
    """Of equal moves, the lowest comes first; at most twelve are listed."""

    def moves(exact, learned):
        table = dialogue_advice.values_table("tic_tac_toe", exact, learned)
        return [int(row.split()[0]) for row in table.splitlines()[1:]]

    exact, learned = {0: 1.0, 4: -1.0, 8: 0.0}, {0: -0.5, 4: 0.25, 8: 0.25}
    assert moves(exact, learned) == [4, 8, 0]
    assert moves(exact, {}) == [0, 8, 4]
    many = {move: move / 100 for move in range(50)}
    assert moves({}, many) == list(range(49, 37, -1))
    game = Game.start("connect_four")
    text = dialogue_advice.values_text(game, {}, {}, "it", PLAIN)
    assert text == "it has no values to show"


def suggest(moves, agent=None):
    """Return the hint after these moves, which must exist."""
    hint = dialogue_advice.suggest_move(Game.start("tic_tac_toe", moves), agent)
    assert hint is not None
    return hint


def test_a_hint_always_keeps_the_exact_value(agent):
    rng = np.random.default_rng(0)
    for _ in range(4):
        board, moves = "-" * 9, []
        while legal := rules.moves(board):
            hint = suggest(moves, agent)
            good = sorted((hint.move, *hint.as_good))
            assert good == rules.best_moves(board)
            sign = 1 if rules.mover(board) == "X" else -1
            assert hint.exact_value == sign * rules.value(board)
            moves.append(int(rng.choice(legal)))
            board = rules.after(board, moves[-1])


def test_a_hint_wins_at_once_and_loses_late():
    # X wins with 6 now, and with 4, 5, 7 and 8 one move later.
    assert suggest([0, 1, 3, 2]) == Hint(6, (4, 5, 7, 8), 1.0, None)
    # O loses anyway; without 6, X wins with the next move.
    assert suggest([0, 1, 3]) == Hint(6, (2, 4, 5, 7, 8), -1.0, None)


def test_of_equally_good_moves_the_agents_favourite_is_the_hint(agent):
    game, chosen = Game.start("tic_tac_toe"), set()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        params = jax.tree.map(
            lambda x, rng=rng: x + rng.normal(size=x.shape).astype(np.float32),
            agent.params,
        )
        other = dataclasses.replace(agent, params=params)
        hint = suggest([], other)
        values = agent_values(game, other)
        assert hint.move == max(values, key=values.__getitem__)
        assert len(hint.as_good) == 8
        chosen.add(hint.move)
    assert len(chosen) > 1


def test_a_hint_in_words(snapshot):
    for game in (
        Game.start("connect_four"),
        Game.start("tic_tac_toe", [0, 3, 1, 4, 2]),  # it is over
    ):
        assert dialogue_advice.suggest_move(game, None) is None
    five, three, one = (
        Game.start("tic_tac_toe", [0, 1, 2, 4, 3, 5, 7, 6][:num_moves])
        for num_moves in (4, 6, 8)
    )
    seven = Game.start("connect_four")
    lines = [
        dialogue_advice.hint_line(game, hint, "it")
        for game, hint in (
            (five, Hint(4, (), 1.0, None)),
            (five, Hint(4, (6,), 1.0, None)),
            (five, Hint(4, (0, 2, 6), 1.0, None)),
            (three, Hint(7, (1, 2), -1.0, 0.5)),
            (one, Hint(7, (), -1.0, 0.5)),
            (seven, None),
            (seven, Hint(3, (), None, 0.5)),
        )
    ]
    assert "\n".join(lines) == snapshot


def test_a_review_colours_mistakes_only_and_fits_a_terminal():
    """The dialogue's tests have the text of a review."""

    def review(moves, screen):
        game = Game.start("tic_tac_toe", moves)
        return dialogue_advice.review_text(game, "first", "it", screen).splitlines()

    lines = review([4, 1, 0, 8, 7, 6], COLOURED)
    mistakes = [line for line in lines if "a mistake" in line]
    assert len(mistakes) == 2
    assert [line for line in lines if "\x1b[31m" in line] == mistakes
    lines = review([4, 0, 1, 7, 6, 2, 5, 3, 8], PLAIN)
    assert max(map(len, lines)) <= 80
    assert "it: 0 mistakes in 4 moves" in lines
    assert review([], PLAIN)[0].startswith("nothing to review")
