"""The served page in a browser: games in the server, live training, one backup file."""

import json
import re

import browsing
import pytest
import rules
from browsing import (
    axe,
    board,
    cards,
    expect,
    level,
    play,
    play_to_the_end,
    serving,
    slide,
    status,
    tab,
    wait_for_turn,
)

pytestmark = pytest.mark.slow
LONG = 120_000
"""Milliseconds that a training may take, on a busy machine."""


@pytest.fixture(scope="module")
def served_url(browser, tmp_path_factory):
    with serving(tmp_path_factory.mktemp("served")) as url:
        yield url


@pytest.fixture
def page(open_page, served_url):
    found = open_page(served_url)
    wait_for_turn(found)
    return found


def games(page):
    tab(page, "Statistics")
    return int(cards(page, "#statistics")["Games"])


def count_after_a_game(page):
    """Play a game and return the statistics when they are there."""
    before = games(page)
    play_to_the_end(page)
    first = page.locator("#statistics .cards dd").first
    expect(first).to_have_text(str(before + 1))
    return cards(page, "#statistics")


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


def reset(page):
    """Go to the training, without any agent in it."""
    tab(page, "Learning")
    if button(page, "Reset").is_enabled():
        button(page, "Reset").click()
        button(page, "Forget it").click()
    expect(page.locator(".state")).to_have_text("Not started")


def test_a_game_is_played_in_the_server_and_counted(page):
    found = count_after_a_game(page)
    assert int(found["You lost"]) >= 1
    assert not rules.moves(board(page))
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#status-main")).to_contain_text("Your turn")
    play_to_the_end(page)
    page.reload()
    wait_for_turn(page)
    assert games(page) == int(found["Games"]), "a game counts once"


@pytest.mark.parametrize("name", ["Beginner", "Medium", "Expert"])
def test_each_level_plays_and_the_expert_does_not_lose(page, name):
    level(page, name)
    play_to_the_end(page, max)
    if name == "Expert":
        assert status(page) in ("You lost.", "A draw.")


def test_connect_four_is_played_on_a_page_of_its_own(page):
    page.get_by_role("link", name="Connect Four").click()
    wait_for_turn(page)
    page.locator(".column").nth(2).click()
    expect(page.locator("#moves")).to_have_text(re.compile(r"^3 \d$"))
    page.get_by_role("link", name="Tic-tac-toe").click()
    wait_for_turn(page)
    assert page.locator(".square").count() == 9


def test_a_reload_continues_the_servers_game(page):
    browsing.side(page, "O")
    now = board(page)
    play(page, now.index("-"))
    now = board(page)
    page.reload()
    for _ in range(100):  # an empty board is there before the server's game
        if board(page) == now:
            break
        page.wait_for_timeout(100)
    assert board(page) == now
    wait_for_turn(page)
    before = games(page)
    play_to_the_end(page)
    expect(page.locator("#statistics .cards dd").first).to_have_text(str(before + 1))


def test_statistics_and_agents_go_into_a_file_and_back(page, tmp_path):
    count_after_a_game(page)
    kept = games(page)
    with page.expect_download() as download:
        button(page, "Export").click()
    file = tmp_path / "backup.json"
    download.value.save_as(file)
    assert len(json.loads(file.read_text("utf-8"))["games"]) == kept
    button(page, "Clear the statistics").click()
    button(page, "Clear").click()
    expect(page.locator("#statistics .cards dd").first).to_have_text("0")
    page.locator("#import-file").set_input_files(file)
    expect(page.locator("#statistics .cards dd").first).to_have_text(str(kept))


def test_a_bad_file_is_refused_with_the_servers_reason(open_page, served_url, tmp_path):
    page = open_page(served_url, expected="status of 400")
    wait_for_turn(page)
    kept = games(page)
    file = tmp_path / "bad.json"
    file.write_text('{"format": "another"}', "utf-8")
    page.locator("#import-file").set_input_files(file)
    note = page.locator("#statistics [role=status]")
    expect(note).to_contain_text("not a backup of this program")
    expect(note).to_contain_text("Nothing was changed")
    assert games(page) == kept


