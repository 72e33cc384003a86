"""The docstrings of the fields of dataclasses: the help of flags, the texts of JSON."""

import ast
import functools
import importlib
import inspect
import itertools


def field_texts(record: type) -> dict[str, str]:
    """Return the docstring of each field of a dataclass, in one line, by its name."""
    texts: dict[str, str] = {}
    for parent in record.__mro__[:-1]:
        body = _class_bodies(parent.__module__)[parent.__name__]
        for field, text in itertools.pairwise(body):
            match field, text:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(docstring))),
                ):
                    texts.setdefault(name, " ".join(docstring.split()))
    return texts


@functools.cache
def _class_bodies(module: str) -> dict[str, list[ast.stmt]]:
    """Return the statements in each class of a module, by the class's name."""
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    return {
        node.name: node.body for node in tree.body if isinstance(node, ast.ClassDef)
    }
