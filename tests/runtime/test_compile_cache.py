"""The folder of compiled programs: whose it is, what is read back, what is not."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from jax_ttt.runtime import compile_cache

TRAIN = "--num-envs 8 --hidden-size 8 --num-updates 4 --eval-every 2 --eval-games 0"
COUNT = """
import collections, sys
import jax.monitoring
seen = collections.Counter()
jax.monitoring.register_event_listener(lambda name, **about: seen.update([name]))
from jax_ttt.train import main
code = main(sys.argv[1:])
print(code, *(seen["/jax/compilation_cache/cache_" + x] for x in ("misses", "hits")))
"""


def test_only_the_user_can_read_or_write_it(tmp_path):
    path = tmp_path / "a" / "b"
    compile_cache.make_private(path)
    for made in (path, path.parent):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700
    compile_cache.make_private(path)


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda path: path.mkdir(mode=0o700) or path.chmod(0o770), "others may write"),
        (lambda path: path.symlink_to(path.parent), "not a folder"),
        (lambda path: path.touch(), "File exists"),
    ],
)
def test_a_folder_that_others_can_write_to_is_not_used(spoil, why, tmp_path):
    path = tmp_path / "cache"
    spoil(path)
    with pytest.raises(OSError, match=why):
        compile_cache.make_private(path)


def test_another_users_folder_is_not_used(tmp_path, monkeypatch):
    path = tmp_path / "cache"
    path.mkdir(mode=0o700)
    monkeypatch.setattr(os, "getuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(PermissionError, match="somebody else"):
        compile_cache.make_private(path)


def test_processors_of_other_kinds_have_other_folders(monkeypatch):
    here = compile_cache.folder()
    assert here == compile_cache.folder()
    monkeypatch.setattr(
        Path, "read_text", lambda path: "Features : neon\n\nFeatures : x"
    )
    assert compile_cache.folder() != here
    assert compile_cache.folder().parent == here.parent


def command(folder, *flags):
    environment = {**os.environ, "JAX_ENABLE_COMPILATION_CACHE": "true"}
    environment["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "true"
    environment["JAX_COMPILATION_CACHE_DIR"] = str(folder / "programs")
    number = len(list(folder.iterdir()))
    run_dir = ["--run-dir", str(folder / f"run{number}"), "--quiet"]
    done = subprocess.run(
        [sys.executable, "-c", COUNT, *TRAIN.split(), *run_dir, *flags],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    *_, counts = done.stdout.splitlines()
    return [int(count) for count in counts.split()], done.stderr


def test_a_second_process_compiles_nothing(tmp_path):
    (code, misses, _), _ = command(tmp_path)
    assert code == 0
    assert misses > 3
    (code, again, found), _ = command(tmp_path, "--seed", "2", "--tau", "0.3")
    assert (code, again) == (0, 0)
    assert 3 < found < misses  # what is kept by us needs no small programs around it
    for entry in (tmp_path / "programs").iterdir():
        entry.write_bytes(entry.read_bytes()[:100])  # as a crash would leave it
    (code, *_), _ = command(tmp_path)
    assert code == 0
    (code, *counts), _ = command(tmp_path, "--no-compile-cache")
    assert (code, *counts) == (0, 0, 0)
