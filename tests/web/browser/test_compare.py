"""Two agents side by side on the position of the board."""

import re

import browsing
import pytest
import tiny
from board_values import values_of
from browsing import expect, link

from jax_ttt.config.player_kinds import SHIPPED

pytestmark = pytest.mark.slow
LINE = [0, 1, 5]
"""Moves after which the trained network keeps the draw, and an untrained one loses."""
GAP = """(label) => {
  const text = document.createRange();
  text.selectNode(label.firstChild);
  const { left } = label.nextElementSibling.getBoundingClientRect();
  return left - text.getBoundingClientRect().right;
}"""
"""How far the text of a label ends before what stands beside it."""


def choose(page, name, title):
    page.get_by_label(re.compile(f"^{name}, an agent")).select_option(label=title)


def agent(page, name):
    return page.get_by_role("region", name=f"Agent {name}", exact=True)


def moves_of(page, name):
    """Wait for an agent's moves; return what a screen reader says of each, by move."""
    items = agent(page, name).get_by_role("listitem")
    expect(items.first).to_be_attached()
    texts = items.all_inner_texts()
    return {int(re.findall(r"\d+", text)[0]): text for text in texts}


def own_move(page, name):
    """Return the agent's move."""
    (move,) = (m for m, text in moves_of(page, name).items() if "its move" in text)
    return move


def test_two_agents_are_compared_with_each_other_and_with_best_play(
    open_page, served_url, weak
):
    """The values are Python's, the results those of a plain search."""
    page = open_page(link(served_url, "tic_tac_toe", LINE, level="analysis"))
    panel = page.tab("Compare")
    choose(page, "A", "Our network")
    choose(page, "B", "Run weak (network)")
    expect(panel).to_contain_text("Exact: ")
    known = browsing.exact_actions("tic_tac_toe", LINE)
    words = {1: "win", 0: "draw", -1: "loss"}
    values = [values_of(SHIPPED["network"], LINE), values_of(weak["tic_tac_toe"], LINE)]
    for name, expected in zip("AB", values, strict=True):
        moves = moves_of(page, name)
        assert set(moves) == set(known)
        for move, text in moves.items():
            assert f"exact {words[known[move][0]]}" in text
            number = text.replace("plus ", "").replace("minus ", "-")
            assert f"value {expected[move]:z.2f}" in number
        first = f"Next: O square {own_move(page, name)}, X square "
        expect(agent(page, name)).to_contain_text(first)
    a, b = own_move(page, "A"), own_move(page, "B")
    assert (known[a][0], known[b][0]) == (0, -1)
    signed = [f"{values[0][a]:+.2f}", f"{values[1][b]:+.2f}"]
    value_a, value_b = (number.replace("-", "\u2212") for number in signed)
    expect(panel).to_contain_text(
        f"They play different moves: A square {a} ({value_a}), B square {b} "
        f"({value_b}). Exact: A keeps the draw, B gives the draw away: a loss."
    )
    # Both follow the game, also after a reload.
    choose(page, "A", "Run weak (network)")
    choose(page, "B", "Our network")
    page.button("New game").focus()  # the arrow keys of a tab lead to other tabs
    for stones in (3, 2, 1, 0):
        for name in "AB":
            side = agent(page, name)
            expect(side).to_contain_text(f"Next: {'XO'[stones % 2]} square ")
            expect(side.get_by_role("listitem")).to_have_count(9 - stones)
        page.keyboard.press("ArrowLeft")
    assert "tab=compare" in page.url
    page.reload()
    expect(page.get_by_role("tab", selected=True)).to_have_text("More")
    expect(page.get_by_label("A, an agent")).to_have_value(re.compile("weak"))
    page.squares().nth(4).click()
    left = agent(page, "A").get_by_role("listitem")
    expect(left).to_have_count(8 - len(LINE))
    for move in (6, 7):  # O has a row
        page.squares().nth(move).click()
    expect(page.get_by_role("tabpanel")).to_contain_text("The game is over here")
    expect(left).to_have_count(0)


def test_a_snapshot_is_compared_with_the_final_agent(open_page, exported_url):
    """From the timeline, in the exported page."""
    page = open_page(exported_url)
    page.tab("Learning")
    button = page.button("Compare with the final agent")
    expect(button).to_be_disabled()
    page.get_by_role("slider", name="Snapshot").press("Home")
    expect(page.get_by_role("tabpanel")).to_contain_text("update 0 of 1,800")
    button.click()
    expect(page.get_by_role("tab", selected=True)).to_have_text("More")
    for name, update in (("A", "0"), ("B", "1,800")):
        title = page.get_by_label(f"{name}, an agent")
        expect(title).to_have_value("shipped/network")
        expect(agent(page, name)).to_contain_text(f"{update} of 1,800")
    assert moves_of(page, "A") != moves_of(page, "B")
    page.play(4)
    expect(agent(page, "A")).to_contain_text("Next: X square ")
    page.reload()
    slider = page.get_by_role("slider", name="Update of A")
    expect(slider).to_have_attribute("aria-valuetext", "update 0 of 1,800")
    slider.press("ArrowRight")
    expect(slider).not_to_have_attribute("aria-valuetext", "update 0 of 1,800")
    slider.press("End")
    expect(page.get_by_role("tabpanel")).to_contain_text("A and B are the same agent.")


def test_it_fits_and_is_accessible(open_page, served_url, tmp_path):
    """The two boards of tic-tac-toe stand side by side on every screen."""
    page = open_page(link(served_url, "tic_tac_toe", LINE, tab="compare"))
    choose(page, "B", "Run weak (network)")
    expect(page.get_by_role("tabpanel")).to_contain_text("Exact: ")

    def check(state, are_beside):
        """Check the page on each screen; `are_beside` is where the boards are so."""
        for screen, options in browsing.SCREENS.items():
            page.set_viewport_size(options["viewport"])
            boxes = [agent(page, name).bounding_box() for name in "AB"]
            is_beside = boxes[0]["x"] + boxes[0]["width"] < boxes[1]["x"]
            assert is_beside == (boxes[0]["y"] == boxes[1]["y"])
            assert is_beside == (screen in are_beside), (state, screen)
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= options["viewport"]["width"], (state, screen)
            page.emulate_media(color_scheme=options["color_scheme"])
            page.check_with_axe((state, screen))

    check("tic-tac-toe", are_beside=("wide", "phone"))
    for name in "AB":
        label = agent(page, name).get_by_text("Update")
        assert label.evaluate(GAP) >= 0, "the update lies over it"
    # One agent alone is not compared with itself.
    page.game("connect_7x6")
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("There is one agent of this game")
    expect(panel.get_by_role("region")).to_have_count(0)
    page.check_with_axe("one agent")
    env_id, file = "connect_7x6", tmp_path / "other.safetensors"
    page.upload("Add an agent's file", tiny.save_untrained(file, env_id=env_id))
    expect(agent(page, "B")).to_contain_text("Next: X column ")
    check("7 x 6", are_beside=("wide",))
