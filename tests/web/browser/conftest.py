"""A browser, the exported page and the served page."""

import re

import browsing
import pytest
import tiny

from jax_ttt.players import agents
from jax_ttt.web import export
from tools import screenshots

TIMEOUT = 20_000
"""Milliseconds that a page may take, on a busy machine."""


@pytest.fixture(scope="module")
def browser():
    """Return Chromium, which the tests start.

    Playwright's event loop runs until the end of the module; in other modules the
    tests run loops of their own.
    """
    path = browsing.chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"]
        )
        yield started
        started.close()


@pytest.fixture
def open_page(browser):
    """Return a function that opens a page.

    At the end, no page has had an error, besides those that match `expected`.
    """
    problems, opened = [], []

    def noted(message, expected):
        known = expected and re.search(expected, message.text)
        if message.type in ("error", "warning") and not known:
            problems.append(message.text)

    def open_page(url, *, selector=".square", expected=None, **options):
        options = {"viewport": {"width": 1280, "height": 800}} | options
        context = browser.new_context(accept_downloads=True, **options)
        context.set_default_timeout(TIMEOUT)
        context.add_init_script(screenshots.SHORTER_PAUSES)
        opened.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: noted(message, expected))
        page.goto(url)
        page.locator(selector).first.wait_for()
        return page

    yield open_page
    for context in opened:
        context.close()
    assert problems == []


@pytest.fixture(scope="session")
def weak(tmp_path_factory):
    """Return an untrained network, which is easy to beat."""
    folder = tmp_path_factory.mktemp("weak")
    return agents.load_agent(tiny.save_untrained(folder / "agent.safetensors"))


@pytest.fixture(scope="session")
def exported(weak):
    """Return the agents of the exported page: the shipped ones, and one to beat."""
    return [*export.shipped(), export.Exported("run/weak", "weak", "run", weak)]


@pytest.fixture(scope="session")
def exported_url(exported, tmp_path_factory):
    """Return the address of the exported page, a file."""
    browsing.chromium()
    return export.write_page(tmp_path_factory.mktemp("site"), exported).as_uri()
