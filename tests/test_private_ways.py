"""The package uses no private part of a library, replaces none, and imports at the top.

Functions import only what may not be installed, and commands what loads JAX.
"""

import ast
import re
from pathlib import Path

import pytest

import jax_ttt

PACKAGE = Path(jax_ttt.__file__).parent
MODULES = {
    path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for path in PACKAGE.rglob("*.py")
}
COMMANDS = {
    *("__init__.py", "__main__.py", "arena.py", "cli.py", "correct.py", "evaluate.py"),
    *("play.py", "plot.py", "runs.py", "sweep.py", "train.py", "web/__main__.py"),
    "web/training_thread.py",
}
"""The modules that refuse a flag, import a name or serve the page before JAX loads."""
OPTIONAL = {
    # Optional packages.
    *("IPython", "cairosvg", "cycler", "matplotlib", "pandas"),
    *("tensorboardX", "wandb"),
    # Modules of Python that some systems lack.
    *("fcntl", "msvcrt", "readline", "resource", "termios", "tty"),
    # Our module that needs an optional package at its top.
    "jax_ttt.solver.connect_four_solver",
}
SETTABLE = {"argv", "stderr", "stdin", "stdout"}
"""Attributes of `sys` that Python documents as ones to set."""
PRIVATE_FIELDS_OF_PGX = {"_step_count", "_x"}
"""Fields of PGX's states that only `games/` reads: PGX has no public way to them."""


def is_private(name):
    return re.fullmatch(r"_(?!_).*", name) is not None


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


def private_names(tree):
    """Yield the lines that use a private name of another library."""
    libraries = {name for name, top in imported_tops(tree).items() if top != "jax_ttt"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None) or ""
            names = ".".join([module, *(alias.name for alias in node.names)])
            is_own = module.startswith("jax_ttt")
            if not is_own and any(map(is_private, names.split("."))):
                yield node.lineno
        if isinstance(node, ast.Attribute):
            is_of_library = leftmost_name(node) in libraries
            if is_of_library and is_private(node.attr):
                yield node.lineno


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


def late_imports(tree):
    """Yield the lines in functions that import what is always installed."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    module = getattr(node, "module", None) or node.names[0].name
                    if not {module, module.partition(".")[0]} & OPTIONAL:
                        yield node.lineno


def private_fields_of_pgx(tree):
    """Yield the lines that read a private field of PGX's states."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in PRIVATE_FIELDS_OF_PGX:
            yield node.lineno


@pytest.mark.parametrize(
    ("rule", "exempt"),
    [
        (private_names, ()),
        (patches, ["__init__.py"]),  # its own class, as Python documents it
        (late_imports, COMMANDS),
        (private_fields_of_pgx, [path for path in MODULES if path[:6] == "games/"]),
    ],
)
def test_no_module_breaks_a_rule(rule, exempt):
    places = [
        f"{path}:{line}"
        for path in MODULES.keys() - exempt
        for line in rule(MODULES[path])
    ]
    assert places == []


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        (private_names, "from jax._src import core"),
        (private_names, "import os; os._exit(1)"),
        (patches, "import jax; jax.numpy.add = print"),
        (patches, "import jax; setattr(jax, 'jit', print)"),
        (patches, "import sys; sys.modules[__name__].__class__ = int"),
        (late_imports, "def f():\n import jax"),
        (private_fields_of_pgx, "state._x"),
    ],
)
def test_code_that_breaks_a_rule_is_seen(rule, code):
    assert list(rule(ast.parse(code)))
