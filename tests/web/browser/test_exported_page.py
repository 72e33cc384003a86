"""The exported page at a static host, and as one file, which plays and proves alone."""

import itertools
import re

import browsing
import pytest
import served
from browsing import GAMES, expect, link

from jax_ttt.config.player_kinds import ALL, SHIPPED

pytestmark = pytest.mark.slow
LINKED = [4, 0]
"""The moves of a link."""


@pytest.fixture
def one_file(open_page, exported):
    """Return the page from `file://`; at the end it has requested nothing but itself.

    It is opened by a link to the hosted page, which leads to it.
    """
    requests = []
    address = link((exported / "index.html").as_uri(), "tic_tac_toe", LINKED)
    yield open_page(address, requests=requests)
    own = (exported / "offline.html").as_uri()
    known = (own, "data:", "blob:")
    # What the first page names is requested before its script leads on.
    later = [*itertools.dropwhile(lambda url: not url.startswith(own), requests)]
    assert later
    assert [url[:80] for url in later if not url.startswith(known)] == []


@pytest.fixture
def page(open_page, exported_url):
    """Return the hosted page; at the end it has requested nothing but its own files."""
    requests = []
    yield open_page(exported_url, requests=requests)
    own = (exported_url, "data:", "blob:")
    assert [url[:80] for url in requests if not url.startswith(own)] == []
    assert f"{exported_url}main.js" in requests


def test_a_board_needs_no_agent_and_agents_are_fetched_when_they_are_needed(
    page, exported_url
):
    held, requests = [], []
    page.route("**/*.safetensors", lambda route: held.append(route))
    page.on("request", lambda request: requests.append(request.url))
    page.reload()
    page.squares().nth(4).click()
    page.has_moves(1)
    agents = f"{exported_url}agents/shipped"
    served.wait_until(lambda: [page.wait_for_timeout(20), held][1])
    (route,) = held
    assert route.request.url == f"{agents}/network/1800.safetensors"
    assert f"{exported_url}tic_tac_toe.json" not in requests
    route.continue_()
    page.unroute("**/*.safetensors")
    page.has_moves(2)
    page.show("Table's values")
    page.place_says(page.legal()[0], "table ")
    page.game("connect_7x6")
    page.play(3)
    fetched = {url for url in requests if url.endswith((".safetensors", ".json"))}
    others = ("table/400", "connect-7x6/225054")
    assert fetched == {
        f"{exported_url}tic_tac_toe.json",
        *(f"{agents}/{name}.safetensors" for name in ("network/1800", *others)),
    }


def test_the_one_file_plays_reviews_keeps_and_exports_games(
    open_page, one_file, tmp_path
):
    page = one_file
    page.has_line(LINKED)
    lines = {}
    for env_id in GAMES:
        page.game(env_id)
        page.new_game()
        page.play_to_the_end()
        line = lines[env_id] = page.moves()
        assert page.status() == browsing.result(env_id, line, "x") == "You lost."
        page.button("Review this game").click()
        panel = page.get_by_role("tabpanel")
        expect(panel.get_by_role("listitem")).to_have_count(len(line))
        expect(panel).to_contain_text(re.compile("mistake|blunder"))
    page.reload()
    for env_id, line in lines.items():
        page.game(env_id)
        assert page.moves() == line
        assert page.counted()["You lost"] == 1
    # Agents are added and downloaded.
    panel = page.tab("Learning")
    page.upload("Add an agent's file", ALL["connect-5x4"])
    entry = panel.get_by_role("listitem").filter(has_text="connect-5x4")
    expect(entry).to_have_count(1)
    page.game("tic_tac_toe")
    section = page.tab("Learning").get_by_role("region", name="Snapshots")
    download = section.get_by_role("button", name="Download")
    content = browsing.download(download, tmp_path / "agent.safetensors")
    assert content == SHIPPED["network"].read_bytes()
    # A file brings games into another browser.
    page.tab("Statistics")
    file = tmp_path / "all.json"
    browsing.download(page.button("Export"), file)
    other = open_page(page.url)
    other.has_line(lines["tic_tac_toe"])
    other.tab("Statistics")
    other.upload("Import", file)
    expect(other.get_by_role("definition").first).to_have_text("1")


def test_values_the_timeline_and_the_proof_work_in_the_hosted_page(page):
    page.search_for(60)
    page.show("Exact values", "Network's values", "Table's values")
    page.place_says(0, "exact draw, network .*, table ")
    page.button("Hint").click()
    page.says("with best play, each move draws")
    # The timeline.
    panel = page.tab("Learning")
    expect(page.get_by_role("contentinfo")).to_contain_text("works without a server")
    expect(page.get_by_role("slider", name=re.compile("As X"))).to_be_visible()
    page.check_with_axe("the panel of learning")
    page.get_by_role("slider", name="Snapshot").press("Home")
    expect(panel).to_contain_text("update 0 of")
    page.button("Play against it as it was then").click()
    page.says("at update 0")
    while not page.is_over():
        page.play(browsing.best_actions("tic_tac_toe", page.moves())[0])
    assert page.counted()["Games"] == 1
    # Proofs of an agent of then, and of the agent now.
    panel = page.tab("Proof")
    expect(panel).to_contain_text("Can be beaten")
    expect(page.card("X")).to_contain_text("lost")
    expect(panel).not_to_contain_text("a theorem")
    page.tab("Learning")
    page.button("Back to the latest").click()
    page.tab("Proof")
    expect(page.card("X")).to_contain_text("Unbeatable")
    expect(panel).to_contain_text("is also a theorem")
    page.button("Check again in this browser").click()
    page.hear("The same result")
    page.choose_agent("Run weak (network)")
    expect(page.tab("Proof")).not_to_contain_text("a theorem")
