"""The cache of compiled programs, and programs that compile fully or quickly."""

import os
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import quick

from jax_ttt import cli
from jax_ttt.runtime import compiling
from jax_ttt.runtime.compiling import Program

ROOT = str(Path(compiling.__file__).parents[2])


@pytest.fixture
def user_cache(monkeypatch):
    """Return a function that makes a folder the user's cache."""

    def set_folder(path):
        monkeypatch.setattr(compiling, "cache_folder", lambda: path)
        jax.config.update("jax_compilation_cache_dir", None)

    yield set_folder
    folder_of_tests = quick.CACHE["jax_compilation_cache_dir"]
    jax.config.update("jax_compilation_cache_dir", folder_of_tests)


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
def test_only_the_user_can_read_or_write_the_cache(user_cache, tmp_path):
    path = tmp_path / "cache" / "programs"
    user_cache(path)
    compiling.use_program_cache()
    assert jax.config.values["jax_compilation_cache_dir"] == str(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


@pytest.mark.fault
def test_without_a_folder_nothing_is_cached_and_a_line_says_why(
    user_cache, tmp_path, capsys
):
    path = tmp_path / "file" / "programs"
    path.parent.touch()
    user_cache(path)
    compiling.use_program_cache()
    assert jax.config.values["jax_compilation_cache_dir"] is None
    assert capsys.readouterr().err.startswith(f"no compilation cache in {path}: ")


def test_each_kind_of_processor_has_its_own_folder(monkeypatch):
    folder = compiling.cache_folder()
    monkeypatch.setattr(
        Path, "read_text", lambda path: "Features : neon\n\nFeatures : x"
    )
    assert compiling.cache_folder() != folder
    assert compiling.cache_folder().parent == folder.parent


COUNT = """
import collections, sys
import jax
from jax_ttt.runtime import compiling
events = collections.Counter()
jax.monitoring.register_event_listener(lambda name, **data: events.update([name]))
compiling.use_program_cache(sys.argv[1] == "on")
for number in range(3):
    assert jax.jit(lambda x: x * 2 + number)(3.0) == 6 + number
print(*(events["/jax/compilation_cache/cache_" + x] for x in ("misses", "hits")))
"""


def count_programs(folder, switch="on"):
    """Return how many programs a process compiles, and how many the cache returns."""
    done = subprocess.run(
        [sys.executable, "-c", COUNT, switch],
        env=os.environ | {"PYTHONPATH": ROOT, "JAX_COMPILATION_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    misses, hits = map(int, done.stdout.split())
    return misses, hits


@pytest.mark.slow
@pytest.mark.fault
def test_a_second_process_compiles_only_what_the_cache_lacks_or_has_damaged(tmp_path):
    compiled, read_back = count_programs(tmp_path)
    total = compiled + read_back
    assert compiled >= 3
    assert count_programs(tmp_path) == (0, total)
    assert count_programs(tmp_path, "off") == (0, 0)
    for number, path in enumerate(tmp_path.glob("*-cache")):
        content = path.read_bytes()
        middle = len(content) // 2
        flipped = bytes([content[middle] ^ 4])
        damaged = content[:middle], content[:middle] + flipped + content[middle + 1 :]
        path.write_bytes([*damaged, b""][number % 3])
    assert count_programs(tmp_path) == (total, 0)


def test_a_flag_switches_the_cache_of_a_command_off():
    for is_off in (False, True):
        cli.set_up_device(cli.MachineFlags(no_compile_cache=is_off))
        assert jax.config.values["jax_enable_compilation_cache"] is not is_off


def doubled(x, times=1):
    return x * 2.0**times


@pytest.fixture
def program(optimized):
    """Return a program, compiled as for users."""
    return Program(doubled, static_argnames=["times"])


def test_both_ways_of_compiling_give_the_same_numbers(program):
    x = jnp.arange(12.0)
    quick_function, full_function = program.jitted(), program.jitted(quickly=False)
    assert quick_function is not full_function
    for function in (quick_function, full_function, program):
        assert function(x, times=3).tolist() == (np.arange(12.0) * 8).tolist()


@pytest.mark.usefixtures("optimized")
@pytest.mark.parametrize("quickly", [True, False])
def test_both_ways_of_compiling_take_donated_arguments(quickly):
    program, x = Program(doubled, donate_argnames=["x"]), jnp.arange(3.0)
    assert program.jitted(quickly=quickly)(x).tolist() == [0, 2, 4]
    assert x.is_deleted()


def test_other_devices_and_a_setting_of_jax_compile_in_one_way(program, monkeypatch):
    jax.config.update("jax_disable_most_optimizations", True)  # undone by `optimized`
    assert program.jitted() is program.jitted(quickly=False)
    jax.config.update("jax_disable_most_optimizations", False)
    gpu = SimpleNamespace(platform="gpu")
    monkeypatch.setattr(compiling.devices, "current_device", lambda: gpu)
    assert program.jitted() is program.jitted(quickly=False)


OPTIONS = """
import sys
from jax_ttt.runtime import compiling
for options in compiling._EXTRA_OPTIONS[: int(sys.argv[1])]:
    options["xla_option_of_another_release"] = True
assert compiling.Program(lambda x: x + 1)(2.0) == 3
"""


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.usefixtures("optimized")
@pytest.mark.parametrize(("number", "num_lines"), [(1, 0), (2, 1), (3, 1)])
def test_options_that_xla_does_not_know_cost_at_most_one_warning(number, num_lines):
    """Of three sets of options besides the level, the first `number` are unknown."""
    done = subprocess.run(
        [sys.executable, "-c", OPTIONS, str(number)],
        env=os.environ | {"PYTHONPATH": ROOT},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == num_lines
    assert done.stderr.count("warning: compiling ") == num_lines
