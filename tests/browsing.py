"""What a person does on the page, and what it then shows."""

import contextlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

AXE = Path(__file__).parent / "web" / "browser" / "axe.min.js"


def chromium():
    """Return the path of Chromium; skip the test where there is no browser.

    With BROWSER_TESTS=required, as in CI, a missing browser fails the test.
    """
    path, api = shutil.which("chromium"), importlib.util.find_spec("playwright")
    if path is None or api is None:
        reason = "there is no chromium on the path, or no Playwright"
        assert os.environ.get("BROWSER_TESTS") != "required", reason
        pytest.skip(reason)
    return path


def expect(locator):
    """Return Playwright's assertions; imported here, since it may be missing."""
    from playwright.sync_api import expect

    return expect(locator)


def square(page, cell):
    """Return the button of a cell."""
    return page.locator(".square").nth(cell)


def board(page):
    """Return the board as text, like `X---O----`; `?` is a square without its label."""
    labels = page.locator(".square").evaluate_all(
        "squares => squares.map((square) => square.getAttribute('aria-label'))"
    )
    names = [label.split(", ")[2] if label else "?" for label in labels]
    return "".join("-" if name == "empty" else name for name in names)


def status(page):
    """Return the first status line."""
    return page.locator("#status-main").inner_text()


def wait_for_turn(page):
    """Wait until it is the person's turn or the game is over."""
    ready = re.compile(r"Your turn|You won|You lost|A draw")
    expect(page.locator("#status-main")).to_have_text(ready, timeout=20_000)


def is_over(page):
    return not status(page).startswith("Your turn")


def play(page, cell):
    """Click a cell and wait for the reply."""
    square(page, cell).click()
    wait_for_turn(page)


def play_to_the_end(page, choose=min):
    """Play free cells until the game is over; return the board after each turn."""
    boards = []
    wait_for_turn(page)
    while not is_over(page):
        now = board(page)
        play(page, choose(cell for cell in range(9) if now[cell] == "-"))
        boards.append(board(page))
    return boards


def tab(page, name):
    page.get_by_role("tab", name=name).click()


def level(page, name):
    tab(page, "Game")
    page.get_by_role("radio", name=name).check(force=True)
    wait_for_turn(page)


def side(page, name):
    tab(page, "Game")
    page.get_by_role("radio", name=re.compile(f"^{name}")).check(force=True)
    wait_for_turn(page)


def agent(page, agent_id):
    tab(page, "Game")
    page.locator("#agent").select_option(agent_id)
    wait_for_turn(page)


def cards(page, panel):
    """Return the figures of a panel's cards by their names."""
    names = page.locator(f"{panel} .cards dt").all_inner_texts()
    return dict(
        zip(names, page.locator(f"{panel} .cards dd").all_inner_texts(), strict=True)
    )


def slide(page, selector, value):
    """Move a slider, as the keyboard or the mouse does."""
    page.locator(selector).evaluate(
        """(input, value) => {
            input.value = value;
            input.dispatchEvent(new Event("input", { bubbles: true }));
            input.dispatchEvent(new Event("change", { bubbles: true }));
        }""",
        value,
    )


@contextlib.contextmanager
def serving(folder):
    """Serve the page with its data in a folder, at a free port."""
    command = (sys.executable, "-m", "jax_ttt.web", "--port", "0")
    folders = ("--data-dir", str(folder / "data"), "--runs", str(folder / "runs"))
    (folder / "data").mkdir(exist_ok=True)
    process = subprocess.Popen(
        (*command, *folders),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        told = ""
        for line in process.stdout:
            told += line
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                yield found[0]
                break
        else:
            raise AssertionError(f"the server ended: {told}")
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


def axe(page, state):
    """Check the page as it is; only minor findings pass."""
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    bad = [
        (one["id"], one["impact"], [node["html"][:120] for node in one["nodes"][:3]])
        for one in found["violations"]
        if one["impact"] != "minor"
    ]
    assert bad == [], state
    assert found["testEngine"]["name"] == "axe-core"
