"""Games in a terminal against players, with scripted input."""

import re

import jax
import pytest

from jax_ttt.players import session
from jax_ttt.reports import session_text
from jax_ttt.terminal import words

EMPTY = "\n  0 | 1 | 2\n ---+---+---\n  3 | 4 | 5\n ---+---+---\n  6 | 7 | 8\n"
YOURS = "your move, X (? for help): "
OVER = "new, review, undo or quit (? for help): "


def boards(said):
    return [text for text in said if "---+---+---" in text]


def scores(said):
    return [text for text in said if text.startswith("score: ")]


def test_a_person_beats_a_beatable_player(talk, row_by_row):
    said = talk(row_by_row, "462")
    assert said[:3] == ["tic_tac_toe against row by row: you are X", EMPTY, YOURS]
    assert said[3] == "row by row (O) plays 0"
    assert said[4] == EMPTY.replace("4", "X").replace("0", "O")
    end = "\n  O | O | X\n ---+---+---\n  . | X | .\n ---+---+---\n  X | . | .\n"
    assert said[-6:] == [
        end,
        "you win after 5 moves",
        "score: you 1, draws 0, row by row 0",
        OVER,
        "",
        "score: you 1, draws 0, row by row 0",
    ]


def test_a_person_loses_and_draws(talk):
    said = talk("minimax-first", "182", side="o")
    assert said[1] == "minimax-first (X) plays 0"
    assert "you lose after 7 moves" in said
    assert "a draw after 9 moves" in talk("minimax-first", "42378")


def test_wrong_input_gets_one_line_and_the_board_stays(talk, row_by_row):
    wrong = ["", "9", "-1", "x", "4 4", "²", "1" * 99, "0x4", "4.0", "undo 2", "new z"]
    said = talk(row_by_row, [*wrong, " 4 "])
    for place, word in enumerate(wrong):
        asked, answer = said[2 + 2 * place : 4 + 2 * place]
        assert asked == YOURS
        assert answer == f"{word[:20]!r}? type a free square, or ? for the commands"
    assert said[2 + 2 * len(wrong) :][:2] == [YOURS, "row by row (O) plays 0"]
    said = talk(row_by_row, ["4", "0", "4", "6", "2", "8"])
    assert said.count("'0'? type a free square, or ? for the commands") == 1
    assert said.count("'4'? type a free square, or ? for the commands") == 1
    assert said.count("'8'? the game is over: type new, or ? for the commands") == 1


def test_undo_restores_the_board(talk, row_by_row):
    said = talk(row_by_row, ["u", "4", "8", "undo", "un", "u", "4", "6", "2"])
    nothing = "nothing to undo: you have not moved"
    assert said.count(nothing) == 2
    assert said[3] == nothing
    shown = boards(said)
    once = EMPTY.replace("4", "X").replace("0", "O")
    twice = once.replace("8", "X").replace("1", "O")
    assert shown[:5] == [EMPTY, once, twice, once, EMPTY]
    assert "you win after 5 moves" in said


def test_the_score_is_kept_over_three_games(talk, following):
    """A win, a loss and a draw; the opponent's replies are fixed."""
    opponent = following(
        (4, 0, 6, 1, 2), (8, 4, 7, 6, 0, 2), (5, 4, 1, 2, 6, 3, 8, 7, 0)
    )
    typed = [*"462", "n", *"870", "new", *"51680", "q"]
    said = talk(opponent, typed)
    assert scores(said) == [
        "score: you 1, draws 0, follower 0",
        "score: you 1, draws 0, follower 1",
        "score: you 1, draws 1, follower 1",
        "score: you 1, draws 1, follower 1",
    ]
    assert [text for text in said if text.startswith("game ")] == [
        "game 2: you are X",
        "game 3: you are X",
    ]


def test_a_game_counts_once_whatever_is_undone(talk, row_by_row):
    said = talk(row_by_row, ["4", "6", "2", "u", "2", "u", "u", "n"])
    assert set(scores(said)) == {"score: you 1, draws 0, row by row 0"}
    assert said.count("you win after 5 moves") == 2


