"""The proof: its numbers are those of Python, and a losing line is shown."""

import re

import browsing
import pytest
from browsing import (
    PENDING,
    announced,
    area,
    board,
    button,
    counted,
    expect,
    hear,
    marked,
    moves,
    play,
    says,
    status,
    tab,
    wait_for_turn,
)

from jax_ttt.config.game_facts import SIDES
from jax_ttt.players import registry, saved_agents
from jax_ttt.players.shipped import ALL, SHIPPED
from jax_ttt.solver import proof

pytestmark = pytest.mark.slow


@pytest.fixture
def page(open_page, served_url):
    return open_page(served_url)


def card(page, letter):
    """Return the part of the panel about a side."""
    pattern = re.compile(f"As {letter}")
    return page.get_by_role("tabpanel").get_by_role("article").filter(has_text=pattern)


def lines_in_python(path, host_tree):
    """Return the lines of play of an agent by side, followed by the package."""
    probs = registry.enter_agent(path.stem, saved_agents.load_agent(path)).probs
    assert probs is not None
    return {side: proof.lines(host_tree, probs, seat) for seat, side in SIDES.items()}


@pytest.mark.parametrize("name", SHIPPED)
def test_the_numbers_of_tic_tac_toe_are_those_of_python(page, host_tree, name):
    kind = "table" if "table" in name else "network"
    browsing.agent(page, f"Shipped {kind}")
    panel = tab(page, "Proof")
    expect(panel).to_contain_text(f"Shipped {kind}")
    expected = lines_in_python(SHIPPED[name], host_tree)
    for side, letter in (("x", "X"), ("o", "O")):
        lines = expected[side]
        text = card(page, letter)
        expect(text).to_contain_text("Unbeatable")
        expect(text).to_contain_text(f"{total(lines):,}")
        for number, word in ((lines.won, "won"), (lines.drawn, "drawn"), (0, "lost")):
            expect(text).to_contain_text(f"{number:,} {word}")
        assert lines.lost == 0
    button(page, "Check again in this browser").click()
    expect(panel).to_contain_text("The same result")
    texts = hear(page, "The same result")
    x, o = map(total, expected.values())
    assert f"{x:,} lines as X and {o:,} lines as O, 0 lost" in texts[-1]


def total(lines):
    return lines.won + lines.drawn + lines.lost


def test_connect_four_5x4_is_proven_again_in_the_browser(page):
    score = saved_agents.load_agent(ALL["connect-5x4"]).score
    browsing.game(page, "connect_5x4")
    panel = tab(page, "Proof")
    for seat, letter in ((score.first, "Blue"), (score.second, "Orange")):
        assert seat is not None
        expect(card(page, letter)).to_contain_text("Unbeatable")
        expect(card(page, letter)).to_contain_text(f"{total(seat.lines):,}")
    button(page, "Check again in this browser").click()
    play(page, 2)  # a proof does not hold up the game
    expect(panel).to_contain_text("The same result", timeout=60_000)
    assert "lines as Blue" in panel.inner_text()
    assert "0 lost" in panel.inner_text()


def test_a_check_can_be_stopped(page):
    browsing.game(page, "connect_5x4")
    panel = tab(page, "Proof")
    button(page, "Check again in this browser").click()
    button(page, "Stop").click()
    expect(panel).to_contain_text("the check was stopped")
    assert button(page, "Check again in this browser").is_enabled()


def test_7x6_is_not_called_proven(page):
    browsing.game(page, "connect_7x6")
    panel = tab(page, "Proof")
    expect(panel).to_contain_text("too many positions")
    assert "Unbeatable" not in panel.inner_text()
    assert button(page, "Check again in this browser").is_disabled()


def show_losing_line(page, letter):
    """Show how to beat the agent as a side, to the end; return the moves."""
    tab(page, "Proof")
    expect(card(page, letter)).to_contain_text("Can be beaten", timeout=60_000)
    card(page, letter).get_by_role("button", name="Show me how to beat it").click()
    says(page, "How to beat it: ")
    expect(area(page)).to_contain_text("try it yourself")
    return moves(page)


