"""The allowed values of settings: checks, texts, and rules in words.

A setting's type is the only description of its values: a `Literal` of words, a `bool`,
or a number or text with `msgspec.Meta`. `Config` checks by it, files and the schema of
JSON too, flags and `--grid` read texts by it, and refusals print it. Imports no JAX.
"""

import types
import typing
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from jax_ttt.config.errors import SettingError, choice_error
from jax_ttt.config.game_facts import GAMES, GameName

Setting: TypeAlias = str | int | float | bool | None
"""The value of a field of the settings."""

Fraction = Annotated[float, Meta(ge=0, le=1)]
"""A number from 0 to 1."""
Reward = Annotated[float, Meta(ge=-1, le=1)]
"""A number from -1 to 1: the value of a game or of a position."""
Text = Annotated[str, Meta(min_length=1)]
"""A text that is not empty."""
Seed = Annotated[int, Meta(ge=0, le=2**32 - 1)]
"""A seed: `jax.random.key` uses 32 bits of its argument."""
NumSeeds = Annotated[int, Meta(ge=1, le=100_000)]
"""The number of seeds of a sweep."""
NumGames = Annotated[int, Meta(ge=1, le=2**20)]
"""The number of games in each seat of a match."""
NumGamesOrNone = Annotated[int, Meta(ge=0, le=2**20)]
"""The number of games in each seat of a match that can be left out, by 0."""
MaxPositions = Annotated[int, Meta(ge=1, le=2**32 - 1)]
"""The number of positions of a search, whose rows have 32-bit numbers."""


def check_value(name: str, kind: object, value: object) -> Any:  # noqa: ANN401
    """Return the value of a setting or flag, a whole number as a float if `kind` is.

    Raises:
        SettingError: its type `kind` does not allow it.
    """
    if is_game_name(kind):
        is_name = isinstance(value, str) and value in GAMES
        if not is_name and not (value is None and is_optional(kind)):
            raise game_error(name, value)
        return value
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, UnicodeEncodeError):
        if words := choices(kind):
            raise choice_error(name, words, value) from None
        raise SettingError(name, rule(kind), value) from None


def game_error(name: str, value: object) -> SettingError:
    """Return the error of a name that no game has; a user may have to register it."""
    note = "If it is a game of your own, its file must run first: by --rules FILE in a "
    note += "command with this flag, by an import in Python."
    return choice_error(name, GAMES, value, note)


def parse_value(name: str, kind: object, text: str) -> Any:  # noqa: ANN401
    """Return the value that a text stands for; words may be in capitals.

    Raises:
        SettingError: the type `kind` of the setting or flag does not allow it.
    """
    plain, value = plain_type(kind), text
    if text == "None" and is_optional(kind):
        return None
    if plain is Path:
        return Path(text)
    if plain is bool:
        value = {"true": True, "false": False}.get(text, text)
    elif choices(kind) and text.lower() in choices(kind):
        value = text.lower()
    # Python would also read "1_000", " 1" and the digits of all scripts.
    elif plain in (int, float) and text.isascii() and not set(text) & set("_ "):
        try:
            value = plain(text)
        except ValueError:  # the check refuses the text
            value = text
    try:
        return check_value(name, kind, value)
    except SettingError as error:
        raise SettingError(name, error.rule, text, error.hint) from None


def rule(kind: object) -> str:
    """Return what a value of this type must be, such as `a number from 0 to 1`."""
    if words := choices(kind):
        return f"one of {', '.join(words)}"
    plain = plain_type(kind)
    if plain is bool:
        return "true or false"
    if plain is str:
        return "a text that is not empty"
    noun, style = ("a whole number", ",") if plain is int else ("a number", ",g")
    meta = _meta(kind) or Meta()
    if meta.ge is not None and meta.le is not None:
        return f"{noun} from {meta.ge:{style}} to {meta.le:{style}}"
    limits = {
        "above": meta.gt,
        "at least": meta.ge,
        "below": meta.lt,
        "at most": meta.le,
    }
    parts = [f"{x} {n:{style}}" for x, n in limits.items() if n is not None]
    return " ".join([noun, " and ".join(parts)]).rstrip()


def metavar(kind: object) -> str:
    """Return how the help shows the values of a type, such as `0..1`."""
    if words := choices(kind):
        return f"{{{','.join(words)}}}"
    if plain_type(kind) in (Path, str):
        return "PATH" if plain_type(kind) is Path else "TEXT"
    is_whole = plain_type(kind) is int
    meta = _meta(kind) or Meta()
    low, high = (
        next((x for x in ends if x is not None), None)
        for ends in ((meta.ge, meta.gt), (meta.le, meta.lt))
    )
    if low is None and high is None:
        return "INT" if is_whole else "FLOAT"
    texts = ["" if x is None else f"{x}" if is_whole else f"{x:g}" for x in (low, high)]
    dots = f"{'' if meta.gt is None else '<'}..{'' if meta.lt is None else '<'}"
    return dots.join(texts)


def choices(kind: object) -> tuple[str, ...]:
    """Return the words that are the values of a type; none for other types."""
    if is_game_name(kind):
        return tuple(GAMES)
    plain = plain_type(kind)
    return typing.get_args(plain) if typing.get_origin(plain) is Literal else ()


def is_game_name(kind: object) -> bool:
    """Return whether a type, which may be optional, is that of the name of a game."""
    marks = getattr(kind, "__metadata__", ())
    return any(isinstance(mark, GameName) for mark in marks) or any(
        map(is_game_name, typing.get_args(kind))
    )


def is_optional(kind: object) -> bool:
    """Return whether None is a value of a type."""
    kinds = typing.get_args(kind)
    return type(None) in kinds or any(is_optional(inner) for inner in kinds[:1])


def plain_type(kind: object) -> Any:  # noqa: ANN401
    """Return a type without what is annotated, and without None."""
    while True:
        if hasattr(kind, "__metadata__"):
            kind = typing.get_args(kind)[0]
        elif typing.get_origin(kind) in (typing.Union, types.UnionType):
            (kind,) = {*typing.get_args(kind)} - {type(None)}
        else:
            return kind


def _meta(kind: object) -> Meta | None:
    """Return the `msgspec.Meta` of a type, which may be optional."""
    marks = [*getattr(kind, "__metadata__", ()), *map(_meta, typing.get_args(kind))]
    return next((mark for mark in marks if isinstance(mark, Meta)), None)


def check_seeds(first_seed: int, num_seeds: int) -> None:
    """Raise `SettingError` unless `num_seeds` seeds from `first_seed` on exist."""
    check_value("first_seed", Seed, first_seed)
    high = 2**32 - num_seeds
    if first_seed > high:
        rule_text = f"at most {high:,} with these num_seeds"
        raise SettingError("first_seed", rule_text, first_seed)
