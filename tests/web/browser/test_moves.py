"""The moves of a game: undo, earlier positions, links, copies, and keys."""

import browsing
import pytest
import rule_cases
from browsing import GAMES, expect, link

pytestmark = pytest.mark.slow
SELECTED = ("aria-selected", "true")
CLIPBOARD = ["clipboard-read", "clipboard-write"]


def play_uncounted(page, reason):
    """Play on; the game is not counted, for this reason."""
    before = page.counted()["Games"]
    if not page.is_over():
        page.says(f"Not counted: {reason}.")  # during the game, too
    page.play_to_the_end()
    page.says(f"Not counted: {reason}.")
    assert page.counted()["Games"] == before


def check_undo(page):
    """Check that Undo takes back a move and its reply; one game is counted."""
    page.play(1)
    before = page.moves()
    page.play(page.legal()[0])
    page.button("Undo").click()
    assert page.moves() == before
    assert page.status().startswith("Your turn")
    # A reply that is still being computed does not come.
    page.squares().nth(page.legal()[0]).evaluate("one => one.click()")
    page.keyboard.press("u")
    page.wait_for_timeout(200)
    assert page.moves() == before
    undo = page.button("Undo")
    undo.click()
    assert page.moves() == []
    assert undo.is_disabled()
    expect(undo).to_be_focused()
    play_uncounted(page, "a move was taken back")
    # A game whose last move is taken back is counted, once.
    page.new_game()
    page.play_to_the_end()
    undo.click()
    page.play_to_the_end(max)
    page.says("Not counted: ")
    assert page.counted()["Games"] == 1


def check_branch(page):
    """Check that a branch is not counted, and that the first line comes back."""
    page.new_game()
    for _ in range(2):
        page.play(page.legal()[0])
    line = page.moves()
    for _ in range(2):
        page.button("One move back").click()
    page.says("Move 2 of 4")
    other = next(move for move in page.legal()[::-1] if move != line[2])
    page.play(other)
    assert page.moves()[:3] == [*line[:2], other]
    page.says("You play on from move 2")
    page.reload()
    play_uncounted(page, "you played on from an earlier position")
    page.button("Return to the first line").click()
    page.has_line(line)
    page.wait_for_turn()
    expect(page.button("Return to the first line")).to_have_count(0)
    page.says_no("Not counted")
    page.play_to_the_end()
    assert page.counted()["Games"] == 2


def check_earlier_positions(page):
    """Check that clicks and keys lead to them; return a position and the game."""
    page.new_game()
    positions = []
    for _ in range(2):
        page.play(page.legal()[0])
        positions.append(page.shown())
    page.move_list().nth(1).click()
    page.says("Move 2 of 4")
    assert page.shown() == positions[0]
    assert page.move_list().nth(1).get_attribute("aria-current") == "step"
    page.keyboard.press("ArrowRight")
    page.says("Move 3 of 4")
    page.keyboard.press("Home")
    assert len(page.legal()) == len(page.names()), "the empty board"
    page.keyboard.press("End")
    page.wait_for_turn()
    assert page.shown() == positions[1]
    forward = page.button("One move forward")
    assert forward.is_disabled()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowLeft")
    page.says("Move 3 of 4")
    forward.click()
    page.wait_for_turn()
    assert page.shown() == positions[1]
    expect(forward).to_be_focused()
    return positions[0], page.moves()


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_5x4"])
def test_moves_are_taken_back_branched_shown_copied_and_linked(
    open_page, served_url, env_id
):
    page = open_page(served_url, permissions=CLIPBOARD)
    page.game(env_id)
    check_undo(page)
    check_branch(page)
    position, line = check_earlier_positions(page)
    for _ in range(2):
        page.button("One move back").click()
    # The copies are of the position that is shown.
    copied = {}
    for kind, name in (("link", "Link"), ("as text", "Text"), ("as SVG", "SVG")):
        page.button(f"Copy {kind}").click()
        page.hear(f"{name} copied.")
        copied[kind] = page.evaluate("navigator.clipboard.readText()")
    cells = browsing.after(env_id, line[:2])
    letters = ["X" if cell == 1 else "O" if cell == -1 else "-" for cell in cells]
    *rows, last = copied["as text"].splitlines()
    assert "".join(rows) == "".join(letters)
    first = 0 if env_id == "tic_tac_toe" else 1
    assert last == "Moves: " + "".join(str(move + first) for move in line[:2])
    assert page.moves() == line
    page.reload()
    assert page.moves() == line
    # The link leads to the position; its game is not counted.
    page.visit(copied["link"])
    assert page.moves() == line[:2]
    assert page.shown() == position
    play_uncounted(page, "it was begun by a link")
    page.goto("about:blank")
    page.set_content(copied["as SVG"])  # it is drawn without the page's style
    width = rule_cases.plain_search(env_id).columns
    assert page.locator("svg").bounding_box()["width"] == 100 * width
    for letter, colour in (("X", "#0072b2"), ("O", "#d55e00")):
        stones = page.locator(f"svg [fill='{colour}'], svg [stroke='{colour}']")
        expect(stones).to_have_count(letters.count(letter))


