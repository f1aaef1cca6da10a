#!/bin/bash
# SPDX-License-Identifier: MIT
# What the totals say that profiling cost is what it cost, measured from outside, in a program whose
# events find little in the caches: of a few tries one within a half, since neighbours disturb both.
. "${0%/*}/../lib.sh"

try() {
  APROF_BENCH_QUICK=1 APROF_BUILD=$build "$src/bench/deep.sh" 2>"$work/deep.log" >"$work/deep.md" &&
    grep "^| 32 KB" "$work/deep.md" | awk -F '|' '{ exit !($12 > 0.67 && $12 < 1.5) }'
}
close=no
for _ in 1 2 3 4 5 6 7 8; do
  try && close=yes && break
done
equal "the cost in the totals is the one measured" yes "$close"
cat "$work/deep.md"
finish
