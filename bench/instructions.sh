#!/bin/bash
# SPDX-License-Identifier: MIT
# Instructions per event, counted by callgrind, against the ceilings in
# bench/ceilings: they do not depend on the machine's load, so a change that
# makes an event dearer fails here and nowhere else.
#
#   bench/instructions.sh            from a build directory, or with APROF_BUILD
#   bench/instructions.sh --ratchet  lowers the ceilings to what is reached now
#
# What is counted is the difference of two lengths of a loop, less the same loop
# compiled without the plugin: the flag's test, the call and the event itself. The least of six
# rounds: into one of them a row of events may fall that are timed.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../tests/lib.sh"
. "$here/ceilings.sh"
ceilings=$here/ceilings unit=instructions

events=(pair key call stack-life key-life woken-life stopped-life span
  member-call tier member-life request)
# Loops are laid out differently by another compiler release; where the machine is busy, slices last
# so long that some of 5000 take the general event, in each of the rounds.
slack="1 + 0.02 * ceiling"

if ! command -v valgrind >/dev/null; then
  skip "instructions" "valgrind is not installed"
  finish
fi

# compile OUTPUT FLAG...
compile() {
  "${CC:-gcc}" -std=gnu11 -O2 -fno-ipa-icf "${@:2}" -I"$src/rt/include" "$here/instructions.c" \
    -o "$work/$1"
}
check "compile with the plugin" compile with -fplugin="$plugin"
check "compile without" compile without
[ "$failed" -eq 0 ] || finish

# count NAME RUNTIME COMMAND...: a number per event, in the order of `events`; `options`: more of them
count() {
  local name=$1 runtime=$2 file
  shift 2
  mkdir -p "$work/$name.d"
  # valgrind hides the bit that says the time stamp counter can be relied upon
  APROF_RUNTIME=$runtime APROF_OPTIONS=clock:tsc,exit:no,signal:none,profile:memfd${options:+,$options} \
    valgrind --tool=callgrind --callgrind-out-file="$work/$name.d/out" --dump-before=mark "$@" \
    >"$work/$name.d/log" 2>&1 || cat "$work/$name.d/log"
  for file in $(printf '%s\n' "$work/$name.d"/out.* | sort -V); do
    sed -n 's/^totals: //p' "$file"
  done | awk '
    NR % 3 == 2 { short = $1 }
    NR % 3 == 0 { of = ($1 - short) / 5000; if (least == "" || of < least) least = of }
    NR % 18 == 0 { printf "%.2f\n", least; least = "" }'
}

# net FILE: what was counted there, less what the loops take without the plugin
net() { paste "$1" "$work/plain" | awk '{ printf "%.0f\n", $1 - $2 }'; }

# above STATE FILE: whether something that was counted there is above its ceiling
above() {
  local event found
  while read -r event found; do
    is_within "$(ceiling_of "$1/$event")" "$found" "$slack" || return 0
  done < <(paste <(printf '%s\n' "${events[@]}") <(net "$2"))
  return 1
}

# patiently STATE...: the least of up to five counts, until none is above its ceiling. A traced request is
# so long that on a busy machine some of each round are halted inside, and take general events.
patiently() {
  local least=$work/$1.least
  count "$@" >"$least"
  for _ in 2 3 4 5; do
    above "$1" "$least" || break
    count "$@" | paste "$least" - | awk '{ print $1 < $2 ? $1 : $2 }' >"$least.both"
    mv "$least.both" "$least"
  done
  cat "$least"
}

runtime=$(echo "$build"/rt/.libs/libaprof.so.0)
count plain none "$work/without" >"$work/plain" &
count on "$runtime" "$work/with" >"$work/on" &
wait
count off "$runtime" "$work/with" off >"$work/off" &
count absent none "$work/with" >"$work/absent" &
wait
options=trace:flight=1M count traced "$runtime" "$work/with" >"$work/traced" &
options=trace:flight=1M/1 patiently kept "$runtime" "$work/with" >"$work/kept" &
wait
options=trace:flight=1M/1000000 patiently left "$runtime" "$work/with" >"$work/left"

# A runtime that cannot be loaded costs nothing, and is below each ceiling.
net "$work/absent" >"$work/without-runtime"
# more_than_absent EVENT LINE: of what $state is in net
more_than_absent() {
  local mine none
  mine=$(sed -n "$2p" "$work/net") none=$(sed -n "$2p" "$work/without-runtime")
  [ "$mine" -gt "$((2 * none))" ] || not_ok "$state/$1: $mine instructions, and $none without a runtime"
}

for state in on traced kept left off absent; do
  net "$work/$state" >"$work/net"
  equal "events counted, $state" "${#events[@]}" "$(wc -l <"$work/net")"
  for i in "${!events[@]}"; do
    case $state in
      off | absent) ;;
      *) more_than_absent "${events[i]}" "$((i + 1))" ;;
    esac
    judge "$state/${events[i]}" "$(sed -n "$((i + 1))p" "$work/net")" "$slack"
  done
done

[ "${1:-}" != --ratchet ] || ratchet
finish
