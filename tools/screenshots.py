"""Pictures of the page for the docs, taken in a browser from a server of its own."""

import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from jax_ttt.config.errors import UsageError

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from jax_ttt.pictures.themes import Theme

TIMEOUT = 120_000
"""Milliseconds that a training or a busy machine may take."""
SHORTER_PAUSES = """
const wait = window.setTimeout;
window.setTimeout = (then, ms = 0, ...values) => wait(then, ms / 10, ...values);
"""
"""A script for the page: each of its timers takes a tenth of its time.

Replies, demonstrations and messages pause to be seen.
"""
_WIDE, _NARROW = (1280, 800), (390, 844)


def take(folder: Path) -> Iterator[Path]:
    """Take the pictures `web-*.png`, and yield the path of each.

    Raises:
        UsageError: there is no chromium.
    """
    chromium = shutil.which("chromium")
    if chromium is None:
        raise UsageError("figures of the page need chromium, which is not installed")
    from playwright.sync_api import sync_playwright

    with _served() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        page = _opened(browser, url, _WIDE)
        yield from _states(page, folder)
        yield from _connect_four(page, folder)
        page = _opened(browser, url, _NARROW)
        _show_values(page)
        _play(page, 4)
        yield from _shots(page, folder, "phone", ("dark",))
        browser.close()


def _states(page: "Page", folder: Path) -> Iterator[Path]:
    _show_values(page)
    _play(page, 1)
    _play(page, 8)
    yield from _shots(page, folder, "play")
    page.get_by_role("tab", name="Learning").click()
    page.get_by_role("radio", name="Table").check(force=True)
    page.get_by_role("button", name="Start", exact=True).click()
    page.locator(".verdict-live", has_text="Unbeatable").wait_for()
    page.get_by_role("button", name="Pause").click()
    page.locator(".state", has_text="Paused").wait_for()
    yield from _shots(page, folder, "learning")
    # An early snapshot, which can be beaten.
    page.locator("#snapshot").press("Home")
    page.get_by_role("tab", name="Proof").click()
    page.get_by_role("button", name="Show me how to beat it").first.click()
    page.locator("#status-more", has_text="try it yourself").wait_for()
    yield from _shots(page, folder, "proof")


def _connect_four(page: "Page", folder: Path) -> Iterator[Path]:
    page.get_by_role("link", name="Connect Four").click()
    page.get_by_role("radio", name="7").check(force=True)
    page.locator("#values").check()
    for column in (4, 3, 2, 6, 4, 2):
        page.locator(".column").nth(column - 1).click()
        page.locator("#status-main", has_text="Your turn").wait_for()
    yield from _shots(page, folder, "connect-four")


def _opened(browser: "Browser", url: str, size: tuple[int, int]) -> "Page":
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    page.set_default_timeout(TIMEOUT)
    page.add_init_script(SHORTER_PAUSES)
    page.goto(url)
    page.locator(".square.playable").first.wait_for()
    return page


def _show_values(page: "Page") -> None:
    for layer in ("network", "table", "exact"):
        page.locator(f"input[name={layer}]").check()


def _play(page: "Page", cell: int) -> None:
    """Play a cell and wait for the reply."""
    frames = page.locator("button.frame")
    before = frames.count()
    page.locator(".square").nth(cell).click()
    frames.nth(before + 1).wait_for()
    page.locator("#status-main", has_text=re.compile("Your turn|You|draw")).wait_for()


def _shots(
    page: "Page",
    folder: Path,
    state: str,
    themes: Iterable["Theme"] = ("light", "dark"),
) -> Iterator[Path]:
    """Take a picture of the page as it is, in each theme; yield their paths."""
    page.mouse.move(0, 0)
    page.locator("h1").scroll_into_view_if_needed()
    for theme in themes:
        page.emulate_media(color_scheme=theme)
        page.wait_for_timeout(300)  # a stone that appears, a tooltip that goes
        path = folder / f"web-{state}-{theme}.png"
        page.screenshot(path=path)
        yield path


@contextlib.contextmanager
def _served() -> Iterator[str]:
    """Serve the page at a free port, without runs and games; yield its address."""
    with tempfile.TemporaryDirectory() as folder:
        flags = ("--port", "0", "--data-dir", folder, "--runs", f"{folder}/runs")
        process = subprocess.Popen(
            (sys.executable, "-m", "jax_ttt.web", *flags),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if found := re.search(r"http://\S+", line):
                    yield found[0]
                    break
            else:
                raise UsageError("the server of the page did not start")
        finally:
            process.terminate()
            process.wait()