def test_a_game_left_for_a_new_one_does_not_count(talk, row_by_row):
    said = talk(row_by_row, ["4", "n", "4", "6", "2"])
    assert scores(said)[-1] == "score: you 1, draws 0, row by row 0"


def test_a_new_game_may_have_another_side(talk, row_by_row):
    said = talk(row_by_row, ["new o", "n", "n x", "n"])
    assert [text[-1] for text in said if "you are" in text] == list("XOOXX")
    sides = talk(row_by_row, ["n"] * 30, side="random")
    assert {text[-1] for text in sides if "you are" in text} == {"X", "O"}


def test_hint_values_review_and_help_leave_the_game_as_it_is(talk, following):
    said = talk(following((4, 1)), ["4", "h", "v", "r", "help", "he", "?", "q"])
    assert len(boards([text for text in said if "best play" not in text])) == 2
    assert "hint: 0 wins, as 2, 3, 5, 6 and 8 do" in said
    (values,) = (text for text in said if "\n  best play\n" in text)
    assert values.count("wins") == 6
    assert values.count("loses") == 0
    assert values.count("draws") == 1
    (review,) = (text for text in said if "a mistake" in text)
    assert "  2. O1       loses: a mistake; 0, 2, 6 or 8 draws" in review
    assert "you: 0 mistakes in 1 move\nfollower: 1 mistake in 1 move" in review
    assert len([text for text in said if "take back your last move" in text]) == 3
    assert said[-1] == "left after 2 moves: nobody wins"


def test_after_the_end_there_is_no_hint_but_a_review(talk, row_by_row):
    said = talk(row_by_row, ["4", "6", "2", "h", "v", "r"])
    assert "no hint: the game is over" in said
    assert "no values: the game is over" in said
    (review,) = (text for text in said if "mistakes in" in text)
    assert "  4. O1       loses: a mistake; 2 draws" in review


def test_the_end_of_input_leaves_the_game(talk, row_by_row):
    assert talk(row_by_row, "")[-2:] == ["", "left after 0 moves: nobody wins"]
    assert talk(row_by_row, "4")[-2:] == ["", "left after 2 moves: nobody wins"]


def test_an_interrupt_shows_the_score_and_is_passed_on(talk, row_by_row):
    said = talk(row_by_row, ["4", "6", "2", "n", KeyboardInterrupt()])
    assert said[-4:] == [
        "",
        "left after 0 moves: nobody wins",
        "score: you 1, draws 0, row by row 0",
        "interrupted",
    ]


def test_stones_fall_in_columns(talk):
    said = talk("random", "33vhr", env_id="connect_four")
    rows = said[1].strip("\n").splitlines()
    assert rows == ["  . . . . . . ."] * 6 + ["  0 1 2 3 4 5 6"]
    assert said[4].count("X") == said[4].count("O") == 1
    assert "\nrandom has no values to show\n" in said
    reason = "random has no values, and this game has no exact ones"
    assert f"no hint: {reason}" in said
    assert "\nno review: connect_four is too large for exact values\n" in said


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


def test_the_prompt_ends_with_the_text_that_benchmarks_wait_for(talk, row_by_row):
    prompts = [t for t in talk(row_by_row, "462") if t.endswith(words.PROMPT)]
    assert prompts == [YOURS] * 3 + [OVER]


def test_the_board_is_that_of_the_plain_text(talk, row_by_row):
    """The board with lines has the cells of the only drawing of a board."""
    shown = boards(talk(row_by_row, "4"))[1]
    cells = [row.split("|") for row in shown.splitlines() if "|" in row]
    drawn = "\n".join("  " + " ".join(cell.strip() for cell in row) for row in cells)

    game = session.start_session("tic_tac_toe", row_by_row, "first", jax.random.key(0))
    game = session.play_reply(session.play_move(game, 4))
    assert drawn == session_text.board(game)
