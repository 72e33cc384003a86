"""Write jax_ttt/api/keywords.py: the settings as keywords, for editors.

A type checker can't make a TypedDict from the dataclass `Config`, so a file holds it.

python -m tools.make_keywords
"""

import textwrap
import typing
from pathlib import Path
from typing import Any, Literal

from jax_ttt.config import ranges
from jax_ttt.config.settings import Config, setting_types
from jax_ttt.flags import field_texts

PATH = Path(__file__).parents[1] / "jax_ttt" / "api" / "keywords.py"

_HEAD = '''\
"""The settings as keywords of `train` and `train_many`, for editors and type checkers.

`make keywords` writes this file from `Config`.
"""

from typing import Literal, TypedDict

from flax import nnx


class Settings(TypedDict, total=False):
    """All settings of a run but its seed; a call changes those that it names."""
'''


def page() -> str:
    """Return the text of jax_ttt/api/keywords.py."""
    texts = field_texts(Config)
    fields = [_field(name, kind, texts[name]) for name, kind in setting_types().items()]
    return "\n".join([_HEAD, *fields])


def _field(name: str, kind: Any, text: str) -> str:  # noqa: ANN401
    """Return the lines of one keyword; a number's docstring ends with its range."""
    if ranges.plain_type(kind) in (int, float):
        allowed = ranges.rule(kind)
        text += f" {allowed[0].upper()}{allowed[1:]}."
    if name == "network":
        text += " Or a class of your own, a subclass of flax.nnx.Module."
    indent = "    "
    lines = textwrap.wrap(
        f'"""{text}"""',
        88,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )
    return "\n".join([f"{indent}{name}: {_annotation(name, kind)}", *lines, ""])


def _annotation(name: str, kind: Any) -> str:  # noqa: ANN401
    """Return a setting's type without its range."""
    plain = ranges.plain_type(kind)
    if typing.get_origin(plain) is Literal:
        words = ", ".join(f'"{word}"' for word in typing.get_args(plain))
        text = f"Literal[{words}]"
    else:
        text = plain.__name__
    if name == "network":
        text += " | type[nnx.Module]"
    return text + (" | None" if ranges.is_optional(kind) else "")


if __name__ == "__main__":
    PATH.write_text(page(), "utf-8")
