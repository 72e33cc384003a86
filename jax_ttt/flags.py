"""The flags of a command, made from its dataclass by tyro, and their help.

tyro makes a group of each nested dataclass; here each setting names its group, and the
flags that people use most come first. So tyro gets dataclasses that are made for it.
"""

import dataclasses
import functools
import inspect
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeVar, cast

import docstring_parser
import tyro
from tyro.constructors import PrimitiveConstructorSpec

from jax_ttt.config import ranges
from jax_ttt.config.errors import SettingError
from jax_ttt.config.own_code import OwnCode
from jax_ttt.config.settings import GROUP, Config

RecordT = TypeVar("RecordT")
_PAIRS_OFF = tyro.conf.FlagCreatePairsOff


class Flag(NamedTuple):
    """A flag, or a positional argument, of a command."""

    field: str
    """The field that it sets."""
    kind: Any
    """The field's type, with what is annotated."""
    default: object
    """The value without the flag."""
    text: str
    """What the help says of it."""
    group: tuple[str, str]
    """Title and description of its group; empty for a field of the command itself."""

    @property
    def name(self) -> str:
        """The name in the command line, in the form of a field's name."""
        names = [getattr(mark, "name", None) for mark in _marks(self.kind)]
        return next(filter(None, names), self.field)

    @property
    def is_switch(self) -> bool:
        """Whether it has no value: it is on or off."""
        return ranges.plain_type(self.kind) is bool

    @property
    def words(self) -> tuple[str, ...]:
        """The fields of its forms on a command line: a switch may be turned off too."""
        if tyro.conf.Positional in _marks(self.kind):
            return ()
        if self.is_switch and _PAIRS_OFF not in _marks(self.kind):
            return self.name, f"no_{self.name}"
        return (self.name,)

    def for_tyro(self) -> tuple[str, Any, dataclasses.Field]:
        """Return the field of a dataclass that tyro reads."""
        is_off = self.default is False and len(self.words) == 1
        is_tuple = isinstance(self.default, tuple)
        place = f"[{self.field.upper()}{' ...' if is_tuple else ''}]"
        shown = tyro.conf.arg(
            help=self.text,
            metavar=None if self.words else place,
            help_behavior_hint="" if self.default in (None, ()) or is_off else None,
        )
        kind = Annotated[self.kind, shown]
        own_specs = [m for m in _marks(kind) if isinstance(m, PrimitiveConstructorSpec)]
        if not (self.is_switch or is_tuple or own_specs):
            kind = Annotated[kind, _spec(self.kind)]
        return self.field, kind, dataclasses.field(default=cast("Any", self.default))


def flags_of(
    defaults: Any,  # noqa: ANN401  a dataclass
    group: tuple[str, str] = ("", ""),
) -> Iterator[Flag]:
    """Yield the flags of a dataclass and of those within it, from their defaults."""
    kinds = typing.get_type_hints(type(defaults), include_extras=True)
    texts = field_texts(type(defaults))
    for field in dataclasses.fields(defaults):
        kind, value = kinds[field.name], getattr(defaults, field.name)
        if tyro.conf.Suppress in _marks(kind):
            continue
        if kind == OwnCode | None:
            if value is not None:
                yield from flags_of(value.settings_record, (value.learner, ""))
        elif dataclasses.is_dataclass(value):
            title = field.name.replace("_", " ")
            text, _, _ = (inspect.getdoc(type(value)) or "").partition("\n\n")
            yield from flags_of(value, (title, " ".join(text.split())))
        else:
            in_group = field.metadata.get(GROUP, group)
            yield Flag(field.name, kind, value, texts.get(field.name, ""), in_group)


@functools.cache
def field_texts(record: type) -> dict[str, str]:
    """Return the docstring of each field of a dataclass, in one line, by its name."""
    texts: dict[str, str] = {}
    for parent in reversed(record.__mro__[:-1]):
        for field in docstring_parser.parse_from_object(parent).params:
            texts[field.arg_name] = " ".join((field.description or "").split())
    return texts


def read(
    defaults: Any,  # noqa: ANN401  a dataclass
    words: Sequence[str],
    first: Iterable[str],
    prog: str,
    description: str,
) -> dict[str, object]:
    """Return the values of the fields that a command's flags set, by name.

    The help shows the flags of the fields `first` first; by default those of the
    command itself, and its device.

    Raises:
        SystemExit: tyro has printed the help, or the error.
    """
    flags = {flag.field: flag for flag in flags_of(defaults)}
    own = [field for field, flag in flags.items() if not flag.group[0]]
    first = [*first] or [*own, *({"device"} & flags.keys())]
    groups: dict[tuple[str, str], list[Flag]] = {}
    for field, flag in flags.items():
        if field not in first:
            group = flag.group if flag.group[0] else ("more", "")
            groups.setdefault(group, []).append(flag)
    fields: list[Any] = [flags[field].for_tyro() for field in first]
    for number, ((title, text), members) in enumerate(groups.items()):
        record = dataclasses.make_dataclass(
            title, [flag.for_tyro() for flag in members], namespace={"__doc__": text}
        )
        kind = Annotated[record, tyro.conf.arg(name=title, help=text)]
        field = dataclasses.field(default_factory=record)
        fields.append((f"group_{number}", kind, field))
    values = tyro.cli(
        dataclasses.make_dataclass("Flags", fields),
        args=words,
        prog=prog,
        description=description,
        config=(tyro.conf.OmitArgPrefixes,),
    )
    for name in [name for name in vars(values) if name.startswith("group_")]:
        vars(values).update(vars(vars(values).pop(name)))
    return vars(values)


def with_values(record: RecordT, values: Mapping[str, object]) -> RecordT:
    """Return a dataclass, and those within it, with these values of its fields.

    Settings keep their values: which of them change, the caller knows.
    """
    changes: dict[str, Any] = {}
    for field in dataclasses.fields(cast("Any", record)):
        value = getattr(record, field.name)
        if isinstance(value, Config):
            continue
        if dataclasses.is_dataclass(value):
            changes[field.name] = with_values(value, values)
        elif field.name in values:
            changes[field.name] = values[field.name]
    return dataclasses.replace(cast("Any", record), **changes)


def _marks(kind: object) -> tuple[object, ...]:
    """Return what is annotated to a type."""
    return getattr(kind, "__metadata__", ())


def _spec(kind: object) -> PrimitiveConstructorSpec:
    """Return how tyro reads a value of a type, and shows it in the help."""

    def read_value(texts: list[str]) -> object:
        try:
            return ranges.parse_value("", kind, texts[0])
        except SettingError as error:
            if error.hint:
                text = f"got {texts[0]!r}{error.hint} It must be {error.rule}"
                raise ValueError(text) from None
            raise ValueError(str(error).strip()) from None

    return PrimitiveConstructorSpec(
        nargs=1,
        metavar=ranges.metavar(kind),
        instance_from_str=read_value,
        is_instance=lambda value: True,
        str_from_instance=lambda value: [str(value)],
    )
