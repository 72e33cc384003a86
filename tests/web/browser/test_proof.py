"""The proof: its numbers equal Python's, and a losing line is shown."""

import re

import browsing
import pytest
import rule_cases
import tiny
from browsing import GAMES, PENDING, expect

from jax_ttt.config.game_facts import SIDES
from jax_ttt.config.grade import Grade, SeatGrade
from jax_ttt.config.settings import Config
from jax_ttt.players import registry, saved_agents
from jax_ttt.players.shipped import ALL, SHIPPED
from jax_ttt.solver import outcomes

pytestmark = pytest.mark.slow
CHECK = "Check again in this browser"


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


def test_connect_four_5x4_is_proven_again_in_the_browser_and_7x6_is_not(page):
    grade = saved_agents.load_agent(ALL["connect-5x4"]).grade
    page.game("connect_5x4")
    panel = page.tab("Proof")
    for seat, letter in ((grade.first, "X"), (grade.second, "O")):
        assert seat is not None
        expect(page.card(letter)).to_contain_text("Unbeatable")
        expect(page.card(letter)).to_contain_text(f"{total(seat.lines):,}")
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
    expect(panel).to_contain_text("too many positions to follow all lines")
    assert page.button(CHECK).is_disabled()


def test_the_agent_of_7x6_wins_moving_first_and_the_page_shows_how_it_loses_second(
    page,
):
    grade = saved_agents.load_agent(ALL["connect-7x6"]).grade
    assert grade.first is not None
    assert grade.second is not None
    page.game("connect_7x6")
    panel = page.tab("Proof")
    number = f"{grade.first.num_corrections:,}"
    expect(panel).to_contain_text(
        f"Wins every game moving first, proven by its file with {number} corrections"
    )
    expect(page.card("X")).to_contain_text(f"{total(grade.first.lines):,}")
    expect(page.card("O")).to_contain_text("followed, by its file")
    line = show_losing_line(page, "O")
    assert line == list(grade.second.losing_line or ())
    assert browsing.result("connect_7x6", line, "o") == "You lost."
    # Played by a person, the line beats the agent itself.
    page.new_game()
    for move in line[::2]:
        page.play(move)
    assert page.moves() == line
    assert page.status() == "You won."


SOME_LINES = "Check some lines in this browser"


def test_lines_of_the_agent_of_7x6_are_checked_until_they_are_stopped(page):
    page.game("connect_7x6")
    page.tab("Proof")
    card = page.card("X")
    button = card.get_by_role("button", name=SOME_LINES)
    button.click()
    expect(card).to_contain_text(re.compile(r"\d+ of 1,000 lines checked: all won"))
    page.play_to_the_end()  # the check does not hold up the game
    assert button.is_disabled()
    card.get_by_role("button", name="Stop").click()
    expect(card).to_contain_text("lines checked: all won; the check was stopped")
    expect(button).to_be_enabled()
    other = page.card("O").get_by_role("button", name=SOME_LINES)
    expect(other).to_have_count(0)  # nothing is proven there


def test_the_corrections_of_7x6_are_counted_by_stones(page):
    grade = saved_agents.load_agent(ALL["connect-7x6"]).grade.first
    assert grade is not None
    positions, corrections = grade.positions, grade.corrections
    assert positions is not None
    assert corrections is not None
    page.game("connect_7x6")
    page.tab("Proof")
    card = page.card("X")
    own = sum(positions[::2])
    expect(card).to_contain_text(
        f"on {grade.num_corrections:,} of the {own:,} positions in which it moves"
    )
    card.get_by_text("Corrections by stones").click()
    rows = card.get_by_role("row").all_inner_texts()[1:]
    expected = [
        f"{stones}\t{positions[stones]:,}\t{corrections[stones]:,}"
        for stones in range(0, len(positions), 2)
    ]
    assert rows == expected


