"""Learning: trainings are watched, steered, kept, and shared between tabs."""

import contextlib
import json
import re

import browsing
import pytest
from browsing import (
    LONG,
    PENDING,
    TABS,
    agree,
    announced,
    area,
    button,
    counted,
    expect,
    figures,
    hear,
    legal,
    moves,
    play,
    play_to_the_end,
    radio,
    says,
    status,
    tab,
    wait_for_turn,
)

pytestmark = pytest.mark.slow
UNBEATABLE = re.compile(r"Unbeatable, proven from update [\d,]+ on")


@pytest.fixture(scope="module")
def training_url(browser, tmp_path_factory):
    """Return the address of a server whose training the tests share."""
    with browsing.serving(tmp_path_factory.mktemp("training")) as url:
        yield url


@pytest.fixture
def page(open_page, training_url):
    """Return the page, without any training."""
    page = open_page(training_url)
    panel = tab(page, "Learning")
    expect(panel).to_contain_text(re.compile("Not started|Finished|Paused|update"))
    if button(page, "Reset").is_enabled():
        reset(page)
    return page


def training(page):
    """Return the part of the panel with the training."""
    return page.get_by_role("tabpanel").get_by_role(
        "region", name="Training", exact=True
    )


def reset(page):
    button(page, "Reset").click()
    agree(page, "Delete the training")
    expect(training(page)).to_contain_text("Not started")


def start(page, learner):
    radio(page, learner)
    button(page, "Start").click()


def updates(page):
    """Return the number of updates that the training has made."""
    text = re.search(r"update ([\d,]+) of", training(page).inner_text())
    return int(text[1].replace(",", "")) if text else 0


def pause(page):
    button(page, "Pause").click()
    expect(training(page)).to_contain_text("Paused")


def read_curves(page):
    """Read the curves by the arrow keys, and under the pointer."""
    chart = page.get_by_role("img", name=re.compile("As X"))
    figure = page.get_by_role("figure").filter(has=chart)
    first = re.compile(r"update 0\b")
    expect(figure).not_to_contain_text(first)
    chart.focus()
    page.keyboard.press("Home")
    expect(figure).to_contain_text(first)
    chart.blur()
    expect(figure).not_to_contain_text(first)
    chart.hover(position={"x": 5, "y": 60})
    expect(figure).to_contain_text(first)


def test_a_table_learns_until_it_is_proven_and_no_start_loses_it(
    open_page, page, training_url
):
    """One training: progress, proof, figures, curves, saving, and the next Start."""
    play(page, 4)
    line = moves(page)
    tab(page, "Learning")
    start(page, "Table")
    other = open_page(training_url)
    tab(other, "Learning")
    expect(training(other)).to_contain_text("Training: update", timeout=LONG)
    expect(training(other).get_by_role("progressbar")).to_be_visible()
    page.bring_to_front()
    expect(training(page)).to_contain_text(UNBEATABLE, timeout=LONG)
    texts = " ".join(announced(page))
    assert "Training: Training" in texts
    assert re.search(r"Unbeatable, proven", texts)
    panel = page.get_by_role("tabpanel")
    every = figures(panel)
    counts = [int(every[name].replace(",", "")) for name in ("Games", "X won")]
    assert counts[0] > counts[1] > 0
    # The opponent and the game are as they were.
    assert moves(page) == line
    says(page, "Shipped network")
    read_curves(page)
    # It is saved under a name, and played against.
    page.get_by_role("textbox", name="Name of the agent").fill("my table")
    button(page, "Save under a name").click()
    hear(page, 'Saved in this browser as "my table"')
    entries = panel.get_by_role("listitem")
    expect(entries.filter(has_text="my table")).to_have_count(1)
    training(page).get_by_role("button", name="Play against it").click()
    wait_for_turn(page)
    says(page, "From training: table")
    play(page, 4)
    # The next Start keeps the agent of the end, too, and overwrites none.
    tab(page, "Learning")
    expect(training(page)).to_contain_text("Finished", timeout=LONG)
    kept = entries.filter(has_text="Kept: ")
    expect(kept).to_have_count(1)
    button(page, "Start").click()
    hear(page, "The agent of the training before is kept in this browser")
    expect(kept).to_have_count(2)
    expect(training(page)).to_contain_text("Training: update", timeout=LONG)
    reset(page)
    expect(kept).to_have_count(2)
    other.bring_to_front()
    expect(training(other)).to_contain_text("Not started")


