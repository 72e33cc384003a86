"""Playing: whole games, levels, the list of moves, links, hints, values and review."""

import random
import re
import statistics
import time

import browsing
import pytest
import rules
from browsing import (
    GAMES,
    PENDING,
    SCREENS,
    announced,
    area,
    best_actions,
    board,
    button,
    columns,
    counted,
    expect,
    hear,
    is_over,
    legal,
    level,
    link,
    marked,
    move_list,
    moves,
    names,
    play,
    play_to_the_end,
    radio,
    row_of,
    says,
    show,
    side,
    squares,
    status,
    tab,
    wait_for_turn,
)

pytestmark = pytest.mark.slow
LATE = {
    "connect_5x4": [2, 2, 2, 2, 1, 1, 3, 1, 1, 3, 3, 0],
    "connect_7x6": [
        *(1, 0, 0, 2, 4, 3, 5, 0, 5, 4, 1, 0, 3, 6, 6),
        *(3, 4, 4, 5, 5, 5, 5, 3, 3, 3, 4, 1, 2, 4, 0),
    ],
}
"""Games of Connect Four that are near their end, with the first player to move."""


@pytest.fixture
def page(open_page, served_url):
    return open_page(served_url)


def in_game(page, env_id):
    """Open a game and return its page."""
    browsing.game(page, env_id)
    return page


# ---- whole games


def test_the_page_is_playable_at_once(open_page, served_url):
    open_page(served_url)  # the browser and the server are warm now
    began = time.monotonic()
    page = open_page(served_url)
    seconds = time.monotonic() - began
    print(f"ready after {seconds:.2f} s")
    assert legal(page) == list(range(9))
    assert seconds < 10
    assert status(page) == "Your turn: X"


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("env_id", GAMES)
def test_a_whole_game_ends_with_a_result_that_is_said_and_counted(
    open_page, served_url, env_id, screen
):
    page = in_game(open_page(served_url, **SCREENS[screen]), env_id)
    play_to_the_end(page)
    line = moves(page)
    assert status(page) == browsing.result(env_id, line, "x")
    assert status(page) == "You lost.", "the first free place loses to the agents"
    assert announced(page)[-1].endswith("You lost.")
    assert button(page, "Review this game").is_visible()
    text = "in the winning " + ("line" if env_id == "tic_tac_toe" else "row")
    assert marked(page, text) == winning_places(env_id, line)
    assert legal(page) == []
    squares(page).first.click(force=True)
    assert moves(page) == line, "no move after the end"
    every = {"Games": 1, "You won": 0, "Draws": 0, "You lost": 1}
    assert counted(page) == every
    button(page, "New game").click()
    wait_for_turn(page)
    assert moves(page) == []
    assert counted(page) == every


def winning_places(env_id, line):
    """Return the squares or columns with stones of the winning rows."""
    import rule_cases

    cells = rule_cases.winning_cells(env_id, browsing.after(env_id, line))
    width = browsing.plain_search(env_id).columns
    return sorted({cell if env_id == "tic_tac_toe" else cell % width for cell in cells})


def test_a_stone_lies_on_the_others_of_its_column(page):
    in_game(page, "connect_5x4")
    for column in (2, 2, 0):
        play(page, column)
    stacks = [[] for _ in range(5)]
    for i, column in enumerate(moves(page)):
        stacks[column].append("yours" if i % 2 == 0 else "the agent's")
    assert columns(page) == stacks


def test_a_square_that_is_taken_is_not_played(page):
    play(page, 4)
    before = board(page)
    for cell in (4, before.index("O")):
        squares(page).nth(cell).click(force=True)
        assert cell not in legal(page)
    assert board(page) == before


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_5x4"])
def test_the_agent_begins_if_asked_and_the_side_is_counted(page, env_id):
    in_game(page, env_id)
    letter = "O" if env_id == "tic_tac_toe" else "Orange"
    side(page, f"{letter}, the agent starts")
    assert status(page) == f"Your turn: {letter}"
    assert len(moves(page)) == 1
    play_to_the_end(page)
    assert status(page) == browsing.result(env_id, moves(page), "o")
    panel = tab(page, "Statistics")
    assert row_of(panel, f"As {letter}")[0] == 1
    assert sum(row_of(panel, "As " + ("X" if letter == "O" else "Blue"))) == 0


def test_a_random_side_is_both_sides_in_turn(page):
    side(page, "Random")
    seen = set()
    for _ in range(20):
        button(page, "New game").click()
        wait_for_turn(page)
        seen.add(status(page))
        assert len(moves(page)) == (status(page) == "Your turn: O")
    assert seen == {"Your turn: X", "Your turn: O"}


# ---- levels


