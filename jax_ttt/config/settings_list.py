"""All settings as a text: what each may be, and its value in a preset.

`help(jax_ttt.train)` ends with it. Flags have their own help, which also says what each
setting does. Imports no JAX.
"""

import dataclasses
import functools
import inspect
import itertools
import textwrap
from collections.abc import Callable
from typing import TypeVar

from jax_ttt.config import ranges
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import GROUP, Config, setting_types

FunctionT = TypeVar("FunctionT", bound=Callable[..., object])

PRESET = "default"
"""The preset whose values the list shows: that of `train()`."""
_WIDTH = 76
"""Columns of a line: `help` indents it by four."""
_TITLE = f"""\
Settings: each with its value in the preset `{PRESET}`, which `train()` uses, and
with what it may be. PRESETS["table"] shows the values of another preset, and
`python -m jax_ttt.train --help` says what each setting does.
"""


def with_settings_listed(function: FunctionT) -> FunctionT:
    """Add the list of all settings to the docstring of a function, as a decorator.

    Without docstrings (`python -OO`) nothing is added.
    """
    if function.__doc__:
        text = inspect.cleandoc(function.__doc__)
        function.__doc__ = f"{text}\n\n{listing(PRESETS[PRESET])}"
    return function


@functools.cache
def listing(config: Config) -> str:
    """Return the lines of all settings, in the groups of the flags' help."""
    types = setting_types()
    fields = [field for field in dataclasses.fields(config) if field.name in types]
    lines = textwrap.wrap(_TITLE, _WIDTH)
    for (title, text), members in itertools.groupby(
        fields, key=lambda field: field.metadata[GROUP]
    ):
        lines += ["", *textwrap.wrap(f"{title}: {text}", _WIDTH)]
        for field in members:
            shown = f"{field.name}={getattr(config, field.name)!r}"
            allowed = allowed_values(types[field.name])
            lines += textwrap.wrap(
                f"{shown}: {allowed}",
                _WIDTH,
                initial_indent="    ",
                subsequent_indent="        ",
                break_on_hyphens=False,
            )
    return "\n".join(lines)


def allowed_values(kind: object) -> str:
    """Return what a setting of this type may be, as Python writes it."""
    if ranges.plain_type(kind) is bool:
        return "True or False"
    return ranges.rule(kind) + (" or None" if ranges.is_optional(kind) else "")
