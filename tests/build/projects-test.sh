#!/bin/bash
# Projects on autotools, CMake and Meson learn nothing but CFLAGS, from any
# directory, with the plugin in the build tree and where it is installed.
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
      "$(jq -r '[.functions[] | "\(.created) \(.name)"] | sort_by(split(" ")[1]) | join(", ")' "$totals")"
  fi
}

check "autotools: prepared" prepare_autotools
for major in $majors; do
  try autotools "build tree" "$(gcc_of "$major")" "-fplugin=$plugin"
done
try cmake "build tree" gcc "-fplugin=$plugin"
try meson "build tree" gcc "-fplugin=$plugin"

# Installed: with any prefix as -fplugin=aprof, through the link in GCC's plugin
# directory; here that directory is found through LIBRARY_PATH instead of the
# machine's own, which a test must leave alone.
prefix=$work/prefix
gcc_dir=$work/gcc
fake_dirs=
for major in $majors; do
  mkdir -p "$gcc_dir/$major/plugin"
  fake_dirs="$fake_dirs $major:$gcc_dir/$major/plugin"
done
check "make install prefix=" make -C "$build" install prefix="$prefix" \
  GCC_PLUGIN_DIRS="$fake_dirs"
flags=$("$prefix/bin/aprof" cflags 2>"$work/cflags.err") || not_ok "aprof cflags" "$work/cflags.err"
for system in autotools cmake meson; do
  try "$system" "aprof cflags" gcc "$flags"
done

for major in $majors; do
  if [ -e "$gcc_dir/$major/plugin/aprof.so" ]; then
    LIBRARY_PATH=$gcc_dir/$major try autotools "-fplugin=aprof" "$(gcc_of "$major")" -fplugin=aprof
  fi
  # What a prefix of /usr gives: a library in a directory of the system's.
  LD_LIBRARY_PATH=$prefix/lib try autotools "-fplugin=aprof.so" "$(gcc_of "$major")" \
    -fplugin=aprof.so
done

check "make uninstall" make -C "$build" uninstall prefix="$prefix" GCC_PLUGIN_DIRS="$fake_dirs"
equal "uninstall leaves nothing" "" "$(find "$prefix" "$gcc_dir" ! -type d)"
finish
