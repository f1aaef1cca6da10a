#!/bin/bash
# SPDX-License-Identifier: MIT
# What the plugin inserts, as the trace of its events: each program of cases/ is
# compiled by every GCC with many sets of options, run with a runtime that prints
# each event, and compared with cases/NAME.trace, which is one for all of them.
# As a test each program has the first two sets, and every fifth of the others in turn.
#
#   ALL=1 traces-test.sh      each program with each set of options
#   UPDATE=1 traces-test.sh   writes the traces anew
#   ONLY=NAME traces-test.sh  this program only, with each set
#
# No option may change a trace, no compilation may warn.
. "$(dirname "$0")/../lib.sh"

cases=$src/tests/plugin/cases
plugin=${APROF_PLUGIN:-$plugin}
runtime=$work/trace-runtime.o
warnings="-Wall -Wextra -Wno-unused-parameter -Wuninitialized -Wmaybe-uninitialized -Wclobbered -Werror"

# What does not meddle with another stands beside it.
common=(
  "-O0"
  "-O2 -g -fcompare-debug"
  "-O1"
  "-O3"
  "-Os"
  "-Og -g"
  "-O2 -fPIC -fno-plt -ffunction-sections -fdata-sections -Wl,--gc-sections"
  "-O2 -flto"
  "-O0 -flto"
  "-O2 -static"
  "-O1 -static-pie -fPIE"
  "-O2 -fsanitize=address"
  "-O1 -fsanitize=undefined"
  "-O2 -fsanitize=thread"
  "-O2 -fexceptions -fnon-call-exceptions"
  "-O2 -fstack-protector-all -D_FORTIFY_SOURCE=2 -fcf-protection=full -fstack-clash-protection"
  "-O1 --coverage"
  "-O2 -fopenmp -fno-toplevel-reorder"
  "-O2 -fno-inline -finstrument-functions -pg"
)

# run_case NAME SOURCE MAJOR OPTIONS...: the program's output in $work/out
run_case() {
  local name=$1 source=$2 major=$3 extra= also= compiler
  shift 3
  case $source in
  *.cc) compiler=$(gcc_of "$major" | sed 's/gcc/g++/') ;;
  *) compiler=$(gcc_of "$major") ;;
  esac
  case $name in
  cancel) extra="-fexceptions -pthread" ;;
  openmp) extra=-fopenmp ;;
  files) also=$work/files-lib.o ;;
  block | block-cxx) extra=-I$src/rt/include ;;
  everywhere) extra="-fplugin-arg-aprof-spans=/^(compare|fold|double_of|future|named|all)$/" ;;
  esac
  [ ! -f "$cases/$name.aprof" ] || extra="-fplugin-arg-aprof-bindings=$cases/$name.aprof"
  # shellcheck disable=SC2086
  (rm -f "$work"/*.gc?? && cd "$work" && $compiler $warnings -fplugin="$plugin" -fplugin-arg-aprof-bindings=none $extra "$@" \
    "$cases/$source" $also "$runtime" -o program && ./program) >"$work/out" 2>&1
  echo "status $?" >>"$work/out"
}

first=${majors##* }
check "the printing runtime" "$(gcc_of "$first")" -Wall -Wextra -O2 -fPIC -I"$src/rt/include" -c \
  "$src/tests/plugin/trace-runtime.c" -o "$runtime"
check "the library of files.c" "$(gcc_of "$first")" -O2 -fPIC -c "$cases/files-lib.c" -o \
  "$work/files-lib.o"

programs=0
for path in "$cases"/*.c "$cases"/*.cc; do
  source=${path##*/}
  name=${source%.c*}
  [ "$name" != files-lib ] || continue
  [ -z "${ONLY:-}" ] || [ "$name" = "$ONLY" ] || continue
  programs=$((programs + 1))
  trace=$cases/$name.trace
  if [ -n "${UPDATE:-}" ]; then
    run_case "$name" "$source" "$first" -O2
    cp "$work/out" "$trace"
  fi
  for major in $majors; do
    for i in "${!common[@]}"; do
      [ -n "${ALL:-}${ONLY:-}" ] || [ "$i" -lt 2 ] || [ $(((i + programs) % 5)) -eq 0 ] || continue
      options=${common[i]}
      case "$name $options" in
      openmp*static*) continue ;; # libgomp's own linker warning
      esac
      # shellcheck disable=SC2086
      run_case "$name" "$source" "$major" $options
      if diff "$trace" "$work/out" >"$work/diff"; then
        ok "$name gcc-$major $options"
      else
        not_ok "$name gcc-$major $options" "$work/diff"
      fi
    done
  done
done
finish
