"""The package itself: its public names, and how little importing it loads."""

import ast
import importlib
import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import as_users

import jax_ttt

WITHOUT_JAX = """
import contextlib, io, json, os, sys

HEAVY = {"jax", "flax", "pgx", "optax"}
before = set(sys.modules)
import jax_ttt
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(json.dumps(sorted(loaded - {*sys.stdlib_module_names})))

jax_ttt.Config, jax_ttt.PRESETS, jax_ttt.Refused, dir(jax_ttt)
import jax_ttt.cli
assert not (HEAVY | {"numpy"}) & sys.modules.keys()

import commands
from jax_ttt.__main__ import COMMANDS, main
for command in COMMANDS:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert commands.exit_code(commands.module_of(command), ["--help"]) == 0
    assert f"python -m jax_ttt.{command}" in out.getvalue()
WRONG = ["--sede 2", "--tau nan", "--json --quiet", "--devices 0", "--epsilon-end 2"]
for line in WRONG:
    with contextlib.redirect_stderr(io.StringIO()):
        assert commands.exit_code(commands.module_of("train"), line.split()) == 2
sys.argv = ["jax-ttt", "--completion"]
with contextlib.redirect_stdout(io.StringIO()) as out:
    assert main() == 0
assert "shipped:network" in out.getvalue()
assert not (HEAVY | {"numpy"}) & sys.modules.keys()

from pathlib import Path
web, folder = commands.module_of("web"), Path("page")
with contextlib.redirect_stderr(io.StringIO()):
    assert commands.exit_code(web, ["--port", "70000"]) == 2
assert "starlette" not in sys.modules
assert commands.exit_code(web, ["--export", str(folder)]) == 0
from jax_ttt.web import agent_files, app
files = agent_files.AgentCollection(folder)
app.make_app(files, ["localhost"])
assert files.list_agents()[0]
assert not HEAVY & sys.modules.keys()
"""


def test_the_package_its_settings_helps_refusals_and_page_load_no_jax(tmp_path):
    """In a process of its own, as this one has imported JAX."""
    tests = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_JAX],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=as_users.environment(PYTHONPATH=f"{as_users.ROOT}{os.pathsep}{tests}"),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout.splitlines()[0]) == ["jax_ttt", "lazy_loader"]


def test_programs_and_type_checkers_see_the_same_names():
    stub = Path(str(jax_ttt.__file__)).with_suffix(".pyi")
    modules = {
        alias.name: f"jax_ttt.{node.module}"
        for node in ast.parse(stub.read_text()).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(modules) == sorted(jax_ttt.__all__)
    assert {*dir(jax_ttt)} == {*jax_ttt.__all__}
    for name, module in modules.items():
        value = getattr(importlib.import_module(module), name)
        assert getattr(jax_ttt, name) is value


HINTS = {
    "evaluate": "grade",
    "arena": "cross_table",
    "sweep": "train_many",
    "play": "new_game",
    "plot": "draw",
    "runs": "load",
    "trian": "train",
}
"""Names that are not public, and the functions of which people may think."""
WITH_HINTS = """
import sys, traceback, jax_ttt
for name in sys.argv[1:]:
    try:
        getattr(jax_ttt, name)
    except AttributeError as error:
        print(traceback.format_exception_only(error)[-1], end="")
"""


def test_the_name_of_a_command_or_a_misspelled_one_gets_a_hint():
    """The message is one line, with this hint alone."""
    assert {*HINTS.values()} <= {*jax_ttt.__all__}
    words = [sys.executable, "-c", WITH_HINTS, *HINTS]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        f"AttributeError: module 'jax_ttt' has no attribute '{name}'; "
        f"did you mean {function}?"
        for name, function in HINTS.items()
    ]


def test_public_names_stay_what_they_are_when_all_modules_are_imported():
    values = {name: getattr(jax_ttt, name) for name in jax_ttt.__all__}
    for module in pkgutil.walk_packages(jax_ttt.__path__, "jax_ttt."):
        importlib.import_module(module.name)
    assert {name: getattr(jax_ttt, name) for name in values} == values
