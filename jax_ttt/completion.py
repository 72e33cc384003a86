"""The script with which a shell completes commands, their flags and values.

tyro completes the flags of one parser, without the names of players, and here each
command has its own parser, which is loaded with the command.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from jax_ttt import flags
from jax_ttt.config import player_kinds, ranges
from jax_ttt.config.errors import flag_name
from jax_ttt.config.player_kinds import BUILT_IN
from jax_ttt.config.settings import SELF

_SCRIPT = Path(__file__).with_suffix(".sh")
_SHIPPED = tuple(f"shipped:{name}" for name in player_kinds.ALL)
_NAMES = (*BUILT_IN, *_SHIPPED)
_PLAYERS = {"evaluate": _NAMES, "correct": _SHIPPED, "play": _NAMES, "arena": _NAMES}
"""The names of players that a command takes, besides those of files and folders."""


def shell_script(commands: Mapping[str, object], first_flags: Iterable[str]) -> str:
    """Return the script for bash and zsh.

    `commands` are the arguments of each command without any flag, by its name;
    `first_flags` are the flags that stand in the place of a command.
    """
    values: list[str] = []
    names: list[str] = []
    for command, defaults in commands.items():
        words = ["--help"]
        for flag in flags.flags_of(defaults):
            words += map(flag_name, flag.words)
            is_player = flag.field == "opponent"
            choices = (SELF, *_NAMES) if is_player else ranges.choices(flag.kind)
            if choices or (flag.words and not flag.is_switch):
                case = f'"{command} {flag_name(flag.name)}")'
                values.append(f'{case} words="{" ".join(choices)}";;')
        names.append(f'"{command} -"*) words="{" ".join(words)}";;')
        if players := _PLAYERS.get(command):
            values.append(f'"{command} "*) words="{" ".join(players)}" files=1;;')
    script = _SCRIPT.read_text("utf-8")
    script = script.replace("FIRST WORDS", " ".join([*commands, *first_flags]))
    script = script.replace("# NAMES OF FLAGS", "\n".join(names))
    return script.replace("# VALUES OF FLAGS", "\n".join(values))
