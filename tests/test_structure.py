"""Which folder of the package imports which, and that no module replaces another's."""

import ast
import functools
import graphlib
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
    "web": "config runtime files",
}
"""The folders that the modules of a folder may import, besides their own."""
MAIN_MODULES = {"web.__main__"}
"""Commands in a folder of their own: they import `cli` and `__main__`."""
SHOWN_BY = {
    ("config.grade", "text.grade_text"),
    ("players.saved_agents", "api.agent"),
}
"""Modules of results, and those that show them: loaded when a result is first shown."""
SETTABLE = {"argv", "stderr", "stdin", "stdout"}
"""Attributes of `sys` that Python documents as ones to set."""


@functools.cache
def modules():
    """Return the parsed source of every module, by its name without `jax_ttt.`."""
    paths = [*PACKAGE.rglob("*.py")]
    assert paths
    return {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts): ast.parse(
            path.read_text("utf-8")
        )
        for path in paths
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


def test_imports_have_no_cycle():
    sorter = graphlib.TopologicalSorter(imports())
    assert {*sorter.static_order()} == {*imports()}  # raises CycleError


def test_only_results_load_a_folder_above_theirs_to_be_shown():
    loaded = {
        (name, ast.literal_eval(node.args[0]).removeprefix("jax_ttt."))
        for name, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node).startswith("importlib.import_module('jax_ttt.")
    }
    assert loaded == SHOWN_BY
    assert {shows for _, shows in loaded} <= modules().keys()


def test_the_package_does_not_import_the_tools():
    for module, tree in modules().items():
        tops = {name.partition(".")[0] for name in imported_names(tree)}
        assert "tools" not in tops, module


def imported_tops(tree):
    """Return the names that a module imports, with the top-level package of each."""
    tops = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                tops[alias.asname or top] = top
        elif isinstance(node, ast.ImportFrom) and node.module:
            top = node.module.partition(".")[0]
            tops |= {alias.asname or alias.name: top for alias in node.names}
    return tops


def leftmost_name(node):
    """Return the name at the left of a chain of attributes, or None."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def patches(tree):
    """Yield the lines that replace a part of another module, or an object's class."""
    modules = imported_tops(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            is_setattr = leftmost_name(node.func) == "setattr"
            targets = [ast.Attribute(node.args[0], "")] if is_setattr else []
        elif isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            targets = [node.target]
        else:
            continue
        for target in targets:
            if isinstance(target, ast.Attribute):
                name = leftmost_name(target)
                is_settable = name == "sys" and target.attr in {*SETTABLE, ""}
                is_patch = name in modules and not is_settable
                if is_patch or target.attr == "__class__":
                    yield node.lineno


def test_no_module_replaces_a_part_of_another_or_the_class_of_an_object():
    places = [
        f"{name}:{line}"
        for name, tree in modules().items()
        if name != "__init__"  # its own class, as Python documents it
        for line in patches(tree)
    ]
    assert places == []
