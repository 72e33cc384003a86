"""Measure how soon an exported page can be used, and what a training costs it."""

import contextlib
import dataclasses
import functools
import gzip
import re
import statistics
import threading
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from tools.screenshots import find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CONNECTIONS = {"10 Mbit/s": (10, 1), "4 Mbit/s, CPU 4 times slower": (4, 4)}
"""Mbit per second, and how many times slower the processor is; 40 ms of latency."""
SQUARE = "[role=grid] button[aria-disabled=false]"  # of a board that can be clicked
READY = f"""new MutationObserver(() => {{
  if (document.querySelector("{SQUARE}")) window.readyAt ??= performance.now();
}}).observe(document, {{ subtree: true, childList: true }});"""
TIMES = """[
  performance.getEntriesByName("first-contentful-paint")[0].startTime / 1000,
  window.readyAt / 1000,
]"""


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):  # the page was closed
            super().handle()


class _ZippedFiles(_Files):
    def send_head(self) -> None:
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(gzip.compress(path.read_bytes()))


@contextlib.contextmanager
def hosting(folder: Path, *, is_zipped: bool = False) -> Iterator[str]:
    """Serve a folder's files as a static host does; yield its address."""
    kind = _ZippedFiles if is_zipped else _Files
    handler = functools.partial(kind, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def loading_times(browser: "Browser", url: str, mbits: int, cpu: int) -> list[float]:
    """Return the seconds until the first paint, and until the board can be clicked."""
    with contextlib.closing(browser.new_page()) as page:
        page.add_init_script(READY)
        session = page.context.new_cdp_session(page)
        ways = ("downloadThroughput", "uploadThroughput")
        rates = dict.fromkeys(ways, mbits * 125e3)  # bytes per second
        conditions = {"offline": False, "latency": 40, **rates}
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", conditions)
        session.send("Emulation.setCPUThrottlingRate", {"rate": cpu})
        page.goto(url, wait_until="commit")
        page.locator(SQUARE).first.wait_for(timeout=120_000)
        return page.evaluate(TIMES)


def training_times(browser: "Browser", url: str) -> list[float]:
    """Return the seconds of the main thread's tasks in a training of the table."""
    with contextlib.closing(browser.new_page()) as page:
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")

        def task_seconds() -> float:
            metrics = session.send("Performance.getMetrics")["metrics"]
            return {one["name"]: one["value"] for one in metrics}["TaskDuration"]

        page.goto(url)
        page.get_by_role("tab", name=re.compile("^Learn")).click()
        page.get_by_role("radio", name=re.compile("^Table")).click()
        page.wait_for_timeout(3000)  # what the page does at its start is over
        before = task_seconds()
        page.get_by_role("button", name="Start", exact=True).click()
        page.get_by_text(re.compile("^Finished")).first.wait_for(timeout=120_000)
        return [task_seconds() - before]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Print medians: first paint and usable board; work of a training of the table."""

    folders: tyro.conf.Positional[tuple[Path, ...]]
    """Folders that `python -m jax_ttt.web --export` wrote."""
    gzip: tyro.conf.FlagCreatePairsOff[bool] = False
    """Send the files compressed, as most static hosts do."""
    runs: int = 5
    """Number of runs of each measurement."""


def main(args: Args) -> None:
    """Measure each folder, and print its medians."""
    from playwright.sync_api import sync_playwright

    def median(measure: Callable[..., list[float]], *where: object) -> str:
        times = zip(*(measure(browser, *where) for _ in range(args.runs)), strict=True)
        return " ".join(f"{statistics.median(one):.2f} s" for one in times)

    with sync_playwright() as playwright:
        options = {"executable_path": find_chromium(), "args": ["--no-sandbox"]}
        browser = playwright.chromium.launch(**options)
        for folder in args.folders:
            with hosting(folder, is_zipped=args.gzip) as url:
                for name, speeds in CONNECTIONS.items():
                    print(f"{folder}, {name}:", median(loading_times, url, *speeds))
                print(f"{folder}, tasks in training:", median(training_times, url))


if __name__ == "__main__":
    main(tyro.cli(Args, prog="python -m tools.page_speed"))
