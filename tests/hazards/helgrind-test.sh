#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs with the plugin under valgrind's helgrind, which finds nothing in them or in the
# runtime that it does not find in the same program without it.
#
# Helgrind's unsuppressed part is said in tests/helgrind.supp; a program with a race of its
# own shows that this one is still found.
. "$(dirname "$0")/../lib.sh"

here=$src/tests/hazards
if ! command -v valgrind >/dev/null; then
  skip valgrind "apt-get install valgrind"
  finish
fi
major=$(gcc -dumpversion | cut -d. -f1)
cc=$(gcc_of "$major")
mkdir -p "$work/out"
. "$here/programs.sh" # for the list of objects
export APROF_RUNTIME=$build/rt/.libs/libaprof.so.0 APROF_COMMAND=$aprof
export APROF_OPTIONS=dir:$work/out,profile:memfd
helgrind="--tool=helgrind --suppressions=$src/tests/helgrind.supp"

# build SUFFIX FLAGS...: the programs, as PROGRAM-SUFFIX
build() {
  local suffix=$1 o p
  shift
  # shellcheck disable=SC2154 # in programs.sh
  for o in $objects threads; do
    echo "$cc -std=gnu11 -O1 -g $* -I$src/rt/include -c $here/$o.c -o $work/$o-$suffix.o"
  done | xargs -P2 -d '\n' -n1 sh -c || exit
  for p in threads; do
    # shellcheck disable=SC2046,SC2086 # several words
    (cd "$work" && "$cc" $(printf "%s-$suffix.o " $p $objects) -o "$p-$suffix" -pthread) || exit
  done
}

# run_in TOOL SUFFIX PROGRAM HAZARD: what it printed, its status and what valgrind says
run_in() {
  # shellcheck disable=SC2086 # several words
  valgrind -q --fair-sched=yes --error-exitcode=99 $1 "$work/$3-$2" "$4" 3 \
    2>"$work/said" </dev/null
  echo "status $?"
  sed 's/^==[0-9]*== *//' "$work/said"
}

# same TOOL PROGRAM HAZARD: as without the plugin, and profiled
same() {
  local tool=$1 p=$2 hazard=$3
  rm -f "$work/out"/*
  run_in "$tool" absent "$p" "$hazard" >"$work/want"
  run_in "$tool" with "$p" "$hazard" >"$work/got"
  cmp "$work/want" "$work/got" >/dev/null || { cat "$work/got"; return 1; }
  grep -qx 'status 5' "$work/got" &&
    value "$work/out"/*.json 'f.epilogue.done == 1000 if "epilogue" in f else False' | grep -qx true
}

build absent
build with "-fplugin=$plugin"
for hazard in none many-threads; do
  for p in threads; do
    check "helgrind: $p, $hazard" same "$helgrind" "$p" "$hazard"
  done
done

cat >"$work/race.c" <<'END'
#include <aprof.h>
#include <pthread.h>
static unsigned long shared;
APROF_ASYNC static void *count(void *unused) {
  for (int i = 0; i < 1000; i++)
    ++*(volatile unsigned long *)&shared;
  return unused;
}
int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, count, NULL);
  count(NULL);
  return pthread_join(other, NULL);
}
END
"$cc" -O1 -g "-fplugin=$plugin" -I"$src/rt/include" "$work/race.c" -o "$work/race" -pthread
# shellcheck disable=SC2086
valgrind -q --fair-sched=yes $helgrind "$work/race" 2>"$work/races"
contains "helgrind: a race of the program's own is found" "race.c:6" "$work/races"
finish
