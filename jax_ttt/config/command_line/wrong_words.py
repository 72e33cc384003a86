"""What is wrong with a command line that the parser does not accept. Imports no JAX."""

from collections.abc import Iterator, Mapping, Sequence

from jax_ttt.config import suggestions
from jax_ttt.config.command_line.arguments import Argument


def flag(field: str) -> str:
    """Return the flag that sets a field, for instance `--num-envs`."""
    return "--" + field.replace("_", "-")


def flags(found: Mapping[str, Argument]) -> dict[str, Argument]:
    """Return the arguments by their flags; a switch that can be off has two."""
    named = {a.flag: a for a in found.values() if not a.is_positional}
    pairs = {"--no-" + n[2:]: a for n, a in named.items() if a.has_opposite}
    return named | pairs


def explain(prog: str, found: Mapping[str, Argument], words: Sequence[str]) -> str:
    """Return what is wrong with the words, which the parser refused; "" if unknown."""
    mistakes = [*_of_flags(prog, found, words), *_left_out(prog, found, words)]
    return mistakes[0] if mistakes else ""


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


def _of_flags(
    prog: str, found: Mapping[str, Argument], words: Sequence[str]
) -> Iterator[str]:
    """Yield what is wrong with each flag and its values."""
    known = flags(found)
    for place, word in enumerate(words):
        if not word.startswith("--") or word == "--":
            continue
        name = word.replace("_", "-")
        if name not in known:
            if name != "--help":
                yield unexpected(prog, found, word)
            continue
        argument = known[name]
        if not argument.is_switch:
            yield from _of_values(name, argument, _values(argument, words[place + 1 :]))


def _values(argument: Argument, words: Sequence[str]) -> list[str]:
    """Return the words after a flag that are its values."""
    values = []
    for word in words if argument.is_many else words[:1]:
        if word.startswith("--") or word == "-h":
            break
        values.append(word)
    return values


def _of_values(name: str, argument: Argument, values: Sequence[str]) -> Iterator[str]:
    if not values and not argument.is_many:
        what = suggestions.listing(argument.choices) or argument.metavar
        number = argument.type in (int, float)
        yield f"{name} needs a value: {argument.rule if number else what}"
    for value in values:
        if argument.choices and value not in argument.choices:
            yield suggestions.one_of(name, argument.choices, value)
        elif argument.type in (int, float) and not _is_number(argument, value):
            yield f"{name} must be {argument.rule}, got {value!r}"


def _is_number(argument: Argument, value: str) -> bool:
    if value == "None" and argument.is_optional:
        return True
    try:
        argument.type(value)
    except ValueError:
        return False
    return True


def _left_out(
    prog: str, found: Mapping[str, Argument], words: Sequence[str]
) -> Iterator[str]:
    """Yield each argument without a default that is not among the words."""
    given = {word.replace("_", "-") for word in words}
    for argument in found.values():
        if argument.is_needed and argument.flag not in given:
            yield f"{prog} needs {argument.metavar}: {argument.help()}"
