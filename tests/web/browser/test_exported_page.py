"""The exported page from `file://`: one file that plays, proves and keeps by itself."""

import re

import browsing
import pytest
from browsing import (
    GAMES,
    SCREENS,
    axe,
    button,
    counted,
    expect,
    figures,
    hear,
    is_over,
    legal,
    link,
    moves,
    play,
    play_to_the_end,
    says,
    show,
    squares,
    status,
    tab,
    wait_for_turn,
)

from jax_ttt.players.shipped import ALL, SHIPPED

pytestmark = pytest.mark.slow


@pytest.fixture
def page(open_page, exported_url):
    """Return the page; at the end it has requested nothing but itself."""
    page = open_page(exported_url)
    requests = []
    page.context.on("request", lambda request: requests.append(request.url))
    page.reload()
    wait_for_turn(page)
    yield page
    own = (exported_url, "data:", "blob:")
    assert [url[:80] for url in requests if not url.startswith(own)] == []
    assert any(url.startswith(exported_url) for url in requests)


def test_it_is_one_file_without_addresses(exported_url):
    from pathlib import Path
    from urllib.parse import unquote, urlparse

    path = Path(unquote(urlparse(exported_url).path))
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    text = path.read_text("utf-8")
    assert re.findall(r'(?:src|href)="(?!data:|#)[^"]+"', text) == []
    assert "connect-src 'none'" in text


@pytest.mark.parametrize("env_id", GAMES)
def test_a_whole_game_is_played_reviewed_counted_and_kept(page, env_id):
    browsing.game(page, env_id)
    play_to_the_end(page)
    line = moves(page)
    assert status(page) == browsing.result(env_id, line, "x") == "You lost."
    button(page, "Review this game").click()
    panel = page.get_by_role("tabpanel")
    expect(panel.get_by_role("listitem")).to_have_count(len(line))
    expect(panel).to_contain_text("mistake")
    page.reload()
    wait_for_turn(page)
    assert moves(page) == line
    assert counted(page)["You lost"] == 1


def test_a_reload_in_the_middle_keeps_the_game(page):
    browsing.game(page, "connect_7x6")
    play(page, 3)
    line = moves(page)
    page.reload()
    wait_for_turn(page)
    assert moves(page) == line
    play_to_the_end(page)
    assert counted(page)["Games"] == 1


def test_values_and_hints_are_there(page):
    show(page, "Exact values", "Network's values", "Table's values")
    pattern = re.compile("exact draw, network .*, table ")
    expect(squares(page).first).to_have_accessible_name(pattern)
    button(page, "Hint").click()
    says(page, "keeps the draw")
    browsing.game(page, "connect_5x4")
    expect(squares(page).first).to_have_accessible_name(re.compile("exact .*network"))


def test_perfect_play_moves_without_a_server(page):
    browsing.level(page, "Perfect play")
    play_to_the_end(page, max)
    assert status(page) in ("You lost.", "A draw.")


def test_the_timeline_goes_back_to_a_snapshot_and_plays_it(page):
    panel = tab(page, "Learning")
    expect(page.get_by_role("img", name=re.compile("As X"))).to_be_visible()
    page.get_by_role("slider", name="Snapshot").press("Home")
    expect(panel).to_contain_text("update 0 of")
    button(page, "Play against it as it was then").click()
    says(page, "at update 0")
    while not is_over(page):
        play(page, browsing.best_actions("tic_tac_toe", moves(page))[0])
    assert counted(page)["Games"] == 1
    expect(tab(page, "Proof")).to_contain_text("Can be beaten")
    tab(page, "Learning")
    button(page, "Back to the latest").click()
    expect(tab(page, "Proof")).to_contain_text("Unbeatable")


def test_the_proof_is_checked_again_and_a_losing_line_is_shown(page):
    tab(page, "Proof")
    button(page, "Check again in this browser").click()
    hear(page, "The same result")
    browsing.agent(page, "Run weak (network)")
    tab(page, "Proof")
    button(page, "Show me how to beat it").first.click()
    says(page, "try it yourself")
    assert browsing.result("tic_tac_toe", moves(page), "x") == "You lost."
    browsing.game(page, "connect_5x4")
    panel = tab(page, "Proof")
    button(page, "Check again in this browser").click()
    expect(panel).to_contain_text("The same result", timeout=60_000)


def test_training_is_missing_and_the_page_says_so(page):
    panel = tab(page, "Learning")
    expect(panel).to_contain_text("Training is missing")
    expect(panel).to_contain_text("python -m jax_ttt.web")
    expect(button(page, "Start")).to_have_count(0)
    expect(page.get_by_role("contentinfo")).to_contain_text("works without a server")


def test_the_link_holds_the_position(open_page, page, exported_url):
    play(page, 4)
    other = open_page(page.url)
    assert moves(other) == moves(page)
    other = open_page(link(exported_url, "connect_5x4", [2, 2]))
    assert moves(other) == [2, 2]
    assert len(legal(other)) == 5


def test_statistics_and_agents_are_exported_and_imported(open_page, page, tmp_path):
    play_to_the_end(page)
    panel = tab(page, "Learning")
    browsing.upload(page, "Add an agent's file", ALL["connect-5x4"])
    expect(panel.get_by_role("listitem").filter(has_text="connect-5x4")).to_have_count(
        1
    )
    section = panel.get_by_role("region", name="Snapshots")
    download = section.get_by_role("button", name="Download")
    content = browsing.download(download, tmp_path / "agent.safetensors")
    assert content == SHIPPED["network"].read_bytes()
    tab(page, "Statistics")
    file = tmp_path / "all.json"
    browsing.download(button(page, "Export"), file)
    other = open_page(page.url.partition("#")[0])
    tab(other, "Statistics")
    browsing.upload(other, "Import", file)
    expect(other.get_by_role("definition").first).to_have_text("1")
    panel = tab(other, "Learning")
    expect(panel.get_by_role("listitem").filter(has_text="connect-5x4")).to_have_count(
        1
    )


@pytest.mark.parametrize("screen", SCREENS)
def test_axe_finds_nothing_serious(open_page, exported_url, screen):
    page = open_page(exported_url, **SCREENS[screen])
    play(page, 4)
    for name in ("Game", "Learning", "Statistics"):
        tab(page, name)
        axe(page, name)
    assert set(figures(tab(page, "Statistics"))) >= {"Games", "You won", "Draws"}
