"""Learning: trainings are watched, steered, kept, and shared between tabs."""

import contextlib
import json
import re

import browsing
import made
import pytest
import quick
import served
import tiny
from board_values import table_values, values_of
from browsing import LONG, PENDING, expect, figures

from jax_ttt.files import json_records

pytestmark = pytest.mark.slow
COUNTED = ("Unbeatable (learned agent)", "Learned agent at its best")
"""What the board calls an agent that is proven, and what the statistics call it."""
UNBEATABLE = re.compile(r"Unbeatable, proven from update [\d,]+ on")
UNDER_WAY = "Training: update"
BEGUN = re.compile("(Training|Paused|Finished): update")
"""A training may be paused or end before the test looks."""
START = re.compile("^Start$")


@pytest.fixture(scope="module")
def training_url(browser, tmp_path_factory):
    """Return the address of a server whose training the tests share."""
    with contextlib.ExitStack() as stack:
        with quick.optimized():  # it trains for long
            serving = browsing.serving(tmp_path_factory.mktemp("training"))
            url = stack.enter_context(serving)
        yield url


@pytest.fixture
def page(open_page, training_url):
    """Return the page, without any training, at the panel of learning."""
    page = open_page(training_url, expected="404|409")
    page.tab("Learning")
    known = re.compile("Not started|Training: |Paused|Finished|Failed")
    expect(training(page)).to_contain_text(known)
    if page.button("Reset").is_enabled():
        reset(page)
    return page


def training(page):
    """Return the part of the panel with the training."""
    return page.get_by_role("region", name="Training", exact=True)


def reset(page):
    page.tab("Learning")
    page.button("Reset").click()
    page.agree("Delete the training")
    expect(training(page)).to_contain_text("Not started")


def start(page, learner):
    page.tab("Learning")
    page.radio(learner)
    page.get_by_role("button", name=START).click()
    expect(training(page)).to_contain_text(BEGUN, timeout=LONG)


def start_paused(page, learner):
    """Start a training that the page pauses as soon as it has learned."""
    page.tab("Learning")
    page.radio(learner)
    browsing.click_once(training(page), UNDER_WAY, "Pause")
    page.get_by_role("button", name=START).click()
    expect(training(page)).to_contain_text("Paused: update", timeout=LONG)


def play_against_it(page):
    """Begin a game against the agent in training."""
    panel = page.get_by_role("tabpanel")
    panel.get_by_role("button", name="Play against it").click()
    page.wait_for_turn()
    page.says("From training: ")


def updates(page):
    """Return the number of updates that the training has made."""
    text = re.search(r"update ([\d,]+) of", training(page).inner_text())
    return int(text[1].replace(",", "")) if text else 0


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


def show_values(page, expected):
    """Wait until the board shows these values."""
    served.wait_until(lambda: table_values(page) == expected)


def test_a_table_learns_until_it_is_proven_and_no_start_loses_it(page, tmp_path):
    start_paused(page, "Table")
    expect(training(page).get_by_role("progressbar")).to_be_visible()
    # The values on the board are those of the agent that learns, without a click on it.
    served.wait_until(lambda: None not in table_values(page))
    early, paused_at = table_values(page), updates(page)
    # It goes on to its proof, with progress, figures and curves.
    page.button("Continue").click()
    expect(training(page)).to_contain_text(UNBEATABLE, timeout=LONG)
    expect(training(page)).to_contain_text("Finished", timeout=LONG)
    texts = " ".join(page.announced())
    assert "Training: Training" in texts
    assert re.search(r"Unbeatable, proven", texts)
    panel = page.get_by_role("tabpanel")
    every = figures(panel)
    counts = [int(every[name].replace(",", "")) for name in ("Games", "X won")]
    assert counts[0] > counts[1] > 0
    read_curves(page)
    file = tmp_path / "final.safetensors"
    browsing.download(page.button("Download"), file)
    final = values_of(file)
    assert min(final) > 0.5
    # A very slow machine pauses a training only at its end.
    assert final != early or paused_at == 400
    show_values(page, final)
    page.says("Values of: From training: table.")
    # The next Start keeps the agent, and the board shows the next one's values.
    start_paused(page, "Table")
    kept = panel.get_by_role("listitem").filter(has_text="Kept: ")
    expect(kept).to_have_count(1)
    page.says("Values of: From training: table.")
    # A game against it goes on with its agent.
    page.play(4)
    page.tab("Learning")
    page.button("Continue").click()
    page.says(re.compile(r"Your opponent stays as it was at update \d+ until"))
    expect(training(page)).to_contain_text("Finished", timeout=LONG)
    line = page.moves()
    start_paused(page, "Table")
    expect(kept).to_have_count(2)
    page.says("Values of: Kept: table")
    page.button("Show its values").click()
    page.says("Values of: From training: table.")
    assert page.moves() == line
    page.show("Table's values", "Next moves", is_shown=False)
    reset(page)
    expect(kept).to_have_count(2)


