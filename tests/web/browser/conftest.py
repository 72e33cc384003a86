"""A browser, the exported page and the served page."""

import contextlib
import re
import shutil

import browsing
import pytest
import tiny
from playwright.sync_api import expect, sync_playwright

from jax_ttt.web import agent_files, export
from tools import page_speed

TIMEOUT = 60_000
"""Milliseconds that a page may take, on a busy machine."""
SHIPPED, SHORT = '"seconds": 10,', '"seconds": 2,'
"""The length of a training of a table in the exported page, and that in the tests."""


@pytest.fixture(scope="package")
def browser():
    """Return Chromium, which a worker starts once.

    Playwright's event loop runs until the last test of this folder; in other folders
    the tests run loops of their own.
    """
    path = browsing.chromium()
    expect.set_options(timeout=TIMEOUT)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"], timeout=browsing.LONG
        )
        yield started
        started.close()


@pytest.fixture
def open_page(browser):
    """Return a function that opens a page, alone in its context unless one is given.

    At the end, no page has had an error or a warning, besides those that match
    `expected`. The addresses that the page requests are added to `requests`.
    `is_entered` is whether the person leaves the first screen, `is_changed` whether the
    browser's timers and random numbers are the tests' own, and `is_new` whether the
    person is a new visitor, who has not chosen a level.
    """
    problems, contexts = [], []

    def new_context(is_changed, is_new, options):
        context = browser.new_context(
            accept_downloads=True, **(browsing.WIDE | options)
        )
        contexts.append(context)
        context.set_default_timeout(TIMEOUT)
        if is_changed:
            context.add_init_script(browsing.SCRIPT)
        if not is_new:
            context.add_init_script(browsing.AT_BEST)
        return context

    def note(message, expected):
        known = expected and re.search(expected, message.text)
        if message.type in ("error", "warning") and not known:
            problems.append(message.text)

    def open_page(
        url,
        *,
        context=None,
        expected=None,
        requests=None,
        is_entered=True,
        is_changed=True,
        is_new=False,
        **options,
    ):
        context = context or new_context(is_changed, is_new, options)
        page = browsing.Page(context.new_page())
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: note(message, expected))
        if requests is not None:
            page.on("request", lambda request: requests.append(request.url))
        page.goto(url)
        if is_entered:
            page.leave_first_screen()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture(scope="session")
def weak(tmp_path_factory):
    """Return the files of untrained networks, which are easy to beat, by game."""
    folder = tmp_path_factory.mktemp("weak")
    return {
        "tic_tac_toe": tiny.save_untrained(folder / "weak.safetensors"),
        "connect_5x4": tiny.save_untrained(
            folder / "weak-5x4.safetensors", env_id="connect_5x4"
        ),
    }


@pytest.fixture(scope="session")
def exported(weak, tmp_path_factory):
    """Return the folder of the exported page: the shipped agents, and two to beat.

    Its trainings of tables are shorter than those that people watch.
    """
    browsing.chromium()
    runs = [
        agent_files.ListedAgent(f"run/{path.stem}", path.stem, "run", path, {})
        for path in weak.values()
    ]
    static = tmp_path_factory.mktemp("page") / "static"
    shutil.copytree(export.STATIC, static)
    learners = static / "engine" / "page_data.js"
    text = learners.read_text("utf-8")
    assert text.count(SHIPPED) == 1
    learners.write_text(text.replace(SHIPPED, SHORT), "utf-8")
    folder = tmp_path_factory.mktemp("site") / "below"
    agents = [*agent_files.shipped_agents(), *runs]
    export.write_page(folder, agents, static)
    return folder


@pytest.fixture(scope="session")
def exported_url(exported):
    """Return the address of the exported page at a static host, below its root."""
    with page_speed.hosting(exported.parent) as url:
        yield f"{url}{exported.name}/"


@pytest.fixture(scope="session")
def served_url(weak, tmp_path_factory):
    """Return the address of a server with two runs of untrained agents.

    All files of tests share it, since no test changes what it serves.
    """
    browsing.chromium()
    folder = tmp_path_factory.mktemp("served")
    for path in weak.values():
        run = folder / "runs" / path.stem
        run.mkdir(parents=True)
        shutil.copy(path, run / "agent.safetensors")
    with browsing.serving(folder) as url:
        yield url


@pytest.fixture
def own_server(browser, tmp_path):
    """Return a function that stops a server of the test's own, and its address."""
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(browsing.serving(tmp_path))
        yield url, stack.close


@pytest.fixture
def page(open_page, served_url):
    """Return the page from the server that the tests share."""
    return open_page(served_url)