def test_some_lines_find_that_a_file_says_what_is_not_true(page, tmp_path):
    game = "Connect Four 5 \u00d7 5"
    page.add_agent(save_claim(tmp_path / "big.safetensors", "connect_5x5"), game)
    page.tab("Proof")
    card = page.card("O")
    card.get_by_role("button", name=SOME_LINES).click()
    expect(card).to_contain_text("1 lost. NOT what its file says: the line ")
    page.hear("NOT what its file says")
    card.get_by_role("button", name="Show this line").click()
    page.says("X wins")
    assert browsing.result("connect_5x5", page.moves(), "o") == "You lost."


def save_claim(path, env_id):
    """Save an untrained agent; its file says that it is proven, and is not damaged."""
    agent = tiny.untrained(Config.of(env_id=env_id, hidden_size=8))
    seat = SeatGrade(
        win_rate=1.0, draw_rate=0.0, loss_rate=0.0, complete=True, beaten=False
    )
    score = Grade(env_id=agent.config.env_id, first=seat, second=seat)
    assert score.unbeatable
    saved_agents.save_agent(agent.with_grade(score), path)
    return path


def test_a_file_that_was_changed_after_it_was_saved_is_not_added(page, tmp_path):
    """All weights are 0, and its header still says that nobody beats the agent."""
    file = tmp_path / "damaged.safetensors"
    file.write_bytes(rule_cases.with_zero_weights(SHIPPED["network"].read_bytes()))
    page.tab("Learning")
    page.upload("Add an agent's file", file)
    page.hear("was not added: its contents were changed after they were saved")
    expect(page.get_by_role("tabpanel")).to_contain_text("No agent is kept yet")


UNBEATABLE = re.compile("Unbeatable")


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_5x4"])
def test_a_file_that_says_what_is_not_true_is_not_believed(page, tmp_path, env_id):
    """At no moment, not even before this browser has followed the lines of play."""
    page.evaluate(
        """() => {
            window.shown = "";
            const look = () => {
                const text = document.body.innerText;
                if (text.includes(": Kept: claim")) window.shown += text;
            };
            new MutationObserver(look).observe(document, {
                childList: true, characterData: true, subtree: true,
            });
        }"""
    )
    page.add_agent(save_claim(tmp_path / "claim.safetensors", env_id), GAMES[env_id])
    panel = page.tab("Proof")
    for letter in "XO":
        expect(page.card(letter)).to_contain_text("Can be beaten")
        expect(page.card(letter)).to_contain_text("Its file says the opposite")
    expect(panel).not_to_contain_text(UNBEATABLE)
    expect(page.tab("Game")).to_contain_text("Some line of play beats it")
    page.says("Learned agent at its best: Kept: claim")
    assert "its best: Kept: claim" in page.evaluate("window.shown")
    assert "Unbeatable" not in page.evaluate("window.shown")


def test_where_the_browser_checks_nothing_the_verdict_is_said_to_be_the_files(
    page, tmp_path
):
    game = "Connect Four 5 \u00d7 5"
    page.add_agent(save_claim(tmp_path / "big.safetensors", "connect_5x5"), game)
    panel = page.tab("Proof")
    for letter in "XO":
        expect(page.card(letter)).to_contain_text("Unbeatable by its file")
    assert page.button(CHECK).is_disabled()
    expect(page.tab("Game")).to_contain_text("Its file says that no line of play")
    page.says("Unbeatable by its file (learned agent): Kept: big")
    assert panel.get_by_role("button", name="Show me").count() == 0


def show_losing_line(page, letter):
    """Show how to beat the agent as a side, to the end; return the moves."""
    page.tab("Proof")
    expect(page.card(letter)).to_contain_text("Can be beaten", timeout=60_000)
    page.card(letter).get_by_role("button", name="Show me how to beat it").click()
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
    page.card("X").get_by_role("button", name="Show me how to beat it").click()
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
    expect(page.card("X")).to_contain_text("lost")
    page.tab("Learning")
    page.button("Play against it as it was then").click()
    page.says("at update 0")
    page.play(4)
    page.tab("Learning")
    page.button("Back to the latest").click()
    panel = page.tab("Proof")
    expect(page.card("X")).to_contain_text("Unbeatable")
    expect(panel).not_to_contain_text("Can be beaten")
