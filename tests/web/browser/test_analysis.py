"""Analysis: moving both sides, setting up positions, and letting agents play."""

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
    page.get_by_role("radio", name="Play", exact=True).click()
    page.wait_for_turn()


@pytest.mark.parametrize("env_id", GAMES)
def test_an_analysis_moves_both_sides_and_the_game_goes_on_after_it(page, env_id):
    page.game(env_id)
    page.search_for(60)
    page.play(1)
    line = page.moves()
    # It begins with the game. The game goes on after it, as it was, and counts.
    analyse(page, env_id)
    assert page.moves() == line
    page.button("Undo").click()
    page.squares().nth(page.legal()[-1]).click()
    page.new_game()
    assert page.moves() == []
    assert page.status().endswith("to move")
    page.button("Set up a position").click()
    play_again(page)
    assert page.moves() == line
    assert page.status().startswith("Your turn")
    page.says("Unbeatable (learned agent): Our network")
    page.says_no("Not counted")
    # Also after a reload.
    page.reload()
    assert page.moves() == line
    page.search_for(60)
    page.play_to_the_end()
    line, status = page.moves(), page.status()
    page.tab("Game")
    page.radio("Analyse")
    page.says(" won.")
    play_again(page)
    assert (page.moves(), page.status()) == (line, status), "the finished game, too"
    assert page.counted()["Games"] == 1
    # Both sides are moved, with values, back and forth.
    page.new_game()
    page.play(1)
    line = page.moves()
    page.choose("Casual")
    analyse(page, env_id)
    page.button("Undo").click()
    assert page.moves() == line[:1]
    page.button("One move back").click()
    page.show("Network's values")
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
    assert page.counted()["Games"] == 1
    # After the reload, the analysis has no game to go back to.
    play_again(page)
    assert page.moves() == []
    page.says("Casual")


# ---- agents that move


def movers(page, first, second):
    """Choose who moves the sides."""
    choices = page.get_by_role("group", name="Let agents play").get_by_role("combobox")
    choices.nth(0).select_option(first)
    choices.nth(1).select_option(second)


def test_agents_play_a_match_or_one_side_of_it(page):
    # A game goes on with the reply for which the analysis did not wait.
    analysing = page.get_by_role("radio", name="Analyse").element_handle()
    both = "(one, other) => { one.click(); other.click(); }"
    page.squares().nth(4).evaluate(both, analysing)
    page.says("O to move")
    page.wait_for_timeout(200)
    assert page.moves() == [4]
    play_again(page)
    page.has_moves(2)
    page.says("Your turn: X")
    # A match between two agents begins with its button.
    page.new_game()
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
    movers(page, "", "Our table")
    page.new_game()
    page.wait_for_timeout(200)
    assert page.moves() == []
    assert page.status() == "X to move"
    match.click()
    page.squares().nth(4).click()
    page.has_moves(2)
    page.says("X to move")
    movers(page, "Our table", "")
    page.new_game()
    match.click()
    page.has_moves(1)
    page.says("O to move")
    assert page.counted()["Games"] == 0
    # A match is stopped, and goes on.
    analyse(page, "connect_5x4")
    movers(page, "Our network", "Run weak-5x4 (network)")
    stop = page.button("Stop")
    browsing.click_once(page.area(), "Move 2:", "Stop")
    match.click()
    page.has_moves(2)
    expect(stop).to_be_disabled()
    line = page.moves()
    page.wait_for_timeout(200)
    assert page.moves() == line
    page.squares().nth(page.legal()[0]).click()
    assert len(page.moves()) == len(line) + 1, "the person moves both sides again"
    page.button("Undo").click()
    match.click()
    page.hear("X won.")
    assert page.moves()[: len(line)] == line
    assert browsing.result("connect_5x4", page.moves(), "x") == "You won."


# ---- positions that are set up


def put(page, stones):
    """Put stones on the board, each of a side at a place."""
    for letter, place in stones:
        page.get_by_role("radio", name=letter, exact=True).click()
        page.squares().nth(place).click()


def check_refusals(page):
    """Check that an impossible position is refused with a reason."""
    setup, begin = (
        page.button("Set up a position"),
        page.button("Analyse this position"),
    )
    setup.click()
    page.says("Setting up a position")
    page.says("X is to move.")
    put(page, [("X", 0), ("X", 1)])
    reason = "X moves first, so it has as many stones as O or one more."
    page.says(reason)
    page.says_no("is to move")
    assert begin.is_disabled()
    page.radio("Remove")
    page.squares().nth(1).click()
    page.says("O is to move.")
    page.says_no(reason)
    assert begin.is_enabled()
    page.button("Empty the board").click()
    assert page.marked("empty") == list(range(len(page.names())))
    mover = page.get_by_label("X is moved by")
    assert mover.is_disabled()
    assert setup.is_disabled()
    page.button("Cancel").click()
    page.says("X to move")
    assert mover.is_enabled()
    assert setup.is_enabled()


def has_set_up_stones(page, env_id):
    """Return whether two stones of X and two of O lie in places 0, 1, 3 and 4."""
    stones = page.shown()
    if env_id == "tic_tac_toe":
        return stones[:2] + stones[3:] == "XXOO----"
    return stones[:2] + stones[3:] == [["X"]] * 2 + [["O"]] * 2


def test_a_position_is_set_up_analysed_and_shared_by_its_link(open_page, page):
    other = open_page(page.url.partition("#")[0])
    for env_id in GAMES:
        page.bring_to_front()
        analyse(page, env_id)
        check_refusals(page)
        page.button("Set up a position").click()
        put(page, [("X", 0), ("X", 1), ("O", 3), ("O", 4)])
        page.says("X is to move.")
        page.button("Analyse this position").click()
        page.says("X to move")
        assert has_set_up_stones(page, env_id)
        # The link is followed in an open page with a game.
        other.bring_to_front()
        if env_id != "tic_tac_toe":
            play_again(other)
        other.play(other.legal()[0])
        other.goto(page.url)
        other.has_line([])
        other.says("X to move")
        assert has_set_up_stones(other, env_id)
        other.tab("Game")
        expect(other.get_by_role("radio", name="Analyse")).to_be_checked()
        page.bring_to_front()
        win = "exact win in 1 move"
        if env_id == "tic_tac_toe":
            page.place_says(2, win)
            assert page.marked(win) == [2]
        page.squares().nth(2).click()
        if env_id == "tic_tac_toe":
            page.says("X won.")
        page.reload()
        assert page.moves() == [2]
        assert has_set_up_stones(page, env_id)


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
    page.search_for(0.01)
    page.evaluate(COUNT)
    page.goto(browsing.link(served_url, "connect_6x6", [3, 3], level="analysis"))
    expect(page.squares()).to_have_count(6)
    rows = page.tab("Review").get_by_role("listitem")
    expect(rows.filter(has_text="not known")).to_have_count(2)
    page.show("Exact values", is_shown=False)
    posted = page.evaluate("window.posted")
    assert posted >= 2
    page.wait_for_timeout(1000)
    assert page.evaluate("window.posted") == posted
