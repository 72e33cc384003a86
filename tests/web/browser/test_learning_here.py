"""Learning: the page trains agents in the browser."""

import re

import browsing
import pytest
import served
from board_values import table_values, values_of
from browsing import LONG, SCREENS, expect, figures

import jax_ttt
from jax_ttt.players import saved_agents

pytestmark = pytest.mark.slow
PROVEN = re.compile(r"Unbeatable, proven from update ([\d,]+) on")


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
    page.says(f"Next moves of the table you trained: {', '.join(squares)}.")
    return values, squares


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


COUNT_DIGESTS = """() => {
  window.digests = 0;
  const digest = SubtleCrypto.prototype.digest;
  SubtleCrypto.prototype.digest = function (...values) {
    window.digests += 1;
    return digest.apply(this, values);
  };
}"""


def test_a_table_is_proven_which_is_said_once(open_page, exported_url, tmp_path):
    """The timers and random numbers are the browser's, as people have them."""
    page = open_page(exported_url, is_changed=False)
    panel = page.tab("Learning")
    expect(panel.get_by_role("radio", name="Table")).to_have_count(1)
    expect(panel.get_by_role("radio", name="Network")).to_have_count(1)
    # What needs the server is said.
    runs = panel.get_by_role("region", name="Runs in training")
    expect(runs).to_contain_text("python -m jax_ttt.web")
    expect(runs.get_by_role("button")).to_have_count(0)
    # The proof is said once, and for a moment on the board.
    page.evaluate(SAID)
    page.evaluate(COUNT_DIGESTS)
    start(page, seed=2)
    expect(training(page)).to_contain_text("seed 2")
    finished(page)
    assert proven_at(page) <= 200
    page.says_no("Nobody can beat it")
    page.says("Proven at update")
    moment = re.compile(
        r"Unbeatable\s*Proven at update \d+. Your turn: X.*Nobody can beat it"
    )
    assert any(moment.search(text) for text in page.evaluate("window.shown"))
    said = [text for text in page.evaluate("window.said") if "proven" in text]
    assert said == [f"Unbeatable, proven at update {proven_at(page)}"]
    # A file, with its digest, is written for a person only.
    assert page.evaluate("window.digests") == 0
    browsing.download(page.button("Download"), tmp_path / "agent.safetensors")
    assert page.evaluate("window.digests") == 1


def test_the_board_shows_the_values_and_the_next_moves_of_the_agent(
    open_page, exported_url, tmp_path
):
    """They change while it learns, and are those of the snapshot's file."""
    page = open_page(exported_url, **SCREENS["phone"])
    page.play_to_the_end()
    page.tab("Learning")
    for _ in range(5):  # so slowly that it changes until the end
        page.get_by_role("slider", name="Learning rate").press("PageDown")
    browsing.click_once(training(page), r"Training: update \d\d", "Pause")
    start(page, seed=3)
    expect(training(page)).to_contain_text("Paused")
    # A finished game makes way for the training.
    page.says("Values of: The table you trained.")
    assert page.moves() == []
    early = board_is_of_file(page, tmp_path / "early.safetensors")
    page.button("Continue").click()
    finished(page)
    final = board_is_of_file(page, tmp_path / "final.safetensors")
    assert final[0] != early[0]
    # A snapshot of the timeline has its own.
    slider = page.get_by_role("slider", name="Snapshot")
    slider.press("Home")
    page.says("Values of: The table you trained")
    page.place_says(0, r"table 0\.00")
    # Without the layer, there are no arrows.
    page.show("Next moves", is_shown=False)
    page.says_no("Next moves of")


def sees(control):
    """Return whether all of a control is in view."""
    box, height = control.bounding_box(), control.page.viewport_size["height"]
    return box["y"] >= 0 and box["y"] + box["height"] <= height


def test_a_game_goes_on_and_all_that_moves_is_in_view_beside_the_board(
    open_page, exported_url
):
    page = open_page(exported_url)
    page.play(4)
    line = page.moves()
    page.tab("Learning")
    browsing.click_once(training(page), "Training: update", "Pause")
    start(page, seed=4)
    expect(training(page)).to_contain_text("Paused: update")
    assert page.moves() == line
    page.says_no(" you trained.")
    page.button("Show its values").click()
    page.says("Values of: The table you trained.")
    assert page.moves() == line
    # Another game shows nothing of it but the way back.
    page.game("connect_5x4")
    page.says_no(" you trained.")
    page.button("Watch one learn tic-tac-toe").click()
    expect(training(page)).to_contain_text("Paused: update")
    page.says("Values of: The table you trained.")
    assert page.moves() == line
    # A wide window needs no scrolling to see the proof.
    page.button("Continue").click()
    expect(training(page)).to_contain_text(PROVEN, timeout=LONG)
    finished(page)
    page.evaluate("scrollTo(0, 0)")
    for name in ("Again", "Pause", "Reset"):
        assert sees(page.button(name)), name
    for name in ("As X", "As O"):
        assert sees(page.get_by_role("slider", name=name)), name
    for name in ("Learning rate", "Discount", "Exploration"):
        assert sees(page.get_by_role("slider", name=name)), name
    assert sees(page.get_by_role("grid"))
    for name in ("Play against it", "Download"):
        expect(page.button(name)).to_have_count(1)
    # Axe has nothing to say in either theme.
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.check_with_axe(f"a training in this page, {scheme}")