def sensible(page, env_id):
    if env_id == "tic_tac_toe":
        return rules.best_moves(board(page))[0]
    return browsing.sensible(env_id, moves(page))


@pytest.mark.parametrize("env_id", GAMES)
def test_a_beginner_can_be_beaten(page, env_id):
    in_game(page, env_id)
    level(page, "Beginner")
    expect(tab(page, "Game")).to_contain_text("You can beat it")
    for _ in range(8):
        while not is_over(page):
            play(page, sensible(page, env_id))
        if status(page) == "You won.":
            break
        button(page, "New game").click()
        wait_for_turn(page)
    assert status(page) == "You won."
    assert announced(page)[-1].endswith("You won.")
    panel = tab(page, "Statistics")
    assert row_of(panel, "Beginner")[1] == 1


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_5x4"])
def test_perfect_play_never_loses(page, env_id):
    in_game(page, env_id)
    level(page, "Perfect play")
    choose = random.Random(3).choice
    for _ in range(6 if env_id == "tic_tac_toe" else 2):
        play_to_the_end(page, choose)
        line = moves(page)
        assert status(page) == browsing.result(env_id, line, "x")
        assert status(page) != "You won."
        button(page, "New game").click()
        wait_for_turn(page)


def test_the_replies_of_perfect_play_keep_the_value(page):
    level(page, "Perfect play")
    play_to_the_end(page, max)
    line = moves(page)
    for count in range(1, len(line), 2):
        now = text_after(line[:count])
        assert line[count] in rules.best_moves(now)


def text_after(line):
    """Return the squares after moves as text, in the notation of `rules`."""
    now = "-" * 9
    for cell in line:
        now = rules.after(now, cell)
    return now


def test_only_games_that_the_browser_solves_offer_perfect_play(page):
    perfect = page.get_by_role("radio", name="Perfect play")
    expect(perfect).to_have_count(1)
    in_game(page, "connect_7x6")
    tab(page, "Game")
    expect(perfect).to_have_count(0)
    expect(page.get_by_role("radio", name="Unbeatable")).to_have_count(0)
    expect(tab(page, "Game")).to_contain_text("Not proven unbeatable")


LEVELS = {
    "Beginner": "70 times of 100",
    "Casual": "35 times of 100",
    "Strong": "10 times of 100",
    "Unbeatable": "Proven: no line of play beats it",
    "Perfect play": "Exact play",
}
"""What the levels of tic-tac-toe play, as the page says it."""


def test_each_level_says_what_it_plays_and_plays_it(page):
    for name, words in LEVELS.items():
        level(page, name)
        expect(tab(page, "Game")).to_contain_text(words)
        says(page, name)
        play_to_the_end(page, max)
    panel = tab(page, "Statistics")
    assert [row_of(panel, name)[0] for name in LEVELS] == [1] * len(LEVELS)


def test_an_untrained_agent_is_not_called_unbeatable(page):
    browsing.agent(page, "Run weak (network)")
    says(page, "Run weak (network)")
    expect(page.get_by_role("radio", name="Unbeatable")).to_have_count(0)


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_7x6"])
def test_a_choice_in_the_middle_of_a_game_offers_a_new_game(page, env_id):
    in_game(page, env_id)
    play(page, 2)
    line = moves(page)
    level(page, "Casual")
    radio(page, "O" if env_id == "tic_tac_toe" else "Orange")
    assert moves(page) == line
    says(page, PENDING)
    assert "Casual" not in area(page).inner_text()
    tab(page, "Proof")
    says(page, PENDING)
    button(page, "Start a new game now").click()
    wait_for_turn(page)
    assert len(moves(page)) == 1
    says(page, "Casual")
    expect(area(page)).not_to_contain_text(PENDING)
    assert counted(page)["Games"] == 0


CHANGES = {
    "level": (
        lambda page: radio(page, "Beginner"),
        lambda page: radio(page, "Unbeatable"),
    ),
    "side": (lambda page: radio(page, "Orange"), lambda page: radio(page, "Blue")),
    "look-ahead": (
        lambda page: browsing.look_ahead(page, "4 moves"),
        lambda page: browsing.look_ahead(page, "0 moves: no search"),
    ),
    "agent": (
        lambda page: choose_agent(page, "Run weak-5x4 (network)"),
        lambda page: choose_agent(page, "Shipped network"),
    ),
}
"""Choices of Connect Four, and how to set each back."""


def choose_agent(page, title):
    page.get_by_label("Learned agent", exact=True).select_option(title)


