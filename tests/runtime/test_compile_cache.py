"""The cache of compiled programs: its permissions, and which programs it returns."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import commands
import jax
import pytest
import quick
import tiny

from jax_ttt import cli
from jax_ttt.runtime import compiling

train = commands.module_of("train")

COUNT = """
import collections, sys
import jax
from jax_ttt.runtime import compiling
seen = collections.Counter()
jax.monitoring.register_event_listener(lambda name, **about: seen.update([name]))
compiling.use_program_cache(sys.argv[1] == "wanted")
assert jax.jit(lambda x: x * 2 + 1)(3.0) == 7
print(*(seen["/jax/compilation_cache/cache_" + x] for x in ("misses", "hits")))
"""


@pytest.fixture
def unset(monkeypatch):
    """Return a function that lets the cache be the user's, in this folder."""
    of_tests = quick.CACHE["jax_compilation_cache_dir"]

    def in_folder(path):
        monkeypatch.setattr(compiling, "folder", lambda: path)
        jax.config.update("jax_compilation_cache_dir", None)

    yield in_folder
    jax.config.update("jax_compilation_cache_dir", of_tests)


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
def test_only_the_user_can_read_or_write_the_folder(unset, tmp_path):
    path = tmp_path / "cache" / "programs"
    unset(path)
    compiling.use_program_cache()
    assert jax.config.values["jax_compilation_cache_dir"] == str(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


@pytest.mark.fault
def test_a_folder_that_cannot_be_made_is_named_and_nothing_is_kept(
    unset, tmp_path, capsys
):
    path = tmp_path / "file" / "programs"
    path.parent.touch()
    unset(path)
    compiling.use_program_cache()
    assert jax.config.values["jax_compilation_cache_dir"] is None
    assert capsys.readouterr().err.startswith(f"no compilation cache in {path}: ")


def test_each_kind_of_processor_has_its_own_folder(monkeypatch):
    here = compiling.cache_folder()
    assert here == compiling.cache_folder()
    monkeypatch.setattr(
        Path, "read_text", lambda path: "Features : neon\n\nFeatures : x"
    )
    assert compiling.cache_folder() != here
    assert compiling.cache_folder().parent == here.parent


def programs(folder, wanted="wanted"):
    """Return how many programs a process compiles, and how many the cache returns."""
    environment = os.environ | {
        "PYTHONPATH": str(Path(compiling.__file__).parents[2]),
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
    assert programs(tmp_path, "unwanted") == (0, 0)


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.parametrize("damage", ["cut off", "a bit flipped", "empty"])
def test_a_damaged_program_is_compiled_again(damage, tmp_path):
    """JAX warns of it."""
    compiled, read_back = programs(tmp_path)
    every = compiled + read_back
    entries = [*tmp_path.glob("*-cache")]
    assert len(entries) == every
    for entry in entries:
        whole = entry.read_bytes()
        middle = len(whole) // 2
        flipped = whole[:middle] + bytes([whole[middle] ^ 4]) + whole[middle + 1 :]
        left = {"cut off": whole[:middle], "a bit flipped": flipped, "empty": b""}
        entry.write_bytes(left[damage])
    assert programs(tmp_path) == (every, 0)


@pytest.mark.parametrize("flags", [(), ("--no-compile-cache",)])
def test_the_flags_switch_the_cache_of_a_command_on_or_off(flags, monkeypatch):
    asked = []
    monkeypatch.setattr(compiling, "use", lambda wanted: asked.append(wanted) or wanted)
    cli.set_up_device(commands.parse(train, [*flags]).machine)
    assert asked == [not flags]


@pytest.mark.slow
def test_a_second_process_reads_the_programs_and_trains_the_same_agent(tmp_path):
    env = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(tmp_path / "programs")}
    agents = []
    for name in ("first", "second"):
        command = [sys.executable, "-m", "jax_ttt.train", *tiny.flags(), "--quiet"]
        command += ["--run-dir", str(tmp_path / name)]
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        agents.append((tmp_path / name / "agent.safetensors").read_bytes())
    assert agents[0] == agents[1]
