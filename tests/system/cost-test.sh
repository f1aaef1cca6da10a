#!/bin/bash
# SPDX-License-Identifier: MIT
# What the totals say that profiling cost is what it cost, measured from outside, in a program whose
# events find little in the caches: of medians over rounds that take turns, so that neighbours disturb
# both sides. What an event takes at start is a third of it; neighbours make it look up to five times
# as dear, and can spoil all rounds of a try: so there are five.
. "${0%/*}/../lib.sh"

is_measured() { awk -F '|' '{ exit !($12 > 0.5 && $12 < 5) }' "$work/row"; }
for try in 1 2 3 4 5; do
  check "it is measured" env APROF_BENCH_QUICK=1 APROF_BUILD="$build" "$src/bench/deep.sh"
  grep '^| 32 KB' "$work/check.out" >"$work/row"
  cat "$work/row"
  is_measured && break
done
check "the cost in the totals is the one measured, in one of $try tries" is_measured
finish
