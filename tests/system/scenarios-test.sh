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

# row FILE FUNCTION: its numbers, times in ms, as in the table
row() {
  jq -r --arg name "$2" '[.functions[] | select(.name == $name)] |
    if length == 1 then .[0] | "\(.created) \(.done) \(.failed) \(.cancelled)" +
      " \(.exec_ns / 1e6) \(.children_exec_ns // 0 | . / 1e6) \(.wall_ns / 1e6)"
    else "\(length) functions of that name" end' "$1"
}

# one FILE FUNCTION FIELD
field() {
  jq -r --arg name "$2" ".functions[] | select(.name == \$name) | $3" "$1"
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
    while read -r scenario function expected; do
      [ -n "$scenario" ] || continue
      equal "$scenario: $how, $function" "$(tr -s ' ' <<<"$expected")" \
        "$(row "out/$scenario.json" "$function" 2>&1)"
    done <<<"$numbers"
    equal "born-done: $how, counted so" 0 "$(field out/born-done.json born_done '.born_done')"
    equal "maximum: $how, exec_max" 50000000 "$(field out/maximum.json of_some_length .exec_max_ns)"
    equal "ten-calls: $how, exec_max" 10000000 "$(field out/ten-calls.json one_of_ten .exec_max_ns)"
    equal "mixed: $how, nothing missed" "0 0 0" "$(jq -r '.health |
      "\(.missed_events) \(.lost_futures) \(.reused_keys)"' out/mixed.json)"
    equal "pauses: $how, awaits" "2 40 30" "$(field out/pauses.json pauses \
      '.awaits | map(select(.callee == "pause_ms")) | "\(map(.count) | add) \(map(.waiting_ns) | add / 1e6) \(map(.max_ns) | max / 1e6)"')"
  done
done
finish
