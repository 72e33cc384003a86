"""The ways of libraries that the package does not use.

It uses nothing that a library keeps private, and replaces no part of one. `Any` is the
type of few things. Functions import only what may not be installed.
"""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import jax_ttt

PACKAGE = Path(jax_ttt.__file__).parent

OF_PGX = {"_step_count", "_x"}
"""Fields of PGX's states that `jax_ttt/envs` reads: PGX has no public way to them."""
OF_NAMED_TUPLES = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}
"""What Python documents, with an underscore so that no field has its name."""
TO_BE_SET = {"argv", "excepthook", "stderr", "stdin", "stdout", "unraisablehook"}
"""Attributes of `sys` that Python documents as ones to set."""
MOST_ANY = 10
COMMANDS = {
    *("__init__.py", "__main__.py", "arena.py", "cli.py", "evaluate.py", "play.py"),
    *("plot.py", "runs.py", "sweep.py", "train.py", "web/__main__.py"),
}
"""The modules that refuse a flag, or import a name, before JAX loads."""
NOT_ALWAYS_THERE = {
    # Optional packages.
    *("IPython", "cycler", "matplotlib", "tensorboardX", "wandb"),
    # Modules of Python that some systems lack.
    *("fcntl", "msvcrt", "readline", "resource", "termios", "tty"),
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@functools.cache
def trees():
    """Return each module, by its path in the package."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in paths
    }


def walk(node) -> Iterator[Any]:
    """Yield a node of a syntax tree and all below it."""
    return ast.walk(node)


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def is_own(module):
    return module.partition(".")[0] == "jax_ttt"


def imports(tree):
    """Return the full name of each name that a module imports."""
    found = {}
    for node in walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                found[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def defined(tree):
    """Return the names that a module defines: functions, classes and attributes."""
    found = set()
    for node in walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and root_of(node) in ("cls", "self"):
            found |= {node.attr} if isinstance(node.ctx, ast.Store) else set()
    return found


def root_of(node):
    """Return the name that a chain of attributes begins with, or None."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def constant(node):
    """Return the text of a literal, or "" for anything else."""
    value = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else ""


def called(node):
    """Return the last part of the name of a called function."""
    function = node.func
    return getattr(function, "attr", None) or getattr(function, "id", "")


def imported_modules(node):
    """Return the full names in an import; of `import_module` too, if it is a text."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and called(node) in ("__import__", "import_module"):
        return [constant(node.args[0]) or "?"]
    return []


def attribute(node):
    """Return the object and the name of an attribute, also that of `getattr`."""
    if isinstance(node, ast.Attribute):
        return node.value, node.attr
    by_name = ("delattr", "getattr", "hasattr", "setattr")
    if isinstance(node, ast.Call) and called(node) in by_name:
        return node.args[0], constant(node.args[1])
    return None, ""


def private_names(tree, allowed=()):
    """Yield each use of a name that a library keeps private, with its line."""
    imported, known = imports(tree), defined(tree) | OF_NAMED_TUPLES | {*allowed}
    for node in walk(tree):
        for module in imported_modules(node):
            if not is_own(module) and any(map(is_private, module.split("."))):
                yield node.lineno, module
        owner, name = attribute(node)
        full = imported.get(root_of(owner), "jax_ttt")
        if is_private(name) and (name not in known or not is_own(full)):
            yield node.lineno, ast.unparse(node)


def patches(tree):
    """Yield each replaced attribute of a module or class, module, and `__class__`."""
    imported = imports(tree)
    for node in walk(tree):
        owner, name = attribute(node)
        is_set = isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
        if isinstance(node, ast.Call):
            is_set = called(node) in ("delattr", "setattr")
        if is_set and ast.unparse(getattr(node, "value", node)) == "sys.modules":
            yield node.lineno, ast.unparse(node)
        if not owner or not is_set:
            continue
        full = imported.get(root_of(owner))
        if full == "sys" and (not name or name in TO_BE_SET):
            continue
        if full or name == "__class__":
            yield node.lineno, ast.unparse(node)


def uses_of_any(tree):
    """Yield each `Any` that is written, also within an annotation in quotes."""
    for node in walk(tree):
        is_name = isinstance(node, ast.Name) and node.id == "Any"
        if is_name or (isinstance(node, ast.Attribute) and node.attr == "Any"):
            yield node.lineno, "Any"
        hints = [getattr(node, field, None) for field in ("annotation", "returns")]
        for hint in filter(None, hints):
            for part in walk(hint):
                for _ in re.findall(r"\bAny\b", constant(part)):
                    yield part.lineno, "Any"


def renamed_any(tree):
    """Yield each other name that `Any` gets."""
    for node in walk(tree):
        is_renamed = False
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            is_renamed = ast.unparse(node.value) in ("Any", "typing.Any")
        elif isinstance(node, ast.ImportFrom):
            is_renamed = any(a.name == "Any" and a.asname for a in node.names)
        if is_renamed:
            yield node.lineno, ast.unparse(node)


def late_imports(tree):
    """Yield each import in a function of what is always there."""
    functions = [node for node in walk(tree) if isinstance(node, FUNCTIONS)]
    for node in {node for function in functions for node in walk(function)}:
        tops = {module.partition(".")[0] for module in imported_modules(node)}
        if tops - NOT_ALWAYS_THERE:
            yield node.lineno, ast.unparse(node)


def places(check):
    """Return what a check finds in all modules, as `FILE:LINE: WHAT`."""
    return [
        f"jax_ttt/{path}:{line}: {what}"
        for path, tree in trees().items()
        for line, what in sorted(check(path, tree))
    ]


def refuse_more_than(most, what, found):
    """Fail with a line for each of the places if they are more than allowed."""
    if len(found) > most:
        title = f"{len(found)} {what}, at most {most} allowed:"
        pytest.fail("\n  ".join([title, *found]), pytrace=False)


def test_no_module_uses_what_a_library_keeps_private():
    def check(path, tree):
        return private_names(tree, OF_PGX if path.startswith("envs/") else ())

    found = places(check)
    refuse_more_than(0, "private names", found)


def test_no_module_replaces_a_part_of_another_one():
    found = places(lambda _, tree: patches(tree))
    refuse_more_than(0, "replaced attributes", found)


def test_few_types_are_any():
    found = places(lambda _, tree: uses_of_any(tree))
    refuse_more_than(MOST_ANY, "Any", found)
    renamed = places(lambda _, tree: renamed_any(tree))
    refuse_more_than(1, "other names of Any", renamed)


def test_modules_import_at_their_top_what_is_always_there():
    found = places(lambda path, tree: () if path in COMMANDS else late_imports(tree))
    refuse_more_than(0, "imports in functions", found)


def lines(found):
    return [line for line, _ in found]


@pytest.mark.parametrize(
    "text",
    [
        "import jax._src.core",
        "from jax._src import core",
        "from jax import _src",
        "import jax; jax._src.core.f()",
        "import jax as j; j._src",
        "import tyro; tyro._experimental_options",
        "import tyro; getattr(tyro, '_experimental_options', {})",
        "import importlib; importlib.import_module('jax._src')",
        "import threading; threading._shutdown()",
        "import atexit; atexit._run_exitfuncs()",
        "import os; os._exit(1)",
        "import os; _exit = 1; os._exit(_exit)",
        "from os import _exit",
        "from threading import Thread; Thread._bootstrap",
        "class A(Base):\n def f(self): pass\nA().f()._private",
        "def f(state): return state._step_count",
        "def f(state): state._x = 1",
        "def f(): import jax._src",
    ],
)
def test_a_private_name_is_seen(text):
    assert lines(private_names(ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    [
        "from __future__ import annotations",
        "import jax; jax.jit; jax.__version__",
        "class A:\n def __init__(self): self._x = 1\n def f(self): return self._x",
        "class A:\n _x: int\ndef f(a): return a._x",
        "class A:\n def _f(self): pass\n def g(self): self._f()",
        "def f(point): return point._replace(x=1)",
        "from collections import Counter; Counter.__name__",
        "_x = 1\nprint(_x)",
    ],
)
def test_an_own_private_name_is_allowed(text):
    assert not lines(private_names(ast.parse(text)))


def test_only_the_games_read_the_fields_of_pgx():
    tree = ast.parse("def f(state): return state._x")
    assert lines(private_names(tree))
    assert not lines(private_names(tree, OF_PGX))


@pytest.mark.parametrize(
    "text",
    [
        "import threading; threading.excepthook = print",
        "import jax; jax.jit = print",
        "import jax; jax.numpy.add = print",
        "from http.server import HTTPServer; HTTPServer.timeout = 1",
        "import jax; setattr(jax, 'jit', print)",
        "import jax; setattr(jax, name, print)",
        "import jax; del jax.jit",
        "import sys; sys.modules['jax'] = None",
        "import sys; sys.exit = print",
        "from jax_ttt.config import presets; presets.PRESETS = {}",
        "import sys; sys.modules[__name__].__class__ = int",
        "class A: pass\nA().__class__ = int",
        "a, jax.jit = 1, 2\nimport jax",
    ],
)
def test_a_patch_is_seen(text):
    assert lines(patches(ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    [
        "class A:\n def __init__(self): self.x = 1",
        "import threading\ndef f(thread): thread.name = 'x'",
        "import sys; sys.stdout = None; setattr(sys, name, None)",
        "import os; os.environ['X'] = '1'",
        "import jax; jax.config.update('x', 1)",
        "class A: pass\nprint(A().__class__)",
    ],
)
def test_setting_what_is_ones_own_is_allowed(text):
    assert not lines(patches(ast.parse(text)))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("def f(a: Any, *b: Any, **c: Any) -> Any: ...", 4),
        ("import typing\ndef f(a: typing.Any): ...", 1),
        ("x: dict[str, Any] = {}", 1),
        ("class A(tuple[Any, ...]): ...", 1),
        ("def f(a: 'Any') -> 'list[Any]': ...", 2),
        ("A = dict[str, Any]", 1),
        ("cast(Any, 1)", 1),
        ("from typing import Any\nAnything = any([1])", 0),
    ],
)
def test_each_any_counts(text, count):
    assert len(lines(uses_of_any(ast.parse(text)))) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("from typing import Any as Anything", 1),
        ("Leaf: TypeAlias = Any", 1),
        ("import typing\nLeaf = typing.Any", 1),
        ("from typing import Any\nx: Any = 1", 0),
    ],
)
def test_other_names_of_any_are_seen(text, count):
    assert len(lines(renamed_any(ast.parse(text)))) == count


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f():\n import jax", [2]),
        ("def f():\n from jax_ttt.envs import tree", [2]),
        ("class A:\n async def f(self):\n  if self:\n   import numpy.random", [4]),
        ("f = lambda: __import__('jax')", [1]),
        ("import importlib\ndef f(name):\n importlib.import_module(name)", [3]),
        ("def f():\n def g():\n  import jax", [3]),
        ("def f():\n import matplotlib.figure\n from wandb import init", []),
        ("import jax\ntry:\n import fcntl\nexcept ImportError: fcntl = None", []),
        ("if TYPE_CHECKING:\n import jax", []),
    ],
)
def test_late_imports_are_seen(text, found):
    assert lines(late_imports(ast.parse(text))) == found