def test_a_training_is_shown_as_one_of_its_game_also_after_a_reload(page):
    start_paused(page, "Table")
    page.button("Continue").click()
    expect(training(page)).to_contain_text("Finished", timeout=LONG)
    page.reload()
    curves = page.get_by_role("region", name="Curves")
    expect(curves).to_contain_text("From training: table: exact results")
    expect(curves).not_to_contain_text("snapshots")
    expect(training(page)).not_to_contain_text("not of the open game")
    page.game("connect_7x6")
    expect(training(page)).to_contain_text(
        "This training is of Tic-tac-toe, not of the open game."
    )
    expect(training(page)).to_contain_text("Tic-tac-toe: Unbeatable, proven")
    expect(curves).to_contain_text("From training: table, Tic-tac-toe: exact results")
    page.radio("The selected agent")
    expect(curves).to_contain_text("Shipped network: no history")
    page.game("tic_tac_toe")
    reset(page)


def test_tabs_share_one_training_and_keep_their_games(open_page, page, training_url):
    """Two of eight tabs start it at once: there is one training, and both show it."""
    page.choose_agent("Shipped table")
    page.play(4)
    line, title = page.moves(), "Unbeatable (learned agent): Shipped table"
    page.says(title)
    # A browser opens six connections to a server; a tab of a game has none.
    others = [
        open_page(training_url, context=page.context, expected="409") for _ in range(7)
    ]
    other = others[-1]
    other.play(4)
    for one in (page, other):
        one.tab("Learning")
    # The choice of one tab is the other's: the server has it before a training starts.
    page.radio("Network")
    for one in (page, other):
        expect(one.get_by_role("radio", name="Network")).to_be_checked()
        expect(training(one)).to_contain_text("Not started")
    # It is paused until the end, however long the tabs take.
    browsing.click_once(training(page), UNDER_WAY, "Pause")
    for one in (page, other):
        one.get_by_role("button", name=START).evaluate("one => one.click()")
    for one in (other, page):
        expect(training(one)).to_contain_text("Paused: update", timeout=LONG)
        expect(one.button("Start")).to_be_disabled()
    assert page.moves() == line
    page.says(title)
    page.says_no(PENDING)
    page.play_to_the_end()
    assert page.status() == browsing.result("tic_tac_toe", page.moves(), "x")
    assert page.row(title.replace(*COUNTED))[0] == 1
    # A tab that was hidden meanwhile shows the state once it is visible.
    other.set_hidden(True)
    reset(page)
    expect(training(other)).not_to_contain_text("Not started")
    other.set_hidden(False)
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
    start(page, "Table")
    with held_replies(page, "PATCH", "**/api/training/settings") as replies:
        switch = page.get_by_role("checkbox", name="Learn from my games")
        switch.click()
        expect(training(page)).to_contain_text("Finished", timeout=LONG)
        text = training(page).inner_text()
        # The server's answer may still be under way.
        served.wait_until(lambda: [page.wait_for_timeout(20), replies][1])
        assert len(replies) == 1
    page.wait_for_timeout(300)
    assert training(page).inner_text() == text
    play_against_it(page)
    title = "Unbeatable (learned agent): From training: table"
    page.says(title)
    page.play(4)
    line = page.moves()
    for name in ("Learning", "Proof", "Compare"):
        page.tab(name)
        page.reload()
        assert page.moves() == line
        chosen = page.get_by_role("tab", selected=True)
        expect(chosen).to_have_text(name)
        page.says(title)
        page.says_no(PENDING)
    stop()
    page.hear("The server does not answer")
    page.play_to_the_end()
    assert page.status() == browsing.result("tic_tac_toe", page.moves(), "x")
    assert page.row(title.replace(*COUNTED))[0] == 1
    file = tmp_path / "all.json"
    content = json.loads(browsing.download(page.button("Export"), file))
    assert len(content["games"]) == 1
    text = "The file lacks an agent that the server did not send: From training: table."
    expect(page.get_by_role("tabpanel")).to_contain_text(text)
    expect(page.tab("Learning")).to_contain_text("The server does not answer")
    for env_id in ("connect_5x4", "connect_7x6"):
        page.game(env_id)
        page.play(2)
    page.game("tic_tac_toe")
    page.choose_agent("Shipped network")
    page.show("Exact values", "Table's values")
    page.new_game()
    page.place_says(0, "exact.*table")


