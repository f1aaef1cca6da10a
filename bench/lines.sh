#!/bin/bash
# SPDX-License-Identifier: MIT
# Cache lines per event, of data and of code, counted from a memory trace (valgrind's lackey)
# against the ceilings in bench/line-ceilings: what an event touches is what it costs in a program
# that has something else to do in between, and neither load nor the size of a cache changes it.
#
#   bench/lines.sh            from a build directory, or with APROF_BUILD
#   bench/lines.sh --ratchet  lowers the ceilings to what is reached now
#
# The events are those of bench/instructions.c, in their loops; a turn of the loop is what is
# counted. The runtime is linked in, so that bench/regions.c can say what lies where:
#
#   common      the thread's half, its block, the header, the runtime's variables
#   gate, site  what the plugin emitted into the program
#   records     of futures; keys, tables, segments, nodes: what leads to them
#   counters, histograms    of functions and awaits
#   paths       the thread's cache of nodes
#   code        of the runtime
#
# The virtual clock stands still, so each run counts the same.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../tests/lib.sh"
. "$here/ceilings.sh"
ceilings=$here/line-ceilings unit=lines

if ! command -v valgrind >/dev/null; then
  skip "lines" "valgrind is not installed"
  finish
fi

mapfile -t objects < <(find "$build/rt" -path '*/.libs/libaprof_la-*.o' | sort)
nm --defined-only "${objects[@]}" | awk 'NF == 3 && $2 ~ /[tTwW]/ { print $3 }' >"$work/symbols"

compile() {
  "${CC:-gcc}" -std=gnu11 -O2 -fno-ipa-icf -no-pie -fno-pie -DSHORT=2 -DLONG=12 -DROUNDS=1 -fplugin="$plugin" \
    -I"$src/rt/include" -c "$here/instructions.c" -o "$work/events.o" &&
    "${CC:-gcc}" -std=gnu11 -O2 -no-pie -fno-pie -D_GNU_SOURCE -I"$src" -I"$src/rt/include" \
      -c "$here/regions.c" -o "$work/regions.o" &&
    "${CC:-gcc}" -no-pie "$work/events.o" "$work/regions.o" "${objects[@]}" -pthread -ldl \
      -o "$work/lines"
}
check "compile with the runtime linked in" compile
trace() {
  APROF_OPTIONS=clock:virtual,exit:no,signal:none,profile:memfd valgrind --tool=lackey \
    --trace-mem=yes --log-file="$work/trace" "$work/lines" >"$work/where" &&
    python3 "$here/lines.py" "$work/lines" "$work/trace" "$work/where" "$work/symbols" >"$work/counted"
}
check "count lines" trace
[ "$failed" -eq 0 ] || finish

equal "events counted" 12 "$(grep -c ' code ' "$work/counted")"
while read -r event kind lines; do
  case $kind in
  data | code | common) judge "$event/$kind" "$lines" ;;
  esac
done <"$work/counted"
# What data is made of, for people.
awk '$2 != "data" && $2 != "code" { of[$1] = of[$1] " " $2 " " $3 } $2 == "data" { n[++last] = $1 }
     END { for (i = 1; i <= last; i++) print "  " n[i] ":" of[n[i]] }' "$work/counted"

[ "${1:-}" != --ratchet ] || ratchet
finish
