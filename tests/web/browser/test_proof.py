"""The proof: its numbers equal Python's, and a losing line is shown."""

import re

import browsing
import pytest
from browsing import PENDING, expect

from jax_ttt.config.game_facts import SIDES
from jax_ttt.players import registry, saved_agents
from jax_ttt.players.shipped import ALL, SHIPPED
from jax_ttt.solver import outcomes

pytestmark = pytest.mark.slow
CHECK = "Check again in this browser"


def card(page, letter):
    """Return the part of the panel about a side."""
    pattern = re.compile(f"As {letter}")
    return page.get_by_role("tabpanel").get_by_role("article").filter(has_text=pattern)


def total(lines):
    return lines.won + lines.drawn + lines.lost


def test_the_numbers_of_tic_tac_toe_are_those_of_python(page, host_tree):
    for name in SHIPPED:
        title = "Shipped table" if "table" in name else "Shipped network"
        page.choose_agent(title)
        panel = page.tab("Proof")
        expect(panel).to_contain_text(title)
        saved = saved_agents.load_agent(SHIPPED[name])
        policy = registry.agent_player(name, saved).policy
        assert policy is not None
        totals = []
        for seat, letter in zip(SIDES, "XO", strict=True):
            lines = outcomes.count_lines(host_tree, policy, seat)
            totals.append(total(lines))
            text = card(page, letter)
            expect(text).to_contain_text("Unbeatable")
            expect(text).to_contain_text(f"{total(lines):,}")
            for number, word in ((lines.won, "won"), (lines.drawn, "drawn")):
                expect(text).to_contain_text(f"{number:,} {word}")
            assert lines.lost == 0
            expect(text).to_contain_text("0 lost")
        page.button(CHECK).click()
        expect(panel).to_contain_text("The same result")
        x, o = totals
        page.hear(f"{x:,} lines as X and {o:,} lines as O, 0 lost")


def test_connect_four_5x4_is_proven_again_in_the_browser_and_7x6_is_not(page):
    grade = saved_agents.load_agent(ALL["connect-5x4"]).grade
    page.game("connect_5x4")
    panel = page.tab("Proof")
    for seat, letter in ((grade.first, "X"), (grade.second, "O")):
        assert seat is not None
        expect(card(page, letter)).to_contain_text("Unbeatable")
        expect(card(page, letter)).to_contain_text(f"{total(seat.lines):,}")
    page.button(CHECK).click()
    page.button("Stop").click()
    expect(panel).to_contain_text("the check was stopped")
    page.button(CHECK).click()
    page.play(2)  # a proof does not hold up the game
    expect(panel).to_contain_text("The same result", timeout=60_000)
    assert "lines as X" in panel.inner_text()
    assert "0 lost" in panel.inner_text()
    page.game("connect_7x6")
    panel = page.tab("Proof")
    expect(panel).to_contain_text("too many positions")
    assert "Unbeatable" not in panel.inner_text()
    assert page.button(CHECK).is_disabled()


def show_losing_line(page, letter):
    """Show how to beat the agent as a side, to the end; return the moves."""
    page.tab("Proof")
    expect(card(page, letter)).to_contain_text("Can be beaten", timeout=60_000)
    card(page, letter).get_by_role("button", name="Show me how to beat it").click()
    page.says("How to beat it: ")
    page.says("try it yourself")
    return page.moves()


def test_a_losing_line_of_tic_tac_toe_is_shown_and_the_agent_falls_for_it(page):
    page.choose_agent("Run weak (network)")
    for letter, other in (("X", "O"), ("O", "X")):
        line = show_losing_line(page, letter)
        page.says(f"How to beat it: {len(line)} of {len(line)}")
        page.says(f"{other} wins")
        own = "x" if letter == "X" else "o"
        assert browsing.result("tic_tac_toe", line, own) == "You lost."
        assert len(page.marked("in the winning line")) == 3
        expect(page.tab("Review")).to_contain_text("beats the agent")
    assert page.counted()["Games"] == 0
    # The last line beats the agent as O; the person plays it.
    page.new_game()
    assert page.status() == "Your turn: X"
    for move in line[::2]:
        page.play(move)
    assert page.moves() == line
    assert page.announced()[-1].endswith("You won.")
    assert page.counted()["You won"] == 1


def test_a_losing_line_of_5x4_is_found_and_played_against_the_same_agent(page):
    """Whatever level, side and look-ahead are chosen."""
    page.game("connect_5x4")
    page.choose_agent("Run weak-5x4 (network)")
    page.look_ahead("4 moves")
    page.choose("Casual")
    expect(page.tab("Proof")).to_contain_text("Not known yet")
    page.button(CHECK).click()
    for letter, own, opener in (("X", "x", "o"), ("O", "o", "x")):
        line = show_losing_line(page, letter)
        assert browsing.result("connect_5x4", line, own) == "You lost."
        assert page.marked("in the winning row")
        page.new_game()
        page.says("Learned agent at its best: Run weak-5x4 (network)")
        assert len(page.moves()) == (letter == "X")
        for move in line[letter == "X" :: 2]:
            page.play(move)
        assert page.moves() == line
        assert page.status() == browsing.result("connect_5x4", line, opener)
    assert page.counted()["You won"] == 2


def test_a_game_that_a_shown_line_interrupts_goes_on(page):
    page.choose_agent("Run weak (network)")
    # Without a game there is no way back, and a choice is kept.
    show_losing_line(page, "X")
    expect(page.button("Back to your game")).to_have_count(0)
    page.tab("Game")
    strong = page.get_by_role("radio", name="Strong")
    strong.click(force=True)
    page.wait_for_timeout(200)
    assert strong.is_checked()
    page.reload()
    title = "Strong: Run weak (network)"
    page.says(title)
    assert page.moves() == []
    page.play(4)
    line = page.moves()
    stones = page.board()
    for letter in ("O", "X"):  # one after the other, and back to the game once
        show_losing_line(page, letter)
        assert page.moves() != line
    page.button("Back to your game").click()
    page.wait_for_turn()
    assert page.moves() == line
    assert page.board() == stones
    page.says(title)
    assert page.status() == "Your turn: X"
    expect(page.button("Back to your game")).to_have_count(0)
    page.says_no(PENDING)
    # Also from the middle of a line, and after a reload.
    page.tab("Proof")
    card(page, "X").get_by_role("button", name="Show me how to beat it").click()
    page.says("How to beat it: ")
    page.button("Back to your game").click()
    page.wait_for_timeout(300)
    assert page.moves() == line
    page.reload()
    assert page.moves() == line
    page.play_to_the_end()
    assert page.counted()["Games"] == 1
    assert page.row(title)[0] == 1


def test_the_snapshots_of_the_shipped_agent_are_proven_and_played(page):
    panel = page.tab("Learning")
    page.get_by_role("slider", name="Snapshot").press("Home")
    expect(panel).to_contain_text("update 0 of")
    expect(page.tab("Proof")).to_contain_text("Can be beaten")
    expect(card(page, "X")).to_contain_text("lost")
    page.tab("Learning")
    page.button("Play against it as it was then").click()
    page.says("at update 0")
    page.play(4)
    page.tab("Learning")
    page.button("Back to the latest").click()
    panel = page.tab("Proof")
    expect(card(page, "X")).to_contain_text("Unbeatable")
    expect(panel).not_to_contain_text("Can be beaten")
