"""Games in a terminal against players, with scripted input."""

import re

import jax
import pytest

from jax_ttt.config.game_facts import EnvId
from jax_ttt.dialogue import Dialogue
from jax_ttt.players import registry
from jax_ttt.text.commands import SideName
from jax_ttt.text.screen import Screen


@pytest.fixture
def talk():
    """Return a function that plays games with scripted input, and returns the lines.

    An exception in the input is raised at that place.
    """

    def play(
        opponent,
        words,
        side: SideName = "x",
        env_id: EnvId = "tic_tac_toe",
        coloured=False,
    ):
        if isinstance(opponent, str):
            spec = registry.read_player_name(opponent)
            opponent = registry.make_player(spec, env_id, jax.random.key(0))
        lines, words = [], iter(words)

        def ask(prompt):
            lines.append(prompt)
            word = next(words, EOFError())
            if isinstance(word, BaseException):
                raise word
            return word

        screen = Screen(ask, lines.append, coloured)
        try:
            Dialogue(opponent, jax.random.key(0), screen, side).play_games()
        except KeyboardInterrupt:
            lines.append("interrupted")
        return lines

    return play


def test_wrong_input_gets_one_line_and_the_game_goes_on(talk, row_by_row):
    wrong = ["", "9", "4 4", "²", "1" * 99, "undo 2"]
    lines = talk(row_by_row, [*wrong, " 4 "])
    answers = lines[3 : 3 + 2 * len(wrong) : 2]
    assert [text.partition("?")[0] for text in answers] == [
        repr(word[:20]) for word in wrong
    ]
    assert lines[-1] == "left after 2 moves: nobody wins", "the end of the input"


def test_a_new_game_may_have_another_side(talk, row_by_row):
    lines = talk(row_by_row, ["new o", "n", "n x", "n"])
    assert [text[-1] for text in lines if "you are" in text] == list("XOOXX")


def test_an_interrupt_shows_the_score_and_is_passed_on(talk, row_by_row):
    lines = talk(row_by_row, ["4", "6", "2", "n", KeyboardInterrupt()])
    assert lines[-2:] == ["score: you 1, draws 0, row by row 0", "interrupted"]


def test_in_a_large_game_stones_fall_in_columns_and_nothing_is_exact(talk):
    lines = talk("random", "4vhr444444", env_id="connect_four")
    rows = lines[1].strip("\n").splitlines()
    assert rows == ["  . . . . . . ."] * 6 + ["  1 2 3 4 5 6 7"]
    assert lines[4].count("X") == lines[4].count("O") == 1
    for text in ("no values to show", "no hint: ", "too large for exact values"):
        assert any(text in line for line in lines)
    # A column is full, which the board does not show.
    legal_moves = [text for text in lines if text.startswith("legal moves: ")]
    assert legal_moves
    assert all(" 4" not in text for text in legal_moves)


@pytest.mark.slow
def test_a_game_that_is_not_drawn_is_played(talk):
    lines = talk("random", ["q"], env_id="animal_shogi")
    assert "\n(animal_shogi is not drawn in text)\n" in lines
    assert [text for text in lines if text.startswith("legal moves: ")]


def test_colours_change_nothing_but_colours(talk, row_by_row):
    typed = ["4", "v", "6", "h", "2", "r", "?"]
    plain = talk(row_by_row, typed)
    coloured = talk(row_by_row, typed, coloured=True)
    assert plain != coloured
    assert [re.sub(r"\x1b\[[0-9;]*m", "", text) for text in coloured] == plain
    assert not any("\x1b" in text for text in plain)
