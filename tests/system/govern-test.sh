#!/bin/bash
# SPDX-License-Identifier: MIT
# Governed overhead on a real clock: a load in steps on two threads, with ceilings that
# are never, sometimes and always too low. Counts are the program's own each time, and
# all equations hold. How long each step lasts is the machine's business: not tested.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit
cc=$(gcc_of "${majors##* }")
check "step-load compiles" "$cc" -std=gnu11 -Wall -Wextra -Werror -O2 "-fplugin=$plugin" \
  -I"$src/rt/include" "$src/tests/system/step-load.c" -o step-load -lpthread
for ceiling in 100 10 1 0.01; do
  how="ceiling $ceiling %"
  rm -rf one && mkdir one
  requests=$(APROF_OPTIONS=dir:one,overhead:$ceiling ./step-load 400 2>/dev/null)
  json=$(echo one/*.json)
  equal "$how: requests" "$requests $requests" \
    "$(value "$json" f.request.created,f.request.done)"
  equal "$how: their parts" "$((2 * requests)) $((2 * requests))" \
    "$(value "$json" 'f.part.done, total(f.request.awaits, "count")')"
  equal "$how: slices" "$requests" "$(value "$json" f.request.slices)"
  check "$how: schema and equations" totals_close "$json"
  equal "$how: it is said" true "$(value "$json" "t.governed.ceiling_percent == $ceiling")"
done
# A hundredth of a percent is too little for anything but counting.
equal "all was shed" "histograms paths clock times" "$(value "$json" '*f.part.shed')"
check "report" "$aprof" report "$json"
"$aprof" report "$json" >report.txt
contains "report: what was shed" "shed detail (~): " report.txt
contains "report: of which threads" "counts only" report.txt
contains "report: a share of time is marked" "ran futures ~" report.txt
contains "report: and what could be seen is said" "holds of the loop could be seen for" report.txt
refuse "report: nor is denied what could not" grep -q "no finding: nothing held" report.txt
"$aprof" report --json "$json" >report.json
equal "report --json: it says so, too" "histograms paths clock times true" \
  "$(value report.json '*t.process.shed, t.process.holds_seen < 1')"
equal "report --json: of each function" "histograms paths clock times" \
  "$(value report.json '*f.part.shed')"
finish
