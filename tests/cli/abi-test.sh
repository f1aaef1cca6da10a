#!/bin/bash
# SPDX-License-Identifier: MIT
# Units whose gate is not of this version, made by changing what the plugin says of it in their
# assembly: they run as if never instrumented, and run, report, list and coverage say so.
. "${0%/*}/../lib.sh"

profiles=$(mktemp -d "${XDG_RUNTIME_DIR:-/dev/shm}/aprof-test.XXXXXX" 2>/dev/null) ||
  profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
trap 'rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export NO_COLOR=1
unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1

headers=$src/rt/include/aprof
abi=$(sed -n 's/^#define APROF_ABI //p' "$headers/abi.h")
rows=$(sed -n 's/^#define APROF_GATE_ROWS //p' "$headers/event-table.h")
head=24 # bytes of a gate before its rows
gcc=$(gcc_of "${majors##* }")

cat >unit.c <<'END'
__attribute__((aprof("async"), noinline)) void UNIT(void) { __asm__ volatile(""); }
END
cat >main.c <<'END'
#include <unistd.h>
void first(void);
void second(void);
int main(int argc, char **argv) {
  first();
  second();
  if (argc > 1) {
    (void)!write(1, "up\n", 3);
    pause();
  }
  return argv[0] ? 3 : 4;
}
END

# unit NAME [ABI ROWS]: NAME.o, as a plugin of that version would make it
unit() {
  local as=${2:-$abi} of=${3:-$rows}
  "$gcc" -O2 -fplugin="$plugin" -DUNIT="$1" -S unit.c -o unit.s ||
    exit 1
  sed -i -e "/^__aprof_gate_${abi}_$rows:/,/\.long\t$abi\$/s/\.long\t$abi\$/.long\t$as/" \
    -e "s/\.long\t$((head + 8 * rows))\$/.long\t$((head + 8 * of))/" \
    -e "s/__aprof_gate_${abi}_$rows/__aprof_gate_${as}_$of/g" \
    -e "/unit\\\\011/s/\\\\011$abi\.$rows\\\\012/\\\\011$as.$of\\\\012/" unit.s
  "$gcc" -c unit.s -o "$1.o" || exit 1
}

# program ABI ROWS: `first` is of this version, `second` of that one
program() {
  unit first
  unit second "$@"
  "$gcc" main.c first.o second.o -o program || exit 1
}

# run: sets status, err.txt and json
run() {
  rm -rf out
  "$aprof" run -o out --options "profile:$profiles" -- ./program >out.txt 2>err.txt
  status=$?
  json=$(echo out/program.*.json)
}

program "$abi" "$rows"
run
equal "of this version: the program's own status" 3 "$status"
equal "of this version: nothing is refused" "0 null 1 1" "$(value "$json" \
  't["health"]["refused_modules"], t["health"]["refused_module"], f.first.done, f.second.done')"
equal "of this version: one gate" 1 "$(nm program | grep -c __aprof_gate)"
equal "of this version: nothing is said of it" 0 "$(grep -c "version of the plugin" err.txt)"
"$aprof" coverage --strict program >coverage.txt
equal "of this version: coverage finds nothing amiss" 0 $?

for version in "$((abi - 1)) $rows older" "$((abi + 1)) $rows newer" "$abi $((rows + 1)) newer"; do
  read -r its_abi its_rows age <<<"$version"
  name="gate $its_abi.$its_rows"
  program "$its_abi" "$its_rows"
  equal "$name: one for each version" 2 "$(nm program | grep -c __aprof_gate)"
  run
  equal "$name: the program's own status" 3 "$status"
  check "$name: totals close" totals_close "$json"
  equal "$name: what is served, and what is not" "1 1 program false" "$(value "$json" \
    'f.first.done, t["health"]["refused_modules"], t["health"]["refused_module"], "second" in f')"
  equal "$name: the run says so, once" 1 \
    "$(grep -c " $age version of the plugin and is not profiled; .*: program\$" err.txt)"
  "$aprof" report "$json" >report.txt
  contains "$name: so does the report" "1 module (program) was built by another version" report.txt
  "$aprof" coverage --strict program >coverage.txt
  equal "$name: coverage finds it amiss" 1 $?
  contains "$name: coverage names it" "1 unit compiled by another version of the plugin" coverage.txt
done

# Nothing that can be profiled is no reason for silence.
unit first $((abi - 1)) "$rows"
unit second $((abi - 1)) "$rows"
"$gcc" main.c first.o second.o -o program || exit 1
run
equal "all refused: the program's own status" 3 "$status"
check "all refused: totals close" totals_close "$json"
equal "all refused: totals say why" "1 program 0" \
  "$(value "$json" 't["health"]["refused_modules"], t["health"]["refused_module"], len(f)')"
APROF_OPTIONS=profile:$profiles LD_PRELOAD=$build/rt/.libs/libaprof.so.0 ./program wait \
  >up.txt 2>/dev/null &
pid=$!
until_true test -s up.txt
"$aprof" list --directory "$profiles" >list.txt
contains "all refused: list says so" "$pid: program is not profiled: built by another" list.txt
kill -KILL $pid
wait $pid 2>/dev/null

# Notes had no ABI up to 3.
"$gcc" -c main.c -o main.o &&
  objcopy --add-section .aprof.coverage="$src/tests/fuzz/corpus/coverage/all" main.o
"$aprof" coverage main.o >coverage.txt
contains "coverage of older notes" "1 unit compiled by another version of the plugin" coverage.txt

finish
