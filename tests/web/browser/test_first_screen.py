"""What a visitor meets first: three ways in, a game to win, and the next level."""

import re

import browsing
import pytest
import rules
import served
from browsing import SCREENS, expect

pytestmark = pytest.mark.slow
CHALLENGES = {
    "tic_tac_toe": "At full strength nobody can: your browser followed every line",
    "connect_5x4": "At full strength nobody can: your browser followed every line",
    "connect_7x6": "It moves first and wins every game: 2,993,838,886 lines of play, "
    "by its file. You move second.",
}
"""What the first screen says of the shipped agents at their best."""
WAYS = ("Play it", "Try to beat the unbeatable one", "Watch one learn")


def way(page, title):
    """Return one of the large buttons of the first screen."""
    return page.get_by_role("button", name=title, exact=True)


@pytest.mark.parametrize("screen", SCREENS)
def test_the_first_screen_offers_three_ways_in_beside_the_board(
    open_page, served_url, screen
):
    options = SCREENS[screen]
    page = open_page(served_url, is_new=True, is_entered=False, **options)
    for title in WAYS:
        box = way(page, title).locator("..").bounding_box()
        bar = page.get_by_role("tablist").bounding_box()
        bottom = bar["y"] if screen == "phone" else options["viewport"]["height"]
        assert box["height"] >= 56
        assert box["y"] + box["height"] <= bottom, f"{title}, without scrolling"
    for env_id, text in CHALLENGES.items():
        page.game(env_id)
        expect(way(page, WAYS[1])).to_have_accessible_description(
            re.compile(re.escape(text))
        )
        page.check_with_axe(f"the first screen, {env_id}")
    # The settings are one click behind, and the keyboard gets there.
    expect(page.get_by_role("radio")).to_have_count(0)
    page.tab("Game")
    expect(page.get_by_role("radio", name="Casual")).to_be_checked()
    expect(way(page, "Play it")).to_have_count(0)


def test_each_way_in_begins_its_game(open_page, served_url):
    page = open_page(served_url, is_new=True, is_entered=False)
    way(page, "Play it").click()
    page.says("Casual level of ")
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused == "Square 0, empty"
    page = open_page(served_url, is_new=True, is_entered=False)
    page.game("connect_7x6")
    way(page, "Try to beat the unbeatable one").press("Enter")
    page.has_moves(1)
    page.wait_for_turn()
    assert page.columns() == [[], [], [], ["the agent's"], [], [], []]
    expect(page.get_by_role("radio", name="O, the agent starts")).to_be_checked()
    page = open_page(served_url, is_new=True, is_entered=False)
    page.game("connect_5x4")
    way(page, "Watch one learn").click()
    panel = page.get_by_role("tabpanel", name="Learn")
    expect(panel).to_contain_text(re.compile(r"update [\d,]+ of 400"))
    page.get_by_role("grid", name="Board, 3 rows of 3").wait_for()


def test_the_agent_plays_against_itself_until_the_person_moves(open_page, served_url):
    page = open_page(
        served_url, is_new=True, is_entered=False, reduced_motion="no-preference"
    )
    # Another game is chosen before the first agent has arrived.
    page.game("connect_7x6")
    page.says("It plays itself")
    ghosts = page.locator(".ghost")
    expect(ghosts).not_to_have_count(0)
    expect(page.squares()).to_have_count(7)
    page.button("Pause").click()
    expect(page.button("Go on")).to_be_focused()
    count = ghosts.count()
    page.wait_for_timeout(600)  # four moves, as the waits of the tests are a tenth
    assert ghosts.count() <= count + 1
    page.button("Go on").click()
    expect(ghosts).not_to_have_count(ghosts.count())
    # Nobody plays this game: a screen reader hears of the person's empty board only.
    page.game("tic_tac_toe")
    expect(ghosts).to_have_count(3)
    assert page.board() == "-" * 9
    assert {*page.announced()} == {"It plays itself", "Your turn: X"}
    page.play(4)
    expect(ghosts).to_have_count(0)
    assert page.board()[4] == "X"
    assert way(page, "Play it").count() == 0
    page.reload()
    assert page.board()[4] == "X"
    # Another game of this tab has its first screen until it is begun.
    page.game("connect_5x4")
    expect(page.get_by_role("radio", name="Casual")).to_be_checked()


def test_the_agent_waits_on_the_first_screen_where_it_moves_first_but_not_in_a_link(
    open_page, served_url
):
    page = open_page(served_url, is_new=True)
    page.game("connect_7x6")
    page.choose("O, the agent starts")
    page.has_moves(1)
    other = open_page(served_url, context=page.context, is_entered=False)
    other.game("connect_7x6")
    other.says("Your turn: X")
    assert other.columns() == [[]] * 7
    other.tab("Game")
    other.has_moves(1)
    expect(other.get_by_role("radio", name="O, the agent starts")).to_be_checked()
    address = browsing.link(served_url, "connect_7x6", [], side="o")
    page = open_page(address, is_new=True, is_entered=False)
    page.has_moves(1)
    expect(way(page, "Play it")).to_have_count(0)
    # The address of the first screen itself, loaded again, stays there.
    page = open_page(served_url, is_new=True, is_entered=False)
    way(page, "Play it").wait_for()
    # The page changes its entry of the history, which the browser keeps a bit later.
    protocol = page.page.context.new_cdp_session(page.page)

    def kept_address():
        history = protocol.send("Page.getNavigationHistory")
        return history["entries"][history["currentIndex"]]["url"]

    served.wait_until(lambda: "game=tic_tac_toe" in kept_address())
    page.page.reload()
    way(page, "Play it").wait_for()


