"""Files kept for later processes: when they are found, and when they are not."""

import jax
import pytest

from jax_ttt.runtime import devices, kept_files, process
from jax_ttt.runtime.kept_files import keep_in  # a fixture of all tests replaces it


@pytest.fixture(autouse=True)
def folder(tmp_path):
    """Keep files in a folder of this test."""
    keep_in(tmp_path)
    yield tmp_path
    keep_in(None)


def kept(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_kept_file_is_found_only_under_its_name(folder):
    assert kept_files.read("a") is None
    kept_files.keep("a", b"content")
    assert kept_files.read("a") == b"content"
    assert kept_files.read("b") is None
    assert len(kept(folder)) == 1


@pytest.mark.parametrize("fault", ["cut off", "a bit flipped", "empty"])
def test_a_damaged_file_is_ignored_and_replaced(folder, fault):
    kept_files.keep("a", b"content" * 100)
    (path,) = kept(folder)
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[50] ^= 1
    damaged = {"cut off": whole[:-1], "a bit flipped": bytes(flipped), "empty": b""}
    path.write_bytes(damaged[fault])
    assert kept_files.read("a") is None
    kept_files.keep("a", b"content")
    assert kept_files.read("a") == b"content"


@pytest.mark.parametrize(
    "change", ["sources", "versions", "flags", "setting", "processor"]
)
def test_a_file_of_other_sources_or_settings_is_not_found(change, monkeypatch):
    kept_files.keep("a", b"content")
    if change == "sources":
        monkeypatch.setattr(kept_files, "_sources", lambda: "other")
    elif change == "versions":
        monkeypatch.setattr(process, "versions", lambda: {"jax": "0.0"})
    elif change == "flags":
        monkeypatch.setenv("XLA_FLAGS", "--other")
    elif change == "processor":
        monkeypatch.setattr(devices, "has_amx", lambda: True)
    if change != "setting":
        assert kept_files.read("a") is None
        return
    with jax.default_matmul_precision("float32"):
        assert kept_files.read("a") is None
    assert kept_files.read("a") == b"content"


def test_without_a_folder_nothing_is_kept(folder):
    kept_files.keep("a", b"content")
    keep_in(None)
    assert kept_files.read("a") is None
    kept_files.keep("b", b"content")
    assert len(kept(folder)) == 1


def test_a_folder_that_cannot_be_written_is_no_error(folder):
    (folder / "file").touch()
    keep_in(folder / "file" / "below")
    kept_files.keep("a", b"content")
    assert kept_files.read("a") is None


def test_the_folder_is_made_for_the_first_kept_file(folder):
    keep_in(folder / "new" / "one")
    kept_files.keep("a", b"content")
    assert kept_files.read("a") == b"content"


def test_nothing_is_kept_after_the_sources_were_edited(folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(kept_files, "_digest", lambda: "edited")
        kept_files.keep("a", b"content")
    assert not kept(folder)
    kept_files.keep("a", b"content")
    assert len(kept(folder)) == 1


def test_the_digest_covers_every_module_of_the_package(monkeypatch, tmp_path):
    package = tmp_path / "package"
    (package / "runtime").mkdir(parents=True)
    (package / "one.py").write_text("x = 1")
    monkeypatch.setattr(kept_files, "__file__", str(package / "runtime" / "here.py"))
    digest = kept_files._digest
    first = digest()
    assert digest() == first
    (package / "one.py").write_text("x = 2")
    second = digest()
    (package / "two.py").write_text("")
    assert len({first, second, digest()}) == 3
