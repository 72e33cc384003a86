"""The docstrings of fields, which are the texts of the help. Imports no JAX."""

import ast
import inspect
import itertools
import re
import textwrap
from typing import cast


def field_text(args_type: type, name: str) -> str:
    """Return the docstring of a field, in one line, its numbers as they are typed."""
    for base in args_type.__mro__:
        if name in inspect.get_annotations(base):
            text = " ".join(_texts(base).get(name, "").split())
            return re.sub(r"(?<=\d),(?=\d{3})", "", text)
    return ""


def _texts(owner: type) -> dict[str, str]:
    """Return the texts below a class's fields, which Python itself does not keep."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(owner)))
    body = cast(ast.ClassDef, tree.body[0]).body
    texts = {}
    for field, text in itertools.pairwise(body):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(words))),
            ):
                texts[name] = words
    return texts
