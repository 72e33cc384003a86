"""Analysis: moving both sides, setting up positions, and letting agents play."""

import re

import browsing
import pytest
import rules
from browsing import (
    announced,
    area,
    board,
    button,
    columns,
    counted,
    expect,
    hear,
    legal,
    link,
    marked,
    moves,
    names,
    play,
    radio,
    says,
    squares,
    status,
    tab,
    wait_for_turn,
)

pytestmark = pytest.mark.slow
GAMES = ["tic_tac_toe", "connect_5x4"]


@pytest.fixture
def page(open_page, served_url):
    return open_page(served_url)


def analyse(page, env_id="tic_tac_toe"):
    """Open a game and begin its analysis."""
    browsing.game(page, env_id)
    tab(page, "Game")
    radio(page, "Analyse")
    expect(area(page)).to_contain_text("to move")


def movers(page, first, second):
    """Choose who moves the sides."""
    choices = page.get_by_role("group", name="Let agents play").get_by_role("combobox")
    choices.nth(0).select_option(first)
    choices.nth(1).select_option(second)


@pytest.mark.parametrize("env_id", GAMES)
def test_both_sides_are_moved_with_values_and_nothing_is_counted(page, env_id):
    analyse(page, env_id)
    letters = ("X", "O") if env_id == "tic_tac_toe" else ("Blue", "Orange")
    pattern = re.compile(r"exact .*network", re.S)
    for i, move in enumerate([4, 1, 0]):
        assert status(page) == f"{letters[i % 2]} to move"
        expect(squares(page).nth(move)).to_have_accessible_name(pattern)
        squares(page).nth(move).click()
        assert moves(page) == [4, 1, 0][: i + 1]
    for _ in range(20):
        if not legal(page):
            break
        squares(page).nth(legal(page)[0]).click()
    words = {"You won.": f"{letters[0]} won.", "You lost.": f"{letters[1]} won."}
    result = browsing.result(env_id, moves(page), "x")
    assert status(page) == words.get(result, result)
    assert announced(page)[-1].endswith(status(page))
    expect(tab(page, "Review")).to_contain_text("Compared with exact play")
    assert counted(page)["Games"] == 0


def test_an_analysis_begins_with_the_game_and_steps_through_it(page):
    play(page, 4)
    line = moves(page)
    browsing.level(page, "Casual")
    analyse(page)
    assert moves(page) == line
    button(page, "Undo").click()
    assert moves(page) == line[:1]
    button(page, "One move back").click()
    squares(page).nth(2).click()
    assert moves(page) == [2]
    page.reload()
    wait_for_turn(page)
    assert moves(page) == [2]
    assert status(page) == "O to move"
    play_again(page)
    assert moves(page) == []
    assert status(page) == "Your turn: X"


def play_again(page):
    """End the analysis."""
    tab(page, "Game")
    page.get_by_role("radio", name="Play", exact=True).check(force=True)
    wait_for_turn(page)


@pytest.mark.parametrize("env_id", GAMES)
def test_the_interrupted_game_goes_on_after_the_analysis_and_counts(page, env_id):
    browsing.game(page, env_id)
    play(page, 1)
    line, opponent = moves(page), "Unbeatable (learned agent): Shipped network"
    says(page, opponent)
    analyse(page, env_id)
    assert moves(page) == line
    button(page, "Undo").click()
    squares(page).nth(legal(page)[-1]).click()
    button(page, "New game").click()
    assert moves(page) == []
    assert status(page).endswith("to move")
    button(page, "Set up a position").click()
    play_again(page)
    assert moves(page) == line
    assert status(page).startswith("Your turn")
    says(page, opponent)
    assert "Not counted" not in area(page).inner_text()
    page.reload()
    wait_for_turn(page)
    assert moves(page) == line
    browsing.play_to_the_end(page)
    assert status(page) == browsing.result(env_id, moves(page), "x")
    assert counted(page)["Games"] == 1
    tab(page, "Game")
    radio(page, "Analyse")
    says(page, " won.")
    play_again(page)
    assert browsing.is_over(page), "the finished game is there, too"
    assert counted(page)["Games"] == 1


