"""The script with which a shell completes commands, their flags and values.

The completion of tyro knows one parser, and here each command has its own, which is
loaded with the command.
"""

from collections.abc import Iterable, Mapping

import tyro

from jax_ttt import flags
from jax_ttt.config.errors import flag_name
from jax_ttt.config.player_kinds import BUILT_IN
from jax_ttt.config.settings import SELF
from jax_ttt.flags import Flag
from jax_ttt.players import shipped

_SCRIPT = """\
# Completes jax-ttt in bash and zsh; printed by jax-ttt --completion.
if [ -n "$ZSH_VERSION" ]; then
  (( $+functions[compdef] )) || {{ autoload -U compinit && compinit; }}
  autoload -U +X bashcompinit && bashcompinit
fi
_jax_ttt() {{
  local at="$COMP_CWORD" cur="${{COMP_WORDS[COMP_CWORD]}}" words="" files=""
  # To bash, shipped:network is three words.
  while [[ $at -gt 1 && ($cur == :* || ${{COMP_WORDS[at-1]}} == *:) ]]; do
    at=$((at-1))
    cur="${{COMP_WORDS[at]}}$cur"
  done
  if [ "$at" = 1 ]; then
    words="{first}"
  else
    case "${{COMP_WORDS[1]}} $cur" in
{names}
      *)
        case "${{COMP_WORDS[1]}} ${{COMP_WORDS[at-1]}}" in
{values}
        esac
    esac
  fi
  COMPREPLY=( $(compgen -W "$words" -- "$cur") )
  local IFS=$'\\n'
  if [ -n "$files" ] && [ -n "$COMPREPLY" ]; then
    COMPREPLY+=( $(compgen -f -- "$cur") )
  fi
  if [[ $COMP_WORDBREAKS == *:* ]]; then
    COMPREPLY=( "${{COMPREPLY[@]#"${{cur%"${{cur##*:}}"}}"}}" )
  fi
}}
complete -o default -F _jax_ttt jax-ttt
"""
"""Where no words are listed, the shell completes the names of files."""
_SHIPPED = tuple(f"shipped:{name}" for name in shipped.ALL)
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
        words: list[str] = []
        for flag in flags.flags_of(defaults):
            words += _words(flag)
            choices = (SELF, *_NAMES) if flag.field == "opponent" else flag.choices()
            if choices or not (flag.is_switch() or flag.has(tyro.conf.Positional)):
                case = f'"{command} {flag_name(flag.name)}")'
                values.append(f'          {case} words="{" ".join(choices)}";;')
        words.append("--help")
        names.append(f'      "{command} -"*) words="{" ".join(words)}";;')
        if players := _PLAYERS.get(command):
            case = f'"{command} "*) words="{" ".join(players)}"'
            values.append(f"          {case} files=1;;")
    return _SCRIPT.format(
        first=" ".join([*commands, *first_flags]),
        values="\n".join(values),
        names="\n".join(names),
    )


def _words(flag: Flag) -> list[str]:
    """Return the forms of a flag on a command line; none for a positional argument."""
    if flag.has(tyro.conf.Positional):
        return []
    if flag.is_switch() and not flag.has(tyro.conf.FlagCreatePairsOff):
        return [flag_name(flag.name), flag_name(f"no_{flag.name}")]
    return [flag_name(flag.name)]
