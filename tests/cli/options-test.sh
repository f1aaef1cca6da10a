#!/bin/bash
# SPDX-License-Identifier: MIT
# The command line: values with units, names of options, what is refused and what is said then.
# Programs here carry hand-written events (hand.c), so the plugin is not needed.
. "${0%/*}/../lib.sh"

profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
live=
trap '[ -z "$live" ] || kill $live 2>/dev/null; rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export NO_COLOR=1
unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1

"${CC:-gcc}" -g -I"$src/rt/include" "$src/tests/cli/hand.c" -o hand || exit 1
"$aprof" run --preload -q -o out --options "profile:$profiles" -- ./hand return || exit 1
totals=$(echo out/hand.*.json)
"$aprof" run --preload -q -o other --options "profile:$profiles" -- ./hand return || exit 1
other=$(echo other/hand.*.json)

# says NAME STATUS TEXT COMMAND...: its status, and what it prints, on either stream
says() {
  local name=$1 status=$2 text=$3
  shift 3
  "$@" >said.txt 2>&1
  equal "$name: status" "$status" $?
  [ -z "$text" ] || contains "$name: what is said" "$text" said.txt
}

# -- values ------------------------------------------------------------------------

# A hold of some 30 ms.
for value in 1 1ms 1000us '1 ms' 0.001s 1e0; do
  says "--threshold=$value" 0 "held the loop for" "$aprof" report "$totals" --threshold="$value"
done
for value in 90000 90000ms 0.1h 1d; do
  says "--threshold=$value" 0 "no finding" "$aprof" report "$totals" --threshold="$value"
done
for value in 0x10 inf nan -5 ms 5% 5k 1e99 '5 q' '' 5msx; do
  says "--threshold '$value'" 2 "" "$aprof" report "$totals" --threshold "$value"
done
contains "a time that is none: what one is" "is no time, as 500us, 50ms" said.txt
says "--top 1k" 0 "handle_upload" "$aprof" report "$totals" --top 1k
for value in 0x10 1.5 -1 1ms; do
  says "--top $value" 2 "not a number" "$aprof" report "$totals" --top "$value"
done
says "a gate in other units" 3 "failed:" "$aprof" report "$totals" --fail-if 'hold.max > 0.001 s'
for value in 0x1p3ms inf infinity nan 1e999ms +5% 10k; do
  says "a gate of $value" 2 "is " "$aprof" report "$totals" --fail-if "hold.max > $value"
done

# -- names of options ----------------------------------------------------------------

says "an option that is not written out" 2 "there is no option --thr; there is --threshold" \
  "$aprof" report "$totals" --thr 5
says "... with its value" 2 "there is no option --thr; there is --threshold" \
  "$aprof" report "$totals" --thr=5
says "... of run" 2 "there is no option --rep; there is --report" "$aprof" run --rep -- true
says "no such option" 2 "there is no option --frobnicate" "$aprof" report --frobnicate
says "what stands behind -- is no option" 1 "there is no file --thr" "$aprof" report -- --thr
says "the program's own options" 0 "hello" "$aprof" run -q -- echo hello --rep
says "the program's own options, without --" 0 "--rep" "$aprof" run -q echo hello --rep
check "a value that looks like an option" "$aprof" report "$totals" -o --thr
check "... names a file" test -s ./--thr
says "a letter, and its value" 0 "" "$aprof" report "$totals" -n2 -o - --all

# -- what does not go together --------------------------------------------------------

says "JSON in gcc's format" 2 "not both" "$aprof" report "$totals" --json --format=gcc
for directory in . "$work/" "-f$work"; do
  says "annotate $directory" 2 "the source is a directory: give one file" "$aprof" annotate "$totals" "$directory"
done
says "a gate with code in it, as Markdown" 1 '- **failed** `` `a` exec.mean < 1h ``' "$aprof" diff "$totals" "$other" --markdown \
  --fail-if '`a` exec.mean < 1h'

# -- from now on ---------------------------------------------------------------------------

# start HOW [ROUNDS] <INPUT: a round takes some 0.7 ms.
start() {
  APROF_OPTIONS="profile:$profiles,dir:$work" LD_PRELOAD=$build/rt/.libs/libaprof.so.0 \
    ./hand "$@" <&0 &
  live+=" $!"
  until_true "$aprof" dump -o early.json $!
}
made() {
  value "$1" 'sum(f["created"] for f in t["functions"])'
}
start live 1000000 </dev/null
live_one=$!
start live 1000000 </dev/null
other_one=$!
"$aprof" dump -o early.json "$live_one"
"$aprof" report --for 300ms --json "$live_one" >span.json
"$aprof" dump -o late.json "$live_one"
equal "--for: an interval, that long" true \
  "$(value span.json 't["process"]["interval"] and 3e8 <= t["process"]["elapsed_ns"] < 5e9')"
