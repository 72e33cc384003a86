"""Write docs/api.md and docs/api_*.md from the docstrings of the public functions.

python -m tools.make_api
"""

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import jax_ttt

DOCS = Path(__file__).parents[1] / "docs"


class Part(NamedTuple):
    """A page of the functions for one task."""

    file: str
    title: str
    examples: tuple[str, ...]  # files in docs/examples
    functions: tuple[str, ...]


PARTS = (
    Part(
        file="api_train.md",
        title="train agents",
        examples=("train", "eight_seeds", "connect_four"),
        functions=("train", "train_many", "save", "load"),
    ),
    Part(
        file="api_grade.md",
        title="grade and prove players",
        examples=("prove", "own_player"),
        functions=("grade", "prove", "match", "cross_table"),
    ),
    Part(
        file="api_play.md",
        title="play games and read action values",
        examples=("play", "own_program"),
        functions=("new_game", "player", "best_move", "q_values"),
    ),
    Part(
        file="api_draw.md",
        title="draw results",
        examples=("draw",),
        functions=("draw",),
    ),
)

MADE = (
    "<!-- Made by `make api` from docstrings of jax_ttt/api and from docs/examples. -->"
)
INDEX = f"""# From Python

{MADE}

```python
import jax_ttt

run = jax_ttt.train(seed=1, preset="table")
print(jax_ttt.prove(run.agent))
```

Each function is on one of four pages:

{{tasks}}

## What all functions share

- Settings are keyword arguments with the names of the command line's flags;
  `python -m jax_ttt.train --help` describes them.
- A *player* is an agent, a name such as `"minimax"`, the path of a saved agent, or your
  own function or policy. [players.md](players.md#players-by-name) has the names.
- A *board* is a game, or the moves from its start: `[4, 0]`.
- A result prints as text, and a notebook shows its picture.
- `import jax_ttt` loads no JAX and takes under 0.1 s: a function is loaded when it is
  first used.
- Compilation takes most of a short run's time. To cache compiled programs for the next
  process, as the commands do, start with
  `from jax_ttt.runtime import compiling; compiling.use_program_cache()`.

## Your own parts

| you add | how |
|---|---|
| a player | a function or a policy: [example]({{own_player}}) |
| a JAX program with a trained network | [example]({{own_program}}) |
| a game | [adding_a_game.md](adding_a_game.md) |
| a learner, a backup, a network | [change_it.md](change_it.md) |

## Settings and errors

`jax_ttt.Config` holds all settings of a run and is immutable. `jax_ttt.PRESETS` holds
the presets by name. Wrong input raises `jax_ttt.Refused`, a `ValueError` whose text is
one line.

{{settings}}
"""


class Definition(NamedTuple):
    """A function, class or property of a module."""

    node: ast.FunctionDef | ast.ClassDef
    docstring: str


def pages() -> dict[str, str]:
    """Return the texts of all pages by their files' names."""
    return {"api.md": index_page()} | {part.file: part_page(part) for part in PARTS}


def index_page() -> str:
    """Return the page that lists the functions by task."""
    settings = sections(inspect.cleandoc(jax_ttt.__doc__ or ""))["Example"]
    return INDEX.format(
        tasks="\n\n".join(map(task_table, PARTS)),
        own_player=example_link("own_player"),
        own_program=example_link("own_program"),
        settings=settings,
    )


def task_table(part: Part) -> str:
    """Return the table of a part's functions, with the first sentence of each."""
    rows = []
    for name in part.functions:
        docstring = inspect.getdoc(getattr(jax_ttt, name)) or ""
        link = f"[`{name}`]({part.file}#{name})"
        rows.append(f"| {link} | {first_paragraph(docstring)} |")
    return "\n".join(
        [f"| [{part.title.capitalize()}]({part.file}) | |", "|---|---|", *rows]
    )


def example_link(name: str) -> str:
    """Return the target of a link to an example on its page."""
    (part,) = (part for part in PARTS if name in part.examples)
    title = example_title(example_code(name))
    anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    return f"{part.file}#{anchor}"


