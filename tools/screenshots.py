"""Screenshots of the web page for the docs, taken in a browser."""

import contextlib
import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from jax_ttt.config.errors import Refused
from jax_ttt.files.picture_file import Theme

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, Page

_THEMES: tuple[Theme, ...] = get_args(Theme)
_TIMEOUT = 120_000
"""Milliseconds that a training or a busy machine may take."""
_WIDTH, _HEIGHT = 1280, 920
_MOVING_HEIGHT = 620
"""The moving picture has the page down to here: the board and the curves."""
_FRAME, _LAST_FRAME = 400, 4000
"""Milliseconds of a frame of the moving picture, and of its last one."""
_LOST_GAME = (3, 3, 1, 2, 2, 4)
"""Columns by which a person loses to the shipped agent of Connect Four 5 x 4."""
_MISTAKE = "3. X, you"
"""The move of this game that gives the draw away."""


def find_chromium() -> str | None:
    """Return the path of Chromium, or None.

    Its headless shell, the same browser without windows, takes less time.
    """
    return shutil.which("chromium-headless-shell") or shutil.which("chromium")


def take(folder: Path) -> Iterator[Path]:
    """Take the pictures `web-*.png` and the moving ones, `web-*.webp`; yield the paths.

    Raises:
        Refused: there is no chromium.
    """
    if (chromium := find_chromium()) is None:
        raise Refused("figures of the page need chromium, which is not installed")
    from playwright.sync_api import sync_playwright

    with _served() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
        page.set_default_timeout(_TIMEOUT)
        page.goto(url)
        _play_with_values(page)
        yield from _shots(page, folder, "play")
        frames = _train_a_table(page)
        yield from _save_moving(frames, folder, "learning")
        yield from _shots(page, folder, "learning")
        _review_connect_four(page)
        yield from _shots(page, folder, "connect-four")
        browser.close()


def _play_at_its_best(page: "Page") -> None:
    """Choose the level without random moves, so that each picture is the same again."""
    level = re.compile("^(Unbeatable|Learned agent)")
    page.get_by_role("tab", name="Game").click()
    page.get_by_role("radio", name=level).check(force=True)


def _play_with_values(page: "Page") -> None:
    _play_at_its_best(page)
    for layer in ("Exact values", "Network's values", "Table's values"):
        page.get_by_role("checkbox", name=layer).check(force=True)
    for square in ("Square 1", "Square 8"):
        page.get_by_role("button", name=square).click()
        _wait_for_the_reply(page)


def _train_a_table(page: "Page") -> dict[Theme, list[bytes]]:
    """Train a table, and make a move; return pictures of the training by theme."""
    page.get_by_role("button", name="New game").click()
    for layer in ("Exact values", "Network's values"):
        page.get_by_role("checkbox", name=layer).uncheck(force=True)
    page.get_by_role("tab", name="Learn").click()
    page.get_by_role("radio", name="Table").check(force=True)
    page.get_by_role("button", name="Start", exact=True).click()
    page.mouse.move(0, 0)
    frames: dict[Theme, list[bytes]] = {theme: [] for theme in _THEMES}
    finished = page.locator(".state", has_text="Finished")
    while not finished.is_visible():
        _add_frame(page, frames)
        page.wait_for_timeout(_FRAME)
    page.locator(".verdict-live", has_text="Unbeatable").wait_for()
    page.locator(".proof-moment").wait_for(state="hidden")
    _add_frame(page, frames)
    page.get_by_role("button", name="Square 1").click()  # an edge: many replies lose
    _wait_for_the_reply(page)
    return frames


def _add_frame(page: "Page", frames: dict[Theme, list[bytes]]) -> None:
    clip: FloatRect = {"x": 0, "y": 0, "width": _WIDTH, "height": _MOVING_HEIGHT}
    for theme in _THEMES:
        page.emulate_media(color_scheme=theme)
        frames[theme].append(page.screenshot(clip=clip, animations="disabled"))


def _save_moving(
    frames: dict[Theme, list[bytes]], folder: Path, state: str
) -> Iterator[Path]:
    """Write a picture that moves in each theme; yield their paths."""
    from PIL import Image

    for theme, pictures in frames.items():
        first, *others = (Image.open(io.BytesIO(picture)) for picture in pictures)
        path = folder / f"web-{state}-{theme}.webp"
        first.save(
            path,
            save_all=True,
            append_images=others,
            duration=[_FRAME] * len(others) + [_LAST_FRAME],
            loop=0,  # for ever
            quality=60,
        )
        yield path


def _review_connect_four(page: "Page") -> None:
    page.get_by_role("button", name="Connect Four 5").click()
    page.get_by_role("checkbox", name="Exact values").check(force=True)
    page.get_by_role("checkbox", name="Next moves").uncheck(force=True)
    _play_at_its_best(page)
    for column in _LOST_GAME:
        page.get_by_role("button", name=re.compile(f"^Column {column}")).click()
        _wait_for_the_reply(page)
    page.get_by_role("button", name="Review this game").click()
    page.get_by_text("wins in 1 move").wait_for()  # the last move's verdict
    page.get_by_role("button", name=_MISTAKE).click()


def _wait_for_the_reply(page: "Page") -> None:
    page.locator(".status-main", has_text=re.compile("Your turn|You|draw")).wait_for()


def _shots(page: "Page", folder: Path, state: str) -> Iterator[Path]:
    """Take a picture of the page as it is, in each theme; yield their paths."""
    page.mouse.move(0, 0)
    page.locator("h1").scroll_into_view_if_needed()
    for theme in _THEMES:
        page.emulate_media(color_scheme=theme)
        page.wait_for_timeout(300)  # until animations have ended
        path = folder / f"web-{state}-{theme}.png"
        page.screenshot(path=path)
        yield path


@contextlib.contextmanager
def _served() -> Iterator[str]:
    """Serve the page at a free port, without runs; yield its address."""
    with tempfile.TemporaryDirectory() as folder:
        flags = ("--port", "0", "--runs", f"{folder}/runs")
        process = subprocess.Popen(
            (sys.executable, "-m", "jax_ttt.web", *flags),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        try:
            address = re.search(r"http://\S+", process.stdout.readline())
            if address is None:
                raise Refused("the server of the page did not start")
            yield address[0]
        finally:
            process.terminate()
            process.wait()
