"""The import table: which folder of the package imports which."""

import ast
import functools
from pathlib import Path

import pytest

import jax_ttt

PACKAGE = Path(jax_ttt.__file__).parent

LOWER = ("config", "runtime", "files", "games", "networks", "solver", "dqn", "players")
MAY_IMPORT = {
    "config": (),
    "runtime": ("config",),
    "files": ("config", "runtime"),
    "games": ("config", "runtime"),
    "networks": ("config", "runtime", "games"),
    "solver": ("config", "games"),
    "dqn": ("config", "games", "networks"),
    "players": ("config", "runtime", "files", "games", "networks", "dqn", "solver"),
    "grading": (
        *("config", "runtime", "files", "games"),
        *("networks", "solver", "players"),
    ),
    "training": (
        *("config", "runtime", "files", "games"),
        *("networks", "dqn", "players", "grading"),
    ),
    "text": (*LOWER, "grading", "training"),
    "pictures": (
        *("config", "runtime", "files", "games", "solver"),
        *("players", "grading", "text"),
    ),
    "api": (*LOWER, "grading", "training", "text", "pictures"),
    "web": (
        *("config", "runtime", "files", "games", "solver", "dqn", "players"),
        *("grading", "training", "pictures"),
    ),
}
"""The folders that the modules of a folder may import, besides their own."""


RECORDS = {"grading.grade"}
"""What is known of a player, as data: all folders may import it."""
MAIN_MODULES = {"web.__main__"}
"""Commands in a folder of their own: they use what the commands share."""


@functools.cache
def modules():
    """Return the path of every module, by its name without `jax_ttt.`."""
    paths = {path.relative_to(PACKAGE): path for path in PACKAGE.rglob("*.py")}
    return {".".join(short.with_suffix("").parts): paths[short] for short in paths}


def imported(path):
    """Yield what a module imports of the package, wherever in the file it stands."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            named = [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
        else:
            continue
        for full in named:
            short = full.removeprefix("jax_ttt.")
            if full != short and short in modules():
                yield short


@functools.cache
def arrows():
    """Return the modules that each module imports."""
    return {name: set(imported(path)) for name, path in modules().items()}


def folder(module):
    """Return a module's folder, "" at the root."""
    return module.partition(".")[0] if "." in module else ""


def test_every_folder_is_in_the_table():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders == MAY_IMPORT.keys()


@pytest.mark.parametrize("name", MAY_IMPORT)
def test_a_folder_imports_what_the_table_allows(name):
    allowed = {name, *MAY_IMPORT[name]}
    wrong = [
        f"{module} imports {other}"
        for module, others in arrows().items()
        for other in others
        if folder(module) == name and folder(other) not in allowed
        if other not in RECORDS
        if module not in MAIN_MODULES or other not in ("cli", "__main__")
    ]
    assert not wrong


def test_the_learner_and_the_proof_do_not_know_each_other():
    """No chain of imports leads from one to the other."""
    for start, never in (
        ("dqn", {"solver", "players", "grading"}),
        ("solver", {"dqn", "networks", "players", "training"}),
    ):
        reached = {m for m in modules() if folder(m) == start}
        while more := set().union(*(arrows()[m] for m in reached)) - reached:
            reached |= more
        assert not {m for m in reached if folder(m) in never}


def test_imports_have_few_levels_and_no_cycle():
    """A module's level is one more than the highest level that it imports."""
    levels = {}
    while len(levels) < len(arrows()):
        ready = {
            module: 1 + max((levels[other] for other in others), default=0)
            for module, others in arrows().items()
            if module not in levels and others <= levels.keys()
        }
        assert ready, "a cycle"
        levels |= ready
    assert max(levels.values()) <= 12


def test_the_package_does_not_import_the_tools():
    for path in modules().values():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            else:
                continue
            assert not [n for n in names if n.partition(".")[0] == "tools"], path
