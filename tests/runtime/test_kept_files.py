"""Files kept for later processes: when they are found, and when they are not."""

import os
import stat

import jax
import pytest

from jax_ttt.runtime import kept_files, process
from jax_ttt.runtime.kept_files import keep_in  # a fixture of all tests replaces it


@pytest.fixture(autouse=True)
def folder(tmp_path):
    """Keep files in a folder of this test."""
    keep_in(tmp_path)
    yield tmp_path
    keep_in(None)


def kept(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.fault
def test_a_damaged_file_is_ignored_and_replaced(folder):
    kept_files.keep("a", b"content" * 100)
    (path,) = kept(folder)
    changed = bytearray(path.read_bytes())
    changed[50] ^= 1
    path.write_bytes(changed)
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


def test_a_file_of_other_versions_or_settings_is_not_found(monkeypatch):
    kept_files.keep("a", b"content")
    with jax.default_matmul_precision("float32"):
        assert kept_files.read("a") is None
    assert kept_files.read("a") == b"content"
    monkeypatch.setattr(process, "versions", lambda: {"jax": "0.0"})
    assert kept_files.read("a") is None
