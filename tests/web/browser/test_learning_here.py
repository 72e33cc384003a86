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


@pytest.fixture
def page(open_page, exported_url):
    """Return the exported page, whose trainings of tables are short."""
    return open_page(exported_url)


def training(page):
    """Return the part of the panel with the training."""
    return page.get_by_role("region", name="Training", exact=True)


def start(page, seed, learner="Table"):
    page.tab("Learning")
    page.radio(learner)
    page.get_by_label("Seed", exact=True).fill(str(seed))
    page.get_by_role("button", name=re.compile("^(Start|Again)$")).click()


def finish(page, seed):
    """Train a table to the end."""
    start(page, seed=seed)
    finished(page)


def finished(page):
    """Wait until the training has ended."""
    expect(training(page)).to_contain_text("Finished", timeout=LONG)


def pause_soon(page, slower=0):
    """Begin a training, by a lower learning rate, that pauses after some updates."""
    page.tab("Learning")
    for _ in range(slower):
        page.get_by_role("slider", name="Learning rate").press("PageDown")
    browsing.click_once(training(page), r"Training: update \d\d", "Pause")
    start(page, seed=3)
    expect(training(page)).to_contain_text("Paused: update")


def delete(page):
    page.button("Reset").click()
    page.agree("Delete the training")


def downloaded(page, file):
    """Return the bytes of the agent in training, and the agent."""
    content = browsing.download(page.button("Download"), file)
    return content, saved_agents.load_agent(file)


SAID = """() => {
  window.said = [];
  const note = ({ target }) => window.said.push(target.textContent);
  const observer = new MutationObserver((changes) => changes.forEach(note));
  for (const element of document.querySelectorAll("[aria-live=polite]")) {
    observer.observe(element, { childList: true });
  }
  window.digests = 0;
  const digest = SubtleCrypto.prototype.digest;
  SubtleCrypto.prototype.digest = function (...values) {
    window.digests += 1;
    return digest.apply(this, values);
  };
}"""
"""Note what screen readers say on a page whose timers are the browser's, and count the
digests of files."""
SIZES = """(chart) => [...chart.querySelectorAll("text")].map((one) => [
  one.getScreenCTM().a * parseFloat(getComputedStyle(one).fontSize),
  chart.getBoundingClientRect().right - one.getBoundingClientRect().right,
])"""
"""How large each text of a chart is, and how far from its end, in pixels."""


def test_a_table_is_proven_which_is_said_once_and_offered_on_a_phone(
    open_page, exported_url, tmp_path
):
    """The timers and random numbers are the browser's, as people have them."""
    options = {"is_changed": False, "is_new": True} | SCREENS["phone"]
    page = open_page(exported_url, **options)
    panel = page.tab("Learning")
    # What needs the server is said.
    runs = panel.get_by_role("region", name="Runs in training")
    expect(runs).to_contain_text("python -m jax_ttt.web")
    expect(runs.get_by_role("button")).to_have_count(0)
    # The proof is said once, and for a moment on the board.
    page.evaluate(SAID)
    page.area().evaluate(browsing.NOTE_TEXTS)
    start(page, seed=2)
    expect(training(page)).to_contain_text("seed 2")
    finished(page)
    text = training(page).inner_text()
    proven = re.search(r"Unbeatable, proven from update (\d+) on", text)
    assert proven is not None
    assert int(proven[1]) <= 200
    page.says_no("Nobody can beat it")
    page.says("Proven at update")
    moment = re.compile(
        r"Unbeatable\s*Proven at update \d+. Your turn: X.*Nobody can beat it"
    )
    assert any(moment.search(text) for text in page.evaluate("window.shown"))
    said = [text for text in page.evaluate("window.said") if "proven" in text]
    assert said == [f"Unbeatable, proven at update {proven[1]}"]
    # A file, with its digest, is written for a person only.
    assert page.evaluate("window.digests") == 0
    downloaded(page, tmp_path / "agent.safetensors")
    assert page.evaluate("window.digests") == 1
    # The chart is legible, and a control.
    expect(page.get_by_role("region", name="Curves")).to_contain_text("best moves")
    chart = page.get_by_role("slider", name="As X")
    for width in (1280, 320, 390):
        page.set_viewport_size({"width": width, "height": 800})
        for size, distance in chart.evaluate(SIZES):
            assert size >= 11
            assert distance >= 0
    expect(chart).to_have_attribute("aria-valuenow", "400")
    chart.press("ArrowLeft")
    expect(chart).to_have_attribute("aria-valuenow", "390")
    expect(chart).to_have_attribute("aria-valuetext", re.compile("^update 390: .*wins"))
    # The agent is offered at full strength, in words that fit.
    words = page.area().get_by_text("Unbeatable", exact=True)
    assert words.evaluate("one => one.scrollWidth <= one.clientWidth")
    page.button("Try to beat it").click()
    page.says("Unbeatable (learned agent): The table you trained")


