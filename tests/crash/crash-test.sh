#!/bin/bash
# SPDX-License-Identifier: MIT
# Some kills of the crash drill, tests/crash/run, and what a kill at each instruction that writes
# to the profile would leave.
. "$(dirname "$0")/../lib.sh"
here=$src/tests/crash
profiles=$(mktemp -d /dev/shm/aprof-crash.XXXXXX)
trap 'rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
runtime=$build/rt/.libs/libaprof.so.0
mkdir "$work/copies"

stepped() {
  gcc -O2 -Wall -Wextra -I"$src/rt/include" "$here/steps.c" -o "$work/steps" &&
    "$(gcc_of "$(gcc -dumpversion | cut -d. -f1)")" -std=gnu11 -O2 -fplugin="$plugin" \
      -I"$src/rt/include" "$here/target.c" -o "$work/target" -pthread &&
    APROF_RUNTIME=$runtime APROF_OPTIONS="profile:$profiles,dir:$work" "$work/steps" \
      "$(realpath "$runtime")" "$profiles" "$work/copies" "$work/target" "$work/seen" once
}
check "a life of each kind, stepped through" stepped
check "at each step what was recorded before is there" \
  "$here/steps.py" "$build/tests/crash/counts" "$work/copies"
rm -rf "$work/copies"
"$here/run" --count 96
equal "the drill" 0 $?
finish
