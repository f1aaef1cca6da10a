#!/bin/bash
# SPDX-License-Identifier: MIT
# A loop that loses its processor to others is held by nobody: no finding. One that computes for
# long is, beside the same neighbours, and one that blocks in the kernel.
. "${0%/*}/../lib.sh"

echo 'idle call:poll' >"$work/loop.aprof"
check "compile" gcc -std=gnu11 -g -O2 -I"$src/rt/include" -fplugin="$plugin" \
  -fplugin-arg-aprof-bindings="$work/loop.aprof" "$src/tests/system/preempted.c" \
  -o "$work/preempted"

# profile MODE: its totals in $work/MODE.json
profile() {
  rm -rf "$work/$1.d" && mkdir "$work/$1.d"
  APROF_OPTIONS=dir:$work/$1.d,signal:none setsid -w "$work/preempted" "$1" >"$work/$1.log" 2>&1
  mv "$work/$1.d"/*.json "$work/$1.json"
}
# held MODE: the functions that held the loop
held() { value "$work/$1.json" '*(finding.function for finding in where(t.findings, kind="held"))'; }

# What the kernel does not say, as a processor taken from the whole machine or a page that has to be
# read, leaves a hold here and there. Whoever took all that was late for a hold would have each of them.
profile plain
late=$(cat "$work/plain.log")
times=$(value "$work/plain.json" 'total(where(t.findings, kind="held"), "count")')
check "it was late for others ($late times)" [ "$late" -ge 8 ]
check "and next to none of that is a hold ($times times)" [ $((times * 4)) -le "$late" ]
check "it was preempted for long" [ "$(value "$work/plain.json" 'max(l.preempted_max_ns or 0 for l in t.loop) > 5000000')" = true ]
"$aprof" report "$work/plain.json" >"$work/plain.report"
check "the report says so" grep -q "^preempted while it ran: " "$work/plain.report"

profile burn
check "who computes for long is a hold" grep -qw on_burn <(held burn)
check "on the CPU" grep -qE '; on the CPU for at least (3[0-9]|4[0-9])' \
  <(value "$work/burn.json" '*(finding.text for finding in where(t.findings, function="on_burn"))')
check "for as long as it did, or was not let" [ "$(value "$work/burn.json" 'f.on_burn.slice_max_ns > 39000000')" = true ]

profile sleep
check "who blocks is a hold" grep -qw on_sleep <(held sleep)
check "off the CPU" grep -qE '; at least ([3-9][0-9]|[1-9][0-9]{2})(\.[0-9])? ms of that off the CPU' \
  <(value "$work/sleep.json" '*(finding.text for finding in where(t.findings, function="on_sleep"))')

finish