def test_a_training_starts_after_the_choice_and_its_end_stops_no_game(page):
    """A training of a choice that comes late would be deleted by it."""
    commands, held = [], []

    def hold(route):
        commands.append(route.request.post_data_json["command"])
        if commands[-1] == "reset":
            held.append(route)
        else:
            route.continue_()

    page.tab("Learning")
    page.radio("Network")
    page.route("**/api/training", hold)
    page.radio("Table")
    page.get_by_role("button", name=START).click()
    page.wait_for_timeout(300)
    assert commands == ["reset"]
    held[0].continue_()
    expect(training(page)).to_contain_text(BEGUN, timeout=LONG)
    assert commands == ["reset", "start"]
    page.unroute("**/api/training")
    # A game against it goes on after the training is deleted.
    play_against_it(page)
    page.play(4)
    reset(page)
    page.play(page.legal()[0])
    assert len(page.moves()) == 4
    # After a reload it says what is missing, and is not stuck.
    page.reload()
    page.squares().nth(page.legal()[0]).click()
    page.says("That did not work")
    line = page.moves()
    page.button("Try again").click()
    page.says("That did not work")
    assert page.moves() == line
    page.new_game()
    page.says("Shipped network")
    page.play(4)
    # The next training has an agent of its own.
    start(page, "Table")
    page.says("Shipped network")
    play_against_it(page)
    page.play(4)
    reset(page)


SLIDERS = ("Learning rate", "Discount", "Exploration")