def test_a_losing_line_of_tic_tac_toe_is_shown_and_the_agent_falls_for_it(page):
    browsing.agent(page, "Run weak (network)")
    for letter, other in (("X", "O"), ("O", "X")):
        line = show_losing_line(page, letter)
        says(page, f"How to beat it: {len(line)} of {len(line)}")
        says(page, f"{other} wins")
        own = "x" if letter == "X" else "o"
        assert browsing.result("tic_tac_toe", line, own) == "You lost."
        assert len(marked(page, "in the winning line")) == 3
        expect(tab(page, "Review")).to_contain_text("beats the agent")
    assert counted(page)["Games"] == 0
    # The last line beats the agent as O; the person plays it.
    button(page, "New game").click()
    wait_for_turn(page)
    assert status(page) == "Your turn: X"
    for move in line[::2]:
        play(page, move)
    assert moves(page) == line
    assert announced(page)[-1].endswith("You won.")
    assert counted(page)["You won"] == 1


def test_a_new_game_after_a_shown_line_is_against_the_same_agent(page):
    """Whatever level, side and look-ahead are chosen."""
    browsing.game(page, "connect_5x4")
    browsing.agent(page, "Run weak-5x4 (network)")
    browsing.look_ahead(page, "4 moves")
    browsing.level(page, "Casual")
    tab(page, "Proof")
    button(page, "Check again in this browser").click()
    for letter, opener in (("Blue", "o"), ("Orange", "x")):
        line = show_losing_line(page, letter)
        button(page, "New game").click()
        wait_for_turn(page)
        says(page, "Learned agent at its best: Run weak-5x4 (network)")
        assert len(moves(page)) == (letter == "Blue")
        for move in line[letter == "Blue" :: 2]:
            play(page, move)
        assert moves(page) == line
        assert status(page) == "You won."
        assert browsing.result("connect_5x4", line, opener) == "You won."
    assert counted(page)["You won"] == 2


def test_a_game_that_a_shown_line_interrupts_goes_on(page):
    browsing.agent(page, "Run weak (network)")
    browsing.level(page, "Strong")
    play(page, 4)
    line, title = moves(page), "Strong: Run weak (network)"
    stones = board(page)
    for letter in ("O", "X"):  # one after the other, and back to the game once
        show_losing_line(page, letter)
        assert moves(page) != line
    button(page, "Back to your game").click()
    wait_for_turn(page)
    assert moves(page) == line
    assert board(page) == stones
    says(page, title)
    assert status(page) == "Your turn: X"
    expect(button(page, "Back to your game")).to_have_count(0)
    expect(area(page)).not_to_contain_text(PENDING)
    # Also from the middle of a line, and after a reload.
    tab(page, "Proof")
    card(page, "X").get_by_role("button", name="Show me how to beat it").click()
    says(page, "How to beat it: ")
    button(page, "Back to your game").click()
    page.wait_for_timeout(300)
    assert moves(page) == line
    page.reload()
    wait_for_turn(page)
    assert moves(page) == line
    browsing.play_to_the_end(page)
    assert counted(page)["Games"] == 1
    assert browsing.row_of(tab(page, "Statistics"), title)[0] == 1


def test_a_choice_while_a_line_is_shown_is_kept(page):
    browsing.agent(page, "Run weak (network)")
    show_losing_line(page, "X")
    tab(page, "Game")
    casual = page.get_by_role("radio", name="Casual")
    casual.click(force=True)
    page.wait_for_timeout(200)
    assert casual.is_checked()


def test_without_a_game_there_is_no_way_back_from_a_shown_line(page):
    browsing.agent(page, "Run weak (network)")
    show_losing_line(page, "X")
    expect(button(page, "Back to your game")).to_have_count(0)
    page.reload()
    wait_for_turn(page)
    assert moves(page) == []


def test_a_losing_line_of_5x4_is_looked_for_and_shown(page):
    browsing.game(page, "connect_5x4")
    browsing.agent(page, "Run weak-5x4 (network)")
    panel = tab(page, "Proof")
    expect(panel).to_contain_text("Not known yet")
    button(page, "Check again in this browser").click()
    line = show_losing_line(page, "Blue")
    assert browsing.result("connect_5x4", line, "x") == "You lost."
    assert marked(page, "in the winning row")


def test_the_snapshots_of_the_shipped_agent_are_proven_and_played(page):
    panel = tab(page, "Learning")
    snapshot = page.get_by_role("slider", name="Snapshot")
    snapshot.press("Home")
    expect(panel).to_contain_text("update 0 of")
    expect(tab(page, "Proof")).to_contain_text("Can be beaten")
    expect(card(page, "X")).to_contain_text("lost")
    tab(page, "Learning")
    button(page, "Play against it as it was then").click()
    says(page, "at update 0")
    play(page, 4)
    tab(page, "Learning")
    button(page, "Back to the latest").click()
    panel = tab(page, "Proof")
    expect(card(page, "X")).to_contain_text("Unbeatable")
    expect(panel).not_to_contain_text("Can be beaten")
