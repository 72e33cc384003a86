"""What a visitor meets first: one line, a game to win, and the next level."""

import re

import browsing
import pytest
import rules
from browsing import GAMES, SCREENS, expect

pytestmark = pytest.mark.slow
LINES = {
    "tic_tac_toe": "Nobody can beat the agent of tic-tac-toe: your browser followed "
    "every line of play.",
    "connect_5x4": "Nobody can beat the agent of 5 \u00d7 4: your browser "
    "followed every line of play.",
    "connect_7x6": "The agent of 7 \u00d7 6 wins every game moving "
    "first: proven with 2,005 corrections",
}
"""What is proven of the shipped agents."""


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


def test_a_visitor_reads_what_is_proven_wins_and_is_offered_the_next_level(
    open_page, served_url
):
    page = open_page(served_url, is_new=True, **SCREENS["phone"])
    page.says("Casual: Shipped network")
    beat(page, "Casual")
    page.says("Review this game")
    following = page.button("Play Strong next")
    page.check_with_axe("a won game")
    following.focus()
    page.keyboard.press("Enter")
    page.says("Strong: Shipped network")
    page.has_moves(0)
    page.wait_for_turn()
    expect(page.tab("Game").get_by_role("radio", name="Strong")).to_be_checked()
    beat(page, "Strong")
    page.button("Play Unbeatable next").click()
    page.says("Unbeatable (learned agent): Shipped network")
    page.has_moves(0)
    page.wait_for_turn()
    while not page.is_over():
        page.play(rules.best_moves(page.board())[0])
    assert page.status() == "A draw."
    page.says("The best result possible against it.")
    expect(page.get_by_role("button", name=re.compile("next$"))).to_have_count(0)
    opponents = ("Casual", "Strong", "Learned agent at its best")
    wins = [page.row(opponent)[1] for opponent in opponents]
    assert wins == [1, 1, 0]
    # One line above the board says what the page is and what is proven.
    line = page.get_by_text("Agents that learned by playing against themselves")
    for env_id in GAMES:
        page.game(env_id)
        expect(line).to_contain_text(LINES[env_id])
        for options in SCREENS.values():
            page.set_viewport_size(options["viewport"])
            page.evaluate("scrollTo(0, 0)")
            box, grid = line.bounding_box(), page.get_by_role("grid").bounding_box()
            assert box["y"] > 0
            assert box["y"] + box["height"] < grid["y"]
    page.game("tic_tac_toe")
    page.choose_agent("Run weak (network)")
    expect(line).to_contain_text("The selected agent of tic-tac-toe can be beaten.")


def test_a_game_that_does_not_count_offers_no_next_level(open_page, served_url):
    line = browsing.link(served_url, "tic_tac_toe", [0, 3, 1, 4], level="casual")
    page = open_page(line, is_new=True)
    page.play(2)
    assert page.status() == "You won."
    page.says("Not counted")
    expect(page.button("Play Strong next")).to_have_count(0)
    # An agent that looks ahead plays at its best.
    page.game("connect_7x6")
    expect(page.get_by_role("radio", name="Casual")).to_be_checked()
    page.look_ahead("0 moves: no search")
    expect(page.get_by_role("radio", name="Casual")).to_be_checked()
    page.look_ahead("4 moves")
    best = page.get_by_role("radio", name="Learned agent at its best")
    expect(best).to_be_checked()
    page.says("Learned agent at its best: Shipped network")


# ---- links


def shows_choices(page, tab, level, agent):
    """Wait until a tab is open, and a level and an agent are chosen in "Game"."""
    shown = page.get_by_role("tab", name=tab)
    expect(shown).to_have_attribute("aria-selected", "true")
    game = page.tab("Game")
    expect(game.get_by_role("radio", name=level)).to_be_checked()
    chosen = page.get_by_label("Learned agent", exact=True).locator("option:checked")
    expect(chosen).to_have_text(agent)
    page.tab(tab)


def test_a_link_has_the_game_the_moves_the_tab_the_agent_and_the_level(
    open_page, served_url
):
    page = open_page(served_url, is_new=True)
    page.choose_agent("Shipped table")
    page.tab("Learning")
    page.get_by_role("slider", name="Snapshot").press("Home")
    page.says("Shipped table at update 0")
    page.choose("Strong")
    page.says("Strong: Shipped table at update 0")
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
        other.says("Strong: Shipped table at update 0")
        shows_choices(other, "Proof", "Strong", "Shipped table")
        panel = other.get_by_role("tabpanel")
        expect(panel).to_contain_text("Shipped table at update 0")
        # A game without moves is begun anew, so it counts.
        other.play_to_the_end()
        assert other.counted()["Games"] == 1
    # A link to an analysis has the agent whose values are shown.
    page.choose_agent("Shipped network")
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
        expect(other.tab("Proof")).to_contain_text("Shipped network at update 0")
        other.reload()
    # A link to an agent that is not here says so.
    agent = "browser/my own"
    other.visit(browsing.link(served_url, "tic_tac_toe", [4, 0], agent=agent))
    assert other.moves()[:2] == [4, 0]
    other.hear("The agent of this link is not here.")
