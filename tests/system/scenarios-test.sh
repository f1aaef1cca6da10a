#!/bin/bash
# SPDX-License-Identifier: MIT
# Exact numbers: scenarios.c on the virtual clock, through plugin, runtime and
# command, for each compiler with and without optimisation.
. "$(dirname "$0")/../lib.sh"

# SCENARIO FUNCTION created done failed cancelled exec children wall (ms)
numbers='
blocking              blocking             1 1 0 0 100   0 100
non-blocking          non_blocking         1 1 0 0   0   0 100
pauses                pauses               1 1 0 0  50   0  90
blocking-child        with_blocking_child  1 1 0 0  20  20  40
blocking-child        blocking_child       1 1 0 0  20   0  20
pausing-child         with_pausing_child   1 1 0 0  20  20  60
pausing-child         pausing_child        1 1 0 0  20   0  40
mixed                 with_mixed_children  1 1 0 0  50  60 150
mixed                 blocking_child       1 1 0 0  20   0  20
mixed                 pausing_child        2 2 0 0  40   0  80
failing-child         with_failing_child   1 1 0 0  20  10  30
failing-child         failing_child        1 0 1 0  10   0  10
cancelled-child       cancels_its_child    1 1 0 0  30  10  40
cancelled-child       doomed               1 0 0 1  10   0  20
ten-calls             one_of_ten          10 10 0 0 100  0 100
maximum               of_some_length       3 3 0 0  90   0  90
maximum               three_lengths        1 1 0 0   0  90  90
cleanup               with_cleanup         1 1 0 0  20   0  50
born-done             born_done            1 1 0 0   0   0   0
late-child            ends_first           1 1 0 0  10  20  10
late-child            late_child           1 1 0 0  20   0  30
grandchildren         grandparent          1 1 0 0  20  50 170
grandchildren         child                1 1 0 0  20  30 150
grandchildren         grandchild           1 1 0 0  30   0 130
frame-blocking        frame_blocking       1 1 0 0 100   0 100
frame-pauses          frame_pauses         1 1 0 0  50   0  90
frame-mixed           frame_mixed          1 1 0 0  50  60 150
frame-mixed           frame_blocking_child 1 1 0 0  20   0  20
frame-mixed           frame_pausing_child  2 2 0 0  40   0  80
frame-cancelled-child frame_cancels        1 1 0 0  30  10  40
frame-cancelled-child frame_doomed         1 0 0 1  10   0  20
callback-blocking     on_blocking          1 1 0 0 100   0 100
callback-late-child   on_parent            1 1 0 0  10  20  10
callback-late-child   on_child             1 1 0 0  20   0  30
callback-reused       on_again             3 3 0 0  30   0  90
callback-cancelled    on_canceller         1 1 0 0  40   0  40
callback-cancelled    on_child             1 0 0 1   0   0  20
'

# rows: of each file and function its numbers, times in ms, as in the table
rows() {
  value out/*.json '*((file, *pick(x, "name created done failed cancelled"), *(n // 10**6 if n % 10**6 == 0 else n
    for n in (x.exec_ns, x.children_exec_ns or 0, x.wall_ns))) for x in t.functions)'
}

cd "$work" || exit
for major in $majors; do
  cc=$(gcc_of "$major")
  for level in -O0 -O2; do
    how="$cc $level"
    check "scenarios: $how, no warning" "$cc" -std=gnu11 -Wall -Wextra -Werror "$level" \
      "-fplugin=$plugin" -I"$src/rt/include" "$src/tests/system/scenarios.c" -o scenarios
    rm -rf out && mkdir out
    for scenario in $(awk 'NF { print $1 }' <<<"$numbers" | uniq); do
      rm -rf one && mkdir one
      APROF_OPTIONS=clock:virtual,dir:one ./scenarios "$scenario" 2>said.txt
      equal "$scenario: $how, exit status and no word" "0 " "$? $(cat said.txt)"
      mv one/*.json "out/$scenario.json" 2>/dev/null
    done
    rows >rows.txt
    while read -r scenario function expected; do
      [ -n "$scenario" ] || continue
      equal "$scenario: $how, $function" "$(tr -s ' ' <<<"$expected")" \
        "$(sed -n "s|^out/$scenario.json $function ||p" rows.txt)"
    done <<<"$numbers"
    equal "born-done: $how, counted so" 0 "$(value out/born-done.json f.born_done.born_done)"
    equal "maximum: $how, exec_max" 50000000 "$(value out/maximum.json f.of_some_length.exec_max_ns)"
    equal "ten-calls: $how, exec_max" 10000000 "$(value out/ten-calls.json f.one_of_ten.exec_max_ns)"
    equal "mixed: $how, nothing missed" "0 0 0" "$(value out/mixed.json \
      '*pick(t.health, "missed_events lost_futures reused_keys")')"
    equal "pauses: $how, awaits" "2 40000000 30000000" \
      "$(value out/pauses.json 'total(where(f.pauses.awaits, callee="pause_ms"), "count"),
        total(where(f.pauses.awaits, callee="pause_ms"), "waiting_ns"),
        max(x.max_ns for x in where(f.pauses.awaits, callee="pause_ms"))')"
  done
done
finish
