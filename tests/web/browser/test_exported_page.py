"""The exported page in a browser, from `file://`: play, values, review, proof."""

import json
import re

import browsing
import numpy as np
import pytest
import rules
from browsing import (
    board,
    cards,
    expect,
    is_over,
    level,
    play,
    play_to_the_end,
    slide,
    square,
    status,
    tab,
    wait_for_turn,
)

from jax_ttt.config.catalogue import SIDES
from jax_ttt.solver import proof
from jax_ttt.web import agent_data

pytestmark = pytest.mark.slow


@pytest.fixture
def page(open_page, exported_url):
    found = open_page(exported_url)
    wait_for_turn(found)
    return found


def test_a_whole_game_by_mouse_ends_with_a_line_a_review_and_a_count(page):
    boards = play_to_the_end(page)
    final = boards[-1]
    assert not rules.moves(final)
    assert status(page) == "You lost.", "row by row loses to the network"
    assert rules.winner(final) == "O"
    assert page.locator(".won-line").count() == 1
    assert page.locator(".square.won").count() == 3
    tab(page, "Review")
    expect(page.locator("#review li")).to_have_count(9 - final.count("-"))
    assert page.locator("#review li.wrong").count() >= 1
    tab(page, "Statistics")
    assert cards(page, "#statistics")["You lost"] == "1"


