"""The pictures of the page are taken in a browser, of each main state."""

import as_users
import browsing
import pytest
import served
from PIL import Image

STATES = ("play", "learning", "connect-four")
THEMES = ("light", "dark")
NAMES = {f"web-{state}-{theme}.png" for state in STATES for theme in THEMES}
MOVING = {f"web-learning-{theme}.webp" for theme in THEMES}


@pytest.mark.slow
def test_the_main_states_are_taken(tmp_path):
    """In a process of its own: the tests' browser runs in this one."""
    browsing.chromium()
    words = ("-m", "tools.figures", "--only", "web", "--out", tmp_path)
    done = as_users.run_python(*words, cwd=served.ROOT)
    assert done.code == 0, done.err
    assert {path.name for path in tmp_path.iterdir()} == NAMES | MOVING
    for path in tmp_path.glob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG")
        assert 10_000 < path.stat().st_size < 300_000
    for path in tmp_path.glob("*.webp"):
        with Image.open(path) as picture:
            assert getattr(picture, "n_frames", 1) > 5
        assert path.stat().st_size < 500_000
