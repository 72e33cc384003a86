"""The flags of a command, made from its dataclasses by tyro, and their help.

tyro alone would give each nested dataclass a group of the field's name, would show the
line breaks of docstrings, and would name `None` as a value. So a rule for tyro lists
the flags: those that people use first, then groups.

The line breaks: `get_field_docstring` of tyro 1.0.17 joins the lines of a field's
docstring before it removes their indentation, and `remove_single_line_breaks` keeps a
break before a space. `inspect.cleandoc` before it would do.
"""

import dataclasses
import inspect
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, cast

import tyro
from tyro.constructors import (
    ConstructorRegistry,
    PrimitiveConstructorSpec,
    StructConstructorSpec,
    StructFieldSpec,
    StructTypeInfo,
)

from jax_ttt.config.errors import did_you_mean
from jax_ttt.config.field_texts import field_texts
from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.ranges import is_game_name

RecordT = TypeVar("RecordT")
_TITLES = {
    "run": "game and length",
    "target": "TD target",
    "optimizer": "loss and optimizer",
    "spread": "parallel",
    "programs": "program",
    "user_game": "your game",
}
"""The titles of groups whose field's name does not say enough."""
_METAVARS: dict[object, str] = {Path: "PATH", str: "TEXT"}
_PAIRS_OFF = tyro.conf.FlagCreatePairsOff


@dataclasses.dataclass(frozen=True)
class Flag:
    """A flag, or a positional argument, of a command."""

    field: str
    """The field that it sets."""
    hint: Any
    """The field's type, with what is annotated."""
    default: object
    """The value without the flag."""
    record: type
    """The dataclass that has the field."""
    group: str
    """The title of the flag's group; empty for a field of the command itself."""

    @property
    def name(self) -> str:
        """The name in the command line, in the form of a field's name."""
        names = [getattr(extra, "name", None) for extra in _metadata(self.hint)]
        return next(filter(None, names), self.field)

    def spec(self) -> StructFieldSpec:
        """Return the flag for tyro."""
        shown = tyro.conf.arg(
            metavar=self._metavar(),
            help_behavior_hint="" if self._is_empty() else None,
        )
        hint = self.hint
        if choices := self.choices():
            rule = f"must be one of {', '.join(choices)}"
            if is_game_name(hint):
                rule += ", or a game that the file of --rules registers"
            hint = Annotated[hint, _choice_spec(choices, rule)]
        return StructFieldSpec(
            name=self.field,
            type=cast("type", Annotated[hint, shown]),
            default=self.default,
            helptext=lambda: field_texts(self.record).get(self.field),
        )

    def has(self, extra: object) -> bool:
        """Return whether this is annotated to the field's type."""
        return extra in _metadata(self.hint)

    def is_switch(self) -> bool:
        """Return whether the flag has no value: it is on or off."""
        return _plain_type(self.hint) is bool

    def choices(self) -> tuple[str, ...]:
        """Return the words that are its values; none for other types."""
        if is_game_name(self.hint):
            return tuple(GAMES)
        plain = _plain_type(self.hint)
        return typing.get_args(plain) if typing.get_origin(plain) is Literal else ()

    def _metavar(self) -> str | None:
        """Return the placeholder of its value; None for tyro's own."""
        if self.has(tyro.conf.Positional):
            is_tuple = typing.get_origin(typing.get_args(self.hint)[0]) is tuple
            return f"[{self.field.upper()}{' ...' if is_tuple else ''}]"
        extras = _metadata(self.hint)
        if self.choices() or any(
            isinstance(x, PrimitiveConstructorSpec) for x in extras
        ):
            return None
        return _METAVARS.get(_plain_type(self.hint))

    def _is_empty(self) -> bool:
        """Return whether the default is not worth a word."""
        is_switch = self.default is False and self.has(_PAIRS_OFF)
        return self.default in (None, ()) or is_switch


def flags_of(defaults: object, group: str = "") -> Iterator[Flag]:
    """Yield the flags of a dataclass and of those within it, from their defaults."""
    hints = typing.get_type_hints(type(defaults), include_extras=True)
    for field, hint, default in _visible_fields(defaults, hints):
        if dataclasses.is_dataclass(default):
            is_outer = any(map(dataclasses.is_dataclass, vars(default).values()))
            yield from flags_of(default, "" if is_outer else _TITLES.get(field, field))
        else:
            yield Flag(field, hint, default, type(defaults), group)


