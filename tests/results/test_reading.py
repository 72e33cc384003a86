"""Reading files that anybody may have written: what is refused, and how soon."""

import os
import shutil
import socket
from pathlib import Path

import pytest

from jax_ttt.results import reading
from jax_ttt.results.reading import UnreadableError

DATA = Path(__file__).parents[1] / "data"


def refused(path, most=100):
    with pytest.raises(UnreadableError) as error, reading.open_bounded(path, most):
        pass
    return str(error.value)


def test_a_regular_file_is_opened_also_through_a_link(tmp_path):
    (tmp_path / "file").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("file")
    for name in ("file", "link"):
        with reading.open_bounded(tmp_path / name, 3) as file:
            assert file.read() == b"abc"
    assert refused(tmp_path / "file", 2) == "larger than 2 bytes"


@pytest.mark.fault
def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    os.mkfifo("fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for path in ("fifo", "socket", ".", "/dev/zero", "/dev/full", "/dev/null"):
            assert refused(Path(path)) == "not a regular file"
    Path("loop").symlink_to("loop")
    assert "symbolic links" in refused(Path("loop"))
    assert refused(Path("none")) == "no such file"
    Path("dangling").symlink_to("none")
    assert refused(Path("dangling")) == "no such file"
    assert refused(Path("x" * 300)) == "File name too long"


def test_what_is_a_file_no_longer_when_it_is_opened_is_refused(tmp_path, monkeypatch):
    """A pipe replaces the file after the first check; opening must not wait."""
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    before = path.stat()
    path.unlink()
    os.mkfifo(path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "stat", lambda path: before)
        assert refused(path) == "not a regular file"


@pytest.mark.parametrize("text", ["1", "-0.5", "null", "[[]]", '{"a": [1, "b"]}'])
def test_json_is_read(text, tmp_path):
    assert reading.strict_json(text) == reading.strict_json(text.encode())
    (tmp_path / "file").write_text(text)
    assert reading.json_file(tmp_path / "file") == reading.strict_json(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Expecting value"),
        ("NaN", "NaN is not a number"),
        ("1e999", "too large"),
        ("9" * 5000, "too many digits"),
        ('{"a": 1, "a": 1}', "a name twice"),
        ("[" * 500_000, "nested too deep"),
        (b"\xff", "utf-8"),
        ('{"a": 1}'.encode("utf-16"), "utf-8"),
        ("{} {}", "Extra data"),
    ],
)
@pytest.mark.fault
def test_what_is_not_strict_json_is_refused(text, why):
    with pytest.raises(ValueError, match=why):
        reading.strict_json(text)


def test_a_reason_is_one_line_of_bounded_length():
    assert reading.one_line("a\nb\x1b[31m\u202e é") == "a\\nb\\x1b[31m\\u202e é"
    assert len(reading.one_line("x" * 10**6)) < 310


@pytest.mark.parametrize("game", ["connect_four", "tic_tac_toe"])
def test_the_game_of_an_agent_is_read_from_its_file(game, tmp_path):
    file = DATA / f"agent-1-{game}.safetensors"
    assert reading.saved_game(file) == game
    shutil.copy(file, tmp_path / "agent.safetensors")
    assert reading.saved_game(tmp_path) == game


@pytest.mark.parametrize("content", [b"", b"\xff" * 9, b"\x02" + b"\0" * 7 + b"{}"])
def test_what_is_no_agent_has_no_game(content, tmp_path):
    (tmp_path / "agent.safetensors").write_bytes(content)
    assert reading.saved_game(tmp_path) is None
    assert reading.saved_game(tmp_path / "none") is None