def line_of(agent):
    """Return an agent's next four moves from the start by Python, for both sides."""
    line = []
    for _ in range(4):
        line.append(jax_ttt.best_move(agent, line))
    return line


def board_is_of_file(page, file):
    """Wait until the board shows what the agent in training says by its own file.

    Return the values.
    """
    _, agent = downloaded(page, file)
    values = values_of(file)
    for cell, value in enumerate(values):
        page.place_says(cell, f"{'minus ' if value < 0 else ''}{abs(value):.2f}")
    assert table_values(page) == values
    squares = [f"{'XO'[i % 2]} square {move}" for i, move in enumerate(line_of(agent))]
    page.says(f"Next moves of the table you trained: {', '.join(squares)}.")
    return values


def test_the_board_shows_the_values_and_the_next_moves_of_the_agent(page, tmp_path):
    """They change while it learns, and are those of the snapshot's file."""
    page.play_to_the_end()
    pause_soon(page, slower=5)  # so slowly that it changes until the end
    # A finished game makes way for the training.
    page.says("Values of: The table you trained.")
    assert page.moves() == []
    early = board_is_of_file(page, tmp_path / "early.safetensors")
    page.button("Continue").click()
    finished(page)
    assert board_is_of_file(page, tmp_path / "final.safetensors") != early
    # A snapshot of the timeline has its own.
    slider = page.get_by_role("slider", name="Snapshot")
    slider.press("Home")
    page.says("Next moves of the table you trained at update 0")
    page.place_says(0, r"table 0\.00")
    # Without the layer, there are no arrows.
    page.show("Next moves", is_shown=False)
    page.says_no("Next moves of")
    # After a reset, the selected agent is shown as it is.
    delete(page)
    page.says("Our network")
    page.says_no("at update")
    expect(page.tab("Proof")).to_contain_text("As X: Unbeatable")
    # The board shows only what is being trained.
    finish(page, seed=1)
    page.says("Values of: The table you trained.")
    start(page, seed=1, learner="Network")
    page.says("Values of: The network you trained.")
    delete(page)
    # In another game, one click begins a training of a table.
    page.game("connect_7x6")
    page.button("Watch one learn tic-tac-toe").click()
    page.says("Values of: The table you trained.")


def test_a_game_goes_on_and_all_that_moves_is_in_view_beside_the_board(page):
    page.play(4)
    line = page.moves()
    pause_soon(page)
    assert page.moves() == line
    page.says_no(" you trained.")
    page.button("Show its values").click()
    page.says("Values of: The table you trained.")
    assert page.moves() == line
    # Another game shows its own agent, and the way back.
    page.game("connect_7x6")
    page.says_no(" you trained.")
    panel = page.tab("Learning")
    expect(panel.get_by_role("region", name="Curves")).to_contain_text("Our network")
    expect(panel.get_by_role("radio", name="Table")).to_have_count(0)
    expect(panel.get_by_role("slider", name="Learning rate")).to_have_count(0)
    expect(panel).not_to_contain_text("Games")
    page.button("Watch one learn tic-tac-toe").click()
    expect(training(page)).to_contain_text("Paused: update")
    page.says("Values of: The table you trained.")
    assert page.moves() == line
    # A wide window needs no scrolling to see the proof.
    page.button("Continue").click()
    finished(page)
    page.evaluate("scrollTo(0, 0)")
    for name in ("Again", "Pause", "Reset"):
        assert browsing.sees(page.button(name)), name
    for name in ("As X", "As O", "Learning rate", "Discount", "Exploration"):
        assert browsing.sees(page.get_by_role("slider", name=name)), name
    assert browsing.sees(page.get_by_role("grid"))
    expect(page.button("Play against it")).to_have_count(1)
    # Axe has nothing to say in either theme.
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.check_with_axe(f"a training in this page, {scheme}")