def test_a_training_pauses_goes_on_is_deleted_and_is_repeated_by_its_seed(
    open_page, exported_url, tmp_path
):
    page = open_page(exported_url)
    page.tab("Learning")
    slider = page.get_by_role("slider", name="Discount")

    def agent():
        """Return the bytes of the agent in training, and the agent."""
        file = tmp_path / "agent.safetensors"
        content = browsing.download(page.button("Download"), file)
        return content, saved_agents.load_agent(file)

    browsing.click_once(training(page), r"Training: update \d\d", "Pause")
    start(page, seed=1)
    expect(training(page)).to_contain_text("Paused: update")
    page.wait_for_timeout(300)
    text = training(page).inner_text()
    page.wait_for_timeout(500)
    assert training(page).inner_text() == text
    # A slider that is moved meanwhile holds from then on.
    slider.press("PageDown")
    moved = slider.get_attribute("aria-valuetext")
    page.button("Continue").click()
    finished(page)
    games = figures(page.get_by_role("tabpanel"))["Games"]
    assert int(games.replace(",", "")) > 1000
    expect(slider).to_have_attribute("aria-valuetext", moved)
    assert agent()[1].config.gamma == pytest.approx(float(moved), abs=0.001)
    # A network learns, too; a training that runs is deleted.
    start(page, "Network", seed=1)
    expect(training(page)).to_contain_text(
        re.compile(r"(Training|Finished): update [\d,]+ of [\d,]+, seed 1(?!\d)")
    )
    page.button("Reset").click()
    page.agree("Delete the training")
    expect(training(page)).to_contain_text("Not started")
    # A seed repeats a training, and sliders stay as they are.
    page.radio("Table")
    slider.press("PageDown")
    start(page, seed=7)
    finished(page)
    content, _ = agent()
    start(page, seed=7)
    finished(page)
    again, made = agent()
    assert again == content
    assert made.seed == 7
    assert made.config.gamma == pytest.approx(float(moved), abs=0.001)
    expect(slider).to_have_attribute("aria-valuetext", moved)
    # Again is one click: another seed, the same sliders.
    page.get_by_label("Seed", exact=True).fill("")
    page.button("Again").click()
    expect(training(page)).to_contain_text(re.compile(r"seed (?!7\b)\d"))
    expect(slider).to_have_attribute("aria-valuetext", moved)


@pytest.mark.parametrize("address", ["exported_url", "served_url"])
def test_after_a_reload_a_game_against_an_agent_in_training_goes_on(
    open_page, address, request
):
    page = open_page(request.getfixturevalue(address))
    start(page, seed=5)
    finished(page)
    page.play(4)
    page.says("The table you trained")
    line = page.moves()
    # No other visitor has the agent.
    assert "agent=" not in page.url
    assert "moves=4" in page.url
    page.reload()
    assert page.moves() == line
    page.says("Not counted: its agent is gone, so another one went on.")
    page.says("Our network")
    page.play_to_the_end()
    page.says("Not counted: its agent is gone")
    assert page.counted()["Games"] == 0
    page.new_game()
    page.says_no("Not counted")


def test_a_deleted_agent_is_named_by_no_status(open_page, exported_url):
    page = open_page(exported_url)
    start(page, seed=5)
    finished(page)
    page.play(4)
    page.tab("Learning")
    page.button("Reset").click()
    page.agree("Delete the training")
    # A begun game goes on with what it has.
    page.says("the table of an earlier training")
    page.says_no(" you trained")
    page.play_to_the_end()
    page.new_game()
    page.says("Our network")
    # A game that has not begun is against the selected agent.
    start(page, seed=5)
    page.says("The table you trained")
    page.button("Reset").click()
    page.agree("Delete the training")
    page.says("Our network")
    page.says_no("an earlier training")


