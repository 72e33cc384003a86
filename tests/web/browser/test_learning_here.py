"""Learning without a server: the exported page trains agents in the browser."""

import re
import time

import browsing
import pytest
from board_values import table_values, values_of
from browsing import LONG, SCREENS, expect, figures

import jax_ttt
from jax_ttt.players import saved_agents

pytestmark = pytest.mark.slow
PROVEN = re.compile(r"Unbeatable, proven from update ([\d,]+) on")
SECONDS = 20
"""Most time from Start to the proof of a table, on two cores that are free."""


@pytest.fixture(params=SCREENS)
def page(request, open_page, exported_url):
    """Return the exported page, at the panel of learning."""
    page = open_page(exported_url, **SCREENS[request.param])
    page.tab("Learning")
    return page


def training(page):
    """Return the part of the panel with the training."""
    return page.get_by_role("region", name="Training", exact=True)


def start(page, learner="Table", seed=None):
    page.tab("Learning")
    page.radio(learner)
    page.get_by_label("Seed", exact=True).fill("" if seed is None else str(seed))
    page.get_by_role("button", name=re.compile("^(Start|Again)$")).click()


def finished(page):
    """Wait until the training has ended."""
    expect(training(page)).to_contain_text("Finished", timeout=LONG)


def line_of(file):
    """Return an agent's next four moves from the start by Python, for both sides."""
    agent, line = saved_agents.load_agent(file), []
    for _ in range(4):
        line.append(jax_ttt.best_move(agent, line))
    return line


def proven_at(page):
    match = PROVEN.search(training(page).inner_text())
    assert match is not None
    return int(match[1].replace(",", ""))


def test_three_tables_of_three_are_proven_in_seconds(open_page, exported_url):
    page = open_page(exported_url, is_changed=False)
    seconds = []
    for seed in (1, 2, 3):
        begun = time.monotonic()
        start(page, seed=seed)
        expect(training(page)).to_contain_text(f"seed {seed}")
        expect(training(page)).to_contain_text(PROVEN, timeout=LONG)
        seconds.append(time.monotonic() - begun)
        assert proven_at(page) <= 200
        finished(page)
    assert min(seconds) < SECONDS, "other programs may have the cores for a while"


def board_is_of_file(page, file):
    """Wait until the board shows what the agent in training says by its own file.

    Return the values, and the next moves in words.
    """
    browsing.download(page.button("Download"), file)
    values = values_of(file)
    for cell, value in enumerate(values):
        page.place_says(cell, f"{'minus ' if value < 0 else ''}{abs(value):.2f}")
    assert table_values(page) == values
    squares = [f"{'XO'[i % 2]} square {move}" for i, move in enumerate(line_of(file))]
    page.says(f"Next moves of From training: table: {', '.join(squares)}.")
    return values, squares


def test_the_board_shows_the_values_and_the_next_moves_of_the_agent(page, tmp_path):
    """They change while it learns, and are those of the snapshot's file."""
    for _ in range(5):  # so slowly that it changes until the end
        page.get_by_role("slider", name="Learning rate").press("PageDown")
    browsing.click_once(training(page), r"Training: update \d\d", page.button("Pause"))
    start(page, seed=3)
    expect(training(page)).to_contain_text("Paused")
    early = board_is_of_file(page, tmp_path / "early.safetensors")
    page.button("Continue").click()
    finished(page)
    final = board_is_of_file(page, tmp_path / "final.safetensors")
    assert final[0] != early[0]
    # A snapshot of the timeline has its own.
    slider = page.get_by_role("slider", name="Snapshot")
    slider.press("Home")
    page.says("Values of: From training: table")
    page.place_says(0, r"table 0\.00")
    # Without the layer, there are no arrows.
    page.show("Next moves", is_shown=False)
    page.says_no("Next moves of")


def sees(control):
    """Return whether all of a control is in view."""
    box, height = control.bounding_box(), control.page.viewport_size["height"]
    return box["y"] >= 0 and box["y"] + box["height"] <= height


def test_all_that_moves_is_in_view_beside_the_board(open_page, exported_url):
    """A wide window needs no scrolling; axe has nothing to say in either theme."""
    for scheme in ("light", "dark"):
        page = open_page(exported_url, **SCREENS["wide"] | {"color_scheme": scheme})
        start(page, seed=5)
        expect(training(page)).to_contain_text(PROVEN, timeout=LONG)
        for name in ("Again", "Pause", "Reset"):
            assert sees(page.button(name)), name
        for name in ("As X", "As O"):
            assert sees(page.get_by_role("img", name=re.compile(name))), name
        for name in ("Learning rate", "Discount", "Exploration"):
            assert sees(page.get_by_role("slider", name=name)), name
        assert sees(page.get_by_role("grid"))
        finished(page)
        for name in ("Play against it", "Download"):
            expect(page.button(name)).to_have_count(1)
        page.check_with_axe(f"a training in this page, {scheme}")


