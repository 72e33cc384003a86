"""The pictures of the page are taken in a browser, of each main state."""

import browsing
import pytest

from jax_ttt import figures
from jax_ttt.web import screenshots

STATES = ("play", "learning", "proof")
NAMES = {
    *(f"web-{state}-{theme}.png" for state in STATES for theme in ("light", "dark")),
    "web-phone-dark.png",
}


@pytest.mark.slow
def test_the_main_states_are_taken(tmp_path, capsys):
    browsing.chromium()
    assert figures.main(["--out", str(tmp_path), "--only", "web"]) == 0
    assert {path.name for path in tmp_path.iterdir()} == NAMES
    told = capsys.readouterr().out.splitlines()
    assert sorted(told) == sorted(f"wrote {path}" for path in tmp_path.iterdir())
    for path in tmp_path.iterdir():
        assert path.read_bytes().startswith(b"\x89PNG")
        assert 10_000 < path.stat().st_size < 300_000


def test_without_chromium_nothing_is_taken(monkeypatch, tmp_path):
    pytest.importorskip("playwright", reason="Playwright is missing")
    monkeypatch.setattr(screenshots.shutil, "which", lambda name: None)
    with pytest.raises(screenshots.UsageError, match="need chromium"):
        list(screenshots.take(tmp_path))
