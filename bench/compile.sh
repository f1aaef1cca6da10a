#!/bin/bash
# SPDX-License-Identifier: MIT
# What the plugin takes of compile time, and adds to the code. Prints the text of
# bench/COMPILE.md.
#
#   nothing annotated   units that no line is about, from none to 8.6 MB of C: instructions
#                       of the compiler proper, by each GCC that there is a plugin for
#   much annotated      SQLite's amalgamation with its whole API async and each call of its
#                       file system an await: CPU time, instructions and size of the code
#
# Instructions are counted by cachegrind, once: they repeat to five digits, and noise does
# not reach them. Times are CPU seconds (user) of the compiler, each variant in turn, again
# and again: medians. Sources of others come with `apt-get source` into the build directory
# and stay there; SQLITE_C and MEMCACHED name a sqlite3.c and a configured memcached that are
# there already. memcached wants libevent-dev, the unit of gio.h libglib2.0-dev; what is
# missing is said and left out.
. "$(dirname "$0")/lib.sh"
rounds=5
[ -z "$quick" ] || rounds=1
none=-fplugin-arg-aprof-bindings=none

# -- the units: files and flags ------------------------------------------------------------

units=() # NAME, flags in flags_NAME, a label
declare -A flags label
unit() {
  units+=("$1")
  label[$1]=$2
  flags[$1]=${*:3}
}

add_small_units() {
  echo 'int x;' >"$work/empty.c"
  printf '#include <gio/gio.h>\nint x;\n' >"$work/gio.c"
  unit empty 'an empty unit' "$work/empty.c"
  unit own "aprof's own rt/event/run.c -O1" -O1 -std=gnu11 -D_GNU_SOURCE -DHAVE_CONFIG_H \
    -I"$build" -I"$src" -I"$src/rt/include" "$src/rt/event/run.c"
  if pkg-config --exists gio-2.0 2>/dev/null; then
    unit gio 'a unit of gio.h, whose lines are read' "$(pkg-config --cflags-only-I gio-2.0)" "$work/gio.c"
  else
    say "compile: no libglib2.0-dev: without the unit of gio.h"
  fi
}

add_memcached() {
  local dir=${MEMCACHED:-}
  if [ -z "$dir" ] && fetch_source memcached "$build/bench-memcached"; then
    dir=$tree
    [ -e "$dir/config.h" ] || (cd "$dir" && ./configure) >"$work/log" 2>&1 || dir=
  fi
  if [ -n "$dir" ]; then
    unit memcached 'memcached.c -O1, which libevent'\''s lines are about' -O1 -DHAVE_CONFIG_H \
      -I"$dir" "$dir/memcached.c"
  else
    say "compile: without memcached: $(tail -n 1 "$work/log" 2>/dev/null)"
  fi
}

# The amalgamation is made by SQLite's own makefile, which wants tclsh.
sqlite=${SQLITE_C:-$build/bench-sqlite/sqlite3.c}
if [ ! -e "$sqlite" ]; then
  if ! fetch_source sqlite3 "$build/bench-sqlite" ||
    ! (cd "$tree" && ./configure && make sqlite3.c && cp sqlite3.c "$sqlite") >"$work/log" 2>&1; then
    say "compile: no sqlite3.c; SQLITE_C=FILE names one. $(tail -n 1 "$work/log" 2>/dev/null)"
    exit 1
  fi
fi

# -- instructions ---------------------------------------------------------------------------

# count GCC FLAG...: instructions of the compiler proper, in millions
count() {
  local gcc=$1
  shift
  # shellcheck disable=SC2046 # a path
  nice -n 15 valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null \
    $("$gcc" -print-prog-name=cc1) -quiet -imultiarch "$("$gcc" -print-multiarch)" -w "$@" \
    -o /dev/null 2>&1 | awk '/I +refs:/ { gsub(",", "", $NF); printf "%.3f\n", $NF / 1e6; n = 1 }
      END { exit !n }'
}

# The share of the plugin: M instructions, and percent.
share() { awk -v a="$1" -v b="$2" 'BEGIN { printf "+%.1f (%+.2f %%)", b - a, 100 * (b / a - 1) }'; }