@pytest.mark.parametrize("choice", CHANGES)
def test_a_choice_that_is_set_back_leaves_the_game_and_no_notice(page, choice):
    change, set_back = CHANGES[choice]
    in_game(page, "connect_5x4")
    play(page, 2)
    line = moves(page)
    words = "Unbeatable (learned agent): Shipped network"
    says(page, words)
    expect(area(page)).not_to_contain_text(PENDING)
    change(page)
    says(page, PENDING)
    says(page, words)  # the opponent is as it was
    set_back(page)
    expect(area(page)).not_to_contain_text(PENDING)
    assert moves(page) == line
    change(page)
    play_to_the_end(page)
    assert row_of(tab(page, "Statistics"), words)[0] == 1
    expect(area(page)).not_to_contain_text(PENDING)


def test_a_snapshot_that_is_chosen_in_a_game_holds_from_the_next_one_on(page):
    play(page, 4)
    tab(page, "Learning")
    snapshot = page.get_by_role("slider", name="Snapshot")
    snapshot.press("Home")
    says(page, PENDING)
    says(page, "Unbeatable (learned agent): Shipped network")
    assert "at update 0" not in area(page).inner_text()
    snapshot.press("End")
    expect(area(page)).not_to_contain_text(PENDING)
    snapshot.press("Home")
    button(page, "Start a new game now").click()
    wait_for_turn(page)
    says(page, "Shipped network at update 0")
    # The game goes on against the snapshot, without a choice that waits.
    play(page, 4)
    line = moves(page)
    in_game(page, "connect_5x4")
    in_game(page, "tic_tac_toe")
    for _ in range(2):
        assert moves(page) == line
        says(page, "Shipped network at update 0")
        expect(area(page)).not_to_contain_text(PENDING)
        page.reload()
        wait_for_turn(page)


def test_a_choice_before_the_first_move_holds_at_once(page):
    level(page, "Strong")
    says(page, "Strong")
    expect(area(page)).not_to_contain_text(PENDING)


def test_a_move_that_failed_is_tried_again(open_page, served_url):
    page = open_page(served_url, expected="ERR_|Failed to load")
    files = "**/api/agents/file*weak*"
    page.route(files, lambda route: route.abort())
    browsing.agent(page, "Run weak (network)")
    squares(page).nth(4).click()
    says(page, "That did not work.")
    says(page, "The server does not answer.")
    assert moves(page) == [4]
    page.unroute(files)
    button(page, "Try again").click()
    expect(move_list(page)).to_have_count(2)
    expect(button(page, "Try again")).to_have_count(0)
    play_to_the_end(page)
    assert counted(page)["Games"] == 1


# ---- what is remembered


def test_choices_are_remembered_after_a_reload(page):
    browsing.agent(page, "Shipped table")
    level(page, "Casual")
    in_game(page, "connect_7x6")
    level(page, "Strong")
    side(page, "Orange")
    browsing.look_ahead(page, "4 moves")
    show(page, "Exact values")
    tab(page, "Proof")
    page.reload()
    wait_for_turn(page)
    assert status(page) == "Your turn: Orange"
    proof = page.get_by_role("tab", name="Proof")
    assert proof.get_attribute("aria-selected") == "true"
    assert page.get_by_role("checkbox", name="Exact values").is_checked()
    tab(page, "Game")
    for name in ("Strong", "Orange, the agent starts"):
        assert page.get_by_role("radio", name=name).is_checked()
    depth = page.get_by_label("The agent looks ahead")
    assert depth.locator("option:checked").inner_text() == "4 moves"
    in_game(page, "tic_tac_toe")
    assert page.get_by_role("radio", name="Casual").is_checked()
    assert page.get_by_role("radio", name="X, you start").is_checked()
    chosen = page.get_by_label("Learned agent", exact=True)
    assert chosen.locator("option:checked").inner_text() == "Shipped table"
    says(page, "Casual: Shipped table")


def shown(page):
    """Return the stones on the board."""
    return columns(page) if "Column" in names(page)[0] else board(page)


@pytest.mark.parametrize("env_id", GAMES)
def test_a_reload_in_the_middle_keeps_the_game_and_it_still_counts(page, env_id):
    in_game(page, env_id)
    level(page, "Strong")
    for _ in range(2):
        play(page, legal(page)[0])
    line, stones = moves(page), shown(page)
    page.reload()
    wait_for_turn(page)
    assert moves(page) == line
    assert shown(page) == stones
    says(page, "Strong")
    assert counted(page)["Games"] == 0
    play_to_the_end(page)
    assert "Not counted" not in area(page).inner_text()
    page.reload()
    wait_for_turn(page)
    assert status(page) == browsing.result(env_id, moves(page), "x")
    assert counted(page)["Games"] == 1, "once"


def test_a_game_waits_while_another_one_is_played(page):
    play(page, 4)
    line = moves(page)
    in_game(page, "connect_5x4")
    play(page, 1)
    in_game(page, "tic_tac_toe")
    assert moves(page) == line
    in_game(page, "connect_5x4")
    assert moves(page)[0] == 1


