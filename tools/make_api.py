"""Write docs/api.md from the signatures and docstrings of the public functions.

python -m tools.make_api
"""

import ast
import importlib
import inspect
import re
import textwrap
from pathlib import Path
from typing import NamedTuple

import jax_ttt

DOCS = Path(__file__).parents[1] / "docs"
EXAMPLES = ("train", "prove", "play", "draw", "eight_seeds", "own_player")
TYPES = {
    "agent": ("Agent",),
    "run": ("Run", "Runs"),
    "values": ("Values",),
    "game": ("GameAgainst",),
    "proof": ("Proof",),
    "grading": ("Grade",),
    "entrant": ("Player",),
    "pairing": ("Match",),
    "table": ("CrossTable",),
}
"""The types that the functions return, by their modules of `jax_ttt.api`."""
PAGE = """# From Python

<!-- Made by `make api` from the docstrings of jax_ttt/api: change those instead. -->

`import jax_ttt` loads no JAX and takes under 0.1 s: a function is loaded when it is
first used. Settings are keyword arguments with the names of the command line's flags;
`python -m jax_ttt.train --help` describes them.

- A *player* is an agent, a name such as `"minimax"`, the path of a saved agent, or your
  own function or policy.
- A *board* is a game, or the moves from its start: `[4, 0]`.
- A result prints as text, and a notebook shows its picture.
- Wrong input raises `jax_ttt.Refused`, a `ValueError` of one line.
- Compilation takes most of a short run's time. To cache compiled programs for the next
  process, as the commands do, start with
  `from jax_ttt.runtime import compiling; compiling.use_program_cache()`.

{tour}

## Settings and errors

`jax_ttt.Config` holds all settings of a run and is immutable. `jax_ttt.PRESETS` holds
the presets by name. `jax_ttt.Refused` is the error of wrong input.

{settings}

## Functions

{functions}

## Return types

Import these for type hints, for instance `from jax_ttt.api.agent import Agent`.

{types}
"""


class Definition(NamedTuple):
    """A function, class or property of a module."""

    node: ast.FunctionDef | ast.ClassDef
    docstring: str


def page() -> str:
    """Return the text of the page."""
    functions = {
        name: getattr(jax_ttt, name)
        for name in jax_ttt.__all__
        if inspect.isfunction(getattr(jax_ttt, name))
    }
    return PAGE.format(
        tour="\n\n".join(shown_example(name) for name in EXAMPLES),
        settings=sections(inspect.cleandoc(jax_ttt.__doc__ or ""))["Example"],
        functions="\n\n".join(
            shown_function(definitions(found.__module__)[name])
            for name, found in functions.items()
        ),
        types="\n\n".join(
            shown_class(f"jax_ttt.api.{module}", name)
            for module, names in TYPES.items()
            for name in names
        ),
    )


def shown_example(name: str) -> str:
    """Return an example file, with its docstring as the heading."""
    code = (DOCS / "examples" / f"{name}.py").read_text("utf-8")
    title = ast.get_docstring(ast.parse(code)) or ""
    body = code.split('"""\n', 1)[1].strip()
    link = f"[examples/{name}.py](examples/{name}.py)"
    return f"## {title.rstrip('.')}\n\n```python\n{body}\n```\n\n{link}"


def definitions(module: str) -> dict[str, Definition]:
    """Return the functions and classes of a module by their names."""
    source = inspect.getsource(importlib.import_module(module))
    return members(ast.parse(source))


def members(parent: ast.Module | ast.ClassDef) -> dict[str, Definition]:
    """Return the functions and classes defined directly in a node."""
    return {
        node.name: Definition(node, ast.get_docstring(node) or "")
        for node in parent.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def signature(node: ast.FunctionDef) -> str:
    """Return a function's signature, with one argument per line if it is long."""
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    args = re.sub(r"(?<=[\w\]])=(?=\S)", " = ", ast.unparse(node.args))
    call = f"{node.name}({args}){returns}"
    if len(call) <= 88:
        return call
    lines = re.sub(r", (?=\*|\w+:)", ",\n    ", args)
    return f"{node.name}(\n    {lines},\n){returns}"


def sections(docstring: str) -> dict[str, str]:
    """Return a docstring's text ("") and its sections by their names, as Markdown."""
    parts = re.split(
        r"^(Args|Attributes|Returns|Raises|Example):\n", docstring, flags=re.M
    )
    texts = {"": parts[0].strip()}
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        body = textwrap.dedent(text.rstrip())
        if name == "Example":
            texts[name] = f"```pycon\n{body}\n```"
        elif name == "Returns":
            texts[name] = f"Returns: {body}"
        else:
            texts[name] = (
                f"{name}:\n\n{bullets(body)}" if name == "Raises" else bullets(body)
            )
    return texts


def bullets(text: str) -> str:
    """Return entries `name: text`, with indented further lines, as a list."""
    entries = re.split(r"\n(?=\S)", text)
    shown = []
    for entry in entries:
        name, _, about = " ".join(entry.split()).partition(": ")
        shown.append(f"- `{name}`: {about}")
    return "\n".join(shown)


def shown_function(found: Definition) -> str:
    """Return a function's heading, signature and docstring."""
    assert isinstance(found.node, ast.FunctionDef)
    parts = sections(found.docstring)
    order = ("", "Args", "Returns", "Raises", "Example")
    texts = [parts[name] for name in order if name in parts]
    head = f"### `{found.node.name}`\n\n```py\n{signature(found.node)}\n```"
    return "\n\n".join([head, *texts])


def shown_class(module: str, name: str) -> str:
    """Return a class's heading, docstring, and its public properties and methods."""
    found = definitions(module)[name]
    assert isinstance(found.node, ast.ClassDef)
    parts = sections(found.docstring)
    listed = []
    for member in members(found.node).values():
        node = member.node
        if node.name.startswith("_") or not isinstance(node, ast.FunctionDef):
            continue
        marks = [ast.unparse(decorator) for decorator in node.decorator_list]
        first, *_ = member.docstring.split("\n\n")
        call = node.name
        if "property" not in marks:
            own = [a.arg for a in node.args.args if a.arg not in ("self", "cls")]
            call += f"({', '.join(own)})"
        listed.append(f"- `{call}`: {' '.join(first.split())}")
    texts = [f"### `{name}`", f"In `{module}`.", parts[""]]
    texts += ["\n".join([*parts.get("Attributes", "").splitlines(), *listed])]
    return "\n\n".join([*texts, *([parts["Example"]] if "Example" in parts else [])])


if __name__ == "__main__":
    (DOCS / "api.md").write_text(page(), "utf-8")
