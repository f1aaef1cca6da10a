#!/bin/bash
# SPDX-License-Identifier: MIT
# What is measured is the time that really passed, whatever the program takes for it: a
# preloaded library has other clocks in place of the C library's. The program stamps
# its one future itself, by the kernel's clock.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit
cc=$(gcc_of "${majors##* }")
check "nap compiles" "$cc" -std=gnu11 -Wall -Wextra -Werror -O2 "-fplugin=$plugin" \
  -I"$src/rt/include" "$src/tests/system/nap.c" -o nap
check "odd-clock compiles" "$cc" -std=gnu11 -Wall -Wextra -Werror -O2 -shared -fPIC \
  "$src/tests/system/odd-clock.c" -o odd-clock.so

# nap NAME COMMAND...: it runs, and its totals say what it measured itself
nap() {
  local name=$1 measured status
  shift
  rm -rf out && mkdir out
  measured=$(APROF_RUNTIME=$(echo "$build"/rt/.libs/libaprof.so.0) APROF_COMMAND=$aprof \
    APROF_OPTIONS=dir:out,profile:memfd,$clock timeout -s KILL 60 "$@" 2>out/log)
  status=$?
  equal "$name: status" 3 "$status"
  # Between the program's stamps lies the profile's making too.
  value out/*.json '(f.nap.wall_ns,), (f.nap.waiting_ns,)' >times
  check "$name: wall and waiting are within the program's own time and 1 % of 200 ms" \
    awk -v most="$measured" '{ n++ } $1 < 198000000 || $1 > most * 1.01 { bad = 1; print $1, most }
      END { exit bad || n != 2 }' times
  age=$(($(date +%s) - $(date +%s -d "$(value out/*.json t.process.started_at)")))
  check "$name: of today" test "$age" -ge 0 -a "$age" -lt 3600
}

for clock in clock:auto clock:monotonic; do
  nap "$clock" ./nap
  for kind in frozen back late; do
    ODD_CLOCK=$kind nap "$clock, $kind" env LD_PRELOAD="$PWD/odd-clock.so" ./nap
  done
done

# Nor does the command ask that clock, where it is the one that is run so.
rm -rf out && mkdir out
profiles=$(mktemp -d /dev/shm/aprof-clock.XXXXXX)
trap 'rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
APROF_RUNTIME=$(echo "$build"/rt/.libs/libaprof.so.0) APROF_OPTIONS=profile:$profiles \
  ./nap leave >measured 2>log
ODD_CLOCK=frozen LD_PRELOAD=$PWD/odd-clock.so "$aprof" dump -o out/dump.json "$profiles"/*.aprof \
  >>log 2>&1
value out/dump.json f.nap.wall_ns >times
check "aprof dump with a clock that stands still" \
  awk -v most="$(cat measured)" '$1 < 198000000 || $1 > most * 1.01 { exit 1 }' times
finish