def test_two_tabs_keep_games_of_their_own(open_page, served_url, page):
    other = open_page(served_url, context=page.context)
    play(other, 8)
    page.bring_to_front()  # a tab behind has slow timers
    play(page, 4)
    first, second = moves(page), moves(other)
    assert first[0] != second[0]
    other.bring_to_front()
    other.reload()
    wait_for_turn(other)
    assert moves(page) == first
    assert moves(other) == second
    play_to_the_end(other)
    page.bring_to_front()
    play_to_the_end(page)
    page.bring_to_front()
    tab(page, "Statistics")
    expect(page.get_by_role("definition").first).to_have_text("2")


# ---- games that do not count


def play_and_see(page, reason):
    if not is_over(page):
        says(page, f"Not counted: {reason}.")  # during the game, too
    play_to_the_end(page)
    says(page, f"Not counted: {reason}.")
    assert counted(page)["Games"] == 0


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_5x4"])
def test_undo_takes_back_a_move_and_its_reply(page, env_id):
    in_game(page, env_id)
    play(page, 1)
    before = moves(page)
    play(page, legal(page)[0])
    button(page, "Undo").click()
    assert moves(page) == before
    assert status(page).startswith("Your turn")
    button(page, "Undo").click()
    assert moves(page) == []
    undo = button(page, "Undo")
    assert undo.is_disabled()
    expect(undo).to_be_focused()
    page.keyboard.press("Enter")
    assert moves(page) == []
    page.keyboard.press("Tab")
    expect(button(page, "Hint")).to_be_focused()
    play_and_see(page, "a move was taken back")


def test_a_reply_does_not_come_after_undo(page):
    play(page, 4)
    before = moves(page)
    cell = legal(page)[0]
    squares(page).nth(cell).evaluate("one => one.click()")
    page.keyboard.press("u")
    page.wait_for_timeout(300)
    assert moves(page) == before


def test_a_game_counts_once_though_its_last_move_is_taken_back(page):
    play_to_the_end(page)
    button(page, "Undo").click()
    play_to_the_end(page, max)
    says(page, "Not counted: ")
    assert counted(page)["Games"] == 1


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_7x6"])
def test_a_branch_is_not_counted_and_the_first_line_comes_back(page, env_id):
    in_game(page, env_id)
    for _ in range(2):
        play(page, legal(page)[0])
    line = moves(page)
    for _ in range(2):
        button(page, "One move back").click()
    says(page, "Move 2 of 4")
    other = next(move for move in legal(page)[::-1] if move != line[2])
    play(page, other)
    assert moves(page)[:3] == [*line[:2], other]
    says(page, "You play on from move 2")
    page.reload()
    wait_for_turn(page)
    play_and_see(page, "you played on from an earlier position")
    button(page, "Return to the first line").click()
    wait_for_turn(page)
    assert moves(page) == line
    expect(button(page, "Return to the first line")).to_have_count(0)
    expect(area(page)).not_to_contain_text("Not counted")
    play_to_the_end(page)
    assert counted(page)["Games"] == 1


def test_a_game_from_a_link_is_not_counted(open_page, served_url, page):
    play(page, 4)
    other = open_page(page.url)
    assert board(other) == board(page)
    assert status(other) == "Your turn: X"
    play_and_see(other, "it was begun by a link")


# ---- the list of moves, copies and links


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_5x4"])
def test_an_entry_of_the_list_shows_its_position(page, env_id):
    in_game(page, env_id)
    stones = []
    for _ in range(2):
        play(page, legal(page)[0])
        stones.append(shown(page))
    move_list(page).nth(1).click()
    says(page, "Move 2 of 4")
    assert shown(page) == stones[0]
    assert move_list(page).nth(1).get_attribute("aria-current") == "step"
    page.keyboard.press("ArrowRight")
    says(page, "Move 3 of 4")
    page.keyboard.press("Home")
    assert len(legal(page)) == len(names(page)), "the empty board"
    page.keyboard.press("End")
    wait_for_turn(page)
    assert shown(page) == stones[1]
    button(page, "One move back").click()
    says(page, "Move 3 of 4")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowLeft")
    says(page, "Move 2 of 4")
    page.keyboard.press("ArrowRight")
    button(page, "One move forward").click()
    wait_for_turn(page)
    assert shown(page) == stones[1]
    assert button(page, "One move forward").is_disabled()
    expect(button(page, "One move forward")).to_be_focused()


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_7x6"])
def test_copies_are_the_position_as_link_text_and_svg(open_page, served_url, env_id):
    allowed = ["clipboard-read", "clipboard-write"]
    page = in_game(open_page(served_url, permissions=allowed), env_id)
    play(page, 4)
    copied = {}
    for kind, name in (("link", "Link"), ("as text", "Text"), ("as SVG", "SVG")):
        button(page, f"Copy {kind}").click()
        hear(page, f"{name} copied.")
        copied[kind] = page.evaluate("navigator.clipboard.readText()")
    cells = browsing.after(env_id, moves(page))
    letters = ["X" if cell == 1 else "O" if cell == -1 else "-" for cell in cells]
    assert "".join(copied["as text"].split()) == "".join(letters)
    drawing = copied["as SVG"]
    width = browsing.plain_search(env_id).columns
    assert f'width="{100 * width}"' in drawing
    page.goto("about:blank")
    page.set_content(drawing)  # it is drawn without the page's style
    assert page.locator("svg").bounding_box()["width"] == 100 * width
    other = open_page(copied["link"])
    assert browsing.after(env_id, moves(other)) == cells