def test_a_training_pauses_goes_on_is_deleted_and_is_repeated_by_its_seed(
    page, tmp_path
):
    file = tmp_path / "agent.safetensors"
    slider = page.get_by_role("slider", name="Discount")
    pause_soon(page)
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
    gamma = pytest.approx(float(moved), abs=0.001)
    assert downloaded(page, file)[1].config.gamma == gamma
    # A network learns, too; a training that runs is deleted.
    start(page, seed=1, learner="Network")
    expect(training(page)).to_contain_text(
        re.compile(r"(Training|Finished): update [\d,]+ of [\d,]+, seed 1(?!\d)")
    )
    delete(page)
    expect(training(page)).to_contain_text("Not started")
    # Wrong seeds are refused.
    page.radio("Table")
    seed = page.get_by_label("Seed", exact=True)
    for text in ("-1", "4294967296", "1.5", "1e"):
        seed.fill("")
        seed.press_sequentially(text)
        page.button("Start").click()
        assert seed.evaluate("one => one.matches(':invalid')"), text
        expect(training(page)).to_contain_text("Not started")
    # A seed repeats a training, and sliders stay as they are.
    slider.press("PageDown")
    finish(page, seed=4294967295)
    content, _ = downloaded(page, file)
    finish(page, seed=4294967295)
    again, agent = downloaded(page, file)
    assert again == content
    assert agent.seed == 4294967295
    assert agent.config.gamma == gamma
    expect(slider).to_have_attribute("aria-valuetext", moved)
    # Again is one click: another seed, the same sliders.
    seed.fill("")
    page.button("Again").click()
    expect(training(page)).to_contain_text(re.compile(r"seed (?!4294967295)\d"))
    expect(slider).to_have_attribute("aria-valuetext", moved)


def test_a_game_goes_on_after_its_agent_is_gone(page):
    """By a reload, or since its training is deleted."""
    finish(page, seed=0)
    expect(training(page)).to_contain_text(re.compile(r"seed 0(?!\d)"))
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
    # A deleted agent is named by no status.
    finish(page, seed=5)
    page.play(4)
    page.tab("Learning")
    delete(page)
    page.says("the table of an earlier training")
    page.says_no(" you trained")
    page.play_to_the_end()
    page.new_game()
    page.says("Our network")
    # A game that has not begun is against the selected agent.
    start(page, seed=5)
    page.says("The table you trained")
    delete(page)
    page.says("Our network")
    page.says_no("an earlier training")


def test_an_agent_learns_the_games_of_the_person(page, tmp_path):
    """While it trains and after its end; without the switch, nothing is learned."""
    pause_soon(page, slower=9)  # so slowly that it does not know the games

    def agent():
        return downloaded(page, tmp_path / "agent.safetensors")[0]

    def play_game():
        page.new_game()
        page.play_to_the_end()
        page.tab("Learning")

    before = agent()
    play_game()
    assert agent() == before
    page.get_by_role("checkbox", name="Learn from my games").click()
    play_game()
    expect(page.get_by_role("tabpanel")).to_contain_text("1 so far")
    served.wait_until(lambda: agent() != before)
    page.button("Continue").click()
    finished(page)
    before = agent()
    play_game()
    expect(page.get_by_role("tabpanel")).to_contain_text("2 so far")
    served.wait_until(lambda: agent() != before)
