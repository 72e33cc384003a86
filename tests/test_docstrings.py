"""Names of our own in docstrings and comments exist."""

import ast
import re

import as_users

PACKAGE = as_users.ROOT / "jax_ttt"
FILES = {path: path.read_text() for path in PACKAGE.rglob("*.py")}
DOTTED = re.compile(r"`(\w+)\.(\w+)[.()\w]*`")
SUFFIXES = {"py", "json", "jsonl", "safetensors", "md", "csv", "toml"}


def names_in(path):
    """Return all names that the code of a module has."""
    nodes = ast.walk(ast.parse(FILES[path]))
    fields = ("name", "id", "attr", "arg", "asname")
    return {getattr(node, field, None) for node in nodes for field in fields}


def test_a_docstring_names_what_its_module_has():
    """`module.name`, in any file, is a name in this module of the package."""
    modules = {path.stem: path for path in FILES if path.stem != "__init__"}
    folders = {
        path.parent.name: {other.stem for other in path.parent.glob("*.py")}
        for path in FILES
    }
    gone = []
    for path, text in FILES.items():
        for module, name in DOTTED.findall(text):
            if name in SUFFIXES:
                continue
            if module in modules and name not in names_in(modules[module]):
                gone.append(f"{path.name}: {module}.{name}")
            if module in folders.keys() - {"jax_ttt", *modules} and (
                name not in folders[module]
            ):
                gone.append(f"{path.name}: {module}.{name}")
    assert FILES
    assert gone == []