def test_the_link_of_an_earlier_position_holds_that_position(open_page, served_url):
    allowed = ["clipboard-read", "clipboard-write"]
    page = in_game(open_page(served_url, permissions=allowed), "tic_tac_toe")
    for _ in range(2):
        play(page, legal(page)[0])
    line = moves(page)
    button(page, "One move back").click()
    button(page, "One move back").click()
    stones = board(page)
    button(page, "Copy link").click()
    hear(page, "Link copied.")
    address = page.evaluate("navigator.clipboard.readText()")
    assert moves(page) == line
    other = open_page(address)
    assert moves(other) == line[:2]
    assert board(other) == stones
    page.reload()
    wait_for_turn(page)
    assert moves(page) == line


BROKEN = [
    {"moves": "4.4"},
    {"moves": "9"},
    {"moves": "0.3.1.4.2.5"},  # on after the end
    {"moves": "0.1", "start": "nonsense"},
    {"level": "nobody", "agent": "none", "moves": "0.0"},
]
"""Links that hold no position of tic-tac-toe."""


def test_a_broken_link_is_said_and_begins_a_new_game(page, served_url):
    for fields in BROKEN:
        play(page, 4)
        page.goto(link(served_url, "tic_tac_toe", [], **fields))
        expect(move_list(page)).to_have_count(0)
        wait_for_turn(page)
        assert board(page) == "-" * 9, fields
        hear(page, "The link holds no position of this game.")
        page.evaluate("window.announced.length = 0")
    play_to_the_end(page)
    assert counted(page)["Games"] == 1


def test_a_link_of_nothing_opens_the_page(open_page, served_url):
    page = open_page(f"{served_url}/#game=chess&moves=1")
    assert board(page) == "-" * 9
    for part in ("#moves=x", "#%00", "#game"):
        page.goto(f"{served_url}/{part}")
        page.reload()
        wait_for_turn(page)
        play(page, legal(page)[0])


def test_a_link_with_an_unknown_level_or_agent_shows_its_position(
    open_page, served_url
):
    fields = {"level": "nobody", "agent": "run/nobody", "update": "77"}
    page = open_page(link(served_url, "tic_tac_toe", [4, 0], **fields))
    assert board(page) == "O---X----"
    play_to_the_end(page)


def test_a_link_in_the_address_of_an_open_page_is_followed(page, served_url):
    play(page, 4)
    page.goto(link(served_url, "connect_5x4", [2, 2, 2]) + "&side=o")
    expect(squares(page)).to_have_count(5)
    wait_for_turn(page)
    assert moves(page)[:3] == [2, 2, 2]


# ---- hints and keys


def hint(page):
    """Press the button, and return the one move that is marked."""
    button(page, "Hint").click()
    says(page, "Hint: ")
    (move,) = marked(page, "hint")
    return move


def test_a_hint_is_one_best_move_with_its_reason(page, served_url):
    reasons = {1: "wins in", 0: "keeps the draw", -1: "holds out longest"}
    for line in ([4, 1], [0, 4, 1, 2], [1, 4, 7, 0], [4, 0, 8, 2]):
        page.goto(link(served_url, "tic_tac_toe", line))
        expect(move_list(page)).to_have_count(len(line))
        move = hint(page)
        assert move in best_actions("tic_tac_toe", line)
        row, column = divmod(move, 3)
        reason = reasons.pop(rules.value(text_after(line)), "keeps")
        says(page, f"Hint: row {row + 1}, column {column + 1} {reason}")
        hear(page, f"Hint: row {row + 1}, column {column + 1} {reason}")
        play(page, move)
        assert marked(page, "hint") == [], "for one position"
    assert reasons == {}, "a win, a draw and a loss were among them"


