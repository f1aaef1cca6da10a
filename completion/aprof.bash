# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Completion of aprof for bash: it asks the command itself, whose tables know (cli/complete.h).

_aprof() {
  local -a words=()
  local i word typed line joined=
  # bash takes "--name=value" for three words
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == "=" && ${#words[@]} -gt 0 && ${words[-1]} == --* ]]; then
      words[-1]+="="
      joined=yes
    elif [[ $joined ]]; then
      words[-1]+=$word
      joined=
    else
      words+=("$word")
    fi
  done
  typed=${words[-1]}
  [[ $typed != --*=* ]] || typed=${typed#*=}
  COMPREPLY=()
  while read -r line; do
    case $line in
    :files) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$typed") ;;
    :dirs) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$typed") ;;
    :commands) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$typed") ;;
    *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
    case $line in :*) compopt -o filenames 2>/dev/null ;; esac
  done < <("${COMP_WORDS[0]}" complete "${words[@]}" 2>/dev/null)
  [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}

complete -F _aprof aprof
