"""Where a refused setting comes from, if no flag says it. Imports no JAX."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from jax_ttt.config.command_line.wrong_words import flag
from jax_ttt.config.errors import SettingError
from jax_ttt.config.ranges import Range, Switch, Words
from jax_ttt.config.settings import PART_OF, RULES, Parts


def origin(
    error: SettingError,
    source: str,
    settings: Parts,
    given: Collection[str],
    grid: Mapping[str, Sequence[Any]],
) -> str:
    """Return where the contradiction comes from, and the flag that ends it.

    `given` are the settings whose flags are given, `grid` those that a grid varies;
    all others are as `source` says, for instance "preset table", with the values of
    `settings`. The text is empty if the user gave all that the error names.
    """
    named = [word for word in re.findall(r"\w+", error.rule) if word in PART_OF]
    for name in dict.fromkeys([error.field, *named]):
        if name in grid:
            return f"set by --grid {name}={','.join(map(str, grid[name]))}"
        if name not in PART_OF or name in given:
            continue
        if name == error.field:
            return f"set by {source}; {_allowed(name, error.rule)}"
        value = settings.value(name)
        return f"{name} {value} is set by {source}; {_other(name, value)}"
    return ""


def _allowed(name: str, rule: str) -> str:
    """Say which flag follows the rule of a refused setting."""
    for word in re.findall(r"[\w.-]*\w", rule.replace(",", "")):
        if _is_value(name, word):
            return _add(name, word)
    return _change(name)


def _is_value(name: str, word: str) -> bool:
    try:
        RULES[name].check(name, RULES[name].parsed(word))
    except ValueError:
        return False
    return isinstance(RULES[name], Words | Switch | Range)


def _other(name: str, value: object) -> str:
    """Say which flag gives a setting another value."""
    rule = RULES[name]
    others = [word for word in getattr(rule, "allowed", ()) if word != value]
    if isinstance(rule, Switch):
        return _add(name, str(not value).lower())
    return _add(name, others[0]) if len(others) == 1 else _change(name)


def _add(name: str, word: str) -> str:
    if isinstance(RULES[name], Switch):
        return f"add {flag(name if word == 'true' else f'no_{name}')}"
    return f"add {flag(name)} {word}"


def _change(name: str) -> str:
    return f"{flag(name)} changes it"
