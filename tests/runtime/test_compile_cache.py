"""The cache of compiled programs: its permissions, and which programs it returns."""

import importlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import tiny

from jax_ttt import cli
from jax_ttt.runtime import compile_cache

train = importlib.import_module("jax_ttt.train")

COUNT = """
import collections, sys
import jax
from jax_ttt.runtime import compile_cache
seen = collections.Counter()
jax.monitoring.register_event_listener(lambda name, **about: seen.update([name]))
compile_cache.use(sys.argv[1] == "wanted")
assert jax.jit(lambda x: x * 2 + 1)(3.0) == 7
print(*(seen["/jax/compilation_cache/cache_" + x] for x in ("misses", "hits")))
"""


def test_only_the_user_can_read_or_write_the_folder(tmp_path):
    path = tmp_path / "a" / "b"
    compile_cache.make_private(path)
    for made in (path, path.parent):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700
    compile_cache.make_private(path)


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda path: path.mkdir(mode=0o700) or path.chmod(0o770), "other users can"),
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
    with pytest.raises(PermissionError, match="another user"):
        compile_cache.make_private(path)


def test_each_kind_of_processor_has_its_own_folder(monkeypatch):
    here = compile_cache.folder()
    assert here == compile_cache.folder()
    monkeypatch.setattr(
        Path, "read_text", lambda path: "Features : neon\n\nFeatures : x"
    )
    assert compile_cache.folder() != here
    assert compile_cache.folder().parent == here.parent


def programs(folder, wanted="wanted"):
    """Return how many programs a process compiles, and how many the cache returns."""
    environment = os.environ | {
        "PYTHONPATH": str(Path(compile_cache.__file__).parents[2]),
        "JAX_COMPILATION_CACHE_DIR": str(folder),
    }
    done = subprocess.run(
        [sys.executable, "-c", COUNT, wanted],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    misses, hits = map(int, done.stdout.split())
    return misses, hits


@pytest.mark.slow
def test_a_second_process_compiles_nothing(tmp_path):
    compiled, read_back = programs(tmp_path)
    assert compiled > 0
    assert programs(tmp_path) == (0, compiled + read_back)
    entries = [path for path in tmp_path.iterdir() if path.name.endswith("-cache")]
    assert entries
    for entry in entries:
        entry.write_bytes(entry.read_bytes()[:100])  # as after a crash
    programs(tmp_path)  # the result is still correct
    assert programs(tmp_path, "unwanted") == (0, 0)


@pytest.mark.parametrize("flags", [(), ("--no-compile-cache",)])
def test_the_flags_switch_the_cache_of_a_command_on_or_off(flags, monkeypatch):
    asked = []
    monkeypatch.setattr(
        cli.compile_cache, "use", lambda wanted: asked.append(wanted) or wanted
    )
    cli.set_up(cli.parse(train.Args, [*flags], "train"), 2)
    assert asked == [not flags]


LOADED = """
import importlib, sys
code = importlib.import_module("jax_ttt.train").main(sys.argv[1:])
print(code, *sorted({"flax", "optax", "pgx"} & sys.modules.keys()))
"""


@pytest.mark.slow
def test_a_second_process_loads_no_library_that_only_tracing_needs(tmp_path):
    """It reads the programs and the tree from disk and trains the same agent."""
    env = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(tmp_path / "programs")}
    printed, agents = [], []
    for name in ("first", "second"):
        run = tmp_path / name
        command = [sys.executable, "-c", LOADED, *tiny.flags(), "--quiet"]
        command += ["--run-dir", str(run)]
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        assert not done.stderr
        printed.append(done.stdout.splitlines()[-1])
        agents.append((run / "agent.safetensors").read_bytes())
    assert printed == ["0 flax optax pgx", "0"]
    assert agents[0] == agents[1]