def test_sliders_a_pause_and_the_persons_games_steer_a_training(page):
    page.radio("Table")
    sliders = {name: page.get_by_role("slider", name=name) for name in SLIDERS}

    def values():
        return {n: s.get_attribute("aria-valuetext") for n, s in sliders.items()}

    usual = values()
    for name, slider in sliders.items():
        for _ in range(3):
            with page.expect_response("**/api/training/settings"):
                slider.press("PageDown")
        expect(slider).not_to_have_attribute("aria-valuetext", usual[name])
    moved = values()
    page.reload()
    for name, slider in sliders.items():
        expect(slider).to_have_attribute("aria-valuetext", moved[name])
    page.button("Defaults").click()
    for name, slider in sliders.items():
        expect(slider).to_have_attribute("aria-valuetext", usual[name])
    expect(page.button("Defaults")).to_be_disabled()
    # A pause, also over a reload. Meanwhile the agent learns from a person's game.
    start_paused(page, "Network")
    panel = page.get_by_role("tabpanel")
    switch = page.get_by_role("checkbox", name="Learn from my games")
    switch.click()
    expect(switch).to_be_checked()
    expect(panel).to_contain_text("0 so far")
    page.play_to_the_end()
    expect(panel).to_contain_text("1 so far", timeout=LONG)
    held = updates(page)  # those that were under way at the pause are over
    page.new_game()
    page.play_to_the_end()
    expect(panel).to_contain_text("2 so far", timeout=LONG)
    assert updates(page) == held
    page.reload()
    expect(training(page)).to_contain_text("Paused")
    assert updates(page) == held
    assert page.counted()["Games"] == 2
    page.tab("Learning")
    switch.click()
    expect(switch).not_to_be_checked()
    page.button("Continue").click()
    more = re.compile(r"Training: update (?!" + f"{held:,} of)")
    expect(training(page)).to_contain_text(more)
    page.button("Reset").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert updates(page) > held
    reset(page)
    assert updates(page) == 0


def test_connect_four_4x4_is_learned_in_rounds_until_the_proof(page):
    """Its losing line is shown on the board while it can be beaten."""
    # It is paused where it loses, so that the line is there as long as the test takes.
    panel = page.get_by_role("tabpanel")
    browsing.click_once(panel, "it loses this game", "Pause")
    start(page, "Connect Four 4")
    expect(training(page)).to_contain_text("Paused: update", timeout=LONG)
    ends = re.compile(r"Round \d+: ([\d,]+) losing ends? (is|are) left")
    expect(panel).to_contain_text(ends)
    show = page.get_by_role("button", name=re.compile("Show it on the board")).first
    as_first = "as X" in (show.text_content() or "")
    # Whichever agent is selected, a new game is against the one that loses the line.
    page.get_by_role("textbox", name="Name of the agent").fill("early")
    page.button("Save under a name").click()
    page.hear('Saved in this browser as "early"')
    expect(panel.get_by_role("listitem").filter(has_text="early")).to_have_count(1)
    links = page.get_by_role("navigation", name="Games")
    links.get_by_role("button", name="Connect Four 4").click()
    page.choose_agent("Kept: early (network)")
    page.tab("Learning")
    show.click()
    page.says("try it yourself")
    line = page.moves()
    side = "x" if as_first else "o"
    assert browsing.result("connect_4x4", line, side) == "You lost."
    page.new_game()
    page.says("From training: network")
    assert len(page.moves()) == (0 if side == "o" else 1)
    page.button("Continue").click()
    chart = page.get_by_role("img", name=re.compile("Losing ends"))
    expect(chart).to_be_visible(timeout=LONG)
    expect(training(page)).to_contain_text(UNBEATABLE, timeout=2 * LONG)
    counts = [
        int(text.replace(",", "")) for text, _ in ends.findall(panel.inner_text())
    ]
    assert counts == [0]
    page.hear("Unbeatable, proven")
    play_against_it(page)
    page.play_to_the_end()
    assert page.status() != "You won."
    assert len(page.names()) == 4


def test_curves_of_a_saved_run_are_by_its_file(open_page, own_server, tmp_path):
    """Its metrics say that it is proven, and the page has not computed them."""
    run = tmp_path / "runs" / "claims"
    tiny.save_untrained(run / "agent.safetensors")
    proven = made.exact((1.0,), (1.0,), unbeatable=True)
    rows = [made.evaluated(update, proven) for update in (0, 5)]
    lines = "".join(f"{json_records.to_json(row)}\n" for row in rows)
    (run / "metrics.jsonl").write_text(lines)
    page = open_page(own_server[0], expected="ERR_INCOMPLETE")
    page.choose_agent("Run claims (network)")
    page.tab("Learning")
    curves = page.get_by_role("region", name="Curves")
    expect(curves).to_contain_text("proven from here on, by its file")
    expect(curves).to_contain_text("exact results against random play, by its file")
