#!/bin/bash
# SPDX-License-Identifier: MIT
# A set-user-ID program lends its rights to nobody: the `aprof` command that it starts is one
# that its caller cannot choose, and runs with the caller's rights.
. "$(dirname "$0")/../lib.sh"

[ "$(id -u)" -eq 0 ] || { skip "set-user-ID programs" "not root"; finish; exit; }
chmod 755 "$work"
cat >"$work/program.c" <<'C'
#include <aprof.h>
#include <stdio.h>
#include <unistd.h>
APROF_ASYNC static __attribute__((noinline)) int work(int n) { return n + 1; }
int main(void) { printf("%d\n", work(geteuid() == 0)); return 0; }
C
mkdir -p "$work/lib" "$work/bin" "$work/theirs/a/b" "$work/ours" "$work/open"
chmod 777 "$work/theirs" "$work/open"
cp "$build/rt/.libs/libaprof.so.0" "$work/lib/" && cp "$aprof" "$work/bin/aprof"
cc=$(gcc_of "$(gcc -dumpversion | cut -d. -f1)")
compile() { # NAME WITH...: of root, for everybody
  "$cc" -O2 -fplugin="$plugin" -I"$src/rt/include" "$work/program.c" -o "$work/$1" "${@:2}" &&
    chmod 4755 "$work/$1"
}
check "linked with the archive" compile archive -Wl,-u,__aprof_attach "$build/rt/.libs/libaprof.a"
check "linked with the library" compile shared -Wl,--no-as-needed "$work/lib/libaprof.so.0" "-Wl,-rpath,$work/lib"

# as_nobody DIRECTORY NAME PROGRAM: that directory, and that name for the program
as_nobody() {
  (cd "$1" && setpriv --reuid=65534 --regid=65534 --clear-groups bash -c 'exec -a "$0" "$1"' "$2" "$3")
}
as_nobody "$work/open" shared "$work/shared" >"$work/said" 2>"$work/why"
if [ "$(head -n 1 "$work/said")" != 2 ]; then
  skip "set-user-ID programs" "not on this file system"
  finish
  exit
fi

# The loader knows a program by the name that its caller gives it.
printf '#!/bin/sh\nid -u >%s\n' "$work/theirs/ran" >"$work/theirs/aprof"
chmod 755 "$work/theirs/aprof"
as_nobody "$work/open" "$work/theirs/a/b/c" "$work/archive" >"$work/said" 2>"$work/why"
equal "the program's own output" 2 "$(head -n 1 "$work/said")"
check "a command that the caller put there is not run" test ! -e "$work/theirs/ran"

left() { find /dev/shm/aprof-0 -name 'archive-*' -newer "$work/program.c" -o \
  -name 'shared-*' -newer "$work/program.c" 2>/dev/null; }
owner() { find "$1" -name '*.json' -printf '%u\n' | sort -u; }
equal "totals belong to who started the program" nobody "$(owner "$work/open")"
as_nobody "$work/ours" shared "$work/shared" >"$work/said" 2>"$work/why"
equal "the program's own output, where its caller may not write" 2 "$(head -n 1 "$work/said")"
equal "no totals there" "" "$(owner "$work/ours")"
equal "nothing of them is left, which their caller could pile up" "" "$(left)"
check "but a line that says so" grep -q "^aprof: " "$work/why"
finish
