"""Statistics and agents: they are counted, kept, cleared, exported and imported."""

import json
import re

import browsing
import pytest
from browsing import (
    agree,
    announced,
    button,
    counted,
    download,
    expect,
    hear,
    moves,
    play_to_the_end,
    row_of,
    says,
    tab,
    upload,
    wait_for_turn,
)

from jax_ttt.players.shipped import SHIPPED

pytestmark = pytest.mark.slow
NOTHING = {"Games": 0, "You won": 0, "Draws": 0, "You lost": 0}


@pytest.fixture
def page(open_page, served_url):
    return open_page(served_url)


def lose(page):
    """Lose a game in the first free places, and a second one of Connect Four."""
    play_to_the_end(page)
    browsing.game(page, "connect_5x4")
    play_to_the_end(page)


def add_agent(page, path):
    """Add an agent's file, and return the panel where it then is."""
    panel = tab(page, "Learning")
    upload(page, "Add an agent's file", path)
    entry = panel.get_by_role("listitem").filter(has_text=path.stem)
    expect(entry).to_have_count(1)
    return panel


def titles(page):
    """Return the agents that the game offers."""
    tab(page, "Game")
    choice = page.get_by_label("Learned agent", exact=True)
    return choice.locator("option").all_inner_texts()


def test_games_are_counted_by_game_side_and_opponent(page):
    lose(page)
    assert counted(page)["You lost"] == 1, "of this game alone"
    panel = tab(page, "Statistics")
    assert row_of(panel, "As Blue") == [1, 0, 0, 1]
    assert row_of(panel, "As Orange") == [0, 0, 0, 0]
    browsing.game(page, "tic_tac_toe")
    panel = tab(page, "Statistics")
    assert row_of(panel, "As X") == [1, 0, 0, 1]
    assert row_of(panel, "Unbeatable (learned agent): Shipped network")[0] == 1
    browsing.level(page, "Casual")
    play_to_the_end(page, max)
    panel = tab(page, "Statistics")
    assert row_of(panel, "Casual")[0] == 1
    assert counted(page)["Games"] == 2
    browsing.game(page, "connect_7x6")
    assert counted(page) == NOTHING


def test_clear_asks_and_forgets_all_games(page):
    lose(page)
    tab(page, "Statistics")
    button(page, "Clear the statistics").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("all your games")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert counted(page)["Games"] == 1
    button(page, "Clear the statistics").click()
    agree(page, "Clear")
    expect(page.get_by_role("definition").first).to_have_text("0")
    expect(button(page, "Clear the statistics")).to_be_disabled()
    browsing.game(page, "tic_tac_toe")
    assert counted(page) == NOTHING
    page.reload()
    wait_for_turn(page)
    assert counted(page) == NOTHING


def test_one_file_brings_games_and_agents_into_another_browser(
    open_page, served_url, page, weak, tmp_path
):
    lose(page)
    add_agent(page, weak["connect_5x4"])
    tab(page, "Statistics")
    file = tmp_path / "all.json"
    text = download(button(page, "Export"), file).decode()
    assert len(json.loads(text)["games"]) == 2
    other = open_page(served_url, viewport={"width": 900, "height": 700})
    kept = []
    for _ in range(2):  # the same file twice adds nothing
        panel = tab(other, "Statistics")
        upload(other, "Import", file)
        expect(panel).to_contain_text("The games and agents of the file are here now")
        other.wait_for_timeout(200)
        assert counted(other)["Games"] == 1
        browsing.game(other, "connect_5x4")
        assert counted(other)["You lost"] == 1
        kept = [title for title in titles(other) if title.startswith("Kept")]
        assert len(kept) == 1
        assert "weak-5x4" in kept[0]
        browsing.game(other, "tic_tac_toe")
    browsing.game(other, "connect_5x4")
    browsing.agent(other, kept[0])
    button(other, "New game").click()
    wait_for_turn(other)
    says(other, "weak-5x4")
    browsing.play(other, 2)


BAD_FILES = {
    "not JSON": lambda text: text[:-3],
    "not a file of this page": lambda text: "[]",
    "not of a version": lambda text: text.replace('"version":1', '"version":99'),
    "not that of its moves": lambda text: text.replace('"lost"', '"won"'),
    "not possible": lambda text: re.sub(r'"moves":\[\d', '"moves":[77', text),
    "lacks a field": lambda text: text.replace('"finished"', '"when"'),
    "not known": lambda text: text.replace('"tic_tac_toe"', '"chess"'),
    "could not be read": lambda text: text.replace('"data":"', '"data":"AAAA'),
}
"""Changes of a file of statistics, by the reason that the page gives."""


def test_a_foreign_file_changes_nothing(page, weak, tmp_path):
    play_to_the_end(page)
    add_agent(page, weak["tic_tac_toe"])
    tab(page, "Statistics")
    text = download(button(page, "Export"), tmp_path / "all.json").decode()
    button(page, "Clear the statistics").click()
    agree(page, "Clear")
    before = titles(page)
    panel = tab(page, "Statistics")
    file = tmp_path / "bad.json"
    for reason, change in BAD_FILES.items():
        assert change(text) != text, reason
        file.write_text(change(text), "utf-8")
        upload(page, "Import", file)
        expect(panel).to_contain_text(reason)
        expect(panel).to_contain_text("The file was not imported")
        expect(panel).to_contain_text("Nothing was changed")
        assert counted(page) == NOTHING
    assert titles(page) == before
    tab(page, "Statistics")
    upload(page, "Import", tmp_path / "all.json")
    expect(page.get_by_role("definition").first).to_have_text("1")


