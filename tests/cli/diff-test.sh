#!/bin/bash
# SPDX-License-Identifier: MIT
# What changed between runs, gates and their status, and the source with its margin: of a program
# whose clock is its own, so that each number is known.
. "${0%/*}/../lib.sh"

unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1

compiler=$(gcc_of "${majors##* }")
cp "$src/tests/cli/findings.c" program.c
check "a program" "$compiler" -g -O1 -I"$src/rt/include" -fplugin="$plugin" program.c -o program
# Another build of it: all lines are further down, and the directory is another.
mkdir other && { printf '\n\n\n' && cat program.c; } >other/program.c
check "another build" "$compiler" -g -O1 -DOTHER -Wl,--build-id=0x1234 -I"$src/rt/include" \
  -fplugin="$plugin" other/program.c -o other/program
for run in 1 2 3; do
  check "run $run of it" "$aprof" run --clock virtual -o a -- ./program held queued
  check "run $run of the other" "$aprof" run --clock virtual -o b -- ./other/program held queued
done
mapfile -t a < <(ls a/*.json)
mapfile -t b < <(ls b/*.json)
all_a=$(IFS=, && echo "${a[*]}") all_b=$(IFS=, && echo "${b[*]}")

# status_of WANTED COMMAND...: its status; what it says is in out.txt and err.txt.
status_of() {
  local wanted=$1 name=$2
  shift 2
  "$@" >out.txt 2>err.txt
  equal "$name: status" "$wanted" "$?"
}

status_of 0 "two builds" "$aprof" diff "${a[0]}" "${b[0]}"
contains "two builds: it is said" "other build" out.txt
contains "the same numbers: nothing changed" "Nothing changed by over 5 %" out.txt
equal "diff: fits 80 columns" 0 "$(awk 'length > 80' out.txt | wc -l)"
status_of 0 "three runs each" "$aprof" diff "$all_a" "$all_b"
contains "three runs each: medians" "3 runs of program" out.txt

"$aprof" report --json "${b[0]}" >report.json
read -r function hold < <(value report.json '*pick(max(t.functions, key=lambda g: g.slice_max_ns or 0), "name slice_max_ns")')

# Gates.
status_of 3 "a hold too long" "$aprof" report "${b[0]}" --fail-if "hold.max > $((hold - 1))ns"
contains "a hold too long: who" "$function" err.txt
status_of 0 "a hold just not" "$aprof" report "${b[0]}" --fail-if "hold.max > ${hold}ns"
status_of 3 "at least" "$aprof" report "${b[0]}" --fail-if "hold.max >= ${hold}ns"
status_of 3 "two gates, one option" "$aprof" report "${b[0]}" --fail-if "hold.max > 1h" "runs > 0"
equal "two gates: one line for the one that failed" 1 "$(wc -l <err.txt)"
status_of 3 "report --json" "$aprof" report --json "${b[0]}" --fail-if "hold.max > $((hold - 1))ns"
equal "report --json: whose hold" "failed $function" \
  "$(value out.txt '*pick(t.gates[0], "verdict function")')"
status_of 3 "findings" "$aprof" report "${b[0]}" --fail-if "held findings > 0"
status_of 0 "no such findings" "$aprof" report "${b[0]}" --fail-if "leaked findings > 0"
status_of 1 "a gate of nobody" "$aprof" report "${b[0]}" --fail-if "nobody hold.max > 1ms"
contains "a gate of nobody: it is said" "no function is called \`nobody\`" err.txt
status_of 2 "no measure" "$aprof" report "${b[0]}" --fail-if "hold.maxx > 1ms"
contains "no measure: which there are" "hold.max" err.txt
status_of 2 "no unit" "$aprof" report "${b[0]}" --fail-if "hold.max > 1"
status_of 2 "a change of nothing" "$aprof" report "${b[0]}" --fail-if "hold.max > +10%"
status_of 0 "a change that is none" "$aprof" diff "$all_a" "$all_b" --fail-if "hold.max > +1%"
status_of 3 "json, too" "$aprof" diff --json "${a[0]}" "${b[0]}" "runs > 0"
check "json: as its schema says" conforms out.txt
equal "json: the gate" failed "$(value out.txt 't.gates[0].verdict')"
equal "json: the same hold on both sides" "$hold $hold" \
  "$(value out.txt "*(one(t.functions, function='$function').measures['hold.max'][side].median for side in 'ab')")"
equal "json: each function was found in the other" 0 \
  "$(value out.txt 'sum(not (g.in_a and g.in_b) for g in t.functions)')"
status_of 0 "markdown" "$aprof" diff --markdown "${a[0]}" "${b[0]}"
contains "markdown: a table" '| | | A | B | change |' out.txt

# A name that nothing breaks; the command beneath a finding has to have all of it.
long=$(printf 'a%.0s' {1..120})
sed "s/\"$function\"/\"$long\"/g" "${a[0]}" >long.json
status_of 0 "a long name" "$aprof" report long.json
check "a long name: is in a finding" grep -q 'HELD  `aaa' out.txt
equal "a long name: fits 80 columns" 0 "$(awk 'length > 80 && !/next: /' out.txt | wc -l)"

# What cannot be compared.
status_of 1 "a file twice" "$aprof" diff "${a[0]}" "${a[0]}"
"$aprof" merge -o one.json "${a[0]}" "${a[1]}"
"$aprof" merge -o other.json "${a[0]}" "${b[0]}"
status_of 1 "merges that share a process" "$aprof" diff one.json other.json
contains "merges that share a process: what helps" "one.json and other.json have a process in common" err.txt
status_of 1 "no such file" "$aprof" diff "${a[0]}" none.json
for list in ",${a[0]}" "${a[0]},," "${a[0]},,${a[1]}"; do
  status_of 1 "a list with an empty item: $list" "$aprof" diff "$list" "${b[0]}"
  contains "a list with an empty item: it is said" "is empty" err.txt
done
status_of 2 "one side" "$aprof" diff "${a[0]}"
status_of 2 "two inputs" "$aprof" diff - -

# For editors.
status_of 0 "report --format=gcc" "$aprof" report --format=gcc "${a[0]}"
check "gcc's format" grep -q 'program.c:[0-9]*: note: .*\[held\]' out.txt
equal "nothing else" "" "$(grep -v ': note: ' out.txt)"

# The source.
status_of 0 "annotate" "$aprof" annotate "${a[0]}" program.c
equal "annotate: fits 80 columns" 0 "$(awk 'length > 80' out.txt | wc -l)"
line=$(grep -nE "^[a-z].*\b$function\(" program.c | tail -n 1 | cut -d: -f1)
check "annotate: the function's line has its longest hold" \
  grep -qE "^ .*[0-9]ms +$line " out.txt
status_of 0 "annotate --json" "$aprof" annotate --json "${a[0]}" program.c
check "annotate --json: as its schema says" conforms out.txt
equal "annotate --json: the same" "$hold" \
  "$(value out.txt "one(t.marks, function='$function', what='function').worst_ns")"
status_of 0 "a directory" "$aprof" annotate "${b[0]}" program.c --source other --all
equal "all lines" "$(wc -l <other/program.c)" "$(grep -cE '^.{24} +[0-9]+( |$)' out.txt)"
touch -d '+1 hour' program.c
status_of 0 "a newer source" "$aprof" annotate "${a[0]}" program.c
contains "a newer source: it is said" "newer than the process" out.txt
status_of 1 "no such source" "$aprof" annotate "${a[0]}" nothing.c
contains "no such source: which there are" "program.c" err.txt
status_of 1 "not there" "$aprof" annotate "${a[0]}" program.c --source /var/empty
status_of 2 "none" "$aprof" annotate "${a[0]}"
finish
