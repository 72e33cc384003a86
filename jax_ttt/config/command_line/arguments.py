"""A command's arguments, from the fields of its class. Imports no JAX.

An argument has its flag, what stands for a value (N, PATH), its docstring, its default
and its topic.
"""

import dataclasses
import typing
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import NoneType

import tyro

from jax_ttt.config.command_line.field_texts import field_text
from jax_ttt.config.ranges import Part, Range

_OUTPUT = (
    *("run_dir", "json", "csv", "svg", "policy_csv", "policy_json", "theme"),
    *("certificate", "snapshots", "details", "quiet", "tensorboard", "wandb"),
    *("resume", "checkpoint_every", "keep", "prove"),
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
    "certificate": "FILE",
    "coordinator": "HOST:PORT",
    "devices": "N|all",
    "exam": "FILE",
    "policy_json": "FILE",
    "preset": "PRESET",
    "resume": "RUN",
    "run_dir": "FOLDER",
    "runs": "RUN",
    "saved": "FILE",
    "svg": "FILE",
    "values": "BOARD",
}
"""What stands for a value, where its type does not say it."""
_METAVARS_OF_TYPES: dict[object, str] = {int: "N", float: "X", Path: "PATH"}
"""What stands for a value of a type."""
BARE = "may be bare"
"""With `Annotated`: the flag may stand alone; a path then is `Path()`."""
_MOST_SHOWN = 6
"""The most choices that stand beside a flag; more stand in its text."""
_MACHINE = (
    *("device", "no_compile_cache", "devices", "distributed"),
    *("coordinator", "num_processes", "process_id"),
)


@dataclasses.dataclass(frozen=True)
class Argument:
    """A field of a command's class, or of a part of the settings."""

    name: str
    hint: object
    """Its type, with what `Annotated` adds."""
    default: object
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
    def extras(self) -> tuple[object, ...]:
        """What `Annotated` adds to its type."""
        return getattr(self.hint, "__metadata__", ())

    @property
    def plain(self) -> object:
        """Its type, without what `Annotated` adds."""
        return typing.get_args(self.hint)[0] if self.extras else self.hint

    @property
    def type(self) -> object:
        """Its type, or that of each of its values, without `None`."""
        hint = self.plain
        if self.is_many:
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
        return typing.get_origin(self.plain) is tuple

    @property
    def may_be_bare(self) -> bool:
        """Whether its flag may stand without a value, which then is `Path()`."""
        return BARE in self.extras

    @property
    def is_positional(self) -> bool:
        """Whether it is given without a flag."""
        return tyro.conf.Positional in self.extras

    @property
    def metavar(self) -> str:
        """What stands for its value in the help."""
        if 0 < len(self.choices) <= _MOST_SHOWN:
            return f"{{{','.join(self.choices)}}}"
        usual = _METAVARS_OF_TYPES.get(self.type, "NAME")
        return self._own("metavar") or _METAVARS.get(self.name, usual)

    @property
    def shown(self) -> str:
        """Its metavar, with what says that it may be left out, or given many times."""
        text = f"{self.metavar} ..." if self.is_many else self.metavar
        may_lack = self.may_be_bare or (self.is_positional and not self.is_needed)
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


def _usual(field: dataclasses.Field[object], defaults: object) -> object:
    if defaults is not None:
        return getattr(defaults, field.name)
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return tyro.MISSING_NONPROP


def _in_topic(argument: Argument) -> Argument:
    # How games begin and follow each other is looked for beside how they are played.
    begins = argument.name in ("lockstep", "start_share")
    topic = "opponent" if begins else argument.topic
    topic = "output" if argument.name in _OUTPUT else topic
    topic = "machine" if argument.name in _MACHINE else topic
    return dataclasses.replace(argument, topic=topic)
