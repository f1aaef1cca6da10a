#!/bin/bash
# SPDX-License-Identifier: MIT
# Projects on autotools, CMake and Meson learn nothing but CFLAGS, from any
# directory: with the plugin in the build tree (make check) and where it is
# installed (make installcheck).
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

project=$src/tests/build/project

# prepare_autotools: generates configure, once
prepare_autotools() {
  cp -r "$project" "$work/autotools" && cd "$work/autotools" && autoreconf -fi
}

build_autotools() {
  "$work/autotools/configure" --disable-dependency-tracking && make
}
build_cmake() { cmake "$project" && make VERBOSE=1; }
build_meson() { meson setup . "$project" && ninja -v; }

# try SYSTEM FORM COMPILER CFLAGS: builds in a directory of its own, runs, and
# looks for both modules in the totals
try() {
  local name="$1, $2, $3" dir="$work/$1.$2.$3" totals
  dir=${dir// /-}
  mkdir -p "$dir/out"
  (cd "$dir" && CC=$3 CFLAGS="-O2 $4" "build_$1") >"$dir/log" 2>&1 || {
    not_ok "$name: builds" "$dir/log"
    return
  }
  equal "$name: same results" "sum 55" "$(cd "$dir" && APROF_OPTIONS="dir:$dir/out" ./project 2>&1)"
  totals=$(find "$dir/out" -name '*.json')
  if [ -z "$totals" ]; then
    not_ok "$name: profiled" "$dir/log"
  else
    equal "$name: profiled, both modules" "10 count_up, 1 sum_to" \
      "$(value "$totals" '", ".join("%d %s" % (g.created, g.name) for g in sorted(t.functions, key=lambda g: g.name))')"
  fi
}

# The plugin in the build tree, by its path.
tree() {
  local major
  for major in $majors; do
    try autotools "build tree" "$(gcc_of "$major")" "-fplugin=$plugin"
  done
  try cmake "build tree" gcc "-fplugin=$plugin"
  try meson "build tree" gcc "-fplugin=$plugin"
}

# After make install, in each form that its users type. -fplugin=aprof goes
# through a link in GCC's plugin directory; here a directory of the test's own
# stands for that, found through -B. -fplugin=aprof.so is what a prefix
# of /usr gives: LD_LIBRARY_PATH stands for a library directory of the system.
installed() {
  local prefix flags major system dir
  prefix=$(sed -n 's/^prefix = //p' "$build/Makefile")
  check "aprof cflags" "$prefix/bin/aprof" cflags
  flags=$("$prefix/bin/aprof" cflags)
  for system in autotools cmake meson; do
    try "$system" "aprof cflags" gcc "$flags"
  done
  for major in $majors; do
    dir=$work/gcc/$major
    mkdir -p "$dir/plugin"
    ln -s "$prefix/lib/aprof.so" "$dir/plugin/aprof.so"
    try autotools "-fplugin=aprof" "$(gcc_of "$major")" "-B$dir -fplugin=aprof"
    LD_LIBRARY_PATH=$prefix/lib try autotools "-fplugin=aprof.so" "$(gcc_of "$major")" \
      -fplugin=aprof.so
  done
}

check "autotools: prepared" prepare_autotools
"${1:-tree}"
finish
