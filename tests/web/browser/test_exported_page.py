"""The exported page from `file://`: one file that plays, proves and keeps by itself."""

import re

import browsing
import pytest
from browsing import GAMES, expect, link

from jax_ttt.config.player_kinds import ALL, SHIPPED

pytestmark = pytest.mark.slow


@pytest.fixture
def page(open_page, exported_url):
    """Return the page; at the end it has requested nothing but itself."""
    requests = []
    yield open_page(exported_url, requests=requests)
    own = (exported_url, "data:", "blob:")
    assert [url[:80] for url in requests if not url.startswith(own)] == []
    assert any(url.startswith(exported_url) for url in requests)


def test_whole_games_are_played_reviewed_counted_kept_and_exported(
    open_page, page, tmp_path
):
    lines = {}
    for env_id in GAMES:
        page.game(env_id)
        page.play_to_the_end()
        line = lines[env_id] = page.moves()
        assert page.status() == browsing.result(env_id, line, "x") == "You lost."
        page.button("Review this game").click()
        panel = page.get_by_role("tabpanel")
        expect(panel.get_by_role("listitem")).to_have_count(len(line))
        expect(panel).to_contain_text("mistake")
    page.reload()
    for env_id, line in lines.items():
        page.game(env_id)
        assert page.moves() == line
        assert page.counted()["You lost"] == 1
    # A game that goes on is kept, too.
    page.game("tic_tac_toe")
    page.new_game()
    page.play(4)
    line = page.moves()
    page.reload()
    assert page.moves() == line
    address = page.url
    # Agents are added and downloaded.
    panel = page.tab("Learning")
    page.upload("Add an agent's file", ALL["connect-5x4"])
    entry = panel.get_by_role("listitem").filter(has_text="connect-5x4")
    expect(entry).to_have_count(1)
    section = panel.get_by_role("region", name="Snapshots")
    download = section.get_by_role("button", name="Download")
    content = browsing.download(download, tmp_path / "agent.safetensors")
    assert content == SHIPPED["network"].read_bytes()
    # A file brings games into another browser, a link brings a position.
    page.tab("Statistics")
    file = tmp_path / "all.json"
    browsing.download(page.button("Export"), file)
    other = open_page(address)
    assert other.moves() == line
    other.goto(link(page.url, "connect_5x4", [2, 2]))
    other.has_line([2, 2])
    assert len(other.legal()) == 5
    other.game("tic_tac_toe")
    other.tab("Statistics")
    other.upload("Import", file)
    expect(other.get_by_role("definition").first).to_have_text("1")


def test_values_perfect_play_the_timeline_and_the_proof_work(page):
    page.search_for(60)
    page.show("Exact values", "Network's values", "Table's values")
    page.place_says(0, "exact draw, network .*, table ")
    page.button("Hint").click()
    page.says("with best play, each move draws")
    page.choose("Expert")
    page.play_to_the_end(max)
    assert page.status() in ("You lost.", "A draw.")
    page.new_game()
    page.choose("Unbeatable")
    # The timeline.
    panel = page.tab("Learning")
    expect(page.get_by_role("contentinfo")).to_contain_text("works without a server")
    expect(page.get_by_role("img", name=re.compile("As X"))).to_be_visible()
    page.check_with_axe("the panel of learning")
    page.get_by_role("slider", name="Snapshot").press("Home")
    expect(panel).to_contain_text("update 0 of")
    page.button("Play against it as it was then").click()
    page.says("at update 0")
    while not page.is_over():
        page.play(browsing.best_actions("tic_tac_toe", page.moves())[0])
    assert page.counted()["Games"] == 2
    # Proofs of an agent of then, and of the agent now.
    expect(page.tab("Proof")).to_contain_text("Can be beaten")
    expect(page.tab("Proof")).not_to_contain_text("a theorem")
    page.tab("Learning")
    page.button("Back to the latest").click()
    expect(page.tab("Proof")).to_contain_text("Unbeatable")
    expect(page.tab("Proof")).to_contain_text("is also a theorem")
    page.button("Check again in this browser").click()
    page.hear("The same result")
    page.choose_agent("Run weak (network)")
    expect(page.tab("Proof")).not_to_contain_text("a theorem")
    page.button("Show me how to beat it").first.click()
    page.says("try it yourself")
    assert browsing.result("tic_tac_toe", page.moves(), "x") == "You lost."
    # Connect Four.
    page.game("connect_5x4")
    page.place_says(0, "exact .*network")
    panel = page.tab("Proof")
    page.button("Check again in this browser").click()
    expect(panel).to_contain_text("The same result", timeout=browsing.LONG)
