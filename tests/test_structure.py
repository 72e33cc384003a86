"""The import table: which folder of the package imports which."""

import ast
import functools
from pathlib import Path

import pytest

import jax_ttt

PACKAGE = Path(jax_ttt.__file__).parent
MAY_IMPORT = {
    "config": "",
    "runtime": "config",
    "files": "config runtime",
    "games": "config runtime",
    "networks": "config runtime games",
    "solver": "config games",
    "dqn": "config games networks",
    "players": "config runtime files games networks dqn solver",
    "grading": "config runtime files games networks solver players",
    "training": "config runtime files games networks dqn players grading",
    "text": "config runtime files games networks solver dqn players grading training",
    "pictures": "config runtime files games solver players grading text",
    "api": "config runtime files games networks solver dqn players grading training "
    "text pictures",
    "web": "config runtime files games solver dqn players grading training pictures",
}
"""The folders that the modules of a folder may import, besides their own."""
MAIN_MODULES = {"web.__main__"}
"""Commands in a folder of their own: they import `cli` and `__main__`."""


@functools.cache
def modules():
    """Return the parsed source of every module, by its name without `jax_ttt.`."""
    return {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts): ast.parse(
            path.read_text("utf-8")
        )
        for path in PACKAGE.rglob("*.py")
    }


def imported_names(tree):
    """Yield the full names of what a module imports, wherever in the file it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "a relative import"
            assert node.module
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@functools.cache
def imports():
    """Return the modules of the package that each module imports."""
    return {
        name: {
            full.removeprefix("jax_ttt.")
            for full in imported_names(tree)
            if full.startswith("jax_ttt.") and full[len("jax_ttt.") :] in modules()
        }
        for name, tree in modules().items()
    }


def folder(module):
    """Return a module's folder, "" at the root."""
    return module.partition(".")[0] if "." in module else ""


def test_every_folder_is_in_the_table():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders == MAY_IMPORT.keys()


@pytest.mark.parametrize("name", MAY_IMPORT)
def test_a_folder_imports_what_the_table_allows(name):
    allowed = {name, *MAY_IMPORT[name].split()}
    wrong = [
        f"{module} imports {other}"
        for module, others in imports().items()
        if folder(module) == name
        for other in others
        if folder(other) not in allowed
        if module not in MAIN_MODULES or other not in ("cli", "__main__")
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("start", "unreachable"),
    [
        ("dqn", {"solver", "players", "grading"}),
        ("solver", {"dqn", "networks", "players", "training"}),
    ],
)
def test_no_chain_of_imports_leads_from_the_learner_to_the_proof_or_back(
    start, unreachable
):
    reached = {module for module in modules() if folder(module) == start}
    while new := set().union(*(imports()[module] for module in reached)) - reached:
        reached |= new
    assert not {module for module in reached if folder(module) in unreachable}


def test_imports_have_few_levels_and_no_cycle():
    """A module's level is one more than the highest level that it imports."""
    levels = {}
    while len(levels) < len(imports()):
        ready = {
            module: 1 + max((levels[other] for other in others), default=0)
            for module, others in imports().items()
            if module not in levels and others <= levels.keys()
        }
        assert ready, "a cycle"
        levels |= ready
    assert max(levels.values()) <= 12


def test_the_package_does_not_import_the_tools():
    for module, tree in modules().items():
        tops = {name.partition(".")[0] for name in imported_names(tree)}
        assert "tools" not in tops, module