def test_a_training_in_another_tab_leaves_a_game_as_it_is(
    open_page, page, training_url
):
    """Two tabs start it at once: there is one training, and both tabs show it."""
    refused = "409"  # what the server may answer to the later one
    page = open_page(training_url, expected=refused)
    browsing.agent(page, "Shipped table")
    browsing.play(page, 4)
    line, title = moves(page), "Unbeatable (learned agent): Shipped table"
    says(page, title)
    other = open_page(training_url, context=page.context, expected=refused)
    for one in (page, other):
        tab(one, "Learning")
        expect(training(one)).to_contain_text("Not started")
        radio(one, "Table")
    for one in (page, other):
        button(one, "Start").evaluate("one => one.click()")
    for one in (other, page):
        one.bring_to_front()
        expect(training(one)).to_contain_text("Training: update", timeout=LONG)
        expect(button(one, "Start")).to_be_disabled()
    assert moves(page) == line
    says(page, title)
    expect(area(page)).not_to_contain_text(PENDING)
    expect(training(page)).to_contain_text(UNBEATABLE, timeout=LONG)
    play_to_the_end(page)
    assert status(page) == browsing.result("tic_tac_toe", moves(page), "x")
    assert browsing.row_of(tab(page, "Statistics"), title)[0] == 1
    reset(tab_of(page))
    other.bring_to_front()
    expect(training(other)).to_contain_text("Not started")


@contextlib.contextmanager
def held_replies(page, method, address):
    """Hold the replies to requests; at the end they arrive, late."""
    replies = []

    def hold(route):
        if route.request.method == method:
            replies.append((route, route.fetch()))
        else:
            route.continue_()

    page.route(address, hold)
    yield replies
    for route, response in replies:
        route.fulfill(response=response)
    page.unroute(address)


def test_a_game_against_the_agent_of_a_training_outlives_the_server(
    open_page, own_server, tmp_path
):
    """Until then: a late reply changes nothing, and each tab survives a reload."""
    url, stop = own_server
    page = open_page(url, expected="ERR_|Failed to load")
    tab(page, "Learning")
    start(page, "Table")
    expect(training(page)).to_contain_text("Training: update", timeout=LONG)
    with held_replies(page, "PATCH", "**/api/training/settings") as replies:
        switch = page.get_by_role("checkbox", name="Learn from my games")
        switch.click(force=True)
        expect(training(page)).to_contain_text("Finished", timeout=LONG)
        text = training(page).inner_text()
        assert len(replies) == 1
    page.wait_for_timeout(300)
    assert training(page).inner_text() == text
    training(page).get_by_role("button", name="Play against it").click()
    wait_for_turn(page)
    title = "Unbeatable (learned agent): From training: table"
    says(page, title)
    play(page, 4)
    line = moves(page)
    for name in TABS:
        tab(page, name)
        page.reload()
        wait_for_turn(page)
        assert moves(page) == line
        chosen = page.get_by_role("tab", selected=True)
        expect(chosen).to_have_text(name)
        says(page, title)
        expect(area(page)).not_to_contain_text(PENDING)
    stop()
    hear(page, "The server does not answer")
    play_to_the_end(page)
    assert status(page) == browsing.result("tic_tac_toe", moves(page), "x")
    assert browsing.row_of(tab(page, "Statistics"), title)[0] == 1
    file = tmp_path / "all.json"
    content = json.loads(browsing.download(button(page, "Export"), file))
    assert len(content["games"]) == 1
    text = "The file lacks an agent that the server did not send: From training: table."
    expect(page.get_by_role("tabpanel")).to_contain_text(text)


def test_the_opponent_in_training_is_deleted(open_page, page, training_url):
    """The game goes on; after a reload it says what is missing, and is not stuck."""
    page = open_page(training_url, expected="404")
    tab(page, "Learning")
    start(page, "Table")
    expect(training(page)).to_contain_text("Training: update", timeout=LONG)
    training(page).get_by_role("button", name="Play against it").click()
    wait_for_turn(page)
    play(page, 4)
    reset(tab_of(page))
    play(page, legal(page)[0])
    assert len(moves(page)) == 4
    page.reload()
    wait_for_turn(page)
    browsing.squares(page).nth(legal(page)[0]).click()
    says(page, "That did not work")
    line = moves(page)
    button(page, "Try again").click()
    says(page, "That did not work")
    assert moves(page) == line
    button(page, "New game").click()
    wait_for_turn(page)
    says(page, "Shipped network")
    play(page, 4)
    # The next training has an agent of its own.
    start(tab_of(page), "Table")
    expect(training(page)).to_contain_text("Training: update", timeout=LONG)
    says(page, "Shipped network")
    training(page).get_by_role("button", name="Play against it").click()
    wait_for_turn(page)
    says(page, "From training: table")
    play(page, 4)
    reset(tab_of(page))


def test_a_training_pauses_and_goes_on(page):
    start(page, "Network")
    expect(training(page)).to_contain_text("Training: update", timeout=LONG)
    pause(page)
    page.wait_for_timeout(500)  # the updates that were under way
    held = updates(page)
    page.wait_for_timeout(1000)
    assert updates(page) == held
    page.reload()
    wait_for_turn(page)
    expect(training(page)).to_contain_text("Paused")
    assert updates(page) == held
    button(page, "Continue").click()
    expect(training(page)).to_contain_text("Training")
    for _ in range(100):
        if updates(page) > held:
            break
        page.wait_for_timeout(100)
    assert updates(page) > held
    button(page, "Reset").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert updates(page) >= held
    reset(page)
    assert updates(page) == 0


