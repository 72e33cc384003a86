"""The cache of compiled programs: its permissions, and which programs it returns."""

import importlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import jax
import pytest
import quick
import tiny

from jax_ttt import cli
from jax_ttt.runtime import compile_cache, compile_events

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


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
@pytest.mark.fault
def test_a_folder_below_one_of_others_is_not_used(tmp_path, monkeypatch):
    """Whoever can write to the folder above can put another one in its place."""
    above = tmp_path / "above"
    above.mkdir(mode=0o700)
    compile_cache.make_private(above / "cache")
    above.chmod(0o777)
    with pytest.raises(PermissionError, match="other users can write"):
        compile_cache.make_private(above / "cache")
    above.chmod(0o700)
    (tmp_path / "link").symlink_to(above)  # the user's own link to another disk
    compile_cache.make_private(tmp_path / "link" / "cache")
    real = Path.lstat
    uid = os.getuid()

    def planted(path):
        about = list(real(path))
        about[4] = uid + 1 if path.name == "link" else about[4]
        return os.stat_result(about)

    monkeypatch.setattr(Path, "lstat", planted)
    with pytest.raises(PermissionError, match="another user"):
        compile_cache.make_private(tmp_path / "link" / "cache")


def test_a_program_is_kept_with_its_checksum(tmp_path):
    cache = compile_cache.CheckedPrograms(str(tmp_path / "new"))
    assert cache.get("a") is None
    cache.put("a", b"program" * 100)
    assert cache.get("a") == b"program" * 100
    (path,) = (tmp_path / "new").iterdir()
    assert path.name == "a-cache"
    assert path.read_bytes().startswith(b"program")  # JAX reads it too


@pytest.mark.parametrize("damage", ["cut off", "a bit flipped", "empty", "JAX's own"])
@pytest.mark.fault
def test_a_damaged_program_is_absent_and_then_replaced(damage, tmp_path):
    cache = compile_cache.CheckedPrograms(str(tmp_path))
    cache.put("a", b"program" * 100)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    flipped = bytes([whole[0] ^ 1]) + whole[1:]
    path.write_bytes(
        {
            **{"cut off": whole[:100], "a bit flipped": flipped, "empty": b""},
            "JAX's own": whole[:-32],
        }[damage]
    )
    assert cache.get("a") is None
    cache.put("a", b"program")
    assert cache.get("a") == b"program"


def test_a_program_that_cannot_be_kept_is_no_error(tmp_path):
    cache = compile_cache.CheckedPrograms(str(tmp_path))
    (tmp_path / "a-cache").mkdir()
    cache.put("a", b"program")
    assert cache.get("a") is None
    (tmp_path / "file").touch()
    cache = compile_cache.CheckedPrograms(str(tmp_path / "file"))
    cache.put("a", b"program")
    assert cache.get("a") is None


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
    assert not done.stderr  # no warning of a damaged file
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
def test_a_damaged_cache_costs_a_compile_and_no_run(tmp_path):
    """Nothing is printed, and the next process compiles nothing again."""
    compiled, read_back = programs(tmp_path)
    every = compiled + read_back

    def flip(path):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 4
        path.write_bytes(content)

    entries = [*tmp_path.glob("*-cache")]
    assert len(entries) == every
    for entry in entries:
        flip(entry)
    assert programs(tmp_path) == (every, 0)
    assert programs(tmp_path) == (0, every)


@pytest.mark.parametrize("named", [False, True])
def test_a_start_drops_the_oldest_programs_of_the_users_folder(
    named, tmp_path, monkeypatch
):
    """Only of the folder that is chosen here, never of one that the user has named."""
    folder = tmp_path / "programs"
    compile_cache.make_private(folder)
    for number in range(10):
        (folder / f"{number}-cache").write_bytes(bytes(200))
        os.utime(folder / f"{number}-cache", (number, number))
    monkeypatch.setattr(compile_cache, "MAX_BYTES", 999)
    monkeypatch.setattr(compile_cache, "folder", lambda: folder)
    of_tests = quick.CACHE["jax_compilation_cache_dir"]
    jax.config.update("jax_compilation_cache_dir", str(folder) if named else None)
    try:
        assert compile_cache.use()
    finally:
        jax.config.update("jax_compilation_cache_dir", of_tests)
    left = sorted(path.name for path in folder.iterdir())
    kept = range(10) if named else range(6, 10)
    assert left == [f"{number}-cache" for number in kept]


@pytest.mark.parametrize(
    ("terminal", "kept"), [(True, True), (True, False), (False, True)]
)
def test_only_a_terminal_is_told_that_programs_compile(
    terminal, kept, monkeypatch, capsys
):
    monkeypatch.setattr(compile_events, "Notice", lambda say: say())
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    compile_cache.announce(7, kept)
    out, err = capsys.readouterr()
    assert out == ""
    assert ("compiling" in err) == ("7 s" in err) == terminal


@pytest.mark.parametrize("flags", [(), ("--no-compile-cache",)])
def test_the_flags_switch_the_cache_of_a_command_on_or_off(flags, monkeypatch):
    asked = []
    monkeypatch.setattr(
        cli.compile_cache, "use", lambda wanted: asked.append(wanted) or wanted
    )
    cli.set_up(cli.parse(train.Args, [*flags], "train"), 2)
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