nothing_annotated() {
  local gcc major name plain
  echo "| unit | GCC | plain | -fplugin=aprof.so | bindings=none |"
  echo "|---|---|---|---|---|"
  for name in "${units[@]}"; do
    for so in "$build"/plugin/aprof-gcc*.so; do
      major=${so##*gcc} major=${major%.so} gcc=gcc-$major
      command -v "$gcc" >/dev/null || continue
      say "compile: instructions of $gcc: $name"
      # shellcheck disable=SC2086 # several flags
      plain=$(count "$gcc" ${flags[$name]}) &&
        with=$(count "$gcc" ${flags[$name]} -fplugin="$plugin") &&
        without=$(count "$gcc" ${flags[$name]} -fplugin="$plugin" $none) ||
        { say "compile: $gcc cannot compile $name"; exit 1; }
      echo "| ${label[$name]} | $major | ${plain%??} | $(share "$plain" "$with") |" \
        "$(share "$plain" "$without") |"
    done
  done
}

# -- what is annotated ------------------------------------------------------------------------

# Every function of the API is async, and every call through a table of the virtual file
# system an await: what somebody would write who asks where SQLite waits.
echo 'async def:/^sqlite3_[a-z0-9_]*$/' >"$work/api.aprof"
for method in Read Write Truncate Sync FileSize Lock Unlock; do
  echo "await icall:sqlite3_io_methods.x$method" >>"$work/api.aprof"
done
annotated=(-fplugin="$plugin" -fplugin-arg-aprof-bindings="$work/api.aprof")

# compile LEVEL VARIANT FLAG...: one sample of time, and the size of the code
compile() {
  local level=$1 variant=$2 took object
  shift 2
  object=$work/$variant$level.o
  TIMEFORMAT=%U
  took=$({ time "$cc" "$level" -g -w -c "$sqlite" -o "$object" "$@" 2>>"$work/errors" >&2; } 2>&1) || {
    cat "$work/errors" >&2
    exit 1
  }
  printf '%s\ttime\t%s\n' "$variant" "$took" >>"$work/samples$level"
  size -A "$object" | awk -v OFS='\t' -v v="$variant" '
    /^\.text/ { text += $2 } /^\.(text|rodata|data|eh_frame)|^aprof_/ { loaded += $2 }
    END { print v, "text", text; print v, "loaded", loaded }' >>"$work/samples$level"
}

count_annotated() {
  local variant
  [ -z "$quick" ] && command -v valgrind >/dev/null || return 0
  for variant in plain api; do
    say "compile: instructions $1 $variant"
    set -- "$1"
    [ $variant = plain ] || set -- "$1" "${annotated[@]}"
    printf '%s\tinstructions\t%s\n' $variant "$(count "$cc" "$1" "$sqlite" "${@:2}")" \
      >>"$work/samples$1"
  done
}

much_annotated() {
  local level=$1 round
  for round in $(seq "$rounds"); do
    say "compile: sqlite3.c $level, round $round of $rounds"
    compile "$level" plain
    compile "$level" unused -fplugin="$plugin"
    compile "$level" api "${annotated[@]}"
  done
  # Instructions where the plugin's share is greatest, and cachegrind done before long.
  [ "$level" != -O0 ] || count_annotated "$level"
  local rows=$'\t'"sqlite3.c $level -g"$'\ntime\tCPU seconds (user)'
  ! grep -q instructions "$work/samples$level" || rows+=$'\ninstructions\tinstructions of cc1, millions'
  rows+=$'\ntext\tcode, bytes\nloaded\tcode, constants, data, unwinding and sites, bytes'
  matrix '%.2f' "$rows" \
    $'plain\twithout the plugin\nunused\twith it, nothing annotated\napi\tthe API async, file system calls awaits' \
    <"$work/samples$level" | sed 's/\([0-9]\{3,\}\)\.[0-9]*/\1/g'
  echo
  change() { changes "$1" "api" <"$work/samples$level" | sed 's/^api //'; }
  echo "The annotated unit against the same round's plain one, median: time $(change time)," \
    "$(! grep -q instructions "$work/samples$level" ||
      echo "instructions $(change instructions), ")code $(change text), all that is loaded $(change loaded)."
  if cmp -s <(objdump -d "$work/plain$level.o" | tail -n +4) \
    <(objdump -d "$work/unused$level.o" | tail -n +4); then
    echo "The code with nothing annotated is the code without the plugin, byte for byte."
  else
    say "compile: with nothing annotated the code is another"
    exit 1
  fi
}

# -- all of it --------------------------------------------------------------------------------

echo "# Compile time and code size, measured"
echo
echo "Made by \`scripts/bench --keep compile\`."
echo
machine
if [ -z "$quick" ] && command -v valgrind >/dev/null; then
  add_small_units
  add_memcached
  unit sqlite 'sqlite3.c -O0' -O0 "$sqlite"
  echo
  echo "## Nothing annotated"
  echo
  echo "Instructions of the compiler proper, in millions; the plugin's share. The goal is 0.5 % of"
  echo "a unit of some size; what a start costs does not shrink with the unit. \`bindings=none\`"
  echo "leaves the shipped files out."
  echo
  nothing_annotated
fi
for level in -O0 -O2; do
  echo
  echo "## Much annotated, $level"
  echo
  much_annotated "$level"
done
functions=$("$build/aprof" coverage "$work/api-O2.o" 2>/dev/null | head -n 1)
echo
echo "Annotated: ${functions%%,*}, and seven calls of the file system wherever they are."
echo "sqlite3.c has $(wc -l <"$sqlite") lines. The goals: 5 % of time, 10 % of code."
