"""Statistics and agents: they are counted, kept, cleared, exported and imported."""

import json
import re

import pytest
import rule_cases
from browsing import download, expect

from jax_ttt.config.player_kinds import SHIPPED

pytestmark = pytest.mark.slow
NOTHING = {"Games": 0, "You won": 0, "Draws": 0, "You lost": 0}


def titles(page):
    """Return the agents that the game offers."""
    page.tab("Game")
    choice = page.get_by_label("Learned agent", exact=True)
    expect(choice.locator("option")).not_to_have_count(0)
    return choice.locator("option").all_inner_texts()


def test_games_are_counted_by_game_side_and_opponent_until_they_are_cleared(page):
    page.play_to_the_end()  # in the first free places, which loses
    page.game("connect_5x4")
    page.play_to_the_end()
    assert page.counted()["You lost"] == 1, "of this game alone"
    assert page.row("As X") == [1, 0, 0, 1]
    assert page.row("As O") == [0, 0, 0, 0]
    page.game("tic_tac_toe")
    page.choose("Casual")
    page.play_to_the_end(max)
    assert page.row("Learned agent at its best: Our network") == [1, 0, 0, 1]
    assert page.row("Casual")[0] == 1
    assert page.counted()["Games"] == 2
    page.game("connect_7x6")
    assert page.counted() == NOTHING
    page.game("connect_5x4")
    page.tab("Statistics")
    clear = page.button("Clear the statistics")
    clear.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("all your games")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert page.counted()["Games"] == 1
    clear.click()
    page.agree("Clear")
    expect(page.get_by_role("definition").first).to_have_text("0")
    expect(clear).to_be_disabled()
    page.game("tic_tac_toe")
    assert page.counted() == NOTHING
    page.reload()
    assert page.counted() == NOTHING


BAD_FILES = {
    "not JSON": lambda text: text[:-3],
    "not a file of this page": lambda text: "[]",
    "it has version 99": lambda text: text.replace('"version":1', '"version":99'),
    "not that of its moves": lambda text: text.replace('"lost"', '"won"'),
    "not possible": lambda text: re.sub(r'"moves":\[\d', '"moves":[77', text),
    "lacks a field": lambda text: text.replace('"finished"', '"when"'),
    "not known": lambda text: text.replace('"tic_tac_toe"', '"chess"'),
}
"""Changes of a file of statistics, by the reason that the page gives."""


def test_one_file_brings_the_games_into_another_browser(
    open_page, served_url, page, tmp_path
):
    """A wrong file changes nothing, and the same file twice adds nothing."""
    page.play_to_the_end()
    page.tab("Statistics")
    file, bad = tmp_path / "all.json", tmp_path / "bad.json"
    text = download(page.button("Export"), file).decode()
    assert len(json.loads(text)["games"]) == 1
    other = open_page(served_url, viewport={"width": 900, "height": 700})
    panel = other.tab("Statistics")
    for reason, change in BAD_FILES.items():
        assert change(text) != text, reason
        bad.write_text(change(text), "utf-8")
        other.upload("Import", bad)
        expect(panel).to_contain_text(reason)
        expect(panel).to_contain_text("The file was not imported")
        expect(panel).to_contain_text("Nothing was changed")
        assert other.counted() == NOTHING
    for _ in range(2):
        other.upload("Import", file)
        expect(panel).to_contain_text("The games of the file are here now")
    assert other.counted() == NOTHING | {"Games": 1, "You lost": 1}


def test_an_agents_file_is_added_played_downloaded_and_deleted(page, weak, tmp_path):
    # A file that is not an agent is refused with a reason.
    before = titles(page)
    file = tmp_path / "holiday.safetensors"
    file.write_bytes(rule_cases.with_zero_weights(SHIPPED["network"].read_bytes()))
    page.tab("Learning")
    page.upload("Add an agent's file", file)
    page.hear("not added: its contents were changed after they were saved")
    expect(page.get_by_role("tabpanel")).to_contain_text("No agent is kept yet")
    assert titles(page) == before
    # An agent is added, and downloaded as it was.
    content = weak["tic_tac_toe"].read_bytes()
    file = tmp_path / "from a friend.safetensors"
    file.write_bytes(content)
    page.tab("Learning")
    page.upload("Add an agent's file", file)
    entry = page.get_by_role("listitem").filter(has_text=file.stem)
    expect(entry).to_contain_text("Tic-tac-toe")
    control = entry.get_by_role("button", name=re.compile("Download"))
    assert download(control, tmp_path / "back.safetensors") == content
    section = page.get_by_role("region", name="Snapshots")
    control = section.get_by_role("button", name="Download")
    shipped = download(control, tmp_path / "agent.safetensors")
    assert shipped == SHIPPED["network"].read_bytes()
    page.reload()
    title = next(one for one in titles(page) if "from a friend" in one)
    assert "network" in title
    page.choose_agent(title)
    page.says(title)
    page.tab("Learning")
    delete = entry.get_by_role("button", name=re.compile("Delete"))
    delete.click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(entry).to_have_count(1)
    # Two agents of one name are both kept.
    page.upload("Add an agent's file", file)
    expect(entry).to_have_count(2)
    for left in (1, 0):
        delete.first.click()
        expect(page.get_by_role("dialog")).to_contain_text("from a friend")
        page.agree("Delete")
        expect(entry).to_have_count(left)
    assert title not in titles(page)
    page.new_game()
    page.says("Our network")
    page.play(4)
    page.has_moves(2)
    page.reload()
    assert title not in titles(page)


STORED = """(value) => {
  const names = ["page", "games", "theme", "statistics", "agent.old"];
  for (const name of names) localStorage.setItem(`jax_ttt.${name}`, value);
  sessionStorage.setItem("jax_ttt.game.tic_tac_toe", value);
}"""
"""Store a text under all names of the page."""


def test_without_storage_or_with_a_damaged_one_the_page_plays(page, served_url):
    damaged = "JSON.parse(localStorage['jax_ttt.statistics.damaged'])"
    for text in ("null", '"text"', "{"):
        page.evaluate(STORED, text)
        page.visit(served_url)
        page.says("Casual")
        page.play(page.legal()[0])
        assert page.evaluate(damaged) == text, "it is set aside, to be repaired"
    page.play_to_the_end()
    assert page.counted()["Games"] == 1
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw Error(); } });"
    )
    page.reload()
    page.new_game()
    page.play_to_the_end()
    assert page.counted()["Games"] == 1
    expect(page.tab("Statistics")).to_contain_text("keeps nothing")
