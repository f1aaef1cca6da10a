#!/bin/bash
# SPDX-License-Identifier: MIT
# A server with one bug at a time (planted.c), which aprof sees by the compiler's flag alone, or by
# that and four lines that say what a request is: the first finding names the function and the line,
# within 24 lines of 80 columns. The same server without a bug has no finding, on a busy machine
# too.
. "${0%/*}/../lib.sh"

export NO_COLOR=1 LC_ALL=C.UTF-8
unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1

if ! pkg-config --exists libuv; then
  skip "a server with a bug" "no libuv"
  finish
fi
compiler=$(gcc_of "${majors##* }")
for program in plain requests; do
  define=
  [ $program = plain ] || define=-DREQUESTS
  # shellcheck disable=SC2046,SC2086 # flags
  check "$program compiles" "$compiler" -g -O1 -Wall -Wextra -Werror "-fplugin=$plugin" -I"$src/rt/include" $define \
    "$src/tests/system/planted.c" -o $program $(pkg-config --cflags --libs libuv) -lpthread
done

# run PROGRAM BUG: its totals are PROGRAM.BUG/*.json
run() {
  "$aprof" run -q -o "$1.$2" -- "./$1" "$2" >"$1.$2.out" 2>&1
}

# Two at a time; what burns a processor alone.
pairs=(plain none requests none plain sync plain slow plain retry requests pool plain leak plain lost)
for ((i = 0; i < ${#pairs[@]}; i += 4)); do
  run "${pairs[i]}" "${pairs[i + 1]}" &
  run "${pairs[i + 2]}" "${pairs[i + 3]}"
  wait
done
run plain storm

# again TEST PROGRAM BUG: a machine that stands still for a moment holds the loop, which nobody in it
# can tell from a call that blocks. Who fails the test has two more tries, alone.
again() {
  local try
  for try in 1 2 3; do
    "$aprof" report "$2.$3"/*.json >report.txt
    if "$1" || [ "$try" = 3 ]; then
      return
    fi
    echo "$2 $3, again after:" && head -n 24 report.txt
    rm -r "$2.$3" && run "$2" "$3"
  done
}

# Of the first finding: kinds, function and lines are those that finds() has been asked for.
first() { head -n 24 report.txt | awk '/^ *[0-9]+ [A-Z]/ { n++ } /^$/ { n = 0 } n == 1'; }
first_is_kind() { first | grep -qE "^ 1 ($kinds)  "; }
first_is_whose() { first | grep -qF "\`$function\`"; }
first_is_where() { first | grep -qE "planted\.c:($lines)([^0-9]|\$)"; }
first_is_it() { first_is_kind && first_is_whose && first_is_where; }

# finds PROGRAM BUG FUNCTION KIND...: its first finding is of one of these kinds, about the
# function, and has the line that is marked
finds() {
  local program=$1 bug=$2 function=$3 kinds lines
  shift 3
  kinds=$(IFS='|' && echo "$*")
  lines=$(grep -nE "/\* at ([a-z]+, )*$bug(, [a-z]+)* \*/" "$src/tests/system/planted.c" | cut -d: -f1 | paste -sd'|')
  again first_is_it "$program" "$bug"
  equal "$bug: fits 80 columns" "" "$(awk 'length > 80' report.txt)"
  check "$bug: fits 24 lines" test "$(wc -l <report.txt)" -le 24
  check "$bug: the first finding, of what kind" first_is_kind
  check "$bug: of whom" first_is_whose
  check "$bug: where" first_is_where
  first
}
finds plain sync on_ready HELD BLOCKING
finds plain slow on_ready 'TWO SPEEDS'
finds plain retry on_later 'TWO SPEEDS'
finds requests pool request_handle POOL
finds plain leak on_ready STUCK LEAKED GROWING
finds plain lost on_ready STUCK
finds plain storm on_idle SPINNING STORM

has_no_finding() { grep -q '^no finding: ' report.txt; }
for program in plain requests; do
  again has_no_finding $program none
  check "$program, without a bug: no finding" has_no_finding
  has_no_finding || cat report.txt
done

finish
