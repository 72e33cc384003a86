"""The ways of libraries that the package does not use.

It uses nothing that a library keeps private, and replaces no part of one. `Any` is the
type of few things. Functions import only what may not be installed.
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
    *("__init__.py", "__main__.py", "arena.py", "cli.py", "evaluate.py", "play.py"),
    *("plot.py", "runs.py", "sweep.py", "train.py", "web/__main__.py"),
    "web/live_training.py",
}
"""The modules that refuse a flag, import a name, or serve the page before JAX loads."""
NOT_ALWAYS_THERE = {
    # Optional packages.
    *("IPython", "cairosvg", "cycler", "matplotlib", "tensorboardX", "wandb"),
    # Modules of Python that some systems lack.
    *("fcntl", "msvcrt", "readline", "resource", "termios", "tty"),
}
TO_BE_SET = {"argv", "stderr", "stdin", "stdout"}
"""Attributes of `sys` that Python documents as ones to set."""
OF_PGX = {"_step_count", "_x"}
"""Fields of PGX's states that `games/` reads: PGX has no public way to them."""


def is_private(name):
    return re.fullmatch(r"_(?!_).*", name) is not None


def imported(tree):
    """Return the names of a module's imports, and the first parts of what they are."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found[alias.asname or top] = top
        elif isinstance(node, ast.ImportFrom) and node.module:
            top = node.module.partition(".")[0]
            found |= {alias.asname or alias.name: top for alias in node.names}
    return found


def root(node):
    """Return the name at the left of a chain of attributes, or None."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def private_names(tree):
    """Yield the lines that use what another library keeps private."""
    others = {name for name, top in imported(tree).items() if top != "jax_ttt"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None) or ""
            names = ".".join([module, *(alias.name for alias in node.names)])
            is_own = module.startswith("jax_ttt")
            if not is_own and any(map(is_private, names.split("."))):
                yield node.lineno
        elif isinstance(node, ast.Attribute):
            is_of_library = root(node) in others
            if is_of_library and is_private(node.attr):
                yield node.lineno


def patches(tree):
    """Yield the lines that replace a part of another module, or an object's class."""
    names = imported(tree)
    for node in ast.walk(tree):
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        if isinstance(node, ast.Call) and root(node.func) in ("setattr", "delattr"):
            module = root(node.args[0])
            if module in names and module != "sys":
                yield node.lineno
        if not isinstance(
            node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete
        ):
            continue
        for target in targets:
            if not isinstance(target, ast.Attribute):
                continue
            settable = root(target) == "sys" and target.attr in TO_BE_SET
            if target.attr == "__class__" or (root(target) in names and not settable):
                yield node.lineno


def uses_of_any(tree):
    """Yield the lines with `Any`, also those that give it another name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name == "Any":
                yield node.lineno


def late_imports(tree):
    """Yield the lines in functions that import what is always installed."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    module = getattr(node, "module", None) or node.names[0].name
                    if module.partition(".")[0] not in NOT_ALWAYS_THERE:
                        yield node.lineno


def places(rule, exempt=()):
    """Return where the package breaks a rule, as `path:line`."""
    return [
        f"{path}:{line}"
        for path, tree in MODULES.items()
        if path not in exempt
        for line in rule(tree)
    ]


@pytest.mark.parametrize(
    ("rule", "exempt"),
    [(private_names, ()), (patches, ()), (late_imports, COMMANDS)],
)
def test_no_module_breaks_a_rule(rule, exempt):
    assert places(rule, exempt) == []


def test_any_is_the_type_of_at_most_ten_things():
    assert len(places(uses_of_any)) <= 10


def test_only_the_games_read_the_private_fields_of_pgx():
    readers = {
        path
        for path, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in OF_PGX
    }
    assert {path.partition("/")[0] for path in readers} == {"games"}


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (private_names, "from jax._src import core"),
        (private_names, "import jax; jax._src.core.f()"),
        (private_names, "import os; os._exit(1)"),
        (patches, "import jax; jax.numpy.add = print"),
        (patches, "import jax; setattr(jax, 'jit', print)"),
        (patches, "import sys; sys.modules[__name__].__class__ = int"),
        (uses_of_any, "def f(x: dict[str, Any]): ..."),
        (uses_of_any, "import typing; Leaf = typing.Any"),
        (late_imports, "def f():\n import jax"),
    ],
)
def test_what_breaks_a_rule_is_seen(rule, text):
    assert list(rule(ast.parse(text)))