check "--for: with what happened then" test "$(made span.json)" -gt 5
check "--for: and no more" test "$(made span.json)" -lt $(($(made late.json) - $(made early.json)))
check "flame --for" "$aprof" flame --for 50ms -o span.svg "$live_one"
check "diff --for: two processes in the same time" "$aprof" diff --for 50ms "$live_one" "$other_one"
check "export --for: of all that live" "$aprof" export --to csv --for 300ms -o span.csv
equal "... what happened then" true \
  "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 && $at["pid"] ~ /^('"$live_one|$other_one"')$/ &&
    $at["created"] > 0 { n++ } END { print n >= 2 ? "true" : "false" }' span.csv)"
# It waits for a line that never comes, in its profile and in the interval.
mkfifo never
exec 8<>never
start stuck <never
idle_one=$!
"$aprof" report --for 300s --json "$idle_one" >span.json 2>said.txt &
waits=$!
until_true eval "grep -qs '^Pid:.$idle_one\$' /proc/$waits/fdinfo/*"
kill -9 "$idle_one"
wait "$waits"
equal "--for: one that does nothing, and is killed: status" 0 $?
rm -f "$profiles"/*"$idle_one"*
equal "... it is an interval" true "$(value span.json 't["process"]["interval"]')"
says "export --for: of counters" 2 "--for means nothing to the format openmetrics" \
  "$aprof" export --to openmetrics --for 1s "$live_one"
says "--for: of totals" 1 "late.json is of no live process: --for measures one from now on" \
  "$aprof" report --for 1s late.json
says "--for: of two" 2 "two targets, or --for" "$aprof" report --for 1s "$live_one" "$live_one"
says "--for: ps is of now" 2 "there is no option --for" "$aprof" ps --for 1s "$live_one"
says "--for: no time" 2 "is no time" "$aprof" report --for ever "$live_one"

# -- the last seconds ----------------------------------------------------------------------

# Totals of one process, of so many seconds before the last.
mkdir series
for age in 0 1 4.5 11 40 100; do
  edit "$totals" "t['process']['elapsed_ns'] += int(200e9 - $age * 1e9)" >"series/$age.json"
  touch -d "@$((2000000000 - ${age%.*}))" "series/$age.json"
done
# spans NAME SECONDS ARGUMENT...: so long is the interval that is shown
spans() {
  local name=$1 seconds=$2
  shift 2
  "$aprof" report --json "$@" >span.json
  equal "$name" "$seconds" "$(value span.json 't["process"]["interval"] and t["process"]["elapsed_ns"] // 10**8')"
}
spans "--window: the totals that lie next to its beginning" 110 --window 10s series/0.json
spans "... of a directory, its last ones" 45 --window 5s series
spans "... of others than the last" 290 --window 25s series/11.json
spans "... all of a process that is younger" false --window 10min series
spans "a directory of totals alone: the last ones" false series
equal "... these" true "$("$aprof" report --json series | value - "t['process']['elapsed_ns'] > 200e9")"
"$aprof" export --to folded --measure exec --window 10s -o span.txt series/0.json
equal "export --window: the totals edited here have the same counts" 0 "$(awk '{ n += $NF } END { print n + 0 }' span.txt)"
check "flame --window" "$aprof" flame --window 10s -o span.svg series
says "top --once --window" 0 "11.0 s" "$aprof" top --once --window 10s series/0.json
says "--window: none are near" 1 "in series those nearest are of 11.0 s before" "$aprof" report --window 23s series
says "--window: none are there" 1 "takes earlier totals of its process in out" "$aprof" report --window 1ms "$totals"
says "--window: of a pipe" 1 "takes earlier totals of its process" "$aprof" report --window 1ms - <"$totals"
says "--window: of two" 2 "two targets, or --window" "$aprof" report --window 1s series/1.json series/0.json
says "--window, and --for" 2 "not both" "$aprof" report --window 1s --for 1s "$live_one"
cp "$other" series/other.json
says "a directory with totals of two processes" 2 "series has totals of 2 processes; name the last of one" \
  "$aprof" report series
contains "... which" "  series/0.json  (hand, process " said.txt
says "a directory without totals" 1 "without totals" "$aprof" report "$profiles"

# Its totals go to $work; what is next to so long ago depends on how busy the machine is.
window_of_live() {
  ((tries++ % 50)) || "$aprof" dump -o early.json "$live_one"
  "$aprof" report --window 300ms --json "$live_one" >span.json 2>said.txt
}
says "--window: a live process without earlier totals" 1 "--for measures from now on" \
  "$aprof" report --window 1ms "$other_one"
rm -f early.json late.json
tries=0
check "--window: of a live process" until_true window_of_live
equal "... as long as there is" true \
  "$(value span.json 't["process"]["interval"] and 150e6 <= t["process"]["elapsed_ns"] <= 450e6')"

# -- JSON ------------------------------------------------------------------------------------

"$aprof" list --json >list.json
check "list --json: as its schema says" conforms list.json
equal "list --json: what lives" '"live"' \
  "$(value list.json "[r['state'] for r in t.profiles if r['pid'] == $live_one][0:1]" | tr -d '[]')"
for command in off on reset; do
  "$aprof" $command --json "$live_one" >$command.json
  check "$command --json: as its schema says" conforms $command.json
done
equal "off, on --json: how it is then" "false true" "$(value off.json on.json t.enabled | xargs)"
equal "reset --json: from which epoch on" true "$(value reset.json 't.reset_epoch == t.epoch')"

mkdir written
"$aprof" dump --json -o written/dump.json "$live_one" >written.json
check "dump --json: as its schema says" conforms written.json
equal "dump --json: what was written where" "$work/written/dump.json hand $live_one request null" \
  "$(value written.json "tuple(pick(t.totals[0], 'file name pid reason')) + (t.status,)" | xargs)"
says "dump --json, and the totals themselves" 2 "not both" "$aprof" dump --json -o - "$live_one"
"$aprof" run --json --preload -o written --options "profile:$profiles" -- sh -c 'echo hello; ./hand return; exit 3' \
  >said.txt 2>err.txt
equal "run --json: the program's exit status, and nothing else is said" "3 0" "$? $(wc -c <err.txt)"
equal "run --json: behind what the program prints" "hello 2" "$(head -n 1 said.txt) $(wc -l <said.txt)"
tail -n 1 said.txt >written.json
check "run --json: as its schema says" conforms written.json
equal "run --json: the totals, and the status" "1 hand exit 3 0 true" \
  "$(value written.json "(len(t.totals), *pick(t.totals[0], 'name reason'), t.status, t.living, t.complete)" | xargs)"
check "run --json: they are there" totals_close "$(value written.json t.totals[0].file)"
says "run --json, and the report" 2 "not both" "$aprof" run --json --report -- true
"$aprof" run --json -- true >written.json 2>err.txt
check "run --json without totals: as its schema says" conforms written.json
contains "... and why there are none" "no totals" err.txt

# until it waits: it has a descriptor that tells the end of the process
measures() {
  ls -l "/proc/$1/fd" | grep -q pidfd
}
env --default-signal=INT "$aprof" report --for 1h --json "$live_one" >span.json &
reader=$!
until_true measures $reader
kill -INT $reader
wait $reader
equal "--for: Ctrl-C ends it, and what there is is shown" "0 true" "$? $(value span.json 't["process"]["interval"]')"
script -qfec "$aprof report --for 1h $live_one" typescript >/dev/null &
reader=$!
until_true grep -q 'measures process' typescript
contains "--for: on a terminal it is said how far it is" "of 3600 s; Ctrl-C ends it here" typescript
kill "$live_one"
wait $reader
contains "--for: the end of the process ends it" "handle_upload" typescript
"$aprof" dump -o - "$other_one" | "$aprof" report - >piped.txt
contains "totals through a pipe, as from another machine" "handle_upload" piped.txt

"$aprof" list --sweep=0 --json --directory "$profiles" >sweep.json
check "list --sweep --json: as its schema says" conforms sweep.json
equal "list --sweep --json: the profile of the one that was killed" 1 "$(value sweep.json 'len(t.removed)')"
for age in 7d 12h 0.5; do
  says "--sweep=$age" 0 "" "$aprof" list --sweep=$age --dry-run
done
says "--sweep=soon" 2 "that is no time, as 7d or 12h" "$aprof" list --sweep=soon

finish
