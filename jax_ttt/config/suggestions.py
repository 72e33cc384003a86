"""What a misspelt word may have meant. Imports no JAX."""

import difflib
from collections.abc import Collection, Mapping, Sequence

MEANINGS = {
    "batchsize": "num-envs",
    "cuda": "gpu",
    "discount": "gamma",
    "env": "env-id",
    "epochs": "num-updates",
    "episodes": "num-updates",
    "game": "env-id",
    "iterations": "num-updates",
    "numenvironments": "num-envs",
    "out": "run-dir",
    "output": "run-dir",
    "polyak": "tau",
    "steps": "num-updates",
    "targetupdate": "target-update-every",
    "updates": "num-updates",
    "vary": "grid",
}
"""Names of other programs for our settings, without hyphens."""

_MOST = 4  # words of a hint
_FEW, _MANY = 4, 20  # choices that stand in the line, or are left out
_LIKE = 0.6  # of difflib's ratio, from 0 to 1
_NEARLY = 0.1  # below the best one


def closest(
    word: str, known: Collection[str], meanings: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Return the known words that a wrong one may stand for, the likeliest first.

    Those are, whichever comes first: its entry in `meanings`; the word in another
    spelling (`tictactoe`); those whose initials it is (`lr`), that begin with it, that
    differ in a few letters, or that have it as a part (`chess`).
    """
    letters = _letters(word)
    if not letters:
        return ()
    meant = _letters((meanings or {}).get(letters, ""))
    found = (
        [name for name in known if meant and _letters(name) == meant]
        or [name for name in known if _letters(name) == letters]
        or [name for name in known if _initials(name) == letters]
        or [name for name in known if len(letters) > 1 and _begins(name, letters)]
        or _similar(letters, known)
        or [name for name in known if letters in _parts(name)]
    )
    return tuple(found[:_MOST])


def _letters(word: str) -> str:
    return "".join(character for character in word.lower() if character.isalnum())


def _initials(word: str) -> str:
    parts = _parts(word)
    return "".join(part[:1] for part in parts) if len(parts) > 1 else ""


def _parts(word: str) -> list[str]:
    return word.lower().replace("_", "-").split("-")


def _begins(word: str, letters: str) -> bool:
    return _letters(word).startswith(letters)


def _similar(letters: str, known: Collection[str]) -> list[str]:
    """Return the words that are about as similar as the most similar one."""
    match = difflib.SequenceMatcher(b=letters)
    ratios = {}
    for name in known:
        match.set_seq1(_letters(name))
        ratios[name] = match.ratio()
    ranked = sorted(ratios, key=lambda name: -ratios[name])
    least = max(_LIKE, max(ratios.values(), default=0) - _NEARLY)
    return [name for name in ranked[:_MOST] if ratios[name] >= least]


def did_you_mean(
    word: str, known: Collection[str], meanings: Mapping[str, str] | None = None
) -> str:
    """Return `; did you mean ...?` with the closest words, or "" if none is close."""
    return question(closest(word, known, meanings))


def question(words: Sequence[str]) -> str:
    """Return `; did you mean ...?`, or "" without words."""
    *most, last = words or [""]
    text = f"{', '.join(most)} or {last}" if most else last
    return f"; did you mean {text}?" if text else ""


def one_of(what: str, choices: Collection[str], got: str) -> str:
    """Return that `what` must be one of the choices, which stand a line each.

    A few stand in the line, and a great many are left out. One that the word may stand
    for is named.
    """
    hint = did_you_mean(got, choices, MEANINGS)
    if len(choices) <= _FEW:
        return f"{what} must be one of {', '.join(choices)}, got {got!r}{hint}"
    if len(choices) > _MANY:
        return f"{what} is unknown: {got!r}{hint or ' (--help lists all)'}"
    return f"{what} must be one of these, got {got!r}{hint}{listing(choices)}"


def listing(choices: Collection[str]) -> str:
    """Return the choices: a few in the line, many on a line each."""
    if len(choices) <= _FEW:
        return ", ".join(choices)
    return "".join(f"\n  {choice}" for choice in choices)
