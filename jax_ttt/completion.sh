# Completes jax-ttt in bash and zsh; printed by jax-ttt --completion, which fills in the
# words in capitals. Where no words are listed, the shell completes the names of files.
if [ -n "$ZSH_VERSION" ]; then
  (( $+functions[compdef] )) || { autoload -U compinit && compinit; }
  autoload -U +X bashcompinit && bashcompinit
fi
_jax_ttt() {
  local at="$COMP_CWORD" cur="${COMP_WORDS[COMP_CWORD]}" words="" files=""
  # To bash, shipped:network is three words.
  while [[ $at -gt 1 && ($cur == :* || ${COMP_WORDS[at-1]} == *:) ]]; do
    at=$((at-1))
    cur="${COMP_WORDS[at]}$cur"
  done
  if [ "$at" = 1 ]; then
    words="FIRST WORDS"
  else
    case "${COMP_WORDS[1]} $cur" in
# NAMES OF FLAGS
      *)
        case "${COMP_WORDS[1]} ${COMP_WORDS[at-1]}" in
# VALUES OF FLAGS
        esac
    esac
  fi
  COMPREPLY=( $(compgen -W "$words" -- "$cur") )
  local IFS=$'\n'
  if [ -n "$files" ] && [ -n "$COMPREPLY" ]; then
    COMPREPLY+=( $(compgen -f -- "$cur") )
  fi
  if [[ $COMP_WORDBREAKS == *:* ]]; then
    COMPREPLY=( "${COMPREPLY[@]#"${cur%"${cur##*:}"}"}" )
  fi
}
complete -o default -F _jax_ttt jax-ttt
