#!/bin/bash
# SPDX-License-Identifier: MIT
# Every kind of finding, in C and in C++, with each compiler: a program does one thing
# wrong (findings.c), and totals, report and report --json say which function it was and
# at which line. Whoever does nothing wrong has no finding; nor has one any of a kind
# that it did not do.
. "${0%/*}/../lib.sh"

source=$src/tests/cli/findings.c
profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
trap 'rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export NO_COLOR=1
unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1

# found FILE: the findings, a line each: kind, function, place, count
found() {
  value "$1" '*((x.kind, x.function or "-", (x.at or "-").rsplit("/", 1)[-1], x.count) for x in t.findings)'
}

# line KIND: of its mark in the source
line() {
  echo "findings.c:$(grep -n "/\* at $1 \*/" "$source" | cut -d: -f1)"
}

# run KIND...: sets json
run() {
  rm -rf out
  "$aprof" run --clock virtual --options "profile:$profiles" -o out -- "./$program" "$@" \
    >run.txt 2>&1 || return
  json=$(find out -name "$program.*.json" ! -name '*.1.json')
}

# is KIND WANT TEXT: exactly this finding; TEXT in the report
is() {
  local kind=$1 want=$2 text=$3
  check "$program, $kind: runs" run "$kind"
  check "$program, $kind: totals close" totals_close "$json"
  found "$json" >found.txt
  equal "$program, $kind: is found, with its line" "$want" "$(grep "^$kind " found.txt)"
  refuse "$program, $kind: and nothing else" grep -v -e "^$kind " -e "${4:-^$kind }" found.txt
  "$aprof" report "$json" >report.txt
  sed ':a;N;$!ba;s/\n    / /g' report.txt >flat.txt # findings on one line each
  contains "$program, $kind: the report says so" "$text" flat.txt
  "$aprof" report --json "$json" >report.json
  equal "$program, $kind: report --json, too" "$(cat found.txt)" "$(found report.json)"
}