def part_page(part: Part) -> str:
    """Return the page of a task: examples, functions and the types of their results."""
    functions = [getattr(jax_ttt, name) for name in part.functions]
    texts = [f"# From Python: {part.title}", MADE, "All functions: [api.md](api.md)."]
    texts += [example_text(name) for name in part.examples]
    texts += [function_text(function) for function in functions]
    texts += [class_text(type_) for type_ in result_types(functions)]
    return "\n\n".join(texts) + "\n"


def result_types(functions: list[Callable[..., object]]) -> list[type]:
    """Return the package's types that the functions return, each once."""
    types = [inspect.signature(function).return_annotation for function in functions]
    own_types = [
        t for t in types if getattr(t, "__module__", "").startswith("jax_ttt.")
    ]
    return list(dict.fromkeys(own_types))


def example_code(name: str) -> str:
    """Return the source of an example."""
    return (DOCS / "examples" / f"{name}.py").read_text("utf-8")


def example_title(code: str) -> str:
    """Return the docstring of an example, without the full stop."""
    return (ast.get_docstring(ast.parse(code)) or "").rstrip(".")


def example_text(name: str) -> str:
    """Return an example with its docstring as the heading."""
    code = example_code(name)
    body = code.split('"""\n', 1)[1].strip()
    link = f"[examples/{name}.py](examples/{name}.py)"
    return f"## {example_title(code)}\n\n```python\n{body}\n```\n\n{link}"


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
    args = args.replace("'", '"')
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
            entries = [f"- `{entry}`: {text}" for entry, text in items(body).items()]
            title = ["Raises:", ""] if name == "Raises" else []
            texts[name] = "\n".join([*title, *entries])
    return texts


def items(text: str) -> dict[str, str]:
    """Return a section's entries `name: text`, whose further lines are indented."""
    entries = {}
    for entry in re.split(r"\n(?=\S)", text):
        name, _, meaning = " ".join(entry.split()).partition(": ")
        entries[name] = meaning
    return entries


def first_paragraph(docstring: str) -> str:
    """Return the first paragraph of a docstring in one line."""
    first, *_ = docstring.split("\n\n")
    return " ".join(first.split())


def function_text(function: Callable[..., object]) -> str:
    """Return a function's heading, signature and docstring."""
    definition = definitions(function.__module__)[function.__name__]
    assert isinstance(definition.node, ast.FunctionDef)
    parts = sections(definition.docstring)
    order = ("", "Args", "Returns", "Raises", "Example")
    texts = [parts[name] for name in order if name in parts]
    head = f"## `{function.__name__}`\n\n```py\n{signature(definition.node)}\n```"
    return "\n\n".join([head, *texts])


def class_text(type_: type) -> str:
    """Return a class's heading, docstring, and its public properties and methods."""
    definition = definitions(type_.__module__)[type_.__name__]
    assert isinstance(definition.node, ast.ClassDef)
    parts = sections(definition.docstring)
    entries = parts.get("Attributes", "").splitlines()
    for member in members(definition.node).values():
        if entry := member_entry(member):
            entries.append(entry)
    texts = [f"## `{type_.__name__}`", f"The type is in `{type_.__module__}`."]
    texts += [parts[""], "\n".join(dict.fromkeys(entries))]
    return "\n\n".join([*texts, *([parts["Example"]] if "Example" in parts else [])])


def member_entry(member: Definition) -> str:
    """Return the list entry of a property or method; "" if it is not for users."""
    node = member.node
    if node.name.startswith("_") or not isinstance(node, ast.FunctionDef):
        return ""
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    if "classmethod" in decorators:  # the package makes the results, not users
        return ""
    call = node.name
    if "property" not in decorators:
        args = [arg.arg for arg in node.args.args if arg.arg != "self"]
        call += f"({', '.join(args)})"
    return f"- `{call}`: {first_paragraph(member.docstring)}"


if __name__ == "__main__":
    for file, text in pages().items():
        (DOCS / file).write_text(text, "utf-8")