@pytest.mark.parametrize("learner", ["Table", "Network"])
def test_an_agent_is_trained_until_it_is_proven_unbeatable(page, learner):
    before = games(page)
    reset(page)
    page.get_by_role("radio", name=learner).check(force=True)
    button(page, "Start").click()
    proof = page.locator(".verdict-live")
    expect(proof).to_contain_text("Unbeatable", timeout=LONG)
    assert re.search(r"proven from update [\d,]+ on", proof.inner_text())
    assert page.locator(".proven-line").count() == 2
    assert page.locator(".chart .area").count() == 6
    axe(page, "training")
    trained = cards(page, "#training-details")
    numbers = [int(trained[name].replace(",", "")) for name in ("Games", "X won")]
    assert numbers[0] > numbers[1] > 0
    assert games(page) == before, "training is not the person's games"
    tab(page, "Proof")
    expect(page.locator("#proof-about")).to_contain_text("In training")


def test_training_pauses_and_goes_on(page):
    reset(page)
    page.get_by_role("radio", name="Network").check(force=True)
    button(page, "Start").click()
    expect(page.locator(".state")).to_contain_text("Training", timeout=LONG)
    button(page, "Pause").click()
    state = page.locator(".state")
    expect(state).to_contain_text("Paused")
    page.wait_for_timeout(500)  # the chunk that was under way
    held = state.inner_text()
    page.wait_for_timeout(1500)
    assert state.inner_text() == held
    page.reload()
    wait_for_turn(page)
    tab(page, "Learning")
    expect(state).to_have_text(held)
    button(page, "Continue").click()
    expect(state).to_contain_text("Training")
    expect(state).not_to_contain_text(held.partition("update")[2], timeout=LONG)
    button(page, "Reset").click()
    button(page, "Cancel").click()
    expect(state).not_to_have_text("Not started")
    reset(page)


def test_a_training_is_selected_as_it_starts_but_not_as_the_page_opens(
    open_page, served_url, page
):
    reset(page)
    page.get_by_role("radio", name="Table").check(force=True)
    button(page, "Start").click()
    selected = "#agent option:checked"
    expect(page.locator(selected)).to_have_text("In training: table", timeout=LONG)
    button(page, "Pause").click()
    expect(page.locator(".state")).to_contain_text("Paused")
    other = open_page(served_url)
    wait_for_turn(other)
    expect(other.locator(".state")).to_contain_text("Paused")
    expect(other.locator("#agent option")).to_have_count(3)
    name = other.locator(selected).text_content()
    assert other.locator("#status-more").inner_text() == f"Medium: {name}"
    other.close()
    reset(page)


def test_sliders_and_learning_from_games_take_effect_in_the_server(page, served_url):
    reset(page)
    slide(page, "#gamma", 500)
    shown = page.locator("output[for=gamma]").inner_text()
    page.locator("#people").check()
    status_url = f"{served_url}/api/training"
    found = page.request.get(status_url).json()
    assert found["settings"]["gamma"]["value"] == pytest.approx(float(shown))
    assert found["learn_from_people"] is True
    page.reload()
    wait_for_turn(page)
    tab(page, "Learning")
    expect(page.locator("output[for=gamma]")).to_have_text(shown)
    expect(page.locator("#people")).to_be_checked()
    expect(page.locator("#training-details")).to_contain_text("once training has begun")
    help_text = page.locator("#gamma-help")
    expect(help_text).not_to_be_visible()
    page.get_by_role("button", name="About: Discount").focus()
    expect(help_text).to_be_visible()
    page.locator("#people").uncheck()
    reset(page)


def test_the_timeline_of_a_training_plays_an_earlier_agent(page):
    reset(page)
    page.get_by_role("radio", name="Table").check(force=True)
    button(page, "Start").click()
    expect(page.locator(".verdict-live")).to_contain_text("Unbeatable", timeout=LONG)
    button(page, "Pause").click()
    slide(page, "#snapshot", 0)
    expect(page.locator("#timeline output")).to_contain_text("update 0 of")
    button(page, "Play against it as it was then").click()
    expect(page.locator("#status-more")).to_contain_text("at update 0")
    play_to_the_end(page)
    tab(page, "Proof")
    expect(page.locator(".proofs")).to_contain_text("Can be beaten")
    page.locator("#check").click()
    expect(page.locator("#check-result")).to_contain_text("The same result")
    tab(page, "Learning")
    reset(page)


def test_the_page_says_when_the_server_is_gone(open_page, tmp_path):
    with serving(tmp_path) as url:
        page = open_page(url, expected="ERR_|Failed to load")
        wait_for_turn(page)
        play(page, 4)
        now = board(page)
    browsing.square(page, now.index("-")).click()
    expect(page.locator("#status-more")).to_contain_text("does not answer")
    assert board(page) == now, "the move is taken back"
    tab(page, "Learning")
    expect(page.locator(".problem")).to_contain_text("connection")
