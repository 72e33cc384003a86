"""The proof: numbers equal Python's, a losing line is shown, corrections are marked."""

import itertools
import re

import browsing
import jax
import numpy as np
import pytest
import rule_cases
import tiny
from browsing import PENDING, expect, link

from jax_ttt.config.game_facts import SIDES
from jax_ttt.config.grade import Grade
from jax_ttt.config.player_kinds import ALL, SHIPPED
from jax_ttt.config.settings import Config
from jax_ttt.games import position_keys
from jax_ttt.games.played_game import replay
from jax_ttt.players import registry, saved_agents
from jax_ttt.solver import outcomes

pytestmark = pytest.mark.slow
CHECK = "Check again in this browser"


def total(lines):
    return lines.won + lines.drawn + lines.lost


def show_losing_line(page, letter):
    """Show how to beat the agent as a side, to the end; return the moves."""
    page.tab("Proof")
    expect(page.card(letter)).to_contain_text("Can be beaten", timeout=browsing.LONG)
    page.card(letter).get_by_role("button", name="Show me how to beat it").click()
    page.says("How to beat it: ")
    page.says("try it yourself")
    return page.moves()


def play_line(page, line, first):
    """Play a person's moves of a line, from the first or the second one on."""
    for count in range(first, len(line), 2):
        page.has_moves(count)
        page.play(line[count])
    page.has_line(line)


def test_the_numbers_of_tic_tac_toe_are_those_of_python(page, host_tree):
    for name in SHIPPED:
        title = "Our table" if "table" in name else "Our network"
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
            text = page.card(letter)
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


def test_connect_four_5x4_is_proven_again_in_the_browser_and_another_agent_beaten(
    page,
):
    grade = saved_agents.load_agent(ALL["connect-5x4"]).grade
    page.game("connect_5x4")
    panel = page.tab("Proof")
    for seat, letter in ((grade.first, "X"), (grade.second, "O")):
        assert seat is not None
        expect(page.card(letter)).to_contain_text("Unbeatable")
        expect(page.card(letter)).to_contain_text(f"{total(seat.lines):,}")
    # A check is stopped; the next one does not hold up the game.
    browsing.click_once(panel, "Following the lines", "Stop")
    page.button(CHECK).click()
    expect(panel).to_contain_text("the check was stopped")
    page.button(CHECK).click()
    page.play(2)
    expect(panel).to_contain_text("The same result", timeout=browsing.LONG)
    assert "lines as X" in panel.inner_text()
    assert "0 lost" in panel.inner_text()
    # A losing line is found and played against the same agent, whatever level, side and
    # look-ahead are chosen.
    page.new_game()
    page.choose_agent("Run weak-5x4 (network)")
    page.look_ahead("4 moves")
    page.choose("Casual")
    line = show_losing_line(page, "X")
    assert browsing.result("connect_5x4", line, "x") == "You lost."
    assert page.marked("in the winning row")
    page.new_game()
    page.says("Learned agent at its best: Run weak-5x4 (network)")
    play_line(page, line, first=1)
    assert page.status() == "You won."
    assert page.counted()["You won"] == 1


SOME_LINES = "Check some lines in this browser"


def test_the_agent_of_7x6_wins_moving_first_and_the_page_shows_how_it_loses_second(
    page,
):
    grade = saved_agents.load_agent(ALL["connect-7x6"]).grade
    first, second = grade.first, grade.second
    assert first is not None
    assert second is not None
    page.game("connect_7x6")
    panel = page.tab("Proof")
    expect(panel).to_contain_text("too many positions to follow all lines")
    assert page.button(CHECK).is_disabled()
    card, number = page.card("X"), f"{first.num_corrections:,}"
    expect(panel).to_contain_text(
        f"Wins every game moving first, proven by its file with {number} corrections"
    )
    expect(card).to_contain_text(f"{total(first.lines):,}")
    expect(page.card("O")).to_contain_text("followed, by its file")
    # The corrections are counted by stones.
    assert first.positions is not None
    assert first.corrections is not None
    expect(card).to_contain_text(
        f"overruled in {number} of {sum(first.positions[::2]):,} positions (by its "
        "file), most often"
    )
    card.get_by_text("Corrections by stones").click()
    assert card.get_by_role("row").all_inner_texts()[1:] == [
        f"{stones}\t{first.positions[stones]:,}\t{first.corrections[stones]:,}"
        for stones in range(0, len(first.positions), 2)
    ]
    # Some lines are checked until they are stopped.
    button = card.get_by_role("button", name=SOME_LINES)
    browsing.click_once(card, r"[1-9]\d* of 1,000 lines checked: all won", "Stop")
    button.click()
    stopped = re.compile(r"\d lines? checked: all won; the check was stopped")
    expect(card).to_contain_text(stopped)
    expect(button).to_be_enabled()
    other = page.card("O").get_by_role("button", name=SOME_LINES)
    expect(other).to_have_count(0)  # nothing is proven there
    # A check does not hold up the game.
    button.click()
    page.play_to_the_end()
    # The line that beats it as the second player beats the agent itself.
    line = show_losing_line(page, "O")
    assert line == list(second.losing_line or ())
    assert browsing.result("connect_7x6", line, "o") == "You lost."
    page.new_game()
    play_line(page, line, first=0)
    assert page.status() == "You won."