def read(
    defaults: RecordT,
    words: Sequence[str],
    first: Iterable[str],
    prog: str,
    description: str,
) -> RecordT:
    """Return a command's arguments: its defaults, changed by the words' flags.

    The help shows the flags of the fields `first` first; by default those of the
    command itself, and its device.

    Raises:
        SystemExit: tyro has printed the help, or the error.
        Refused: the arguments contradict each other.
    """
    registry = ConstructorRegistry()
    registry.struct_rule(_group_rule)
    values = tyro.cli(
        _Group,
        args=words,
        default=_group_of(defaults, first),
        prog=prog,
        description=description,
        config=(tyro.conf.OmitArgPrefixes,),
        registry=registry,
    )
    # tyro returns what the rule makes: a dictionary, not the type that it was given.
    return _with_values(defaults, cast("dict[str, object]", values))


@dataclasses.dataclass(frozen=True)
class _Group:
    """Flags, and groups of flags, of which tyro makes a dictionary of values."""

    flags: list[Flag]
    groups: dict[str, "_Group"] = dataclasses.field(default_factory=dict)

    def description(self) -> str:
        """Return the description of the dataclass of the flags, in one line."""
        records = {flag.record for flag in self.flags if flag.group}
        text = next((inspect.getdoc(record) for record in records), "") or ""
        return " ".join(text.partition("\n\n")[0].split())


def _group_of(defaults: object, first: Iterable[str]) -> _Group:
    """Return the flags of a command, with groups for those that do not come first."""
    flags = {flag.field: flag for flag in flags_of(defaults)}
    own = [flag.field for flag in flags.values() if not flag.group]
    names = [*first] or [*own, *({"device"} & flags.keys())]
    groups: dict[str, _Group] = {}
    for flag in flags.values():
        if flag.field not in names:
            groups.setdefault(flag.group or "more", _Group([])).flags.append(flag)
    return _Group([flags[name] for name in names], groups)


def _group_rule(info: StructTypeInfo) -> StructConstructorSpec | None:
    """Return the flags and groups of a group for tyro; None for another type."""
    group = info.default
    if not isinstance(group, _Group):
        return None
    fields = [flag.spec() for flag in group.flags]
    fields += [
        StructFieldSpec(
            name=f"group_{title}",
            type=cast("type", Annotated[_Group, tyro.conf.arg(name=title)]),
            default=inner,
            helptext=inner.description(),
        )
        for title, inner in group.groups.items()
    ]
    return StructConstructorSpec(_joined_values, tuple(fields))


def _joined_values(**values: object) -> dict[str, object]:
    """Return the values of flags, and those of groups, in one dictionary."""
    joined: dict[str, object] = {}
    for name, value in values.items():
        joined |= value if isinstance(value, dict) else {name: value}
    return joined


def _with_values(record: RecordT, values: Mapping[str, object]) -> RecordT:
    """Return a dataclass, and those within it, with these values of fields."""
    changes: dict[str, Any] = {}
    hints = typing.get_type_hints(type(record), include_extras=True)
    for field, _, value in _visible_fields(record, hints):
        if dataclasses.is_dataclass(value):
            changes[field] = _with_values(value, values)
        else:
            changes[field] = values[field]
    return dataclasses.replace(cast("Any", record), **changes)


def _visible_fields(
    record: Any,  # noqa: ANN401  a dataclass
    hints: Mapping[str, object],
) -> Iterator[tuple[str, object, Any]]:
    """Yield the name, type and value of each field that the command line sets."""
    for field in dataclasses.fields(record):
        if tyro.conf.Suppress not in _metadata(hints[field.name]):
            yield field.name, hints[field.name], getattr(record, field.name)


def _metadata(hint: object) -> tuple[object, ...]:
    """Return what is annotated to a type."""
    return getattr(hint, "__metadata__", ())


def _plain_type(hint: object) -> object:
    """Return a type without what is annotated, and without None."""
    plain = typing.get_args(hint)[0] if _metadata(hint) else hint
    if typing.get_origin(plain) in (typing.Union, types.UnionType):
        (plain,) = {*typing.get_args(plain)} - {type(None)}
    return plain


def _choice_spec(
    words: tuple[str, ...], rule: str
) -> PrimitiveConstructorSpec[str | None]:
    """Return how tyro reads one of several words, in small letters or in capitals.

    `rule` begins with `must be` and names the words.
    """

    def read(texts: list[str]) -> str:
        (text,) = texts
        if text.lower() in words:
            return text.lower()
        if hint := did_you_mean(text, words):
            raise ValueError(f"got {text!r}{hint} It {rule}")
        raise ValueError(f"{rule}, got {text!r}")

    return PrimitiveConstructorSpec(
        nargs=1,
        metavar=f"{{{','.join(words)}}}",
        instance_from_str=read,
        is_instance=lambda value: value is None or value in words,
        str_from_instance=lambda value: [str(value)],
    )
