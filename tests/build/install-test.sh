#!/bin/bash
# SPDX-License-Identifier: MIT
# What make install puts where, with DESTDIR as packagers use it.
. "$(dirname "$0")/../lib.sh"

stage=$work/stage
prefix=$(sed -n 's/^prefix = //p' "$build/Makefile")
links=$(sed -n 's/^GCC_PLUGIN_DIRS = //p' "$build/Makefile")
check "make install DESTDIR=" make -C "$build" install DESTDIR="$stage"

has() { check "installed: $1" test -e "$stage$prefix/$1"; }
has bin/aprof
! grep -q '^am__append.* = aprof-check' "$build/Makefile" || has bin/aprof-check
! grep -q '^am__append.* = aprof-serve' "$build/Makefile" || has bin/aprof-serve
has lib/libaprof.so.0
has lib/libaprof.a
has lib/aprof.so
has lib/pkgconfig/aprof.pc
has include/aprof.h
has include/aprof/abi.h
has share/aprof/bindings/libuv.aprof
has share/bash-completion/completions/aprof
has share/zsh/site-functions/_aprof
for major in $majors; do
  has "lib/aprof/aprof-gcc$major.so"
done

if ! grep -q "^GCC_LINKS_TRUE = #" "$build/Makefile"; then
  for pair in $links; do
    equal "link for GCC ${pair%%:*}" "$prefix/lib/aprof.so" \
      "$(readlink "$stage${pair#*:}/aprof.so")"
  done
fi

equal "nothing outside the prefix and GCC's plugin directories" "" \
  "$(cd "$stage" && find . ! -type d | grep -v -e "^.$prefix/" -e '/plugin/aprof.so$')"
equal "libaprof exports aprof_ and __aprof_ only" "" \
  "$(nm -D --defined-only "$stage$prefix/lib/libaprof.so.0" | awk '{ print $3 }' |
    grep -v -e '^aprof_' -e '^__aprof_')"
equal "so does the archive" "" \
  "$(nm -g --defined-only "$stage$prefix/lib/libaprof.a" | awk 'NF == 3 { print $3 }' |
    grep -v -e '^aprof_' -e '^__aprof_')"
# Names that the runtime's sources have, too.
cat >"$work/same.c" <<'C'
#include <aprof.h>
int rt = 3;
int map_add(int n) { return n; }
APROF_ASYNC int work(int n) { return map_add(n) + rt; }
int main(void) { return work(1) == 4 ? 0 : 1; }
C
for major in $majors; do
  check "gcc-$major: a program links it that has names of ours" "$(gcc_of "$major")" -fplugin="$plugin" \
    -I"$stage$prefix/include" "$work/same.c" -o "$work/same" -Wl,-u,__aprof_attach "$stage$prefix/lib/libaprof.a"
  rm -rf "$work/out" && mkdir "$work/out"
  check "gcc-$major: and has its totals" env APROF_COMMAND="$aprof" APROF_OPTIONS="dir:$work/out,profile:memfd" "$work/same"
  contains "gcc-$major: of its futures" '"work"' <(cat "$work/out"/*.json)
done
equal "libaprof needs libc only" "libc.so.6" \
  "$(readelf -d "$stage$prefix/lib/libaprof.so.0" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
    grep -v '^ld-linux' | tr '\n' ' ' | sed 's/ $//')"

include="-I$stage$prefix/include"
for header in aprof.h aprof/abi.h; do
  echo "#include <$header>" >"$work/header.c"
  check "$header alone, C11" gcc -std=c11 -Wall -Wextra -Wpedantic -Werror "$include" \
    -fsyntax-only "$work/header.c"
  check "$header alone, C++11" g++ -x c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror "$include" \
    -fsyntax-only "$work/header.c"
done
check "aprof.pc" env PKG_CONFIG_PATH="$stage$prefix/lib/pkgconfig" pkg-config --exists aprof

check "make uninstall DESTDIR=" make -C "$build" uninstall DESTDIR="$stage"
equal "uninstall leaves nothing" "" "$(find "$stage" ! -type d)"
finish