def test_after_a_reset_the_selected_agent_is_shown_as_it_is(open_page, exported_url):
    """Also where a snapshot of the deleted agent was selected."""
    page = open_page(exported_url)
    start(page, seed=5)
    finished(page)
    page.get_by_role("slider", name="Snapshot").press("Home")
    page.says("The table you trained at update 0")
    page.button("Reset").click()
    page.agree("Delete the training")
    page.says("Our network")
    page.says_no("at update")
    expect(page.tab("Proof")).to_contain_text("As X: Unbeatable")
    page.play_to_the_end()


def test_the_board_shows_only_what_is_being_trained(open_page, exported_url):
    page = open_page(exported_url)
    start(page, "Table", seed=1)
    finished(page)
    page.says("Values of: The table you trained.")
    start(page, "Network", seed=1)
    page.says("Values of: The network you trained.")
    page.button("Reset").click()
    page.agree("Delete the training")


def test_learning_in_another_game_shows_that_game(open_page, served_url):
    page = open_page(served_url)
    page.game("connect_7x6")
    panel = page.tab("Learning")
    expect(panel.get_by_role("region", name="Curves")).to_contain_text("Our network")
    expect(panel.get_by_role("radio", name="Table")).to_have_count(0)
    expect(panel.get_by_role("slider", name="Learning rate")).to_have_count(0)
    expect(panel).not_to_contain_text("Games")
    page.button("Watch one learn tic-tac-toe").click()
    expect(training(page)).to_contain_text(re.compile("(Training|Finished): update"))
    page.says("Values of: The table you trained.")


def test_any_seed_is_taken_and_wrong_ones_are_refused(open_page, exported_url):
    page = open_page(exported_url)
    page.tab("Learning")
    seed = page.get_by_label("Seed", exact=True)
    for text in ("-1", "4294967296", "1.5", "1e"):
        seed.fill("")
        seed.press_sequentially(text)
        page.button("Start").click()
        assert seed.evaluate("one => one.matches(':invalid')"), text
        expect(training(page)).to_contain_text("Not started")
    for text in ("4294967295", "0"):
        seed.fill(text)
        page.get_by_role("button", name=re.compile("^(Start|Again)$")).click()
        expect(training(page)).to_contain_text(f"seed {text}")


def test_an_agent_learns_the_games_of_the_person(open_page, exported_url, tmp_path):
    """While it trains and after its end; without the switch, nothing is learned."""
    page = open_page(exported_url)
    panel = page.tab("Learning")
    for _ in range(9):  # so slowly that it does not know the games
        page.get_by_role("slider", name="Learning rate").press("PageDown")
    browsing.click_once(training(page), r"Training: update \d\d", "Pause")
    start(page, seed=3)
    expect(training(page)).to_contain_text("Paused")

    def agent():
        return browsing.download(page.button("Download"), tmp_path / "a.safetensors")

    before = agent()
    page.play_to_the_end()
    page.tab("Learning")
    assert agent() == before
    page.get_by_role("checkbox", name="Learn from my games").click()
    page.new_game()
    page.play_to_the_end()
    page.tab("Learning")
    expect(panel).to_contain_text("1 so far")
    served.wait_until(lambda: agent() != before)
    page.button("Continue").click()
    finished(page)
    before = agent()
    page.new_game()
    page.play_to_the_end()
    page.tab("Learning")
    expect(panel).to_contain_text("2 so far")
    served.wait_until(lambda: agent() != before)


def test_a_proven_agent_is_offered_at_full_strength(open_page, exported_url):
    """The words fit on a phone."""
    page = open_page(exported_url, is_new=True, **SCREENS["phone"])
    start(page, seed=2)
    finished(page)
    words = page.area().get_by_text("Unbeatable", exact=True)
    assert words.evaluate("one => one.scrollWidth <= one.clientWidth")
    page.button("Try to beat it").click()
    page.says("Unbeatable (learned agent): The table you trained")


def test_texts_of_a_chart_are_legible_and_it_is_a_control(open_page, exported_url):
    page = open_page(exported_url, **SCREENS["phone"])
    start(page, seed=2)
    finished(page)
    expect(page.get_by_role("region", name="Curves")).to_contain_text("best moves")
    chart = page.get_by_role("slider", name="As X")
    for width in (320, 390, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        sizes = chart.locator("text").evaluate_all(
            "all => all.map((one) => one.getScreenCTM().a"
            " * parseFloat(getComputedStyle(one).fontSize))"
        )
        assert min(sizes) >= 11
        right = chart.evaluate("one => one.getBoundingClientRect().right")
        ends = chart.locator("text").evaluate_all(
            "all => all.map((one) => one.getBoundingClientRect().right)"
        )
        assert max(ends) <= right
    expect(chart).to_have_attribute("aria-valuenow", "400")
    chart.press("ArrowLeft")
    expect(chart).to_have_attribute("aria-valuenow", "390")
    expect(chart).to_have_attribute("aria-valuetext", re.compile("^update 390: .*wins"))