@pytest.mark.parametrize("env_id", LATE)
def test_a_hint_of_connect_four_is_exact_near_the_end(open_page, served_url, env_id):
    line = LATE[env_id]
    page = open_page(link(served_url, env_id, line))
    move = hint(page)
    assert move in best_actions(env_id, line)
    says(page, f"Hint: column {move + 1} ")


def test_a_hint_of_7x6_in_the_opening_is_the_agents_search(page):
    in_game(page, "connect_7x6")
    move = hint(page)
    says(page, f"Hint: column {move + 1}: ")
    says(page, "the agent's search 6 moves ahead")


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_5x4"])
def test_keys_play_undo_hint_and_begin_again(page, env_id):
    in_game(page, env_id)
    expect(tab(page, "Game")).to_contain_text("undo")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("3")
    wait_for_turn(page)
    assert moves(page)[0] == 2
    assert len(moves(page)) == 2
    page.keyboard.press("h")
    says(page, "Hint: ")
    page.keyboard.press("u")
    assert moves(page) == []
    page.keyboard.press("1")
    wait_for_turn(page)
    assert moves(page)[0] == 0
    page.keyboard.press("n")
    wait_for_turn(page)
    assert moves(page) == []
    if env_id == "connect_5x4":
        page.keyboard.press("6")
        assert moves(page) == [], "there is no such column"
    page.keyboard.press("Control+1")
    assert moves(page) == []


def test_keys_do_not_play_while_something_else_is_typed(page):
    depth = in_game(page, "connect_5x4").get_by_label("The agent looks ahead")
    depth.focus()
    for key in ("4", "n", "u", "h"):
        page.keyboard.press(key)
    assert moves(page) == []
    in_game(page, "tic_tac_toe")
    tab(page, "Learning")
    page.get_by_role("slider", name="Snapshot").focus()
    page.keyboard.type("1hun")
    assert moves(page) == []
    assert marked(page, "hint") == []


KEYS = {
    "H": lambda page: says(page, "Hint: "),
    "U": lambda page: expect(move_list(page)).to_have_count(0),
    "h": lambda page: says(page, "Hint: "),
    "1": lambda page: expect(move_list(page)).to_have_count(2),
    "u": lambda page: expect(move_list(page)).to_have_count(0),
    "9": lambda page: expect(move_list(page)).to_have_count(2),
    "N": lambda page: expect(move_list(page)).to_have_count(0),
}
"""Keys, and what each does."""


@pytest.mark.parametrize("role", ["radio", "checkbox"])
def test_keys_work_on_a_radio_and_a_checkbox_in_either_case(page, role):
    names_of = {"radio": "Unbeatable", "checkbox": "Exact values"}
    control = page.get_by_role(role, name=names_of[role])
    control.focus()
    page.keyboard.press("5")
    wait_for_turn(page)
    assert moves(page)[0] == 4
    for key, happened in KEYS.items():
        page.keyboard.press(key)
        happened(page)
        wait_for_turn(page)
        expect(control).to_be_focused()
    assert control.is_checked() == (role == "radio")
    page.keyboard.press("Space")
    assert control.is_checked()


# ---- values on the board


def exact_values(page):
    """Return the result and the moves to the end that each place's name says."""
    values = {}
    for move, name in enumerate(names(page)):
        if shown := re.search(r"exact (?:(win|loss) in (\d+)|draw)", name):
            sign = {"win": 1, "loss": -1, None: 0}[shown[1]]
            values[move] = (sign, int(shown[2] or 0))
    return values


def test_exact_values_are_those_of_best_play(page, served_url):
    words = {1: "win", 0: "draw", -1: "loss"}
    cases = [("tic_tac_toe", line) for line in ([4, 0], [1, 4, 7, 0], [4, 0, 8, 2])]
    for env_id, line in [*cases, *LATE.items()]:
        page.goto(link(served_url, env_id, line))
        expect(move_list(page)).to_have_count(len(line))
        wait_for_turn(page)
        show(page, "Exact values")
        first = legal(page)[0]
        expect(squares(page).nth(first)).to_have_accessible_name(re.compile("exact"))
        expected = browsing.plain_search(env_id).actions(browsing.after(env_id, line))
        assert exact_values(page) == expected
        for value, _ in expected.values():
            assert words[value] in area(page).inner_text()


def test_learned_values_have_a_sign_and_say_whose_they_are(page):
    show(page, "Network's values", "Table's values")
    pattern = r"network (plus|minus|0).*table (plus|minus|0)"
    expect(squares(page).first).to_have_accessible_name(re.compile(pattern))
    for name in names(page):
        assert re.search(pattern, name)
    assert len(marked(page, "the agent's move")) >= 1
    says(page, "Shipped network, Shipped table")
    says(page, re.compile("They assume .* makes mistakes"))
    shown = area(page).inner_text()
    assert re.search(r"[+\u2212]0\.\d\d", shown)
    assert not re.search(r"[+\u2212]0\.00", shown)
    page.reload()
    wait_for_turn(page)
    expect(squares(page).first).to_have_accessible_name(re.compile(pattern))


