"""A browser, the exported page and the served page."""

import contextlib
import re
import shutil
import subprocess
import sys

import pytest
import tiny

from jax_ttt.players import agents
from jax_ttt.web import export

TIMEOUT = 20_000
"""Milliseconds that a page may take, on a busy machine."""


@pytest.fixture(scope="session")
def browser():
    """Return Chromium, which the tests start."""
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is missing")
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("there is no chromium on the path")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"]
        )
        yield started
        started.close()


@pytest.fixture
def open_page(browser):
    """Return a function that opens a page; at the end, the page has had no error."""
    problems, opened = [], []

    def open_page(url, *, selector=".square", **options):
        options = {"viewport": {"width": 1280, "height": 800}} | options
        context = browser.new_context(accept_downloads=True, **options)
        context.set_default_timeout(TIMEOUT)
        opened.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "console",
            lambda message: (
                problems.append(message.text)
                if message.type in ("error", "warning")
                else None
            ),
        )
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
    """Return the agents of the exported page: two proven ones, and one to beat."""
    first, *others = export.shipped()
    with_past = export.Exported(
        first.agent_id, first.name, first.source, first.agent, {0: weak}
    )
    return [with_past, *others, export.Exported("run/weak", "weak", "run", weak)]


@pytest.fixture(scope="session")
def exported_url(browser, exported, tmp_path_factory):
    """Return the address of the exported page, a file."""
    return export.write(tmp_path_factory.mktemp("site"), exported).as_uri()


@pytest.fixture(scope="session")
def served_url(browser, tmp_path_factory):
    """Return the address of a server of this test run, with no runs and no games."""
    folder = tmp_path_factory.mktemp("served")
    with serving(folder) as url:
        yield url


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
