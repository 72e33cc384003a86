"""What the parser parses, and the boxes in which it shows help. Imports no JAX.

The first box has what matters most. The others are topics, in order of use.
"""

import typing
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, cast

import tyro
from tyro.constructors import (
    ConstructorRegistry,
    PrimitiveConstructorSpec,
    StructConstructorSpec,
    StructFieldSpec,
    StructTypeInfo,
)

from jax_ttt.config.command_line.arguments import Argument
from jax_ttt.config.settings import PARTS

FIRST = (
    *("preset", "saved", "env_id", "seed", "num_seeds", "first_seed", "grid"),
    *("num_updates", "num_envs", "learning_rate", "opponent", "until_proven"),
    "run_dir",
)
"""What matters most of a training, above the boxes: ten settings in each command."""
_PARTS = (
    *("exploration", "target", "opponent", "replay", "network", "optimizer"),
    "evaluation",
)
TOPICS = {
    **{part: str(PARTS[part].__doc__).strip() for part in _PARTS},
    "opponent": "How the training games are played, alone or against an opponent.",
    "output": "What is printed and written.",
    "machine": "Where the command computes.",
}
"""The boxes after the first one, in order of use, with what each is about."""

UNBROKEN = "\xa0"
"""A space at which no line ends."""
_SHORT = 24  # characters of a default that stay in a line


class _Box:
    """What the parser fills a box, or all arguments, from."""

    FIELDS: tuple[StructFieldSpec, ...] = ()


def parser_type(found: Mapping[str, Argument]) -> type:
    """Return what the parser parses; the result is a dictionary by argument."""
    return _box("Arguments", [_field(argument) for argument in found.values()])


def help_type(found: Mapping[str, Argument]) -> type:
    """Return the type whose help the parser shows in boxes."""
    trains = any(argument.topic in _PARTS for argument in found.values())
    first = [name for name in FIRST if name in found] if trains else []
    above = [n for n in found if not found[n].topic and n not in first]
    fields = [_field(found[name]) for name in (*first, *above)]
    for topic, text in TOPICS.items():
        inside = [found[n] for n in found if found[n].topic == topic and n not in first]
        if inside:
            box = _box(topic, [_field(argument) for argument in inside])
            titled = cast(type, Annotated[box, tyro.conf.arg(name=topic)])
            none, name = tyro.MISSING_NONPROP, f"{topic}_box"  # no argument's name
            fields.append(StructFieldSpec(name, titled, none, helptext=text))
    return _box("Arguments", fields)


def _box(name: str, fields: Sequence[StructFieldSpec]) -> type:
    return type(name, (_Box,), {"FIELDS": tuple(fields)})


def _field(argument: Argument) -> StructFieldSpec:
    metavar = None if argument.is_switch else argument.shown
    shown = tyro.conf.arg(metavar=metavar, help_behavior_hint=partial(_hint, argument))
    # The parser checks `X | None` and `tuple[X, ...]` by a library that loads slowly.
    plain, default, several = argument.plain, argument.default, ()
    if argument.may_be_bare:
        several = (_BARE_PATH,)
    elif argument.is_optional:
        plain = typing.Union[typing.get_args(plain)]  # noqa: UP007
    elif argument.is_many and isinstance(default, tuple):
        plain, default = _Several, _Several(default)
        several = (_several(argument),)
    # tyro calls whatever may stand in an annotation a type.
    hint = cast(type, Annotated[(plain, shown, *several, *argument.extras)])
    return StructFieldSpec(argument.name, hint, default, argument.text)


_BARE_PATH = PrimitiveConstructorSpec(
    nargs=(0, 1),
    metavar="[FILE]",
    instance_from_str=lambda words: Path(*words),
    is_instance=lambda value: value is None or isinstance(value, Path),
    str_from_instance=lambda value: [] if value is None else [str(value)],
)


class _Several(tuple[object, ...]):
    """The values of an argument that takes several."""


def _several(argument: Argument) -> PrimitiveConstructorSpec[_Several]:
    """Return how the words of an argument become its values."""
    path = argument.type is Path
    return PrimitiveConstructorSpec(
        nargs="*",
        metavar=argument.shown,
        instance_from_str=lambda words: _Several(map(Path, words) if path else words),
        is_instance=lambda value: isinstance(value, _Several),
        str_from_instance=lambda value: [*map(str, value)],
    )


def _hint(argument: Argument, text: str) -> str:
    """Return what the help says of the default; nothing of a switch that is off."""
    default = argument.default
    if argument.is_switch:
        flag = argument.flag if default else argument.flag.replace("--", "--no-", 1)
        return f"(default:{UNBROKEN}{flag})" if argument.has_opposite else ""
    space = UNBROKEN if len(text) <= _SHORT else " "
    return "" if default in (None, ()) or not text else f"(default:{space}{text})"


REGISTRY = ConstructorRegistry()


@REGISTRY.struct_rule
def _box_rule(info: StructTypeInfo) -> StructConstructorSpec | None:
    if isinstance(info.type, type) and issubclass(info.type, _Box):
        return StructConstructorSpec(instantiate=dict, fields=info.type.FIELDS)
    return None