LOOKS = """(chips) => chips.map((one) => {
  const { backgroundColor, boxShadow } = getComputedStyle(one);
  return [backgroundColor, boxShadow !== "none"];
})"""
"""The colour of each value on the board, and whether it has a frame."""


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_5x4"])
def test_learned_values_have_one_colour_and_the_agents_move_a_frame(page, env_id):
    in_game(page, env_id)
    show(page, "Network's values", "Exact values")
    name = re.compile("exact .*network")
    expect(squares(page).first).to_have_accessible_name(name)
    own = marked(page, "the agent's move")
    assert len(own) == 1
    looks = page.locator(".chip.network").evaluate_all(LOOKS)
    assert len({colour for colour, _ in looks}) == 1
    assert [i for i, (_, is_framed) in enumerate(looks) if is_framed] == own
    exact = page.locator(".chip.exact").evaluate_all(LOOKS)
    results = {value for value, _ in exact_values(page).values()}
    assert len({colour for colour, _ in exact}) == len(results)
    assert not any(is_framed for _, is_framed in exact)
    says(page, "the agent's own move has a frame")


def test_the_agents_move_on_the_board_is_the_move_that_it_makes(page):
    in_game(page, "connect_7x6")
    show(page, "Network's values")
    play(page, 3)
    reply = moves(page)[1]
    button(page, "One move back").click()
    expect(squares(page).nth(reply)).to_have_accessible_name(re.compile("the agent's"))
    assert marked(page, "the agent's move") == [reply]


def test_the_agent_looks_six_moves_ahead(page):
    """With look-ahead it wins or blocks whatever stands three in a row."""
    in_game(page, "connect_7x6")
    browsing.look_ahead(page, "6 moves")
    show(page, "Network's values")
    for column in (0, 0, 1):
        play(page, column)
    line = moves(page)
    assert len(line) == 6
    name = re.compile(r"network (plus|minus|0)")
    expect(squares(page).nth(3)).to_have_accessible_name(name)
    play_to_the_end(page)
    assert status(page) == "You lost."


def test_the_exact_result_is_said_to_be_unknown_in_the_opening_of_7x6(page):
    in_game(page, "connect_7x6")
    show(page, "Exact values")
    box = page.get_by_role("checkbox", name="Exact values")
    expect(box).to_have_accessible_name("Exact values (searching)")
    says(page, "The exact result is not known here")
    expect(box).to_have_accessible_name("Exact values (not known)")
    assert exact_values(page) == {}
    play(page, 3)


def test_the_page_says_so_where_nothing_computes_exact_values(
    open_page, served_url, page
):
    """Its computing part does not start, for instance since the server has ended."""
    workers = []

    def refuse_all_but_the_first(route):
        workers.append(route)
        if len(workers) == 1:  # it computes the agents' moves
            route.continue_()
        else:
            route.abort()

    page.context.route("**/static/worker.js", refuse_all_but_the_first)
    other = open_page(served_url, context=page.context, expected="ERR_|Failed to load")
    show(other, "Exact values")
    name = "Exact values (not known)"
    expect(other.get_by_role("checkbox", name="Exact")).to_have_accessible_name(name)
    play(other, 4)
    expect(move_list(other)).to_have_count(2)
    page.context.unroute("**/static/worker.js")


# ---- mistakes and review


def review_rows(page):
    """Return the texts of the review, one for each move."""
    return tab(page, "Review").get_by_role("listitem").all_inner_texts()


def test_a_mistake_is_marked_as_you_play_unless_that_is_switched_off(page):
    play(page, 1)
    play(page, 7)  # exact play: a loss
    expect(squares(page).nth(7)).to_have_accessible_name(
        re.compile("mistake: from a draw to a loss")
    )
    hear(page, "mistake: from a draw to a loss")
    page.get_by_role("checkbox", name="Mark mistakes").uncheck(force=True)
    assert marked(page, "mistake") == []