def test_an_analysis_before_the_reply_lets_the_game_go_on_with_it(page):
    analysing = page.get_by_role("radio", name="Analyse").element_handle()
    both = "(one, other) => { one.click(); other.click(); }"
    squares(page).nth(4).evaluate(both, analysing)
    says(page, "O to move")
    page.wait_for_timeout(200)
    assert moves(page) == [4]
    play_again(page)
    expect(browsing.move_list(page)).to_have_count(2)
    assert status(page) == "Your turn: X"


def test_perfect_play_against_itself_is_a_draw(page):
    analyse(page)
    assert button(page, "Play the match").is_disabled(), "nobody plays it"
    movers(page, "Perfect play", "Perfect play")
    page.wait_for_timeout(200)
    assert moves(page) == [], "a choice starts nothing"
    button(page, "Play the match").click()
    says(page, "A draw.")
    assert len(moves(page)) == 9
    expect(button(page, "Stop")).to_be_disabled()
    assert counted(page)["Games"] == 0


def test_a_match_is_stopped_and_goes_on(page):
    analyse(page, "connect_5x4")
    movers(page, "Shipped network", "Perfect play")
    button(page, "Play the match").click()
    expect(browsing.move_list(page).nth(1)).to_be_visible()
    button(page, "Stop").click()
    line = moves(page)
    assert 2 <= len(line) < 20
    page.wait_for_timeout(200)
    assert moves(page) == line
    assert button(page, "Stop").is_disabled()
    squares(page).nth(legal(page)[0]).click()
    assert len(moves(page)) == len(line) + 1, "the person moves both sides again"
    button(page, "Undo").click()
    assert moves(page) == line
    button(page, "Play the match").click()
    expect(area(page)).to_contain_text(re.compile(r"won\.|A draw\."))
    assert moves(page)[: len(line)] == line


def test_two_agents_play_each_other(page, weak):
    analyse(page, "connect_5x4")
    movers(page, "Shipped network", "Run weak-5x4 (network)")
    button(page, "Play the match").click()
    expect(area(page)).to_contain_text("Blue won.")
    line = moves(page)
    assert browsing.result("connect_5x4", line, "x") == "You won."
    hear(page, "Blue won.")


def test_an_agent_moves_one_side_against_the_person(page):
    analyse(page)
    movers(page, "", "Shipped table")
    button(page, "Play the match").click()
    squares(page).nth(4).click()
    expect(browsing.move_list(page)).to_have_count(2)
    says(page, "X to move")
    expect(squares(page).nth(4)).to_have_accessible_name(re.compile("X"))
    assert len(moves(page)) == 2
    assert rules.value(board(page)) == 0
    # A new game begins the analysis again, also with an agent that moves.
    button(page, "New game").click()
    page.wait_for_timeout(200)
    assert moves(page) == []
    assert status(page) == "X to move"
    movers(page, "Shipped table", "")
    button(page, "New game").click()
    button(page, "Play the match").click()
    expect(browsing.move_list(page)).to_have_count(1)
    assert status(page) == "O to move"
    assert counted(page)["Games"] == 0


@pytest.mark.parametrize("env_id", GAMES)
def test_a_position_is_set_up_and_analysed(page, env_id):
    analyse(page, env_id)
    button(page, "Set up a position").click()
    says(page, "Setting up a position")
    first, second = ("X", "O") if env_id == "tic_tac_toe" else ("Blue", "Orange")
    for letter, places in ((first, (0, 1)), (second, (3, 4))):
        page.get_by_role("radio", name=letter, exact=True).check(force=True)
        for place in places:
            squares(page).nth(place).click()
    says(page, f"{first} is to move.")
    button(page, "Analyse this position").click()
    says(page, f"{first} to move")
    if env_id == "tic_tac_toe":
        assert board(page) == "XX-OO----"
    else:
        expected = [["blue"], ["blue"], [], ["orange"], ["orange"]]
        assert columns(page) == expected
    win = re.compile(r"exact win in 1 move")
    if env_id == "tic_tac_toe":
        expect(squares(page).nth(2)).to_have_accessible_name(win)
        assert marked(page, "exact win in 1 move") == [2]
    squares(page).nth(2).click()
    if env_id == "tic_tac_toe":
        says(page, "X won.")
    line = moves(page)
    page.reload()
    wait_for_turn(page)
    assert moves(page) == line
    assert names(page)[0].startswith(("Row 1, column 1, X", "Column 1, from below"))


