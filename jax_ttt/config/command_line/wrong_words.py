"""What is wrong with a command line that the parser does not accept. Imports no JAX."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from jax_ttt.config import suggestions
from jax_ttt.config.command_line.arguments import Argument
from jax_ttt.config.ranges import number

_UNPRINTED = {"Cc", "Cs", "Zl", "Zp"}
"""Categories of Unicode: controls, line ends, and bytes that are not UTF-8."""


def flag(field: str) -> str:
    """Return the flag that sets a field, for instance `--num-envs`."""
    return "--" + field.replace("_", "-")


def flags(found: Mapping[str, Argument]) -> dict[str, Argument]:
    """Return the arguments by their flags; a switch that can be off has two."""
    named = {a.flag: a for a in found.values() if not a.is_positional}
    pairs = {"--no-" + n[2:]: a for n, a in named.items() if a.has_opposite}
    return named | pairs


def unexpected(prog: str, found: Mapping[str, Argument], word: str) -> str:
    """Return that a word is no flag and no value of one."""
    names = [name[2:] for name in flags(found)]
    name = word.lstrip("-").partition("=")[0]
    near = suggestions.closest(name, names, suggestions.MEANINGS)
    hint = suggestions.question([f"--{name}" for name in near])
    hint = hint or " (--help lists the flags)"
    if word.startswith("-"):
        return f"{prog} has no flag {word}{hint}"
    return f"{prog} can't use {word!r}{hint}"


def mistakes(
    prog: str, found: Mapping[str, Argument], words: Sequence[str]
) -> Iterator[str]:
    """Yield what is wrong with each flag and its values; `words` are as typed."""
    yield from _unreadable(prog, words)
    known, given = flags(found), set[str]()
    names_players = any(argument.is_positional for argument in found.values())
    for place, word in enumerate(words):
        typed, equals, value = word.partition("=")
        name, after = typed.replace("_", "-"), words[place + 1 :]
        if not word.startswith("--") or word in ("--", "--help"):
            continue
        if name not in known:
            yield unexpected(prog, found, typed)
        elif known[name].name in given:
            yield f"{name} must be given once"
        elif not known[name].is_switch:
            values = [value] if equals else _values(known[name], after)
            yield from _of_values(name, known[name], values)
        elif equals:
            yield _of_switch(name, found, value)
        elif after and after[0][:1] != "-" and not names_players:
            yield _of_switch(name, found, after[0])
        if name in known:
            given.add(known[name].name)


def _unreadable(prog: str, words: Sequence[str]) -> Iterator[str]:
    for before, word in zip(("", *words), words, strict=False):
        if any(unicodedata.category(letter) in _UNPRINTED for letter in word):
            yield f"{prog} can't use {word!r}: it has a control character"
        if not word and not before.startswith("--"):
            yield f"{prog} can't use an empty word"


def _values(argument: Argument, words: Sequence[str]) -> list[str]:
    """Return the words after a flag that are its values."""
    values = []
    for word in words if argument.is_many else words[:1]:
        if word.startswith("--") or word == "-h":
            break
        values.append(word)
    return values


def _of_switch(name: str, found: Mapping[str, Argument], value: str) -> str:
    hint, opposite = [], f"--no-{name[2:]}"
    if value.lower() in ("no", "false", "off", "0") and opposite in flags(found):
        hint = [opposite]
    elif name == "--json" and "." in value:  # meant as a file's name
        hint = [f"--json > {value}"]
    return f"{name} takes no value, got {value!r}{suggestions.question(hint)}"


def _of_values(name: str, argument: Argument, values: Sequence[str]) -> Iterator[str]:
    if not values and not argument.may_be_bare:
        what = suggestions.listing(argument.choices) or argument.metavar
        number = argument.type in (int, float)
        what = argument.rule if number else what
        yield f"{name} needs a value: {what}".replace(": \n", ":\n")
    for value in values:
        if argument.choices and value not in argument.choices:
            yield suggestions.one_of(name, argument.choices, value)
        elif argument.type in (int, float) and not _is_number(argument, value):
            yield f"{name} must be {argument.rule}, got {value!r}"
        elif not value:
            yield f"{name} needs a value: {argument.metavar}"


def _is_number(argument: Argument, value: str) -> bool:
    if value == "None" and argument.is_optional:
        return True
    try:
        number(int if argument.type is int else float, value)
    except ValueError:
        return False
    return True


def left_out(
    prog: str, found: Mapping[str, Argument], words: Sequence[str]
) -> Iterator[str]:
    """Yield each argument without a default that is not among the words."""
    given = {word.replace("_", "-") for word in words}
    for argument in found.values():
        if argument.is_needed and argument.flag not in given:
            yield f"{prog} needs {argument.metavar}: {argument.help()}"
