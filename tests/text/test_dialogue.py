"""Games in a terminal against players, with scripted input."""

import re

import pytest


def scores(said):
    return [text for text in said if text.startswith("score: ")]


def test_a_game_with_every_command(talk, following, snapshot):
    """A person looks, undoes and wins; the player follows a script."""
    typed = ["?", "9", "4", "h", "v", "u", "u", "4", "0", "6", "3", "h", "2", "r", "q"]
    said = talk(following((4, 1, 0, 8, 6, 2)), typed)
    assert "\n".join(said) == snapshot


def test_a_person_wins_loses_and_draws(talk, row_by_row):
    assert "you win after 5 moves" in talk(row_by_row, "462")
    lost = talk("minimax-first", "182", side="o")
    assert lost[1] == "minimax-first (X) plays 0"
    assert "you lose after 7 moves" in lost
    assert "a draw after 9 moves" in talk("minimax-first", "42378")


def test_wrong_input_gets_one_line_and_the_game_goes_on(talk, row_by_row):
    wrong = ["", "9", "-1", "x", "4 4", "²", "1" * 99, "0x4", "4.0", "undo 2", "new z"]
    said = talk(row_by_row, [*wrong, " 4 "])
    answers = said[3 : 3 + 2 * len(wrong) : 2]
    assert [text.partition("?")[0] for text in answers] == [
        repr(word[:20]) for word in wrong
    ]
    assert "row by row (O) plays 0" in said


def test_undo_restores_the_board(talk, row_by_row):
    said = talk(row_by_row, ["4", "8", "u", "u", "4", "6", "2"])
    shown = [text for text in said if "---+---+---" in text]
    start, once, twice, *back = shown[:5]
    assert back == [once, start]
    assert [text.count("X") for text in (start, once, twice)] == [0, 1, 2]
    assert "you win after 5 moves" in said


def test_the_score_is_kept_over_three_games(talk, following):
    """A win, a loss and a draw; the opponent's replies are fixed."""
    opponent = following(
        (4, 0, 6, 1, 2), (8, 4, 7, 6, 0, 2), (5, 4, 1, 2, 6, 3, 8, 7, 0)
    )
    said = talk(opponent, [*"462", "n", *"870", "new", *"51680", "q"])
    assert scores(said) == [
        "score: you 1, draws 0, follower 0",
        "score: you 1, draws 0, follower 1",
        "score: you 1, draws 1, follower 1",
        "score: you 1, draws 1, follower 1",
    ]


def test_a_game_counts_once_whatever_is_undone_and_not_if_it_is_left(talk, row_by_row):
    said = talk(row_by_row, ["n", "4", "6", "2", "u", "2", "u", "u", "n", "4", "n"])
    assert set(scores(said)) == {"score: you 1, draws 0, row by row 0"}
    assert said.count("you win after 5 moves") == 2


def test_a_new_game_may_have_another_side(talk, row_by_row):
    said = talk(row_by_row, ["new o", "n", "n x", "n"])
    assert [text[-1] for text in said if "you are" in text] == list("XOOXX")
    sides = talk(row_by_row, ["n"] * 30, side="random")
    assert {text[-1] for text in sides if "you are" in text} == {"X", "O"}


def test_the_end_of_input_leaves_the_game(talk, row_by_row):
    assert talk(row_by_row, "4")[-1] == "left after 2 moves: nobody wins"


def test_an_interrupt_shows_the_score_and_is_passed_on(talk, row_by_row):
    said = talk(row_by_row, ["4", "6", "2", "n", KeyboardInterrupt()])
    assert said[-2:] == ["score: you 1, draws 0, row by row 0", "interrupted"]


def test_stones_fall_in_columns(talk):
    said = talk("random", "33vhr", env_id="connect_four")
    rows = said[1].strip("\n").splitlines()
    assert rows == ["  . . . . . . ."] * 6 + ["  0 1 2 3 4 5 6"]
    assert said[4].count("X") == said[4].count("O") == 1
    assert any("no values to show" in text for text in said)
    assert any(text.startswith("no hint: ") for text in said)
    assert any("too large for exact values" in text for text in said)


def test_moves_that_the_board_does_not_show_are_listed(talk):
    """A column that is full, or any move of a game that is not drawn."""
    said = talk("random", "3333333", env_id="connect_four")
    listed = [text for text in said if text.startswith("legal moves: ")]
    assert listed
    assert all(" 3" not in text for text in listed)


@pytest.mark.slow
def test_a_game_that_is_not_drawn_is_played(talk):
    said = talk("random", ["q"], env_id="animal_shogi")
    assert "\n(animal_shogi is not drawn in text)\n" in said
    assert [text for text in said if text.startswith("legal moves: ")]


def test_colours_change_nothing_but_colours(talk, row_by_row):
    typed = ["4", "v", "6", "h", "2", "r", "?"]
    plain = talk(row_by_row, typed)
    coloured = talk(row_by_row, typed, screen={"coloured": True})
    assert plain != coloured
    assert [re.sub(r"\x1b\[[0-9;]*m", "", text) for text in coloured] == plain
    assert not any("\x1b" in text for text in plain)