def beat(page, level):
    """Play new games against a level until the person has won one."""
    for _ in range(40):
        while not page.is_over():
            page.play(rules.best_moves(page.board())[-1])
        if page.status() == "You won.":
            return
        expect(page.get_by_role("button", name=re.compile("next$"))).to_have_count(0)
        page.new_game()
        page.says(level)
    raise AssertionError(f"no game against {level} was won")


def test_a_visitor_wins_and_is_offered_the_next_level(open_page, served_url):
    page = open_page(served_url, is_new=True, **SCREENS["phone"])
    page.says("Casual level of our network")
    beat(page, "Casual")
    page.says("Review this game")
    following = page.button("Play Strong next")
    page.check_with_axe("a won game")
    following.focus()
    page.keyboard.press("Enter")
    page.says("Strong level of our network")
    page.has_moves(0)
    page.wait_for_turn()
    expect(page.tab("Game").get_by_role("radio", name="Strong")).to_be_checked()
    beat(page, "Strong")
    page.button("Play Unbeatable next").click()
    page.says("Unbeatable (learned agent): Our network")
    page.has_moves(0)
    page.wait_for_turn()
    while not page.is_over():
        page.play(rules.best_moves(page.board())[0])
    assert page.status() == "A draw."
    page.says("The best result possible against it.")
    following = page.get_by_role("button", name=re.compile("next$"))
    expect(following).to_have_count(0)
    opponents = ("Casual", "Strong", "Learned agent at its best")
    wins = [page.row(opponent)[1] for opponent in opponents]
    assert wins == [1, 1, 0]
    # A game that does not count offers no next level.
    page.goto(browsing.link(served_url, "tic_tac_toe", [0, 3, 1, 4], level="casual"))
    page.has_moves(4)
    page.play(2)
    assert page.status() == "You won."
    page.says("Not counted")
    expect(following).to_have_count(0)
    # An agent that looks ahead plays at its best.
    page.game("connect_7x6")
    page.tab("Game")
    expect(page.get_by_role("radio", name="Casual")).to_be_checked()
    page.look_ahead("0 moves: no search")
    expect(page.get_by_role("radio", name="Casual")).to_be_checked()
    page.look_ahead("4 moves")
    best = page.get_by_role("radio", name="Learned agent at its best")
    expect(best).to_be_checked()
    page.says("Learned agent at its best: Our network")


# ---- links


def test_a_link_has_the_game_the_moves_the_tab_the_agent_and_the_level(
    open_page, served_url
):
    page = open_page(served_url, is_new=True)
    page.choose_agent("Our table")
    page.tab("Learning")
    page.get_by_role("slider", name="Snapshot").press("Home")
    page.says("level of our table at update 0")
    page.choose("Strong")
    page.says("Strong level of our table at update 0")
    addresses = []
    for moves in (0, 1):
        for _ in range(moves):
            page.play(4)
        page.tab("Proof")
        addresses.append((page.url, page.moves()))
    other = open_page(served_url, is_new=True)
    for address, line in addresses:
        other.visit(address)
        assert other.url == address
        assert other.moves() == line
        other.says("Strong level of our table at update 0")
        proof = other.get_by_role("tab", name="Proof")
        expect(proof).to_have_attribute("aria-selected", "true")
        panel = other.get_by_role("tabpanel")
        expect(panel).to_contain_text("Our table at update 0")
        other.tab("Game")
        expect(other.get_by_role("radio", name="Strong")).to_be_checked()
        agents = other.get_by_label("Learned agent", exact=True)
        expect(agents.locator("option:checked")).to_have_text("Our table")
        # A game without moves is begun anew, so it counts.
        other.play_to_the_end()
        assert other.counted()["Games"] == 1
    # A link to an analysis has the agent whose values are shown.
    page.choose_agent("Our network")
    page.radio("Analyse")
    panel = page.tab("Learning")
    page.get_by_role("slider", name="Snapshot").press("Home")
    expect(panel).to_contain_text("update 0 of")
    address = page.url
    assert "level=analysis" in address
    assert "update=0" in address
    other.visit(address)
    for _ in range(2):
        other.says("Analysis: you move both sides.")
        expect(other.tab("Proof")).to_contain_text("Our network at update 0")
        other.reload()
    # A link to an agent that is not here says so.
    agent = "browser/my own"
    other.visit(browsing.link(served_url, "tic_tac_toe", [4, 0], agent=agent))
    assert other.moves()[:2] == [4, 0]
    other.hear("The agent of this link is not here.")
