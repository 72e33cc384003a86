"""Analysis: moving both sides, setting up positions, and letting agents play."""

import re

import browsing
import pytest
from browsing import expect

pytestmark = pytest.mark.slow
GAMES = ("tic_tac_toe", "connect_5x4")


def analyse(page, env_id="tic_tac_toe"):
    """Open a game and begin its analysis."""
    page.game(env_id)
    page.tab("Game")
    page.radio("Analyse")
    page.says("to move")


def play_again(page):
    """End the analysis."""
    page.tab("Game")
    page.get_by_role("radio", name="Play", exact=True).check(force=True)
    page.wait_for_turn()


@pytest.mark.parametrize("env_id", GAMES)
def test_an_analysis_begins_with_the_game_and_moves_both_sides(page, env_id):
    page.game(env_id)
    page.play(1)
    line = page.moves()
    page.choose("Casual")
    analyse(page, env_id)
    assert page.moves() == line
    page.button("Undo").click()
    assert page.moves() == line[:1]
    page.button("One move back").click()
    for i, move in enumerate([4, 1, 0]):
        if i:
            assert page.status() == f"{'XO'[i % 2]} to move"
        page.place_says(move, r"exact .*network")
        page.squares().nth(move).click()
        assert page.moves() == [4, 1, 0][: i + 1]
    page.reload()
    assert page.moves() == [4, 1, 0]
    while page.legal():
        page.squares().nth(page.legal()[0]).click()
    words = {"You won.": "X won.", "You lost.": "O won."}
    result = browsing.result(env_id, page.moves(), "x")
    assert page.status() == words.get(result, result)
    assert page.announced()[-1].endswith(page.status())
    expect(page.tab("Review")).to_contain_text("Compared with exact play")
    assert page.counted()["Games"] == 0
    # After the reload, the analysis has no game to go back to.
    play_again(page)
    assert page.moves() == []
    page.says("Casual")


@pytest.mark.parametrize("env_id", GAMES)
def test_the_interrupted_game_goes_on_after_the_analysis_and_counts(page, env_id):
    page.game(env_id)
    page.play(1)
    line, opponent = page.moves(), "Unbeatable (learned agent): Shipped network"
    analyse(page, env_id)
    page.button("Undo").click()
    page.squares().nth(page.legal()[-1]).click()
    page.new_game()
    assert page.moves() == []
    assert page.status().endswith("to move")
    page.button("Set up a position").click()
    play_again(page)
    assert page.moves() == line
    assert page.status().startswith("Your turn")
    page.says(opponent)
    assert "Not counted" not in page.area().inner_text()
    page.reload()
    assert page.moves() == line
    page.play_to_the_end()
    assert page.status() == browsing.result(env_id, page.moves(), "x")
    assert page.counted()["Games"] == 1
    page.tab("Game")
    page.radio("Analyse")
    page.says(" won.")
    play_again(page)
    assert page.is_over(), "the finished game is there, too"
    assert page.counted()["Games"] == 1


def test_an_analysis_before_the_reply_lets_the_game_go_on_with_it(page):
    analysing = page.get_by_role("radio", name="Analyse").element_handle()
    both = "(one, other) => { one.click(); other.click(); }"
    page.squares().nth(4).evaluate(both, analysing)
    page.says("O to move")
    page.wait_for_timeout(200)
    assert page.moves() == [4]
    play_again(page)
    page.has_moves(2)
    assert page.status() == "Your turn: X"


# ---- agents that move


def movers(page, first, second):
    """Choose who moves the sides."""
    choices = page.get_by_role("group", name="Let agents play").get_by_role("combobox")
    choices.nth(0).select_option(first)
    choices.nth(1).select_option(second)


def test_agents_play_a_match_or_one_side_of_it(page):
    analyse(page)
    match = page.button("Play the match")
    assert match.is_disabled(), "nobody plays it"
    movers(page, "Expert (perfect play)", "Expert (perfect play)")
    page.wait_for_timeout(200)
    assert page.moves() == [], "a choice starts nothing"
    match.click()
    page.says("A draw.")
    assert len(page.moves()) == 9
    expect(page.button("Stop")).to_be_disabled()
    # A new game begins the analysis again; an agent moves one side.
    movers(page, "", "Shipped table")
    page.new_game()
    page.wait_for_timeout(200)
    assert page.moves() == []
    assert page.status() == "X to move"
    match.click()
    page.squares().nth(4).click()
    page.has_moves(2)
    page.says("X to move")
    movers(page, "Shipped table", "")
    page.new_game()
    match.click()
    page.has_moves(1)
    assert page.status() == "O to move"
    assert page.counted()["Games"] == 0


