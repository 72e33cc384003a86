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
SETTABLE = {"sys.argv", "sys.stderr", "sys.stdin", "sys.stdout", "sys."}
"""What Python documents as attributes to set; the last one is for `setattr`."""


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


def test_imports_have_no_cycle_and_none_is_of_the_tools():
    for module, tree in modules().items():
        tops = {name.partition(".")[0] for name in imported_names(tree)}
        assert "tools" not in tops, module
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


def test_no_module_replaces_a_part_of_another_or_the_class_of_an_object():
    for module in modules().keys() - {"__init__"}:  # its class, as Python documents it
        nodes = [*ast.walk(modules()[module])]
        names = {
            (alias.asname or alias.name).partition(".")[0]
            for node in nodes
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        for node in nodes:
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "setattr":
                changed = f"{ast.unparse(node.args[0])}."
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                changed = ast.unparse(node)
            else:
                continue
            is_patch = changed.partition(".")[0] in names and changed not in SETTABLE
            is_patch |= changed.endswith(".__class__")
            assert not is_patch, f"{module}:{node.lineno}"