def save_claim(path, env_id):
    """Save an untrained agent; its file says that it is proven, and is not damaged."""
    agent = tiny.untrained(Config.of(env_id=env_id, hidden_size=8))
    seat = rule_cases.proven_seat()
    score = Grade(env_id=agent.config.env_id, first=seat, second=seat)
    assert score.unbeatable
    saved_agents.save_agent(agent.with_grade(score), path)
    return path


def test_a_file_that_says_what_is_not_true_is_not_believed(page, tmp_path):
    """At no moment, not even before this browser has followed the lines of play."""
    # Where the browser follows all lines, a right SHA-256 does not help.
    page.locator("main").evaluate(browsing.NOTE_TEXTS)
    claim = save_claim(tmp_path / "claim.safetensors", "tic_tac_toe")
    page.add_agent(claim, "Tic-tac-toe")
    panel = page.tab("Proof")
    for letter in "XO":
        expect(page.card(letter)).to_contain_text("Can be beaten")
        contradicted = page.card(letter).get_by_role("alert")
        expect(contradicted).to_contain_text("Its file says the opposite")
    expect(panel).not_to_contain_text("Unbeatable")
    page.button(CHECK).click()
    wrong = panel.get_by_role("alert").filter(has_text="Not the result that is")
    expect(wrong).to_have_class("problem")
    expect(page.tab("Game")).to_contain_text("Some line of play beats it")
    page.says("Learned agent at its best: Kept: claim")
    shown = [text for text in page.evaluate("window.shown") if ": Kept: claim" in text]
    assert shown
    assert not any("Unbeatable" in text for text in shown)
    # Where it follows none, the verdict is said to be the file's.
    game = "Connect Four 5 \u00d7 5"
    page.add_agent(save_claim(tmp_path / "big.safetensors", "connect_5x5"), game)
    panel = page.tab("Proof")
    for letter in "XO":
        expect(page.card(letter)).to_contain_text("Unbeatable by its file")
    assert page.button(CHECK).is_disabled()
    expect(page.tab("Game")).to_contain_text("Its file says that no line of play")
    page.says("Unbeatable by its file (learned agent): Kept: big")
    assert panel.get_by_role("button", name="Show me").count() == 0
    # Some lines find that it is not true.
    page.tab("Proof")
    card = page.card("O")
    card.get_by_role("button", name=SOME_LINES).click()
    wrong = card.get_by_role("alert")
    expect(wrong).to_contain_text("1 lost. Not what its file says: the line ")
    card.get_by_role("button", name="Show this line").click()
    page.says("X wins")
    assert browsing.result("connect_5x5", page.moves(), "o") == "You lost."


def test_a_losing_line_is_shown_the_agent_falls_for_it_and_a_game_goes_on(page):
    page.choose_agent("Run weak (network)")
    # Without a game there is no way back, and a choice is kept.
    show_losing_line(page, "X")
    expect(page.button("Back to your game")).to_have_count(0)
    page.tab("Game")
    page.radio("Strong")
    page.reload()
    title = "Strong level of run weak (network)"
    page.says(title)
    assert page.moves() == []
    # A game that a shown line interrupts goes on.
    page.play(4)
    line, stones = page.moves(), page.board()
    # Lines follow one another, and lead back to the game once.
    for letter, other in (("O", "X"), ("X", "O")):
        shown = show_losing_line(page, letter)
        page.says(f"How to beat it: {len(shown)} of {len(shown)}")
        page.says(f"{other} wins")
        assert browsing.result("tic_tac_toe", shown, letter.lower()) == "You lost."
        assert len(page.marked("in the winning line")) == 3
        expect(page.tab("Review")).to_contain_text("beats the agent")
    page.button("Back to your game").click()
    page.has_line(line)
    page.says("Your turn: X")
    assert page.board() == stones
    page.says(title)
    expect(page.button("Back to your game")).to_have_count(0)
    page.says_no(PENDING)
    # Also from the middle of a line, and after a reload.
    page.tab("Proof")
    page.card("X").get_by_role("button", name="Show me how to beat it").click()
    page.says("How to beat it: ")
    page.button("Back to your game").click()
    page.has_line(line)
    page.wait_for_timeout(300)
    assert page.moves() == line
    page.reload()
    assert page.moves() == line
    page.play_to_the_end()
    counted = page.counted()
    assert counted["Games"] == page.row(title)[0] == 1
    # The person plays the line that beats the agent as O, and the agent falls for it.
    line = show_losing_line(page, "O")
    assert page.counted() == counted
    page.new_game()
    page.says("Your turn: X")
    play_line(page, line, first=0)
    page.hear("You won.")
    assert page.counted()["You won"] == counted["You won"] + 1


