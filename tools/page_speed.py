"""Measure how soon an exported page can be used, and what a training costs it.

python -m tools.page_speed DIR... [--gzip]
"""

import contextlib
import dataclasses
import functools
import gzip
import re
import statistics
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from tools.screenshots import find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession, Page

LATENCY = 40
"""Milliseconds of each emulated connection."""
CONNECTIONS = {"10 Mbit/s": (10, 1), "4 Mbit/s, CPU 4 times slower": (4, 4)}
"""Mbit per second, and how many times slower the processor is."""
READY = """
const look = () => {
  const square = document.querySelector("[role=grid] button[aria-disabled=false]");
  if (square) window.readyAt ??= performance.now();
};
new MutationObserver(look).observe(document, { subtree: true, childList: true });
"""
"""Notes when the board can be clicked first."""
TIMES = """() => new Promise((resolve) => {
  const note = (list) => {
    const [paint] = list.getEntriesByName("first-contentful-paint");
    if (paint) resolve([paint.startTime / 1000, window.readyAt / 1000]);
  };
  new PerformanceObserver(note).observe({ type: "paint", buffered: true });
})"""
"""Resolves to the seconds until the first paint and until that moment."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Print medians of the first paint, of a usable board, and of a training's work."""

    folders: tyro.conf.Positional[tuple[Path, ...]]
    """Folders that `python -m jax_ttt.web --export` wrote."""
    gzip: tyro.conf.FlagCreatePairsOff[bool] = False
    """Send texts compressed, as most static hosts do."""
    runs: int = 5
    """Number of runs of each measurement."""


class _Handler(SimpleHTTPRequestHandler):
    """Sends files, as texts compressed if `is_zipped`."""

    def __init__(self, *args: object, is_zipped: bool, directory: str) -> None:
        self.is_zipped = is_zipped
        super().__init__(*args, directory=directory)  # pyright: ignore[reportArgumentType]

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not self.is_zipped or not path.is_file():
            super().do_GET()
            return
        content = gzip.compress(path.read_bytes())
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@contextlib.contextmanager
def hosting(folder: Path, *, is_zipped: bool = False) -> Iterator[str]:
    """Serve a folder's files as a static host does; yield its address."""
    handler = functools.partial(_Handler, is_zipped=is_zipped, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def loading_times(browser: "Browser", url: str, rate: float, cpu: float) -> list[float]:
    """Return the seconds until the first paint, and until the board can be clicked."""
    page, session = open_blank(browser)
    session.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": LATENCY,
            "downloadThroughput": rate * 1e6 / 8,
            "uploadThroughput": rate * 1e6 / 8,
        },
    )
    session.send("Emulation.setCPUThrottlingRate", {"rate": cpu})
    page.goto(url, wait_until="commit")
    page.locator("[role=grid] button[aria-disabled=false]").first.wait_for()
    times = page.evaluate(TIMES)
    page.context.close()
    return times


def training_times(browser: "Browser", url: str) -> list[float]:
    """Return the seconds of the main thread's tasks in a training of the table."""
    page, session = open_blank(browser)
    page.goto(url)
    page.get_by_role("tab", name="Learning").click()
    page.get_by_role("radio", name=re.compile("^Table")).click()
    page.wait_for_timeout(3000)  # what the page does at its start is over
    before = task_seconds(session)
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_text(re.compile("^Finished")).wait_for()
    after = task_seconds(session)
    page.context.close()
    return [after - before]


def open_blank(browser: "Browser") -> tuple["Page", "CDPSession"]:
    """Return a new visitor's page, and a session of its protocol."""
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.set_default_timeout(120_000)
    page.add_init_script(READY)
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Performance.enable")
    return page, session


def task_seconds(session: "CDPSession") -> float:
    """Return the seconds of all tasks of the main thread since the page was opened."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return {one["name"]: one["value"] for one in metrics}["TaskDuration"]


def main(args: Args) -> int:
    """Measure and print."""
    from playwright.sync_api import sync_playwright

    def median(measure: functools.partial[list[float]]) -> str:
        runs = [measure() for _ in range(args.runs)]
        medians = map(statistics.median, zip(*runs, strict=True))
        return " and ".join(f"{seconds:.2f} s" for seconds in medians)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox"]
        )
        for folder in args.folders:
            with hosting(folder, is_zipped=args.gzip) as url:
                for name, (rate, cpu) in CONNECTIONS.items():
                    times = functools.partial(loading_times, browser, url, rate, cpu)
                    print(f"{folder}, {name}: {median(times)}", flush=True)
                tasks = functools.partial(training_times, browser, url)
                print(f"{folder}, tasks in a training: {median(tasks)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(tyro.cli(Args)))
