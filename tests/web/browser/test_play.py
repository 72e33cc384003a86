"""Playing: whole games, sides, levels, choices, and what a reload keeps."""

import browsing
import pytest
import rule_cases
import rules
from browsing import GAMES, PENDING, SCREENS, expect

pytestmark = pytest.mark.slow
SHIPPED = "Unbeatable (learned agent): Our network"


@pytest.mark.parametrize(
    ("env_id", "screen"),
    [("tic_tac_toe", "phone"), ("connect_5x4", "wide")],
)
def test_a_whole_game_is_announced_kept_and_counted_once(
    open_page, served_url, env_id, screen
):
    page = open_page(served_url, **SCREENS[screen])
    page.game(env_id)
    is_small = env_id == "tic_tac_toe"
    assert page.legal() == list(range(len(page.names())))
    page.play(0)
    line, stones = page.moves(), page.shown()
    place = f"square {line[1]}" if is_small else f"column {line[1] + 1}"
    texts = page.announced()
    assert any(text.startswith(f"O (the agent): {place}.") for text in texts)
    assert any(text.endswith(page.status()) for text in texts)
    for cell in line if is_small else []:
        page.squares().nth(cell).dispatch_event("click")
        assert cell not in page.legal()
    # The game waits while another one is played, and survives a reload.
    page.game("connect_5x4" if is_small else "tic_tac_toe")
    page.play(1)
    page.game(env_id)
    page.reload()
    assert (page.moves(), page.shown()) == (line, stones)
    assert page.counted()["Games"] == 0
    page.play_to_the_end()
    line = page.moves()
    assert page.status() == browsing.result(env_id, line, "x")
    assert page.status() == "You lost.", "the first free place loses to the agents"
    assert any(text.endswith("You lost.") for text in page.announced())
    page.says_no("Not counted")
    # The winning places are marked.
    text = "in the winning " + ("line" if is_small else "row")
    cells = rule_cases.winning_cells(env_id, browsing.after(env_id, line))
    width = 9 if is_small else rule_cases.plain_search(env_id).columns
    assert page.marked(text) == sorted({cell % width for cell in cells})
    if not is_small:
        stacks = [[] for _ in page.names()]
        for i, column in enumerate(line):
            stacks[column].append("yours" if i % 2 == 0 else "the agent's")
        assert page.columns() == stacks
    assert page.legal() == []
    page.squares().first.dispatch_event("click")
    assert page.moves() == line, "no move after the end"
    page.reload()
    assert (page.moves(), page.status()) == (line, "You lost.")
    once = {"Games": 1, "You won": 0, "Draws": 0, "You lost": 1}
    assert page.counted() == once
    page.new_game()
    assert page.moves() == []
    assert page.counted() == once


# ---- levels

LEVELS = {
    "Beginner": "70% random moves, else the learned agent's. You can beat it.",
    "Casual": "35% random moves, else the learned agent's. You can beat it.",
    "Strong": "10% random moves, else the learned agent's. You can beat it.",
    "Unbeatable": "Proven: no line of play beats it",
    "Expert (perfect play)": "Exact play",
}
"""What the levels of tic-tac-toe play, as the page says it."""
DRAWN = [2, 2, 2, 2, 1, 1, 3, 1, 1, 3, 3, 0, 0]
"""A late position of 5 x 4, from which neither side wins against best play; O is to
move, and all moves but one lose."""