def test_a_whole_game_by_keyboard(page):
    page.locator("#board [tabindex='0']").focus()
    focused = "document.activeElement.getAttribute('aria-label')"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == "Row 2, column 2, empty"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")  # the edge: nothing moves
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    wait_for_turn(page)
    assert board(page)[4] == "X"
    while not is_over(page):
        free = board(page).index("-")
        page.keyboard.press("Home")
        for _ in range(3):
            page.keyboard.press("ArrowUp")
        for _ in range(free // 3):
            page.keyboard.press("ArrowDown")
        for _ in range(free % 3):
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Space")
        wait_for_turn(page)
    assert status(page) in ("You lost.", "A draw.")
    said = page.locator("#live-0").inner_text() + page.locator("#live-1").inner_text()
    assert said.endswith(status(page)), "the result is said"
    assert re.match(r"[XO] at row \d, column \d\. ", said)


def test_a_square_that_is_taken_or_not_ones_turn_is_not_played(page):
    play(page, 4)
    before = board(page)
    for cell in (4, before.index("O")):
        square(page, cell).click(force=True)
    assert board(page) == before
    assert square(page, 4).get_attribute("aria-disabled") == "true"


@pytest.mark.parametrize("name", ["Beginner", "Medium", "Expert"])
def test_each_level_replies_with_legal_moves(page, name):
    level(page, name)
    assert name in page.locator("#status-more").inner_text()
    for now in play_to_the_end(page, max):
        assert now.count("X") - now.count("O") in (0, 1)
    if name == "Expert":
        assert status(page) in ("You lost.", "A draw.")


def test_the_expert_never_loses_and_its_replies_are_exact(open_page, exported_url):
    """Every position of X's games that a reply can follow, without the clicks."""
    page = open_page(exported_url)
    wrong = page.evaluate("""async () => {
        const [{ Tree }, { reply }] = await Promise.all(
            [import("page/tree"), import("page/replies")]);
        const data = JSON.parse(document.getElementById("data").textContent);
        const tree = new Tree(data.tree);
        let wrong = 0;
        for (let p = 0; p < tree.numPositions; p += 1) {
            const side = tree.toMove(p);
            if (side === null) continue;
            for (let i = 0; i < 3; i += 1) {
                const after = tree.after(p, reply(tree, "expert", null, p));
                wrong += tree.value(after, side) !== tree.value(p, side);
            }
        }
        return wrong;
    }""")
    assert wrong == 0


def test_the_agent_begins_if_you_are_o(page):
    browsing.side(page, "O")
    assert board(page).count("X") == 1
    play_to_the_end(page)
    tab(page, "Statistics")
    row = page.locator("#statistics tr", has_text="As O").locator("td")
    assert row.first.inner_text() == "1"


def test_undo_takes_back_a_move_and_its_reply(page):
    play(page, 4)
    before = board(page)
    play(page, before.index("-"))
    page.get_by_role("button", name="Undo").click()
    assert board(page) == before
    page.get_by_role("button", name="Undo").click()
    assert board(page) == "-" * 9
    assert page.get_by_role("button", name="Undo").is_disabled()


def test_a_game_counts_once_though_its_last_move_is_undone(page):
    play_to_the_end(page)
    page.get_by_role("button", name="Undo").click()
    play_to_the_end(page, max)
    tab(page, "Statistics")
    assert cards(page, "#statistics")["Games"] == "1"


def test_replay_shows_each_position_and_returns(page):
    play(page, 4)
    final = board(page)
    page.get_by_role("button", name="One move back").click()
    assert board(page) == "----X----"
    assert status(page) == "Move 1 of 2"
    page.get_by_role("button", name="One move forward").click()
    assert board(page) == final
    page.get_by_role("button", name=re.compile("^Move 1: X")).click()
    assert board(page) == "----X----"


def test_a_game_is_played_on_from_an_earlier_position_and_not_counted(page):
    play(page, 4)
    before = board(page)
    play(page, before.index("-"))
    for _ in range(2):
        page.get_by_role("button", name="One move back").click()
    assert status(page) == "Move 2 of 4"
    assert board(page) == before
    play(page, before.rindex("-"))
    assert board(page).count("-") == 5, "the later moves are gone"
    play_to_the_end(page)
    tab(page, "Statistics")
    assert cards(page, "#statistics")["Games"] == "0"


def test_the_link_holds_the_position(open_page, page, exported_url):
    play(page, 4)
    again = open_page(page.url)
    wait_for_turn(again)
    assert board(again) == board(page)
    assert status(again) == "Your turn: X"
    play_to_the_end(again)
    tab(again, "Statistics")
    assert cards(again, "#statistics")["Games"] == "0", "a set-up position is no game"


def test_a_link_without_a_possible_position_starts_a_new_game(page, exported_url):
    for moves in ("44", "9", "4x", "0000000000", "012345678"):
        play(page, 4)
        page.goto(f"{exported_url}#moves={moves}&side=x&level=nobody&agent=none")
        expect(page.locator("#strip button")).to_have_count(0)
        wait_for_turn(page)
        assert board(page) == "-" * 9, moves


def test_a_reload_keeps_the_statistics_and_the_position(page):
    play_to_the_end(page)
    final = board(page)
    page.reload()
    wait_for_turn(page)
    assert board(page) == final
    tab(page, "Statistics")
    assert cards(page, "#statistics")["Games"] == "1"


def test_statistics_are_exported_cleared_and_imported(page, tmp_path):
    play_to_the_end(page)
    tab(page, "Statistics")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    file = tmp_path / "backup.json"
    download.value.save_as(file)
    page.get_by_role("button", name="Clear the statistics").click()
    page.get_by_role("button", name="Cancel").click()
    assert cards(page, "#statistics")["Games"] == "1"
    page.get_by_role("button", name="Clear the statistics").click()
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(page.locator("#statistics .cards dd").first).to_have_text("0")
    for _ in range(2):  # the same game twice is one game
        page.locator("#import-file").set_input_files(file)
        expect(page.locator("#statistics [role=status]")).to_contain_text("Imported")
        assert cards(page, "#statistics")["Games"] == "1"


BAD_FILES = {
    "not JSON": lambda text: text[:-3],
    "not a backup": lambda text: "[]",
    "version 2": lambda text: text.replace('"version":1', '"version":2'),
    "not that of its moves": lambda text: text.replace('"lost"', '"won"'),
    "not possible": lambda text: re.sub(r'"moves":"\d', '"moves":"9', text),
    "lacks a field": lambda text: text.replace('"finished"', '"when"'),
}
"""Changes of a backup, by the reason that the page gives."""


def test_a_bad_file_is_refused_and_nothing_is_lost(page, tmp_path):
    play_to_the_end(page)
    tab(page, "Statistics")
    kept = page.evaluate("localStorage.getItem('jax_ttt.statistics')")
    assert json.loads(kept)["games"][0]["result"] == "lost"
    file = tmp_path / "bad.json"
    for reason, change in BAD_FILES.items():
        file.write_text(change(kept), "utf-8")
        page.locator("#import-file").set_input_files(file)
        note = page.locator("#statistics [role=status]")
        expect(note).to_contain_text("bad.json was not imported")
        expect(note).to_contain_text(reason)
        assert cards(page, "#statistics")["Games"] == "1"


def test_the_values_on_the_page_are_those_of_python(page, exported, host_tree):
    for one in exported:
        values = agent_data.action_values(one.agent)
        shown = page.evaluate(
            """async (key) => {
            const [{ Tree }, { fromLegal }] = await Promise.all(
                [import("page/tree"), import("page/values")]);
            const data = JSON.parse(document.getElementById("data").textContent);
            const tree = new Tree(data.tree);
            const found = fromLegal(tree, data.values[key], data.moves[key]);
            const greedy = [];
            for (let p = 0; p < tree.numPositions; p += 1) greedy.push(found.greedy(p));
            const table = [...found.table].map((x) => (Number.isNaN(x) ? null : x));
            return { table, greedy };
        }""",
            f"{one.agent_id}@{one.agent.num_updates}",
        )
        table = np.array(shown["table"], float).reshape(values.shape)
        np.testing.assert_array_equal(table, values)
        probs = agent_data.policy_of(one.agent)
        for p in host_tree.decisions:
            assert probs[p, shown["greedy"][p]] == 1


def test_three_layers_of_values_are_on_the_board(page, exported):
    for name in ("network", "table", "exact"):
        page.locator(f"input[name={name}]").check()
    values = [agent_data.action_values(one.agent)[0] for one in exported[:2]]
    for cell in range(9):
        shown = page.locator(".values").nth(cell).locator(".value").all_inner_texts()
        learned = [f"{v[cell]:+.2f}".replace("-", "\u2212") for v in values]
        assert shown == [*learned, "draw"]
    page.reload()
    expect(page.locator(".chip").first).to_be_visible()


def test_the_browser_counts_the_same_lines_as_python(page, exported, host_tree):
    for one in exported:
        browsing.agent(page, one.agent_id)
        tab(page, "Proof")
        page.locator("#check").click()
        result = page.locator("#check-result")
        expect(result).to_contain_text("The same result")
        probs = agent_data.policy_of(one.agent)
        x, o = (proof.lines(host_tree, probs, seat) for seat in ("first", "second"))
        counts = [seat.won + seat.drawn + seat.lost for seat in (x, o)]
        told = f"{counts[0]:,} lines as X and {counts[1]:,} as O"
        assert told in result.inner_text()
        assert f"{x.lost + o.lost:,} lost" in result.inner_text()
        shown = page.locator(".proofs .big").all_inner_texts()
        assert shown == [f"{count:,}" for count in counts]


def test_the_losing_line_is_played_on_the_board(page, exported):
    browsing.agent(page, "run/weak")
    weak = exported[-1].agent
    grade = agent_data.grade(weak)
    tab(page, "Proof")
    for number, (seat, side) in enumerate(SIDES.items()):
        line = grade.followed[seat].losing_line
        assert line is not None
        page.get_by_role("button", name="Show me how to beat it").nth(number).click()
        title = f"How to beat it: {len(line)} of {len(line)}"
        expect(page.locator("#status-main")).to_have_text(title, timeout=30_000)
        winner = {"x": "O", "o": "X"}[side]
        assert rules.winner(board(page)) == winner
        assert f"{winner} wins" in page.locator("#status-more").inner_text()
        tab(page, "Review")
        names = page.locator("#review li button").all_inner_texts()
        for name in names:
            assert f"{winner}, opponent" in name or f"{side.upper()}, agent" in name
        lost = page.locator("#review li", has_text=f"{side.upper()}, agent").last
        assert "keeps the loss" not in lost.inner_text()
        tab(page, "Proof")
    tab(page, "Statistics")
    assert cards(page, "#statistics")["Games"] == "0"


def test_the_timeline_goes_back_to_a_snapshot_and_plays_it(page):
    tab(page, "Learning")
    assert page.locator(".chart .area").count() == 6
    slide(page, "#snapshot", 0)
    expect(page.locator("#timeline output")).to_contain_text("update 0 of")
    page.get_by_role("button", name="Play against it as it was then").click()
    expect(page.locator("#status-more")).to_contain_text("at update 0")
    tab(page, "Proof")
    expect(page.locator(".proofs")).to_contain_text("Can be beaten")
    tab(page, "Learning")
    page.get_by_role("button", name="Back to the latest").click()
    tab(page, "Proof")
    expect(page.locator(".proofs")).not_to_contain_text("Can be beaten")


def test_mistakes_are_marked_as_you_play_unless_switched_off(page):
    play(page, 1)
    play(page, 7)  # exact play: a loss
    assert page.locator("#board .mark").inner_text() in ("?", "??")
    page.locator("input[name=mistakes]").uncheck()
    assert page.locator("#board .mark").count() == 0


def test_the_hint_shows_the_moves_of_a_perfect_player(page):
    play(page, 1)
    page.get_by_role("button", name="Hint").click()
    shown = {i for i in range(9) if "hint" in square(page, i).get_attribute("class")}
    assert shown
    assert shown <= set(rules.best_moves(board(page)))


def test_copies_are_the_position_as_text_svg_and_link(open_page, exported_url):
    page = open_page(exported_url, permissions=["clipboard-read", "clipboard-write"])
    wait_for_turn(page)
    play(page, 4)
    read = "navigator.clipboard.readText()"
    copied = {}
    for name in ("Copy link", "Copy as text", "Copy as SVG"):
        page.get_by_role("button", name=name).click()
        expect(page.locator("#toast")).to_contain_text("copied")
        copied[name] = page.evaluate(read)
        page.wait_for_timeout(50)
    assert copied["Copy link"] == page.url
    assert copied["Copy as text"].replace("\n", " ").split(" ") == list(board(page))
    assert copied["Copy as SVG"].count("<rect") == 9
    assert copied["Copy as SVG"].count("<path") == 1


def test_training_is_missing_and_the_page_says_so(page):
    tab(page, "Learning")
    assert "works without a server" in page.locator("#training-details").inner_text()
    assert page.get_by_role("button", name="Start", exact=True).count() == 0
    assert "training is missing" in page.locator("#mode").inner_text()


def test_without_storage_the_page_still_plays(open_page, exported_url):
    page = open_page(exported_url)
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw Error(); } });"
    )
    page.reload()
    play_to_the_end(page)
    tab(page, "Statistics")
    assert cards(page, "#statistics")["Games"] == "1"
    assert "keeps nothing" in page.locator("#statistics [role=status]").inner_text()


def test_damaged_statistics_are_set_aside(page):
    page.evaluate("localStorage.setItem('jax_ttt.statistics', '{')")
    page.reload()
    play_to_the_end(page)
    kept = "localStorage.getItem('jax_ttt.statistics.damaged')"
    assert page.evaluate(kept) == "{"
    tab(page, "Statistics")
    assert cards(page, "#statistics")["Games"] == "1"
