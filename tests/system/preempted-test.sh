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
# ask MODE FILTER
ask() { jq -e "$2" "$work/$1.json"; }

# A machine whose processors are taken away by others still, or a fault of a page that has to be read,
# may make one of them a hold for once.
for _ in 1 2 3; do
  profile plain
  ask plain '[.findings[] | select(.kind == "held")] | length == 0' >/dev/null && break
  jq -c '.findings[].text' "$work/plain.json"
done
check "it was preempted for long" ask plain \
  '[.loop[].preempted_max_ns // 0] | max > 5000000'
check "and nobody is said to have held the loop" ask plain \
  '[.findings[] | select(.kind == "held")] | length == 0'
"$aprof" report "$work/plain.json" >"$work/plain.report"
check "the report says so" grep -q "^preempted while it ran: " "$work/plain.report"

profile burn
check "who computes for long is" ask burn \
  '[.findings[] | select(.kind == "held") | .function] == ["on_burn"]'
check "on the CPU" ask burn '.findings[] | select(.kind == "held") |
  .text | test("; on the CPU for at least (3[0-9]|4[0-9])")'
check "for as long as it did" ask burn '.functions[] | select(.name == "on_burn") |
  .slice_max_ns > 39000000 and .slice_max_ns < 60000000'

profile sleep
check "who blocks is" ask sleep \
  '[.findings[] | select(.kind == "held") | .function] == ["on_sleep"]'
check "off the CPU" ask sleep '.findings[] | select(.kind == "held") |
  .text | test("; at least [3-9][0-9.]* ms of that off the CPU")'

finish