def test_each_level_plays_what_it_shows_and_the_person_plays_either_side(
    page, served_url
):
    for name, words in LEVELS.items():
        page.choose(name)
        expect(page.tab("Game")).to_contain_text(words)
        page.says(name)  # before the first move a choice holds at once
        page.says_no(PENDING)
        page.play_to_the_end(max)
    line = page.moves()
    for count in range(1, len(line), 2):
        best = rules.best_moves(browsing.text_after(line[:count]))
        assert line[count] in best, "perfect play keeps the value"
    # The statistics name the agent's own play alike, whatever is proven by then.
    rows = [name.replace("Unbeatable", "Learned agent at its best") for name in LEVELS]
    assert [page.row(name)[0] for name in rows] == [1] * len(LEVELS)
    # Only a proven agent is called unbeatable; exact play is only for small games.
    page.choose("Unbeatable")
    page.choose_agent("Run weak (network)")
    page.says("Run weak (network)")
    expect(page.get_by_role("radio", name="Unbeatable")).to_have_count(0)
    page.game("connect_7x6")
    page.tab("Game")
    expect(page.get_by_role("radio", name="Expert (perfect play)")).to_have_count(0)
    page.visit(browsing.link(served_url, "connect_5x4", DRAWN, level="expert"))
    page.says("Expert (perfect play)")
    assert page.moves()[: len(DRAWN)] == DRAWN
    while not page.is_over():
        page.play(browsing.best_actions("connect_5x4", page.moves())[0])
    assert page.status() == "A draw."
    # The person plays either side.
    for env_id, games_as_x in (("tic_tac_toe", len(LEVELS)), ("connect_5x4", 0)):
        page.game(env_id)
        page.new_game()
        page.choose("O, the agent starts")
        page.says("Your turn: O")
        assert len(page.moves()) == 1
        page.play_to_the_end()
        assert page.status() == browsing.result(env_id, page.moves(), "o")
        assert page.row("As O")[0] == 1
        assert page.row("As X")[0] == games_as_x
    page.game("tic_tac_toe")
    page.choose("Random")
    turns = set()
    for _ in range(10):
        page.new_game()
        turns.add(page.status())
        assert len(page.moves()) == (page.status() == "Your turn: O")
    assert turns == {"Your turn: X", "Your turn: O"}


# ---- choices


CHANGES = (
    (
        lambda page: page.look_ahead("4 moves"),
        lambda page: page.look_ahead("0 moves: no search"),
    ),
    (
        lambda page: page.choose_agent("Run weak-5x4 (network)"),
        lambda page: page.choose_agent("Our network"),
    ),
    (lambda page: page.radio("O, "), lambda page: page.radio("X, ")),
    (lambda page: page.radio("Casual"), lambda page: page.radio("Unbeatable")),
)
"""Choices of Connect Four, and how to set each back."""


def test_choices_hold_from_the_next_game_on_and_are_remembered(page):
    page.game("connect_5x4")
    page.play(2)
    line = page.moves()
    for change, set_back in CHANGES:
        page.says_no(PENDING)
        page.says(SHIPPED)
        change(page)
        page.says(PENDING)
        page.says(SHIPPED)  # the opponent is as it was
        set_back(page)
    page.says_no(PENDING)
    assert page.moves() == line
    for change, _ in CHANGES[2:]:
        change(page)
    page.tab("Proof")
    page.says(PENDING)
    page.play_to_the_end()
    assert page.row("Learned agent at its best: Our network")[0] == 1
    page.says_no(PENDING)
    page.new_game()
    page.says("Casual")
    page.says("Your turn: O")
    page.play(page.legal()[0])
    page.tab("Game")
    page.radio("Strong")
    page.button("Start a new game now").click()
    page.says_no(PENDING)
    page.has_moves(1)
    page.says("Strong")
    assert page.counted()["Games"] == 1
    # So does a snapshot.
    page.game("tic_tac_toe")
    page.play(4)
    page.tab("Learning")
    snapshot = page.get_by_role("slider", name="Snapshot")
    snapshot.press("Home")
    page.says(PENDING)
    page.says(SHIPPED)
    page.says_no("at update 0")
    page.button("Start a new game now").click()
    page.says("Our network at update 0")
    page.wait_for_turn()
    # The game goes on against the snapshot, without a choice that waits.
    page.play(4)
    line = page.moves()
    page.game("connect_5x4")
    page.game("tic_tac_toe")
    page.reload()
    assert page.moves() == line
    page.says("Our network at update 0")
    page.says_no(PENDING)
    # All choices of all games are there after a reload.
    page.new_game()
    page.choose_agent("Our table")
    page.choose("Casual")
    page.game("connect_7x6")
    page.look_ahead("4 moves")
    page.choose("Strong")
    page.choose("O, ")
    page.show("Exact values")
    page.tab("Proof")
    page.reload()
    page.says("Your turn: O")
    proof = page.get_by_role("tab", name="Proof")
    expect(proof).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("checkbox", name="Exact values")).to_be_checked()
    page.tab("Game")
    for name in ("Strong", "O, the agent starts"):
        expect(page.get_by_role("radio", name=name)).to_be_checked()
    depth = page.get_by_label("The agent looks ahead")
    expect(depth.locator("option:checked")).to_have_text("4 moves")
    page.game("tic_tac_toe")
    for name in ("Casual", "X, you start"):
        expect(page.get_by_role("radio", name=name)).to_be_checked()
    chosen = page.get_by_label("Learned agent", exact=True)
    expect(chosen.locator("option:checked")).to_have_text("Our table")
    page.says("Casual level of our table")