def test_an_agents_file_is_added_played_downloaded_and_deleted(page, weak, tmp_path):
    content = weak["tic_tac_toe"].read_bytes()
    file = tmp_path / "from a friend.safetensors"
    file.write_bytes(content)
    panel = add_agent(page, file)
    entry = panel.get_by_role("listitem").filter(has_text="from a friend")
    expect(entry).to_contain_text("Tic-tac-toe")
    control = entry.get_by_role("button", name=re.compile("Download"))
    assert download(control, tmp_path / "back.safetensors") == content
    page.reload()
    wait_for_turn(page)
    title = next(one for one in titles(page) if "from a friend" in one)
    assert "network" in title
    browsing.agent(page, title)
    says(page, title)
    browsing.play(page, 4)
    tab(page, "Learning")
    entry.get_by_role("button", name=re.compile("Delete")).click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(entry).to_have_count(1)
    entry.get_by_role("button", name=re.compile("Delete")).click()
    expect(page.get_by_role("dialog")).to_contain_text("from a friend")
    agree(page, "Delete")
    expect(entry).to_have_count(0)
    assert title not in titles(page)
    button(page, "New game").click()
    wait_for_turn(page)
    play_to_the_end(page)
    page.reload()
    wait_for_turn(page)
    assert title not in titles(page)


def test_two_agents_of_one_name_are_both_kept(page, weak):
    panel = add_agent(page, weak["tic_tac_toe"])
    upload(page, "Add an agent's file", weak["tic_tac_toe"])
    expect(panel.get_by_role("listitem").filter(has_text="weak")).to_have_count(2)


def test_a_file_that_is_no_agent_is_refused_with_a_reason(page, tmp_path):
    tab(page, "Learning")
    before = titles(page)
    file = tmp_path / "holiday.safetensors"
    for content in (b"", b"nonsense", SHIPPED["table"].read_bytes()[:500]):
        file.write_bytes(content)
        tab(page, "Learning")
        upload(page, "Add an agent's file", file)
        hear(page, "holiday.safetensors was not added: ")
        page.evaluate("window.announced.length = 0")
    assert titles(page) == before


def with_score(content, change):
    """Return an agent's file whose score is changed."""
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    record = json.loads(header["__metadata__"]["jax_ttt"])
    change(record["score"])
    header["__metadata__"]["jax_ttt"] = json.dumps(record)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + content[8 + size :]


BAD_SCORES = [
    lambda score: score["first"].update(lines={}),
    lambda score: score["first"].update(losing_line=[0, 0]),
    lambda score: score["second"].update(win_rate="all"),
    lambda score: score.update(unbeatable="yes"),
]
"""Changes of a score after which the page could not show it."""


def test_an_agent_with_a_broken_score_is_refused_and_the_page_goes_on(page, tmp_path):
    before = titles(page)
    content = SHIPPED["network"].read_bytes()
    file = tmp_path / "broken.safetensors"
    for change in BAD_SCORES:
        file.write_bytes(with_score(content, change))
        tab(page, "Learning")
        upload(page, "Add an agent's file", file)
        hear(page, "broken.safetensors was not added: ")
        page.evaluate("window.announced.length = 0")
    assert titles(page) == before
    file.write_bytes(with_score(content, lambda score: None))
    add_agent(page, file)
    play_to_the_end(page)


def test_the_download_of_a_shipped_agent_is_its_file(page, tmp_path):
    panel = tab(page, "Learning")
    section = panel.get_by_role("region", name="Snapshots")
    control = section.get_by_role("button", name="Download")
    content = download(control, tmp_path / "agent.safetensors")
    assert content == SHIPPED["network"].read_bytes()


def test_without_storage_the_page_plays_and_says_that_nothing_is_kept(
    open_page, served_url
):
    page = open_page(served_url, viewport={"width": 800, "height": 700})
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw Error(); } });"
    )
    page.reload()
    play_to_the_end(page)
    assert counted(page)["Games"] == 1
    expect(tab(page, "Statistics")).to_contain_text("keeps nothing")


def test_damaged_statistics_are_set_aside(page):
    page.evaluate("localStorage.setItem('jax_ttt.statistics', '{')")
    page.reload()
    play_to_the_end(page)
    kept = 'Object.values(localStorage).filter((text) => /^"?{"?$/.test(text))'
    assert len(page.evaluate(kept)) == 1, "for who wants to repair them"
    assert counted(page)["Games"] == 1


def test_two_tabs_share_the_statistics(open_page, served_url, page):
    other = open_page(served_url, context=page.context)
    tab(other, "Statistics")
    before = announced(other)
    page.bring_to_front()
    play_to_the_end(page)
    other.bring_to_front()
    expect(other.get_by_role("definition").first).to_have_text("1")
    assert moves(other) == []
    assert announced(other) == before, "nothing happened on its board"
    other.reload()
    play_to_the_end(other)
    assert counted(other)["Games"] == 2
    page.bring_to_front()
    tab(page, "Statistics")
    expect(page.get_by_role("definition").first).to_have_text("2")
