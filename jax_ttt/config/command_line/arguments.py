"""A command's arguments: from the fields of its class to the parser's boxes.

Imports no JAX. What the parser shows of a field is its flag, what stands for a value
(N, PATH), its docstring and its default; the boxes are topics, in order of use.
"""

import dataclasses
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Annotated, Any

import tyro
from tyro.constructors import (
    ConstructorRegistry,
    StructConstructorSpec,
    StructFieldSpec,
    StructTypeInfo,
)

from jax_ttt.config.command_line.field_texts import field_text
from jax_ttt.config.ranges import Part, Range
from jax_ttt.config.settings import PARTS

FIRST = (
    *("preset", "saved", "env_id", "seed", "num_seeds", "first_seed", "grid"),
    *("num_updates", "num_envs", "learning_rate", "opponent", "until_proven"),
    "run_dir",
)
"""What matters most of a training, above the boxes: ten settings in each command."""
_OUTPUT = (
    *("run_dir", "out", "json", "csv", "svg", "policy_csv", "policy_json", "theme"),
    *("snapshots", "details", "quiet", "tensorboard", "wandb"),
)
_METAVARS = {
    "agent": "AGENT",
    "csv": "FILE",
    "folder": "FOLDER",
    "grid": "SETTING=VALUE,VALUE",
    "opponent": "PLAYER",
    "player": "PLAYER",
    "players": "PLAYER",
    "policy_csv": "FILE",
    "policy_json": "FILE",
    "preset": "PRESET",
    "run_dir": "FOLDER",
    "runs": "RUN",
    "saved": "FILE",
    "svg": "FILE",
    "values": "BOARD",
}
"""What stands for a value, where its type does not say it."""
_MOST_SHOWN = 6
"""The most choices that stand beside a flag; more stand in its text."""
_MACHINE = ("device", "no_compile_cache")
_PARTS = (
    *("run", "exploration", "target", "opponent", "replay", "network", "optimizer"),
    "evaluation",
)
TOPICS = {
    **{part: str(PARTS[part].__doc__).strip() for part in _PARTS},
    "run": "How the games follow each other.",  # the rest is in the first box
    "output": "What is printed and written.",
    "machine": "Where the command computes.",
}
"""The boxes after the first one, in order of use, with what each is about."""