def test_sliders_move_and_go_back_to_their_defaults(page):
    radio(page, "Table")
    usual = {}
    for name in ("Learning rate", "Discount", "Exploration"):
        slider = page.get_by_role("slider", name=name)
        usual[name] = slider.get_attribute("aria-valuetext")
        for _ in range(3):
            slider.press("PageDown")
        expect(slider).not_to_have_attribute("aria-valuetext", usual[name])
    page.wait_for_timeout(500)  # until the server has answered all
    moved = {
        name: page.get_by_role("slider", name=name).get_attribute("aria-valuetext")
        for name in usual
    }
    page.reload()
    wait_for_turn(page)
    for name, value in moved.items():
        slider = page.get_by_role("slider", name=name)
        expect(slider).to_have_attribute("aria-valuetext", value)
    button(page, "Defaults").click()
    for name, value in usual.items():
        slider = page.get_by_role("slider", name=name)
        expect(slider).to_have_attribute("aria-valuetext", value)
    expect(button(page, "Defaults")).to_be_disabled()


def test_the_agent_in_training_learns_from_a_persons_game(page):
    start(page, "Table")
    expect(training(page)).to_contain_text("Training: update", timeout=LONG)
    panel = page.get_by_role("tabpanel")
    switch = page.get_by_role("checkbox", name="Learn from my games")
    switch.click(force=True)
    expect(switch).to_be_checked()
    expect(panel).to_contain_text("0 so far")
    play_to_the_end(page)
    expect(panel).to_contain_text("1 so far", timeout=LONG)
    assert counted(page)["Games"] == 1
    tab(page, "Learning")
    switch.click(force=True)
    expect(switch).not_to_be_checked()
    reset(page)


def test_eight_tabs_of_one_browser_load_and_play(open_page, page, training_url):
    others = [open_page(training_url, context=page.context) for _ in range(7)]
    for one in (others[-1], page):
        one.bring_to_front()
        play(one, 4)
    start(tab_of(page), "Table")
    last = others[-1]
    last.bring_to_front()
    tab(last, "Learning")
    expect(training(last)).to_contain_text("update", timeout=LONG)
    for one in others:
        one.close()
    page.bring_to_front()
    reset(tab_of(page))


def tab_of(page):
    """Return the page with its tab of learning open."""
    tab(page, "Learning")
    return page


def test_the_page_plays_on_without_the_server(open_page, own_server):
    url, stop = own_server
    page = open_page(url, expected="ERR_|Failed to load")
    play(page, 4)
    stop()
    hear(page, "The server does not answer")
    play_to_the_end(page)
    assert status(page) in browsing.RESULTS
    assert counted(page)["Games"] == 1
    for env_id in ("connect_5x4", "connect_7x6"):
        browsing.game(page, env_id)
        play(page, 2)
    expect(tab(page, "Learning")).to_contain_text("The server does not answer")
    browsing.game(page, "tic_tac_toe")
    browsing.show(page, "Exact values", "Table's values")
    pattern = re.compile("exact.*table")
    button(page, "New game").click()
    expect(browsing.squares(page).first).to_have_accessible_name(pattern)


def test_connect_four_4x4_is_learned_in_rounds_until_the_proof(page):
    """Its losing line is shown on the board while it can be beaten."""
    start(page, "Connect Four 4")
    panel = page.get_by_role("tabpanel")
    ends = re.compile(r"Round \d+: ([\d,]+) losing ends? (is|are) left")
    expect(panel).to_contain_text(ends, timeout=LONG)
    expect(panel).to_contain_text("it loses this game")
    show = page.get_by_role("button", name=re.compile("Show it on the board")).first
    as_first = "as Blue" in (show.text_content() or "")
    # Whichever agent is selected, a new game is against the one that loses the line.
    page.get_by_role("textbox", name="Name of the agent").fill("early")
    button(page, "Save under a name").click()
    links = page.get_by_role("navigation", name="Games")
    links.get_by_role("button", name="Connect Four 4").click()
    browsing.agent(page, "Kept: early (network)")
    tab(page, "Learning")
    show.click()
    expect(area(page)).to_contain_text("try it yourself", timeout=LONG)
    line = moves(page)
    side = "x" if as_first else "o"
    assert browsing.result("connect_4x4", line, side) == "You lost."
    button(page, "New game").click()
    wait_for_turn(page)
    says(page, "From training: network")
    assert len(moves(page)) == (0 if side == "o" else 1)
    chart = page.get_by_role("img", name=re.compile("Losing ends"))
    expect(chart).to_be_visible(timeout=LONG)
    expect(training(page)).to_contain_text(UNBEATABLE, timeout=2 * LONG)
    counts = [
        int(text.replace(",", "")) for text, _ in ends.findall(panel.inner_text())
    ]
    assert counts == [0]
    hear(page, "Unbeatable, proven")
    training(page).get_by_role("button", name="Play against it").click()
    wait_for_turn(page)
    says(page, "From training: network")
    play_to_the_end(page)
    assert status(page) != "You won."
    assert len(browsing.names(page)) == 4
