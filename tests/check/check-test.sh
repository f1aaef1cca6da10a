#!/bin/bash
# SPDX-License-Identifier: MIT
# aprof check: each rule finds the lines that say BAD in its folder, as C and as C++, and no others;
# the path that proves it; what it says of what it has not seen; statuses.
. "${0%/*}/../lib.sh"

[ -e "$build/aprof-check" ] || {
  skip "aprof check" "built without libclang"
  "$aprof" check >"$work/out" 2>&1
  equal "which is said" 1 $?
  contains "with what to do" "install libclang-dev" "$work/out"
  finish
}
export NO_COLOR=1 LC_ALL=C

# check_files NAME FILE... [-- FLAG...]: NAME.txt is what is printed, NAME.err what else; the status
check_files() {
  local name=$1
  shift
  "$aprof" check "$@" >"$work/$name.txt" 2>"$work/$name.err"
}
# found RULE FILE: its findings there, as FILE:LINE
found() {
  sed -nE "s/^([^ :]+:[0-9]+):[0-9]+: warning: .*\[$1\]\$/\1/p" "$2" | sort -u
}
marked() {
  { grep -n '/\* BAD' "$@" /dev/null; [ ! -e my.aprof ] || awk '/^# BAD/ { print FILENAME ":" NR + 1 }' my.aprof; } |
    cut -d: -f1,2 | sort -u
}

cd "$src/tests/check" || exit 1
for rule in */; do
  rule=${rule%/}
  cd "$rule" || exit 1
  mapfile -t files < <(ls | grep -E '\.(c|cc)$')
  bindings=()
  [ ! -e my.aprof ] || bindings=(-b my.aprof)
  check_files "$rule" "${bindings[@]}" "${files[@]}" --
  equal "$rule: its status" 3 $?
  equal "$rule: what says BAD is found, and nothing else" "$(marked "${files[@]}")" "$(found "$rule" "$work/$rule.txt")"
  equal "$rule: no other rule finds anything" "" "$(grep ': warning: ' "$work/$rule.txt" | grep -v "\[$rule\]")"
  mapfile -t files < <(ls | grep -E '\.c$')
  check_files "$rule-as-c++" "${bindings[@]}" "${files[@]}" -- -x c++
  equal "$rule: the same as C++" "$(marked "${files[@]}")" "$(found "$rule" "$work/$rule-as-c++.txt")"
  cd .. || exit 1
done
equal "each rule has a folder here" "$("$aprof" check --rules | grep -v '^ ' | sort)" "$(ls -d */ | tr -d / | sort)"
for rule in */; do
  check "doc/check.md: ${rule%/}" grep -qx "## ${rule%/}" "$src/doc/check.md"
  check "aprof-check(1): ${rule%/}" grep -qx "\.B ${rule%/}" <(tr -d '\\' <"$src/doc/aprof-check.1")
done

# -- the path, and the caret -----------------------------------------------------------
out=$work/blocking-in-async.txt
grep -A7 '^log.c:13:' "$out" >"$work/one"
equal "the call has a caret" "      |     ^~~~~" "$(sed -n 3p "$work/one")"
equal "its path is whole, and the shortest" "server.c: 'on_read' is asynchronous: 'uv_read_start' is given it here
server.c: 'on_read' calls 'audit'
log.c: 'audit' calls 'flush'
log.c: 'flush' calls 'fsync'" "$(sed -nE 's/^([a-z.]+):[0-9]+: note: (.*)/\1: \2/p' "$work/one" | sed 's/ (libuv.*//' | head -n 4)"
contains "and a way to mend it" "to mend it, let a thread of a pool do it" "$work/one"

# -- a program by its compilation database ---------------------------------------------
mkdir -p "$work/build" "$work/src"
cd "$work" || exit 1
cp "$src/tests/check/blocking-in-async"/{server.c,log.c,log.h} src/
cat >build/compile_commands.json <<END
[{"directory": "$work/build", "command": "gcc -fplugin=aprof -fplugin-arg-aprof-bindings=my,own.aprof -Wall -DX=\"1 2\" -c ../src/server.c -o server.o", "file": "../src/server.c"},
 {"directory": "$work/build", "arguments": ["gcc", "-c", "$work/src/log.c"], "file": "$work/src/log.c"}]
END
echo 'blocking call:never' >build/my,own.aprof
sed -i 's/never(WNOHANG);/never(WNOHANG); \/* BAD *\//' src/server.c
check_files database
equal "build/ is found" 3 $?
equal "the bindings of its commands hold" "$(marked src/*.c)" "$(found blocking-in-async database.txt)"
check_files one -p build src/log.c
equal "a single unit knows no loop" 0 $?
check_files none -p src
equal "no database: status" 1 $?
contains "no database: what to do" "CMAKE_EXPORT_COMPILE_COMMANDS" none.err
check_files both -p build -- -Wall
equal "flags and a database: status" 2 $?
check_files missing src/none.c --
equal "no such file: status" 1 $?
contains "no such file: which" "src/none.c cannot be read" missing.err

# -- what is not seen --------------------------------------------------------------------
printf 'int f(void) { return 3 +; }\n' >broken.c
printf '#include "there-is-none.h"\nint g;\n' >header.c
python3 -c 'print("int deep = " + "- " * 300000 + "1;")' >deep.c
cat >pointer.c <<'END'
#include <uv.h>
struct hooks { void (*tell)(void); };
struct hooks *hooks;
static void on_timer(uv_timer_t *timer) { (void)timer; hooks->tell(); }
void arm(uv_timer_t *timer) { uv_timer_start(timer, on_timer, 1, 0); }
END
check_files unseen broken.c header.c deep.c pointer.c src/server.c src/log.c --
equal "a unit that crashes the parser does not end the run" "$(marked src/*.c | grep -v :47)" \
  "$(found blocking-in-async unseen.txt)"
contains "it is named" "deep.c: the parser crashed" unseen.err
contains "so is one that does not parse" "broken.c: 1 error" unseen.err
contains "and one whose header is missing" "header.c: 1 error" unseen.err
contains "calls through pointers are counted" "1 call from asynchronous code through pointers" unseen.err
check_files unseen --unseen pointer.c --
contains "and listed" "pointer.c:4: hooks.tell" unseen.err
check_files all-broken deep.c --
equal "nothing could be read: status" 1 $?
finish