@dataclasses.dataclass(frozen=True)
class Argument:
    """A field of a command's class, or of a part of the settings."""

    name: str
    hint: Any
    """Its type, with what `Annotated` adds."""
    default: Any
    """`tyro.MISSING_NONPROP` if it must be given."""
    topic: str
    help: Callable[[], str]

    def text(self) -> str:
        """Return its help, with the words that it may be if they are many."""
        text = self.help()
        if len(self.choices) <= _MOST_SHOWN or all(w in text for w in self.choices):
            return text
        return f"{text} One of {', '.join(self.choices)}."

    @property
    def extras(self) -> tuple[Any, ...]:
        """What `Annotated` adds to its type."""
        return getattr(self.hint, "__metadata__", ())

    @property
    def plain(self) -> Any:  # noqa: ANN401  a type, or what stands for one
        """Its type, without what `Annotated` adds."""
        return self.hint.__origin__ if self.extras else self.hint

    @property
    def type(self) -> Any:  # noqa: ANN401  a type, or a `Literal`
        """Its type, or that of each of its values, without `None`."""
        hint = self.plain
        if typing.get_origin(hint) in (tuple, list):
            hint = typing.get_args(hint)[0]
        inner = [arg for arg in typing.get_args(hint) if arg is not NoneType]
        return inner[0] if NoneType in typing.get_args(hint) else hint

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it may be; none where any value may be right."""
        literal = typing.get_origin(self.type) is typing.Literal
        return typing.get_args(self.type) if literal else ()

    @property
    def is_switch(self) -> bool:
        """Whether its flag takes no value."""
        return self.type is bool

    @property
    def has_opposite(self) -> bool:
        """Whether a second flag, `--no-...`, sets a switch to false."""
        return self.is_switch and tyro.conf.FlagCreatePairsOff not in self.extras

    @property
    def is_needed(self) -> bool:
        """Whether it has no default."""
        return self.default is tyro.MISSING_NONPROP

    @property
    def is_optional(self) -> bool:
        """Whether it may be `None`."""
        return NoneType in typing.get_args(self.plain)

    @property
    def is_many(self) -> bool:
        """Whether its flag takes several values."""
        return typing.get_origin(self.plain) in (tuple, list)

    @property
    def is_positional(self) -> bool:
        """Whether it is given without a flag."""
        return tyro.conf.Positional in self.extras

    @property
    def metavar(self) -> str:
        """What stands for its value in the help."""
        if 0 < len(self.choices) <= _MOST_SHOWN:
            return f"{{{','.join(self.choices)}}}"
        usual = {int: "N", float: "X", Path: "PATH"}.get(self.type, "NAME")
        return self._own("metavar") or _METAVARS.get(self.name, usual)

    @property
    def shown(self) -> str:
        """Its metavar, with what says that it may be left out, or given many times."""
        text = f"{self.metavar} ..." if self.is_many else self.metavar
        may_lack = self.is_positional and not self.is_needed
        return f"[{text}]" if may_lack else text

    @property
    def flag(self) -> str:
        """Its flag, with hyphens."""
        return "--" + (self._own("name") or self.name).replace("_", "-")

    def _own(self, name: str) -> str | None:
        """Return what its class sets with `tyro.conf.arg`."""
        found = [getattr(extra, name, None) for extra in self.extras]
        return next((text for text in found if text), None)

    @property
    def rule(self) -> str:
        """What a number must be."""
        ranges = [extra for extra in self.extras if isinstance(extra, Range)]
        usual = "a whole number" if self.type is int else "a number"
        return str(ranges[0]) if ranges else usual


def arguments(args_type: type, defaults: object = None) -> dict[str, Argument]:
    """Return a command's arguments by name; those of the parts stand among them.

    `defaults` is an instance of the class with the values of the flags not given.
    """
    found: dict[str, Argument] = {}
    hints = typing.get_type_hints(args_type, include_extras=True)
    for field in dataclasses.fields(args_type):
        hint, usual = hints[field.name], _usual(field, defaults)
        if isinstance(hint, type) and issubclass(hint, Part):
            inner = arguments(hint, usual)
            own = {
                n: dataclasses.replace(a, topic=field.name) for n, a in inner.items()
            }
            found |= own
        elif tyro.conf.Suppress not in getattr(hint, "__metadata__", ()):
            text = partial(field_text, args_type, field.name)
            found[field.name] = Argument(field.name, hint, usual, "", text)
    return {name: _in_topic(argument) for name, argument in found.items()}


def _usual(field: dataclasses.Field[Any], defaults: object) -> Any:  # noqa: ANN401
    if defaults is not None:
        return getattr(defaults, field.name)
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return tyro.MISSING_NONPROP


def _in_topic(argument: Argument) -> Argument:
    topic = argument.topic
    topic = "output" if argument.name in _OUTPUT else topic
    topic = "machine" if argument.name in _MACHINE else topic
    return dataclasses.replace(argument, topic=topic)


class _Box:
    """What the parser fills a box from."""

    FIELDS: tuple[StructFieldSpec, ...] = ()


def parser_type(found: Mapping[str, Argument]) -> type:
    """Return what the parser parses; the result is a dictionary, the boxes nested."""
    trains = any(argument.topic in _PARTS for argument in found.values())
    first = [name for name in FIRST if name in found] if trains else []
    above = [n for n in found if not found[n].topic and n not in first]
    fields = [_field(found[name]) for name in (*first, *above)]
    for topic, text in TOPICS.items():
        inside = [found[n] for n in found if found[n].topic == topic and n not in first]
        if inside:
            box = _box(topic, [_field(argument) for argument in inside])
            titled: Any = Annotated[box, tyro.conf.arg(name=topic)]
            none, name = tyro.MISSING_NONPROP, f"{topic}_box"  # no argument's name
            fields.append(StructFieldSpec(name, titled, none, helptext=text))
    return _box("Arguments", fields)


def _box(name: str, fields: Sequence[StructFieldSpec]) -> type:
    return type(name, (_Box,), {"FIELDS": tuple(fields)})


def _field(argument: Argument) -> StructFieldSpec:
    metavar = None if argument.is_switch else argument.shown
    shown = tyro.conf.arg(metavar=metavar, help_behavior_hint=partial(_hint, argument))
    hint: Any = Annotated[(argument.plain, shown, *argument.extras)]
    return StructFieldSpec(argument.name, hint, argument.default, argument.text)


def _hint(argument: Argument, text: str) -> str:
    """Return what the help says of the default; nothing of a switch that is off."""
    default = argument.default
    if argument.is_switch:
        flag = argument.flag if default else argument.flag.replace("--", "--no-", 1)
        return f"(default: {flag})" if argument.has_opposite else ""
    return "" if default in (None, ()) or not text else f"(default: {text})"


REGISTRY = ConstructorRegistry()


@REGISTRY.struct_rule
def _box_rule(info: StructTypeInfo) -> StructConstructorSpec | None:
    if isinstance(info.type, type) and issubclass(info.type, _Box):
        return StructConstructorSpec(instantiate=dict, fields=info.type.FIELDS)
    return None


def flat_values(nested: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parsed values by the names of their arguments."""
    found: dict[str, Any] = {}
    for name, value in nested.items():
        found |= flat_values(value) if isinstance(value, dict) else {name: value}
    return found
