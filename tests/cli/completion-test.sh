#!/bin/bash
# SPDX-License-Identifier: MIT
# Completion of bash: what it offers for words that are being typed, from the tables of commands and
# options; of zsh, where there is one, that its file is understood.
. "${0%/*}/../lib.sh"

profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
trap '[ -z "${live:-}" ] || kill "$live" 2>/dev/null; rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1
mkdir folder && touch fine.json && PATH=$build:$PATH
# shellcheck source=completion/aprof.bash
. "$src/completion/aprof.bash"

# offers NAME WANTED WORD...: of "aprof WORD...", of which the last is being typed
offers() {
  local name=$1 wanted=$2 joined
  shift 2
  COMP_WORDS=(aprof "$@")
  COMP_CWORD=$#
  _aprof
  joined=$(printf '%s\n' ${COMPREPLY[@]+"${COMPREPLY[@]}"} | sort | xargs)
  equal "$name" "$wanted" "$joined"
}

offers "a command" "record report reset" re
offers "all commands" "$({ "$aprof" --help | sed -n 's/^  \([a-z]\+\)  .*/\1/p'; echo --help --version; } | sort | tr '\n' ' ' | sed 's/ $//')" ""
offers "an option" "--sort=" report --so
offers "an option of all outputs" "--fail-if= --for= --format= --function=" report --f
offers "an option's word" "exec" report --sort ex
offers "... behind =, which is a word of its own to bash" "exec" report --sort = ex
offers "... with nothing typed yet" "call request second total" flame --per =
offers "a letter's value" "fine.json" report -o f.missing -o fi
offers "a format" "openmetrics otlp otlp-metrics otlp-proto" export --to o
offers "a file" "fine.json" report fi
offers "a directory" "folder" run --output f
offers "a file of the program's" "fine.json folder" run -q cat f
offers "no file where there is none" "" cflags f
offers "nothing of no command" "" frobnicate --
offers "an option of the program is not ours" "" run -- ls --re
COMP_WORDS=(aprof run -- bas) COMP_CWORD=3
_aprof
check "a program" grep -qx bash <(printf '%s\n' "${COMPREPLY[@]}")

"${CC:-gcc}" -g -I"$src/rt/include" "$src/tests/cli/hand.c" -o oddly-called || exit 1
mkfifo in
APROF_OPTIONS="profile:$profiles,dir:$work" LD_PRELOAD=$build/rt/.libs/libaprof.so.0 ./oddly-called live 5 <in >/dev/null &
live=$!
exec 9>in
until_true "$aprof" dump -o early.json $live 2>/dev/null
offers "a process by its name" "oddly-called" off oddly-c
offers "a process by its number" "$live" on $live
printf '\n\n' >&9
exec 9>&-
wait "$live" 2>/dev/null
live=

# every option that help has, and no other
for command in $("$aprof" --help | sed -n 's/^  \([a-z]\+\)  .*/\1/p'); do
  equal "$command: its options" "$("$aprof" "$command" --help | sed -nE 's/^  .{4}(--[a-z-]+).*/\1/p' | grep -vx -e --usage | sort -u | xargs)" \
    "$("$aprof" complete "$command" -- | cut -f 1 | tr -d = | sort -u | xargs)"
done

if command -v zsh >/dev/null; then
  check "zsh: its file is understood" zsh -n "$src/completion/_aprof"
else
  skip "zsh: its file is understood" "no zsh"
fi

finish