def test_a_finished_game_makes_way_for_a_training(page):
    page.play_to_the_end()
    start(page, seed=6)
    page.says("Values of: From training: table.")
    assert page.moves() == []


def test_a_game_goes_on_and_another_game_says_what_learns(page):
    page.play(4)
    line = page.moves()
    # Paused, since the page is slow to take clicks while it trains on a busy machine.
    browsing.click_once(training(page), "Training: update", page.button("Pause"))
    start(page, seed=4)
    expect(training(page)).to_contain_text("Paused: update")
    assert page.moves() == line
    page.says_no("Values of: From training")
    page.button("Show its values").click()
    page.says("Values of: From training: table.")
    assert page.moves() == line
    page.game("connect_5x4")
    expect(training(page)).to_contain_text("This training is of Tic-tac-toe")
    page.says_no("Values of: From training")
    page.button("Open Tic-tac-toe").click()
    page.says("Values of: From training: table.")
    assert page.moves() == line


SAID = """() => {
  window.said = [];
  const note = ({ target }) => window.said.push(target.textContent);
  const observer = new MutationObserver((changes) => changes.forEach(note));
  for (const element of document.querySelectorAll("[aria-live=polite]")) {
    observer.observe(element, { childList: true });
  }
  window.shown = [];
  const area = document.querySelector("[aria-labelledby=play-title]");
  const show = () => window.shown.push(area.textContent);
  const all = { characterData: true, childList: true, subtree: true };
  new MutationObserver(show).observe(area, all);
}"""
"""Note what screen readers say, and what the part with the board shows, on a page whose
timers are the browser's."""


def test_the_proof_is_said_once_and_for_a_moment_on_the_board(open_page, exported_url):
    page = open_page(exported_url, is_changed=False)
    page.evaluate(SAID)
    start(page, seed=2)
    finished(page)
    page.says_no("proven at update")
    moment = re.compile(r"Unbeatable, proven at update \d+\s*Your turn: X")
    assert any(moment.search(text) for text in page.evaluate("window.shown"))
    said = [text for text in page.evaluate("window.said") if "proven" in text]
    assert said == [f"Unbeatable, proven at update {proven_at(page)}"]


def test_a_seed_repeats_a_training_and_sliders_stay_as_they_are(page, tmp_path):
    files = []
    slider = page.get_by_role("slider", name="Discount")
    for keys in ((), (), ("PageDown", "PageDown")):
        for key in keys:
            slider.press(key)
        start(page, seed=7)
        finished(page)
        file = tmp_path / f"{len(files)}.safetensors"
        files.append(browsing.download(page.button("Download"), file))
    assert files[0] == files[1] != files[2]
    agent = saved_agents.load_agent(file)
    assert agent.seed == 7
    assert agent.config.target.gamma == pytest.approx(0.9, abs=0.02)
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^0\.9"))
    # Again is one click: another seed, the same sliders.
    page.get_by_label("Seed", exact=True).fill("")
    page.button("Again").click()
    expect(training(page)).to_contain_text(
        re.compile(r"Training: update \d+.* seed \d")
    )
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^0\.9"))


def test_a_training_pauses_goes_on_and_is_deleted(page):
    browsing.click_once(training(page), r"Training: update \d\d", page.button("Pause"))
    start(page, "Network", seed=1)
    expect(training(page)).to_contain_text("Paused: update")
    page.wait_for_timeout(300)
    text = training(page).inner_text()
    page.wait_for_timeout(500)
    assert training(page).inner_text() == text
    page.button("Continue").click()
    expect(training(page)).to_contain_text(PROVEN, timeout=LONG)
    games = figures(page.get_by_role("tabpanel"))["Games"]
    assert int(games.replace(",", "")) > 1000
    page.button("Reset").click()
    page.agree("Delete the training")
    expect(training(page)).to_contain_text("Not started")


def test_what_needs_the_server_is_not_offered(page):
    panel = page.get_by_role("tabpanel")
    expect(panel.get_by_role("radio", name="Table")).to_have_count(1)
    expect(panel.get_by_role("radio", name="Network")).to_have_count(1)
    expect(panel.get_by_role("radio", name="Connect Four")).to_have_count(0)
    expect(page.get_by_role("checkbox", name="Learn from my games")).to_have_count(0)
    page.says_no("Only training is missing")
    expect(page.get_by_role("contentinfo")).to_contain_text("Connect Four 4")