# ---- faults, other tabs, and time


def test_a_failed_move_is_tried_again_and_a_panel_that_fails_stops_no_game(
    open_page, served_url
):
    page = open_page(served_url, expected="ERR_|Failed to load|a fault")
    files = "**/api/agents/file*weak*"
    page.route(files, lambda route: route.abort())
    page.choose_agent("Run weak (network)")
    page.squares().nth(4).click()
    page.says("That did not work.")
    page.says("The server does not answer.")
    assert page.moves() == [4]
    page.unroute(files)
    page.button("Try again").click()
    page.has_moves(2)
    expect(page.button("Try again")).to_have_count(0)
    page.play_to_the_end()
    assert page.counted()["Games"] == 1
    # A panel that fails.
    page.new_game()
    broken = 'export function ReviewPanel() { throw new Error("a fault"); }'
    page.route(
        "**/static/views/review_panel.js",
        lambda route: route.fulfill(body=broken, content_type="text/javascript"),
    )
    page.reload()
    expect(page.tab("Review")).to_contain_text("This panel failed: a fault")
    page.play(4)
    page.has_moves(2)
    expect(page.tab("Game")).to_contain_text("Learned agent")


def test_two_tabs_have_games_of_their_own_and_share_the_statistics(
    open_page, served_url, page
):
    other = open_page(served_url, context=page.context)
    other.play(8)
    other.tab("Statistics")
    before = other.announced()
    page.bring_to_front()  # a tab behind has slow timers
    page.play(4)
    lines = page.moves(), other.moves()
    assert lines[0][0] != lines[1][0]
    page.play_to_the_end()
    other.bring_to_front()
    expect(other.get_by_role("definition").first).to_have_text("1")
    assert other.announced() == before, "nothing happened on its board"
    assert other.moves() == lines[1]
    other.reload()
    assert other.moves() == lines[1]
    other.play_to_the_end()
    page.bring_to_front()
    page.tab("Statistics")
    expect(page.get_by_role("definition").first).to_have_text("2")


REPLY = """(index) => new Promise((resolve) => {
  const list = document.querySelector("[aria-label='Moves of this game']");
  const counts = [];
  const begin = performance.now();
  new MutationObserver((_, observer) => {
    const count = list.querySelectorAll("li").length;
    if (count !== counts.at(-1)) counts.push(count);
    if (count < 2) return;
    observer.disconnect();
    resolve([counts, performance.now() - begin]);
  }).observe(list, { childList: true, subtree: true });
  document.querySelectorAll("[role=grid] button")[index].click();
})"""
"""Click a place; return the numbers of moves that the page lists until the reply, and
the milliseconds until then."""


def test_a_reply_appears_as_a_move_of_its_own(open_page, served_url):
    """The timers are the browser's, as people have them."""
    page = open_page(served_url, is_changed=False)
    for env_id in GAMES:
        page.game(env_id)
        counts, milliseconds = page.evaluate(REPLY, 1)
        assert counts == [1, 2]
        assert milliseconds > 200
