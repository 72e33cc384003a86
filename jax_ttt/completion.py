"""The script with which a shell completes commands, their flags and values.

The completion of tyro knows one parser, and here each command has its own, which is
loaded with the command.
"""

from collections.abc import Iterable, Mapping

import tyro

from jax_ttt import flags
from jax_ttt.flags import Flag

_SCRIPT = """\
# Completes jax-ttt in bash and zsh; printed by jax-ttt --completion.
if [ -n "$ZSH_VERSION" ]; then
  (( $+functions[compdef] )) || {{ autoload -U compinit && compinit; }}
  autoload -U +X bashcompinit && bashcompinit
fi
_jax_ttt() {{
  local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" words=""
  if [ "$COMP_CWORD" = 1 ]; then
    words="{first}"
  else
    case "${{COMP_WORDS[1]}} $prev" in
{values}
      *)
        case "${{COMP_WORDS[1]}} $cur" in
{names}
        esac
    esac
  fi
  COMPREPLY=( $(compgen -W "$words" -- "$cur") )
}}
complete -o default -F _jax_ttt jax-ttt
"""
"""Where no words are listed, the shell completes the names of files."""


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
            if choices := flag.choices():
                case = f'"{command} --{_dashed(flag)}") words="{" ".join(choices)}";;'
                values.append(f"      {case}")
        words.append("--help")
        names.append(f'          "{command} -"*) words="{" ".join(words)}";;')
    return _SCRIPT.format(
        first=" ".join([*commands, *first_flags]),
        values="\n".join(values),
        names="\n".join(names),
    )


def _words(flag: Flag) -> list[str]:
    """Return the forms of a flag on a command line; none for a positional argument."""
    if flag.has(tyro.conf.Positional):
        return []
    name = _dashed(flag)
    if flag.is_switch() and not flag.has(tyro.conf.FlagCreatePairsOff):
        return [f"--{name}", f"--no-{name}"]
    return [f"--{name}"]


def _dashed(flag: Flag) -> str:
    return flag.name.replace("_", "-")