def test_a_position_that_was_set_up_is_shared_by_its_link(open_page, page):
    analyse(page)
    button(page, "Set up a position").click()
    for place in (0, 8):
        radio(page, "X" if place == 0 else "O")
        squares(page).nth(place).click()
    button(page, "Analyse this position").click()
    says(page, "X to move")
    other = open_page(page.url)
    assert board(other) == "X-------O"
    assert status(other) == "X to move"
    # The link is followed in an open tab with a game, too.
    third = open_page(page.url.partition("#")[0])
    play(third, 4)
    third.goto(page.url)
    expect(area(third)).to_contain_text("X to move")
    assert board(third) == "X-------O"
    tab(third, "Game")
    expect(third.get_by_role("radio", name="Analyse")).to_be_checked()


@pytest.mark.parametrize("env_id", GAMES)
def test_an_impossible_position_is_refused_with_a_reason(page, env_id):
    analyse(page, env_id)
    button(page, "Set up a position").click()
    first = "X" if env_id == "tic_tac_toe" else "Blue"
    page.get_by_role("radio", name=first, exact=True).check(force=True)
    second = "O" if env_id == "tic_tac_toe" else "Orange"
    reason = f"{first} moves first, so it has as many stones as {second} or one more."
    says(page, f"{first} is to move.")
    for place in (0, 1):
        squares(page).nth(place).click()
    says(page, reason)
    assert button(page, "Analyse this position").is_disabled()
    assert "is to move" not in area(page).inner_text()
    radio(page, "Remove")
    squares(page).nth(1).click()
    says(page, f"{second} is to move.")
    expect(area(page)).not_to_contain_text(reason)
    assert button(page, "Analyse this position").is_enabled()
    button(page, "Empty the board").click()
    assert marked(page, "empty") == list(range(len(names(page))))
    button(page, "Cancel").click()
    says(page, "to move")


HANGING = {
    "No order of moves leads to these stones.": [("Orange", 2), ("Blue", 2)],
    "The game ended before the latest stone.": [
        *[("Blue", 0)] * 4,
        *[("Orange", column) for column in (1, 2, 3, 4)],
    ],
}
"""Stones of Connect Four 5 x 4 that no game has, by the reason."""


@pytest.mark.parametrize("reason", HANGING)
def test_an_impossible_order_of_stones_is_refused(page, reason):
    analyse(page, "connect_5x4")
    button(page, "Set up a position").click()
    for letter, column in HANGING[reason]:
        page.get_by_role("radio", name=letter, exact=True).check(force=True)
        squares(page).nth(column).click()
    says(page, reason)
    assert button(page, "Analyse this position").is_disabled()
    # In the other order they are possible.
    button(page, "Empty the board").click()
    for letter, column in (("Blue", 2), ("Orange", 2)):
        page.get_by_role("radio", name=letter, exact=True).check(force=True)
        squares(page).nth(column).click()
    says(page, "Blue is to move.")
    button(page, "Analyse this position").click()
    says(page, "Blue to move")


def test_a_link_with_an_impossible_start_is_said(open_page, served_url):
    fields = {"level": "analysis", "start": "XXXX----- x"}
    page = open_page(link(served_url, "tic_tac_toe", [], **fields))
    hear(page, "The link holds no position of this game.")
    assert board(page) == "-" * 9