all() {
  local ns=$1
  run
  equal "$program: a healthy one has none" "" "$(found "$json")"
  "$aprof" report "$json" >report.txt
  contains "$program: and the report says so" "no finding: nothing held the loop" report.txt
  is held "held ${ns}crunch $(line held) 1" "\`${ns}crunch\` held the loop for 50.0 ms between"
  is blocking "blocking ${ns}save $(line blocking) 1" \
    "\`${ns}save\` calls ${ns}read_disk, which blocks, at $(line blocking): 30.0 ms of loop time" "^held ${ns}save "
  contains "$program, blocking: and which rule of aprof check finds it" "rule blocking-in-async" report.txt
  is spinning "spinning ${ns}poll_again $(line spinning) 5997" \
    "\`${ns}poll_again\` futures woke each other or themselves 5997 times at $(line spinning) ${ns}kick"
  run polling
  equal "$program, polling: is found" "spinning ${ns}idle $(line polling) 4999" "$(found "$json")"
  "$aprof" report "$json" | sed ':a;N;$!ba;s/\n    / /g' >flat.txt
  contains "$program, polling: the report says so" \
    "${ns}post ran 4999 times for 1.00 us, every 1.10 us: it polls" flat.txt
  run yielding
  equal "$program, yielding: is found" "spinning ${ns}chat $(line yielding) 5000" "$(found "$json")"
  "$aprof" report "$json" | sed ':a;N;$!ba;s/\n    / /g' >flat.txt
  contains "$program, yielding: the report says so" \
    "\`${ns}chat\` gave way 5000 times at $(line yielding) ${ns}give_way" flat.txt
  run stuck_elsewhere
  equal "$program, stuck where nobody else waits: is found" \
    "stuck ${ns}quick $(line stuck_elsewhere) 1" "$(found "$json")"
  "$aprof" report "$json" | sed ':a;N;$!ba;s/\n    / /g' >flat.txt
  contains "$program, stuck where nobody else waits: the report says so" \
    "(such a life usually takes 5.00 ms at most)" flat.txt
  is queued "queued ${ns}task $(line queued) 1" \
    "\`${ns}task\` ($(line queued)) was ready but did not run for over 10.0 ms, 1 of 1 times"
  is never_ran "never_ran ${ns}task $(line never_ran) 1" \
    "1 \`${ns}task\` future has never run, ready since 5.00 s, created by \`${ns}do_one\` at $(line never_ran)"
  is leaked "leaked ${ns}save $(line leaked) 15" \
    "15 \`${ns}save\` futures were left at exit, the oldest 5.00 s old, created by \`${ns}do_one\` at $(line leaked)"
  is stuck "stuck ${ns}quick $(line stuck) 1" \
    "1 \`${ns}quick\` future has waited over 5.00 s (usually 5.00 ms at most) at $(line stuck) ${ns}start"
  is reused "reused - $(line reused) 1" "1 handle was used again at $(line reused) ${ns}start in"
  is unplaced "unplaced - $(line unplaced) 1" \
    "1 event could not be placed at $(line unplaced) ${ns}dispatch"
  run not_due
  equal "$program, not_due: timers that wait for their time are neither stuck nor leaked" "" \
    "$(found "$json")"
  equal "$program, not_due: totals say for how long" "11 55000000000" \
    "$(value "$json" '*(lambda due: (len(due), min(due)))([x.due_in_ns for x in t.live if x.due_in_ns]), ')"
  check "$program, not_due: totals close" totals_close "$json"
  run leaves
  equal "$program, leaves: is found" "held ${ns}leave $(line leaves) 1" "$(found "$json")"
  "$aprof" report "$json" | sed ':a;N;$!ba;s/\n    / /g' >flat.txt
  contains "$program, leaves: the report says so" \
    "\`${ns}leave\` held the loop for 30.0 ms without a pause, to the end of the process" flat.txt
  rm -rf out
  run holds < <(until compgen -G 'out/*.1.json' >/dev/null; do sleep 0.02; done; echo)
  json=${json%.json}.1.json
  equal "$program, holds: is found while it does" "held ${ns}hang $(line holds) 1" "$(found "$json")"
  "$aprof" report "$json" | sed ':a;N;$!ba;s/\n    / /g' >flat.txt
  contains "$program, holds: the report says so" \
    "\`${ns}hang\` holds the loop now, for 20.0 ms without a pause" flat.txt
  contains "$program, holds: so does its first line" "longest hold 20.0 ms" flat.txt
  rm -rf out
  run steps < <(until compgen -G 'out/*.1.json' >/dev/null; do sleep 0.02; done; echo)
  json=${json%.json}.1.json
  check "$program, steps: totals close" totals_close "$json"
  equal "$program, steps: calls do not hide it" "held ${ns}step $(line steps) 1" "$(found "$json")"
  "$aprof" report "$json" | sed ':a;N;$!ba;s/\n    / /g' >flat.txt
  contains "$program, steps: nor who made them, and since when" \
    "\`${ns}step\` inside \`${ns}plod\` holds the loop now, for 24.0 ms without a pause, since $(line plod)" flat.txt
  rm -rf out
  run growing < <(until compgen -G 'out/*.1.json' >/dev/null; do sleep 0.02; done; echo)
  "$aprof" report --json "${json%.json}.1.json" "$json" >report.json
  equal "$program, growing: is found between two totals" \
    "growing ${ns}quick $(line function) 200" "$(found report.json)"
  "$aprof" report "${json%.json}.1.json" "$json" >report.txt
  contains "$program, growing: the report says so" \
    "\`${ns}quick\` grows: 0 lived at the beginning, 200 at the end" report.txt
}

for major in $majors; do
  gcc=$(gcc_of "$major")
  program=c-$major
  check "$program: compiles without a warning" "$gcc" -O2 -g -Wall -Wextra -Werror \
    -I"$src/rt/include" -fplugin="$plugin" "$source" -o "$program"
  all ""
  program=cxx-$major
  check "$program: compiles without a warning" "${gcc/gcc/g++}" -O2 -g -Wall -Wextra -Werror \
    -I"$src/rt/include" -fplugin="$plugin" -x c++ "$source" -o "$program"
  all "demo::"
done

finish