def test_the_review_says_what_each_move_did(page):
    for cell in (1, 7):
        play(page, cell)
    play_to_the_end(page)
    line = moves(page)
    button(page, "Review this game").click()
    panel = page.get_by_role("tabpanel", name="Review")
    expect(panel).not_to_contain_text("\u2026")
    rows = review_rows(page)
    assert len(rows) == len(line)
    won_or_drawn, best = 0, 0
    for count, (cell, text) in enumerate(zip(line, rows, strict=True)):
        now = text_after(line[:count])
        sign = 1 if rules.mover(now) == "X" else -1
        loss = sign * (rules.value(now) - rules.value(rules.after(now, cell)))
        assert ("mistake" in text) == (loss > 0), text
        if loss:
            row, column = divmod(rules.best_moves(now)[0], 3)
            assert f"better: row {row + 1}, column {column + 1}" in text
        if rules.mover(now) == "X" and sign * rules.value(now) >= 0:
            won_or_drawn += 1
            best += loss == 0
    lost = (len(line) + 1) // 2 - won_or_drawn
    assert lost > 0
    summary = f"Best moves: {best} of your {won_or_drawn}"
    expect(panel).to_contain_text(summary)
    expect(panel).to_contain_text(f"{lost} more in a lost position")
    says(page, summary)
    assert "lost already" not in panel.inner_text()
    entry = panel.get_by_role("button").nth(1)
    entry.click()
    says(page, f"Move 2 of {len(line)}")
    assert entry.get_attribute("aria-current") == "step"
    assert panel.locator("[aria-current=step]").count() == 1


def test_the_review_of_5x4_is_exact_and_waits_for_the_end(page):
    in_game(page, "connect_5x4")
    page.get_by_role("checkbox", name="Mark mistakes").uncheck(force=True)
    play(page, 0)
    expect(tab(page, "Review")).to_contain_text("begins at the end of the game")
    play_to_the_end(page)
    panel = tab(page, "Review")
    expect(panel).to_contain_text("Compared with exact play.")
    expect(panel).not_to_contain_text("\u2026", timeout=60_000)
    line = moves(page)
    rows = review_rows(page)
    for count in range(8, len(line)):
        known = browsing.plain_search("connect_5x4").actions(
            browsing.after("connect_5x4", line[:count])
        )
        highest = max(value for value, _ in known.values())
        wrong = known[line[count]][0] < highest
        assert ("mistake" in rows[count]) == wrong, rows[count]


def test_the_review_of_7x6_says_that_it_is_the_agents_search(page):
    in_game(page, "connect_7x6")
    play(page, 0)
    panel = tab(page, "Review")
    expect(panel).to_contain_text("by the agent's search")
    expect(panel).to_contain_text("the agent's own search, which can be wrong")


# ---- speed

COMPUTE = """async (envId) => {
  const [{ Agents }, { Engine }, { Rules }, { openSource }] = await Promise.all(
    ["agents", "engine", "rules", "source"].map((name) => import(`/static/${name}.js`)),
  );
  const source = openSource();
  const engine = new Engine(() => source.tree());
  const agents = new Agents(source, () => {});
  await agents.refresh();
  const agent = await agents.load(agents.for(envId)[0].id);
  const rules = new Rules(envId);
  const times = [];
  let position = rules.start;
  while (!rules.isOver(position)) {
    const began = performance.now();
    const { move } = await engine.values({ envId, agent, position });
    times.push(performance.now() - began);
    position = rules.after(position, move);
  }
  return times.slice(1); // the worker started, and the agent was sent to it
}"""
"""Let an agent play itself, and return the milliseconds of each move but the first."""


@pytest.mark.parametrize("env_id", GAMES)
def test_a_move_is_computed_within_50_ms(page, env_id):
    times = page.evaluate(COMPUTE, env_id)
    middle = statistics.median(times)
    print(f"{env_id}: {len(times)} moves, half of them within {middle:.1f} ms")
    assert len(times) >= 4
    assert middle < 50


REPLY = """async (index) => {
  const places = [...document.querySelectorAll("[role=grid] button")];
  const count = () => places.filter((one) => !one.ariaLabel.includes("empty")).length;
  const waitFor = async (stones) => {
    while (count() < stones) await new Promise(requestAnimationFrame);
    return performance.now();
  };
  const stones = count();
  const began = performance.now();
  places[index].click();
  const own = await waitFor(stones + 1);
  const reply = await waitFor(stones + 2);
  return [own - began, reply - own];
}"""
"""Click a square; return the milliseconds to its stone, and from there to the reply."""


def test_the_page_as_people_have_it_shows_a_reply_as_a_move_of_its_own(
    open_page, served_url
):
    """Its timers and random numbers are the browser's."""
    page = open_page(served_url, is_changed=False)
    assert page.evaluate("'announced' in window") is False
    own, pause = page.evaluate(REPLY, 1)
    print(f"the own stone after {own:.0f} ms, the reply {pause:.0f} ms later")
    assert own < 200
    assert 200 < pause < 1000
    play_to_the_end(page)
    assert status(page) == browsing.result("tic_tac_toe", moves(page), "x")
    assert counted(page)["Games"] == 1
    page.reload()
    wait_for_turn(page)
    assert is_over(page)