def test_a_match_is_stopped_and_goes_on(page):
    analyse(page, "connect_5x4")
    movers(page, "Shipped network", "Expert (perfect play)")
    stop = page.button("Stop")
    browsing.click_once(page.area(), "Move 2:", stop)
    page.button("Play the match").click()
    page.has_moves(2)
    expect(stop).to_be_disabled()
    line = page.moves()
    page.wait_for_timeout(200)
    assert page.moves() == line
    assert stop.is_disabled()
    page.squares().nth(page.legal()[0]).click()
    assert len(page.moves()) == len(line) + 1, "the person moves both sides again"
    page.button("Undo").click()
    assert page.moves() == line
    page.button("Play the match").click()
    page.says(re.compile(r"won\.|A draw\."))
    assert page.moves()[: len(line)] == line
    movers(page, "Shipped network", "Run weak-5x4 (network)")
    page.new_game()
    page.button("Play the match").click()
    page.hear("X won.")
    assert browsing.result("connect_5x4", page.moves(), "x") == "You won."


# ---- positions that are set up

IMPOSSIBLE = {
    "The game ended before the latest stone.": [
        *[("X", 0)] * 4,
        *[("O", column) for column in (1, 2, 3, 4)],
    ],
}
"""Stones of Connect Four 5 x 4 that no game has, by the reason."""


def put(page, stones):
    """Put stones on the board, each of a side at a place."""
    for letter, place in stones:
        page.get_by_role("radio", name=letter, exact=True).check(force=True)
        page.squares().nth(place).click()


@pytest.mark.parametrize("env_id", GAMES)
def test_an_impossible_position_is_refused_with_a_reason(page, env_id):
    analyse(page, env_id)
    begin, empty = "Analyse this position", "Empty the board"
    page.button("Set up a position").click()
    page.says("Setting up a position")
    reason = "X moves first, so it has as many stones as O or one more."
    page.says("X is to move.")
    put(page, [("X", 0), ("X", 1)])
    page.says(reason)
    assert page.button(begin).is_disabled()
    assert "is to move" not in page.area().inner_text()
    page.radio("Remove")
    page.squares().nth(1).click()
    page.says("O is to move.")
    page.says_no(reason)
    assert page.button(begin).is_enabled()
    for reason, stones in IMPOSSIBLE.items() if env_id == "connect_5x4" else ():
        page.button(empty).click()
        put(page, stones)
        page.says(reason)
        assert page.button(begin).is_disabled()
    page.button(empty).click()
    assert page.marked("empty") == list(range(len(page.names())))
    mover = page.get_by_label("X is moved by")
    setup = page.button("Set up a position")
    assert mover.is_disabled()
    assert setup.is_disabled()
    page.button("Cancel").click()
    page.says("X to move")
    assert mover.is_enabled()
    assert setup.is_enabled()


COUNT = """() => {
  const { postMessage } = Worker.prototype;
  window.posted = 0;
  Worker.prototype.postMessage = function (...message) {
    window.posted += 1;
    return postMessage.apply(this, message);
  };
}"""
"""Count the requests to the workers that compute."""


def test_what_can_not_be_judged_is_requested_once(page, served_url):
    """A position that is not solved in time, of a game without an agent."""
    page.evaluate(COUNT)
    page.goto(browsing.link(served_url, "connect_6x6", [3, 3], level="analysis"))
    expect(page.squares()).to_have_count(6)
    rows = page.tab("Review").get_by_role("listitem")
    expect(rows.filter(has_text="not known")).to_have_count(2)
    page.show("Exact values", is_shown=False)
    posted = page.evaluate("window.posted")
    assert posted >= 2
    page.wait_for_timeout(3000)
    assert page.evaluate("window.posted") == posted


@pytest.mark.parametrize("env_id", GAMES)
def test_a_position_is_set_up_analysed_and_shared_by_its_link(open_page, page, env_id):
    analyse(page, env_id)
    page.button("Set up a position").click()
    put(page, [("X", 0), ("X", 1), ("O", 3), ("O", 4)])
    page.says("X is to move.")
    page.button("Analyse this position").click()
    page.says("X to move")

    def check_stones(page):
        if env_id == "tic_tac_toe":
            assert page.board()[:2] + page.board()[3:] == "XXOO----"
        else:
            stacks = page.columns()
            assert stacks[:2] + stacks[3:] == [["X"]] * 2 + [["O"]] * 2

    check_stones(page)
    other = open_page(page.url.partition("#")[0])
    other.play(0)
    other.goto(page.url)  # the link is followed in an open page with a game
    other.says("X to move")
    check_stones(other)
    other.tab("Game")
    expect(other.get_by_role("radio", name="Analyse")).to_be_checked()
    win = "exact win in 1 move"
    if env_id == "tic_tac_toe":
        page.place_says(2, win)
        assert page.marked(win) == [2]
    page.squares().nth(2).click()
    if env_id == "tic_tac_toe":
        page.says("X won.")
    line = page.moves()
    page.reload()
    assert page.moves() == line == [2]
    check_stones(page)
