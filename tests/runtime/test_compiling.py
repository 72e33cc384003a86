"""The cache of compiled programs, and how programs are compiled on a CPU."""

import stat
from pathlib import Path
from types import SimpleNamespace

import as_users
import commands
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import quick
import tiny
from marks import mark_slow
from pgx.tic_tac_toe import TicTacToe

import jax_ttt
from jax_ttt.config.player_kinds import SHIPPED
from jax_ttt.runtime import compiling
from jax_ttt.runtime.compiling import Program


@pytest.fixture
def user_cache(monkeypatch):
    """Return a function that makes a folder the user's cache."""

    def set_folder(path):
        monkeypatch.setattr(compiling, "cache_folder", lambda: path)
        jax.config.update("jax_compilation_cache_dir", None)
        compiling._use_cache_once.cache_clear()

    yield set_folder
    for name, value in quick.CACHE.items():
        jax.config.update(name, value)


"""Calls of public functions that compute."""


@pytest.mark.fault
def test_only_the_user_can_write_the_cache_and_a_line_says_why_there_is_none(
    user_cache, tmp_path, capsys
):
    (tmp_path / "file").touch()
    for folder in ("file", "cache"):
        path = tmp_path / folder / "programs"
        user_cache(path)
        compiling.use_program_cache()
        is_made = folder == "cache"
        used = jax.config.values["jax_compilation_cache_dir"]
        assert used == (str(path) if is_made else None)
        reason = f"no compilation cache in {path}: Not a directory\n"
        assert capsys.readouterr().err == ("" if is_made else reason)
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


AGENT = tiny.untrained(tiny.CONFIG)
CALLS = {
    "train": lambda: jax_ttt.train(**tiny.FIELDS),
    "train_many": lambda: jax_ttt.train_many([1], **tiny.FIELDS),
    "load": lambda: jax_ttt.load(SHIPPED["table"]),
    "player": lambda: jax_ttt.player("random"),
    "new_game": lambda: jax_ttt.new_game("minimax"),
    "match": lambda: jax_ttt.match("random", "random"),
    "best_move": lambda: jax_ttt.best_move(AGENT, [4]),
    "draw": lambda: jax_ttt.draw([4, 0]),
    "correct": lambda: jax_ttt.correct(AGENT),
    "register_game": lambda: jax_ttt.register_game("same", TicTacToe),
}
"""Calls of public functions that compute."""


@pytest.mark.parametrize(
    "name", mark_slow(CALLS, "train", "train_many", "correct", "register_game")
)
def test_public_functions_keep_their_programs_as_the_commands_do(name, user_cache):
    """Here in the folder of the tests, which has them."""
    path = quick.CACHE["jax_compilation_cache_dir"]
    user_cache(Path(path))
    assert not jax.config.values["jax_compilation_cache_dir"]
    CALLS[name]()
    assert jax.config.values["jax_compilation_cache_dir"] == path


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("jax_compilation_cache_dir", "mine"),
        ("jax_enable_compilation_cache", False),
    ],
)
def test_what_the_user_says_on_the_cache_stays(setting, value, user_cache, tmp_path):
    user_cache(tmp_path / "programs")
    jax.config.update(setting, value)
    seconds = "jax_persistent_cache_min_compile_time_secs"
    jax.config.update(seconds, 60)
    CALLS["draw"]()
    assert (jax.config.values[setting], jax.config.values[seconds]) == (value, 60)
    assert not (tmp_path / "programs").exists()


@pytest.mark.parametrize(
    ("words", "is_on"), [([], True), (["--no-compile-cache"], False)]
)
def test_the_file_of_a_users_game_runs_with_the_cache_of_the_command(
    words, is_on, user_cache, tmp_path
):
    user_cache(tmp_path / "programs")
    file = tmp_path / "rules.py"
    setting = "jax.config.jax_enable_compilation_cache"
    file.write_text(f"import jax\nraise ValueError({setting})\n", "utf-8")
    module = commands.module_of("train")
    printed = commands.run(module, "--rules", str(file), *words, code=2)
    assert f"ValueError: {is_on}" in printed.err
    assert (tmp_path / "programs").is_dir() == is_on


def test_each_kind_of_processor_has_its_own_folder(monkeypatch):
    folder = compiling.cache_folder()
    monkeypatch.setattr(
        Path, "read_text", lambda path: "Features : neon\n\nFeatures : x"
    )
    assert compiling.cache_folder() != folder
    assert compiling.cache_folder().parent == folder.parent


COUNT = """
import collections, sys
from pathlib import Path
import jax
from jax_ttt.runtime import compiling
events = collections.Counter()
jax.monitoring.register_event_listener(lambda name, **data: events.update([name]))
compiling.use_program_cache()
folder, *names = sys.argv[1:]
for name in ["", *names]:
    for number, path in enumerate(Path(folder).glob(name) if name else ()):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 4
        path.write_bytes([content, content[: len(content) // 2], b""][number % 3])
    jax.clear_caches()
    for number in range(3):
        assert jax.jit(lambda x: x * 2 + number)(3.0) == 6 + number
    print(*(events["/jax/compilation_cache/cache_" + x] for x in ("misses", "hits")))
    events.clear()
"""


def count_programs(folder, *damaged):
    """Return how many programs a process compiles, and how many the cache returns.

    First those with the cache as it is, then after files of these names are damaged.
    """
    words = ("-W", "ignore", "-c", COUNT, folder, *damaged)
    done = as_users.run_python(*words, JAX_COMPILATION_CACHE_DIR=folder)
    assert done.code == 0, done.err
    return [tuple(map(int, line.split())) for line in done.out.splitlines()]


@pytest.mark.slow
@pytest.mark.fault
def test_a_second_process_compiles_only_what_the_cache_lacks_or_has_damaged(tmp_path):
    ((compiled, read_back),) = count_programs(tmp_path)
    assert compiled >= 3
    total = compiled + read_back
    assert count_programs(tmp_path, "*-cache") == [(0, total), (total, 0)]


def doubled(x, times=1):
    return x * 2.0**times


@pytest.fixture
def program(optimized):
    """Return a program, compiled as for users."""
    return Program(doubled, static_argnames=["times"])


def test_the_options_of_a_cpu_give_the_same_numbers(program, monkeypatch):
    x, on_cpu = jnp.arange(12.0), program.jitted()
    gpu = SimpleNamespace(platform="gpu")
    monkeypatch.setattr(compiling.devices, "current_device", lambda: gpu)
    elsewhere = program.jitted()
    assert on_cpu is not elsewhere
    for function in (on_cpu, elsewhere, program):
        assert function(x, times=3).tolist() == (np.arange(12.0) * 8).tolist()
    monkeypatch.undo()
    # A setting of JAX has precedence over the options; `optimized` undoes it.
    jax.config.update("jax_disable_most_optimizations", True)
    assert program.jitted() is not on_cpu
