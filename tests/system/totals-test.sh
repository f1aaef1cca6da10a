#!/bin/bash
# SPDX-License-Identifier: MIT
# aprof_on_totals: who is told of which totals, on which thread, and when it ends; by every GCC.
. "${0%/*}/../lib.sh"

unset APROF_RUNTIME APROF_COMMAND APROF_OPTIONS
cd "$work" || exit 1
for major in $majors; do
  check "gcc-$major: compiles" "$(gcc_of "$major")" -std=gnu11 -O1 -Wall -Wextra -Werror \
    "-fplugin=$plugin" -I"$src/rt/include" "$src/tests/system/totals.c" -o totals -lpthread
  rm -rf out && mkdir out
  APROF_OPTIONS=dir:out ./totals >said.txt 2>err.txt
  equal "gcc-$major: status, and nothing is complained of" "0 0" "$? $(wc -c <err.txt)"
  first=$(sed -n 1p said.txt) pid=${first##*/totals.} pid=${pid%%.*}
  equal "gcc-$major: a snapshot is told by its path" "$work/out/totals.$pid.1.json" "$first"
  equal "gcc-$major: so is the signal" "$work/out/totals.$pid.2.json" "$(sed -n 2p said.txt)"
  equal "gcc-$major: a child asks, and is told once it says so" "child 0" "$(sed -n 3p said.txt)"
  equal "gcc-$major: five, on another thread without signals, which ends" \
    "told 5, elsewhere 5, with signals 0, threads 1" "$(sed -n 4p said.txt)"
  equal "gcc-$major: a callback ends it for itself" "told 6, threads 1" "$(sed -n 6p said.txt)"
  equal "gcc-$major: who is not told any more has totals all the same" "1 2 3 4 5 6 7" \
    "$(find out -name "totals.$pid.*.json" | sed -n "s/.*$pid\.\([0-9]*\)\.json/\1/p" | sort -n | xargs)"
  equal "gcc-$major: each says which it is" "1 signal" \
    "$(value "$first" '"%d %s" % (t.process.sequence, t.process.reason)')"
  equal "gcc-$major: what the callback runs counts" 6 "$(value "out/totals.$pid.json" f.work.created)"
  totals_close out/*.json
  APROF_OPTIONS=dir:out APROF_COMMAND=/bin/false ./totals none >said.txt 2>err.txt
  equal "gcc-$major: totals that do not come are not told" "told 0" "$(cat said.txt)"
  APROF_RUNTIME=/nonexistent ./totals >said.txt 2>err.txt
  equal "gcc-$major: without a runtime" "nobody is told" "$(cat said.txt err.txt)"
done
finish
