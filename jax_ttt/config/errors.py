"""Errors whose message is for the user, who gets no traceback."""

import difflib
import importlib.util
from collections.abc import Iterable


class Refused(ValueError):  # noqa: N818  a public name
    """A request is not possible; the message says why, or what is possible."""


class AgentError(Refused):
    """A file of tensors is unusable; the message names the file and the reason."""

    def __init__(self, message: str) -> None:
        """Keep the message in one line: texts of a file may have control characters."""
        super().__init__("".join(c if c.isprintable() else " " for c in message))


_MAX_SHOWN = 200
"""Maximum number of characters of a wrong value in a message."""


class SettingError(Refused):
    """The value of a setting or flag is not allowed.

    The message has the name, the rule and the value. In `str(error)` the name is that
    of the field, for callers from Python; in `args[0]`, which tyro shows, the flag.
    A hint, such as `; did you mean gamma?`, stands at the end.
    """

    def __init__(self, field: str, rule: str, value: object, hint: str = "") -> None:
        try:
            shown = repr(value)
        except (ValueError, RecursionError):  # a number or a list that is too long
            shown = f"a very long {type(value).__name__}"
        if len(shown) > _MAX_SHOWN:  # a damaged file may have any value
            shown = f"{shown[:_MAX_SHOWN]}..."
        self._rule_and_value = f" must be {rule}, got {shown}{hint}"
        super().__init__(flag_name(field) + self._rule_and_value)
        self.field, self.rule, self.value, self.hint = field, rule, value, hint

    def __str__(self) -> str:
        return self.field + self._rule_and_value


class ConflictError(SettingError):
    """A setting contradicts others, which may come from a preset."""


def choice_error(
    field: str, words: Iterable[str], value: object, note: str = ""
) -> SettingError:
    """Return the error of a value that is not one of these words.

    The message names the most similar word; `note` is a sentence after it.
    """
    words = [*words]
    hint = did_you_mean(value, words) if isinstance(value, str) else ""
    note = note and f"{'' if hint else '.'} {note}"
    return SettingError(field, f"one of {', '.join(words)}", value, hint + note)


def require_package(module: str, extra: str, user: str) -> None:
    """Raise `Refused` if an optional package is not installed.

    `extra` is the extra of our package that installs it; `user` needs it.
    """
    spec = importlib.util.find_spec(module)
    # A plain folder of that name in the current folder has a spec without an origin.
    if spec is None or spec.origin is None:
        raise Refused(
            f"{user} needs {module}, which is not installed: "
            f"pip install 'jax_ttt[{extra}]', or pip install {module}"
        )


def flag_name(field: str) -> str:
    """Return the flag that sets a field, for instance `--num-envs`."""
    return "--" + field.replace("_", "-")


OTHER_NAMES = {
    "lr": ("learning_rate",),
    "alpha": ("learning_rate",),
    "lr_end": ("learning_rate_end",),
    "epsilon": ("epsilon_start", "epsilon_end"),
    "epochs": ("num_updates",),
    "steps": ("num_updates",),
    "iterations": ("num_updates",),
    "episodes": ("num_updates", "games"),
    "batch_size": ("num_envs", "replay_batch"),
    "game": ("env_id", "games"),
    "env": ("env_id",),
    "arena": ("cross_table",),
    "evaluate": ("grade",),
    "play": ("new_game",),
    "plot": ("draw",),
    "runs": ("load",),
    "sweep": ("train_many",),
}
"""Our names of settings and functions by those of other programs and of our commands.
"""


def did_you_mean(word: str, valid_words: Iterable[str]) -> str:
    """Return `; did you mean ...?` with the most similar word, or nothing."""
    similar = similar_words(word, valid_words)
    return f"; did you mean {' or '.join(similar)}?" if similar else ""


def similar_words(word: str, valid_words: Iterable[str]) -> list[str]:
    """Return the most similar word, or the words that others call so; or none.

    What others name so comes first, then a word that differs in its spelling only
    (connect4, connect_four), then one that contains this one (chess, gardner_chess).
    """
    words, word = [*valid_words], word[:_MAX_SHOWN]
    if ours := [other for other in OTHER_NAMES.get(word, ()) if other in words]:
        return ours
    same = [other for other in words if _spelled(other) == _spelled(word)]
    longer = [other for other in words if len(word) > 1 and word in other]
    similar = [*same, *longer, *difflib.get_close_matches(word, words, n=1)]
    return similar[:1]


def _spelled(word: str) -> str:
    """Return a word's letters; connect4 is spelled as connect_four."""
    letters = word.lower().replace("4", "four")
    return "".join(x for x in letters if x not in "-_ ")
