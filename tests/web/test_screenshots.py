"""The pictures of the page are taken in a browser, of each main state."""

import os
import subprocess
import sys

import browsing
import pytest
import served

from jax_ttt.web import screenshots

STATES = ("play", "learning", "proof", "connect-four")
NAMES = {
    *(f"web-{state}-{theme}.png" for state in STATES for theme in ("light", "dark")),
    "web-phone-dark.png",
}


@pytest.mark.slow
def test_the_main_states_are_taken(tmp_path):
    """In a process of its own: the tests' browser runs in this one."""
    browsing.chromium()
    command = [sys.executable, "-m", "jax_ttt.figures", "--only", "web"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(served.ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == NAMES
    assert sorted(done.stdout.splitlines()) == sorted(
        f"wrote {path}" for path in tmp_path.iterdir()
    )
    for path in tmp_path.iterdir():
        assert path.read_bytes().startswith(b"\x89PNG")
        assert 10_000 < path.stat().st_size < 300_000


def test_without_chromium_nothing_is_taken(monkeypatch, tmp_path):
    monkeypatch.setattr(screenshots.shutil, "which", lambda name: None)
    with pytest.raises(screenshots.UsageError, match="need chromium"):
        list(screenshots.take(tmp_path))