BROKEN = (
    {"moves": "4.4"},
    {"moves": "9"},
    {"moves": "0.3.1.4.2.5"},  # on after the end
    {"moves": "0.1", "start": "nonsense"},
    {"level": "analysis", "start": "XXXX----- x"},
    {"level": "nobody", "agent": "none", "moves": "0.0"},
)
"""Links that hold no position of tic-tac-toe."""


def is_open(page, env_id, tab, line):
    """Wait until a game is open with a tab and these moves."""
    title = page.get_by_role("button", name=GAMES[env_id])
    expect(title).to_have_attribute("aria-current", "page")
    name, _ = browsing.PARTS.get(tab, (tab, None))
    expect(page.get_by_role("tab", name=name)).to_have_attribute(*SELECTED)
    page.has_moves(len(line))
    assert page.moves() == line


def test_links_are_followed_in_an_open_page_and_broken_ones_refused(page, served_url):
    for fields in BROKEN:
        page.play(4)
        page.goto(link(served_url, "tic_tac_toe", [], **fields))
        page.hear("The link's position is not a position of this game.")
        page.has_moves(0)
        page.wait_for_turn()
        assert page.board() == "-" * 9, fields
    # An unknown level, agent or tab does not matter.
    page.tab("Proof")
    for word in ("nobody", "constructor", "__proto__"):
        fields = {"level": word, "agent": "run/nobody", "update": "77", "tab": word}
        line = [4, 0, 8, 2] if word == "__proto__" else [4, 0]
        page.goto(link(served_url, "tic_tac_toe", line, **fields))
        page.has_line(line)
        page.says("Unbeatable (learned agent)")
        expect(page.get_by_role("tab", name="Proof")).to_have_attribute(*SELECTED)
    assert page.board() == "O-O-X---X"
    line = [0, 6, 0, 6]
    page.goto(link(served_url, "connect_7x6", line))
    page.has_line(line)
    # The open tab is in the address, which may have nothing else.
    page.tab("Statistics")
    page.visit(page.url)
    is_open(page, "connect_7x6", "Statistics", line)
    page.goto(f"{served_url}/#tab=proof")
    is_open(page, "connect_7x6", "Proof", line)
    # A link to an unknown game is refused, and the page plays.
    for part in ("game=chess&moves=1&tab=proof", "moves=x", "%00", "game"):
        page.visit(f"{served_url}/#{part}")
        page.hear("The page does not have the game of this link.")
    page.game("tic_tac_toe")
    page.new_game()
    page.play_to_the_end()
    assert page.counted()["Games"] == 1


def test_back_and_forward_lead_to_the_games_that_were_chosen(page):
    entries = page.evaluate("history.length")
    page.play(4)
    page.tab("Proof")
    squares = page.moves()
    page.game("connect_5x4")
    page.play(1)
    page.play(1)
    page.tab("Review")
    columns = page.moves()
    assert page.evaluate("history.length") == entries + 1, "neither moves nor tabs"
    expect(page.page).to_have_title("Connect Four 5 \u00d7 4: your turn \u2013 jax_ttt")
    page.go_back()
    is_open(page, "tic_tac_toe", "Proof", squares)
    expect(page.page).to_have_title("Tic-tac-toe: your turn \u2013 jax_ttt")
    page.play(page.legal()[0])
    squares = page.moves()
    page.go_forward()
    is_open(page, "connect_5x4", "Review", columns)
    # A game that is chosen again goes on; its older entry leads to the same game.
    page.game("tic_tac_toe")
    page.play_to_the_end()
    squares = page.moves()
    page.go_back()
    is_open(page, "connect_5x4", "Review", columns)
    page.go_back()
    is_open(page, "tic_tac_toe", "Proof", squares)
    assert page.counted()["Games"] == 1


# ---- keys

KEYS = (
    ("3", 2),
    ("h", None),
    ("u", 0),
    ("1", 2),
    ("n", 0),
    ("H", None),
    ("2", 2),
    ("U", 0),
    ("Control+1", 0),
    ("4", 2),
    ("N", 0),
)
"""Keys, and the number of moves after each; None for a hint."""


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_5x4"])
def test_keys_play_undo_hint_and_begin_again(page, env_id):
    """Also while a radio button or a checkbox has the focus."""
    expect(page.tab("Keys").get_by_text("undo", exact=True)).to_be_visible()
    page.game(env_id)
    page.tab("Game")
    radio = page.get_by_role("radio", name="Unbeatable")
    box = page.get_by_role("checkbox", name="Exact values")
    for control in (None, radio, box):
        if control is None:
            page.evaluate("document.activeElement.blur()")
        else:
            control.focus()
        for key, number in KEYS:
            page.keyboard.press(key)
            if number is None:
                page.says("Hint: ")
            else:
                page.has_moves(number)
            page.wait_for_turn()
            if key == "3":
                assert page.moves()[0] == (3 if env_id == "tic_tac_toe" else 2)
            if control is not None:
                expect(control).to_be_focused()
    page.keyboard.press("Space")
    assert box.is_checked()
    page.keyboard.press("Space")
    if env_id == "connect_5x4":
        page.keyboard.press("6")
        assert page.moves() == [], "there is no such column"
        page.get_by_label("The agent looks ahead").focus()
    else:
        page.tab("Learning")
        page.get_by_role("slider", name="Snapshot").focus()
    page.keyboard.type("4hun")
    assert page.moves() == [], "these are keys of the control with the focus"
    assert page.marked("hint") == []
