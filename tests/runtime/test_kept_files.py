"""Files kept for later processes: when they are found, and when they are not."""

import functools
import os
import stat
import time

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


@pytest.mark.parametrize("damage", ["cut off", "a bit flipped", "empty", "other"])
@pytest.mark.fault
def test_a_damaged_file_is_ignored_and_replaced(folder, damage):
    kept_files.keep("a", b"content" * 100)
    (path,) = kept(folder)
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[50] ^= 1
    path.write_bytes(
        {
            **{"cut off": whole[:-1], "a bit flipped": bytes(flipped)},
            **{"empty": b"", "other": b"x" * 31},
        }[damage]
    )
    assert kept_files.read("a") is None
    kept_files.keep("a", b"content")
    assert kept_files.read("a") == b"content"


@pytest.mark.fault
def test_only_the_user_can_read_a_kept_file(folder):
    old = os.umask(0)
    try:
        kept_files.keep("a", b"content")
    finally:
        os.umask(old)
    (path,) = kept(folder)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "change", ["sources", "versions", "flags", "setting", "processor"]
)
def test_a_file_of_other_sources_or_settings_is_not_found(change, monkeypatch):
    kept_files.keep("a", b"content")
    if change == "sources":
        monkeypatch.setattr(kept_files, "_sources", lambda: ("other", [], []))
    elif change == "versions":
        monkeypatch.setattr(process, "versions", lambda: {"jax": "0.0"})
    elif change == "flags":
        monkeypatch.setenv("XLA_FLAGS", "--other")
    elif change == "processor":
        monkeypatch.setattr(devices, "has_bfloat16", lambda: True)
    if change != "setting":
        assert kept_files.read("a") is None
        return
    with jax.default_matmul_precision("float32"):
        assert kept_files.read("a") is None
    assert kept_files.read("a") == b"content"


@pytest.fixture
def module(monkeypatch, tmp_path_factory):
    """Return the only module of a package whose sources are those of this process."""
    package = tmp_path_factory.mktemp("package")
    monkeypatch.setattr(kept_files, "__file__", str(package / "runtime" / "here.py"))
    sources = functools.cache(kept_files._sources.__wrapped__)
    monkeypatch.setattr(kept_files, "_sources", sources)
    module = package / "one.py"
    module.write_text("x = 1")
    return module


@pytest.mark.parametrize("edit", ["removed", "written", "other contents, same time"])
def test_nothing_is_kept_after_the_sources_were_edited(edit, folder, module):
    kept_files.keep("a", b"content")
    before = module.stat().st_mtime_ns
    time.sleep(0.02)  # the system counts in some milliseconds
    if edit == "removed":
        module.unlink()
    else:
        module.write_text("x = 2")
    if edit == "other contents, same time":
        os.utime(module, ns=(before, before))
    kept_files.keep("b", b"content")
    assert len(kept(folder)) == 1