# ---- corrections


def lines_by_correction(agent, num_moves=4):
    """Return the lines of so many moves, each with the agent's move, in two lists.

    Those of the first list lead to boards with a correction, the others do not.
    """
    lines = [*itertools.product(range(4), repeat=num_moves)]
    state = replay("connect_4x4", lines)
    moves = np.asarray(agent.player(jax.random.key(0), state)).tolist()
    words = position_keys.pack_least("connect_4x4", position_keys.stones_of(state))
    keys = position_keys.keys_to_numbers(np.asarray(words))
    are_corrected = np.isin(keys, agent.corrections.keys)
    pairs = [*zip(lines, moves, strict=True)]
    others = itertools.compress(pairs, ~are_corrected)
    return [*itertools.compress(pairs, are_corrected)], [*others]


def test_the_corrections_of_an_agent_are_counted_played_and_marked(
    page, served_url, tmp_path
):
    path = rule_cases.save_corrected(tmp_path / "agent.safetensors", "connect_4x4")
    agent = saved_agents.load_agent(path)
    first, second = agent.grade.first, agent.grade.second
    assert first is not None
    assert second is not None
    # The verdict counts them.
    page.add_agent(path, "Connect Four 4 \u00d7 4")
    page.tab("Proof")
    for letter, grade in (("X", first), ("O", second)):
        verdict = f"As {letter}: Unbeatable with {grade.num_corrections:,} corrections"
        expect(page.card(letter)).to_contain_text(verdict)
    page.button(CHECK).click()
    page.hear("The same result")
    page.says("Unbeatable (learned agent): Kept: agent")
    expect(page.tab("Game")).to_contain_text(
        f"As O: Unbeatable with {second.num_corrections:,} corrections."
    )
    # A correction is played, and marked on the values.
    page.show("Network's values")
    corrected, others = lines_by_correction(agent)
    line, move = corrected[0]
    mirrored = tuple(3 - column for column in line)
    cases = ((line, move), (mirrored, 3 - move), *others[:2])
    assert (mirrored, 3 - move) in corrected
    for moves, reply in cases:
        # The person moved last, so the agent's reply follows.
        page.goto(link(served_url, "connect_4x4", moves, side="o"))
        page.has_line([*moves, reply])
        page.button("One move back").click()
        page.place_says(reply, "the agent's move")
        has_mark = (moves, reply) in corrected
        assert page.marked("corrected") == [reply] * has_mark
        words = page.area().inner_text().lower()
        assert ("corrected" in words) == has_mark


def test_an_agent_that_wins_every_game_moving_first_is_only_strong_moving_second(page):
    first = saved_agents.load_agent(ALL["connect-7x6"]).grade.first
    assert first is not None
    number = f"{first.num_corrections:,}"
    wins = f"Wins every game moving first, proven by its file with {number} corrections"
    strong = "The first player can win with best play: as O, the agent is only strong."
    page.game("connect_7x6")
    panel = page.tab("Game")
    # The person begins.
    page.says("Learned agent at its best: Our network")
    expect(panel).to_contain_text(strong)
    expect(panel).not_to_contain_text(wins)
    page.choose("O, the agent starts")
    page.says("Wins every game (proven, by its file): Our network")
    expect(panel).to_contain_text(f"As X: {wins}.")
    expect(panel).not_to_contain_text(strong)
    page.choose("Random")
    expect(panel).to_contain_text(f"As X: {wins}. {strong}")
    expect(panel.get_by_role("radio", name="Wins every game")).to_have_count(0)
