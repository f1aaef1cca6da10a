#!/bin/bash
# SPDX-License-Identifier: MIT
# The aprof command from outside: every way a program ends, live processes,
# intervals, messages and exit statuses. Programs here carry hand-written
# events (hand.c), so the plugin is not needed; every dump is checked against
# the schema and the ledger's equations.
. "${0%/*}/../lib.sh"

schema=$src/doc/aprof.totals-2.schema.json
profiles=$(mktemp -d "${XDG_RUNTIME_DIR:-/dev/shm}/aprof-test.XXXXXX" 2>/dev/null) ||
  profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
trap 'rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export NO_COLOR=1
unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1

"${CC:-gcc}" -g -I"$src/rt/include" "$src/tests/cli/hand.c" -o hand || exit 1

# run HOW...: in a directory of its own; sets status, out, err, and json (of the
# process itself)
run() {
  rm -rf out && mkdir out
  "$aprof" run --preload -o out --options "profile:$profiles" "${options[@]}" -- ./hand "$@" \
    >out.txt 2>err.txt
  status=$?
  json=$(echo out/hand.*.json)
}
options=()

# -- ways to end -------------------------------------------------------------

# ends HOW STATUS REASON
ends() {
  local how=$1
  # shellcheck disable=SC2086 # HOW may carry arguments
  run $how
  equal "$how: exit status" "$2" "$status"
  check "$how: one whole file of totals" test -f "$json"
  check "$how: totals close" totals_close "$json"
  equal "$how: reason" "$3" "$(value "$json" 't["process"]["reason"]')"
  equal "$how: nothing lost" "50 50 50" \
    "$(value "$json" 'f["handle_upload"]["done"], f["fetch_quota"]["done"], f["fetch_quota"]["created"]')"
  equal "$how: nothing left over" "" "$(find "$profiles" -mindepth 1)"
}
ends return 0 exit
ends "exit 50 7" 7 exit
ends _exit 4 recovered
ends kill 137 recovered
ends segv 139 recovered
ends abort 134 recovered
ends exec 0 recovered

if [ "$(id -u)" = 0 ]; then
  APROF_OPTIONS="profile:$profiles" LD_PRELOAD=$build/rt/.libs/libaprof.so.0 ./hand kill >out.txt 2>&1
  left=$(find "$profiles" -name 'hand-*')
  setpriv --reuid=65534 --clear-groups "$aprof" dump --fd 3 -o /dev/null 3<>"$left"
  "$aprof" list --directory "$profiles" >list.txt
  contains "list: totals are written, the file is another user's" " done    hand " list.txt
  "$aprof" list --sweep --directory "$profiles" >list.txt
  contains "list --sweep: removes it at once" "removed $left" list.txt
else
  skip "list: a profile that is done" "only root can give up rights"
fi

run again 3
equal "another image of the program: each has its totals" "1 2 3" \
  "$(for f in out/*.json; do value "$f" 'f["handle_upload"]["done"]'; done | sort | xargs)"
check "another image: they close" totals_close out/*.json
equal "another image: nothing left over" "" "$(find "$profiles" -mindepth 1)"

# -- what a run says at its end, to standard error alone --------------------------

run return
equal "run: where its totals are" "aprof: totals: $json; next: aprof report $json" "$(cat err.txt)"
check "run: the program's own output is as it was" cmp out.txt <(./hand return)
options=(--quiet)
run return
options=()
equal "run --quiet: nothing" "" "$(cat err.txt)"
mkdir -p elsewhere
"$aprof" run --preload --options "profile:$profiles" -- \
  sh -c 'for i in 1 2 3 4 5 6; do ./hand return; done; cd elsewhere; ../hand return' >out.txt 2>err.txt
contains "run: totals of how many processes" "aprof: totals of 7 processes (" err.txt
contains "run: of many in one place some are named" "and 2 more there" err.txt
contains "run: those of a child elsewhere are named" "$work/elsewhere/hand." err.txt
equal "run: a line for each place" 3 "$(wc -l <err.txt)"
rm -f hand.*.json elsewhere/hand.*.json
"$aprof" run --preload -o out --options "profile:$profiles" -- "$aprof" run -q -- ./hand return 2>err.txt
contains "run: so are those of a run inside" "aprof: totals: out/hand." err.txt
"$aprof" run -q -- true 2>err.txt
equal "run --quiet: nor why there are none" "" "$(cat err.txt)"
options=(--options dir:/dev/full/none)
run return
options=()
equal "run: what cannot be written is said once" "1 1" \
  "$(grep -c 'cannot write' err.txt) $(grep -c 'the profile is kept' err.txt)"
equal "run: and its status is the program's" 0 "$status"
rm -rf "$profiles"/run-*
"$aprof" run --preload -o out --options "profile:$profiles" -- \
  sh -c '(sleep 1 | ./hand live >live.txt) & until test -s live.txt; do sleep 0.02; done' 2>err.txt
equal "run: of what lives on it says that totals come" \
  "aprof: 1 process of this run lives on: totals come when it ends" "$(cat err.txt)"
for _ in $(seq 200); do [ -n "$(find "$profiles" -mindepth 1)" ] || break; sleep 0.02; done

run none
equal "no future: exit status" 3 "$status"
equal "no future: no footprint" "" "$(find out "$profiles" -mindepth 1)"

run fork
equal "fork: two processes" 2 "$(find out -name '*.json' | wc -l)"
check "fork: totals close" totals_close out/*.json
each=$(($(for f in out/*.json; do value "$f" 'f["handle_upload"]["exec_ns"]'; done | paste -sd+)))
check "merge: of both" "$aprof" merge -o both.json out/*.json
check "merge: totals close" totals_close both.json
equal "merge: a sum, of two processes" "$each 2" \
  "$(value both.json 'f["handle_upload"]["exec_ns"], len(t["processes"])')"
"$aprof" merge --per-process out/*.json >apart.json
check "merge: apart, totals close" totals_close apart.json
equal "merge: apart, each has its own" "0 1" \
  "$(value apart.json '*sorted(x["process"] for x in t["functions"] if x["name"] == "handle_upload")')"
contains "merge: a report of it" "(2 processes)" <("$aprof" report both.json)
"$aprof" merge both.json out/*.json >twice.json 2>err.txt
equal "merge: no process twice" "1 0" "$? $(wc -c <twice.json)"
contains "merge: and says so" "are of one process" err.txt
equal "fork: the child was killed, the parent was not" "exit recovered" \
  "$(for f in out/*.json; do value "$f" 't["process"]["reason"]'; done | sort | xargs)"

# -- exact numbers -------------------------------------------------------------

options=(--clock virtual)
run virtual
options=()
check "virtual clock: totals close" totals_close "$json"
equal "virtual clock: exec, waiting, wall, children, slice of handle_upload" \
  "34460000 16500000 50960000 1500000 30010000" \
  "$(value "$json" '*(f["handle_upload"][k] for k in ("exec_ns", "waiting_ns", "wall_ns", "children_exec_ns", "slice_max_ns"))')"
equal "virtual clock: fetch_quota" "1500000 10000000 11500000" \
  "$(value "$json" '*(f["fetch_quota"][k] for k in ("exec_ns", "waiting_ns", "wall_ns"))')"
equal "virtual clock: the thread" "35960000 17500000 0" \
  "$(value "$json" '*(t["threads"][0][k] for k in ("exec_ns", "idle_ns", "other_ns"))')"
equal "virtual clock: the worst slice lies between" "server.c:61 server.c:160" \
  "$(value "$json" '*f["handle_upload"]["slice_max_between"]')"

cp "$json" virtual.json

options=(--clock virtual)
run loop
options=()
check "loop: totals close" totals_close "$json"
equal "loop: busy, longest hold, whose" "51360000 0.8509 1010000 on_timer server.c:210" \
  "$(value "$json" '*(t["loop"][0][k] for k in ("busy_ns", "busy", "hold_max_ns", "hold_max_function")), t["loop"][0]["hold_max_between"][0]')"
equal "loop: lateness of timers" "50 2500000 50000 null" \
  "$(value "$json" '*(f["on_timer"]["lateness"][k] for k in ("count", "total_ns", "max_ns")), f["on_request"]["lateness"]')"
equal "loop: who woke requests" "notify on_data 50 350000" \
  "$(value "$json" '*(f["on_request"]["wakers"][0][k] for k in ("name", "function", "count", "queued_ns"))')"
equal "loop: what blocked" "fsync 205 50000000" \
  "$(value "$json" '*(f["on_timer"]["blocking"][0][k] for k in ("callee", "line", "held_ns"))')"
equal "loop: findings" "blocking server.c:205 unplaced server.c:220" \
  "$(value "$json" '*(x for y in t["findings"] for x in (y["kind"], y["at"] or y["count"]))')"
for name in timer_start timer_stop; do # which makes futures, and which does not
  edit "$json" "t.ignored.append({'kind': 'end', 'count': 9, 'name': '$name', 'file': 'server.c', 'line': 210,
    'function': None, 'matched': False})" >"$name.json"
  "$aprof" report --all "$name.json" >"$name.txt" 2>&1
done
contains "loop: an end that has found nothing anywhere is shown" \
  "end: timer_stop  server.c:210" timer_stop.txt
refuse "loop: unless that call makes futures too" grep -q "end: timer_start" \
  timer_start.txt
"$aprof" report --all "$json" | sed ':a;N;$!ba;s/\n    / /g' >report.txt
contains "loop: report, busy" "loop 85.1 % busy" report.txt
contains "loop: report, who woke whom" "notify > on_request  server.c:240" report.txt
contains "loop: report, lateness" "timer_start > on_timer  server.c:210" report.txt
contains "loop: report, blocking calls" "on_timer > fsync  server.c:205" report.txt
contains "loop: report, what could not be placed" "1 event could not be placed at server.c:220 on_request" report.txt
equal "loop: report fits 80 columns" 0 "$("$aprof" report --all "$json" | awk 'length > 80' | wc -l)"
equal "loop: report --json has the findings of the totals" "$(value "$json" 't["findings"]')" \
  "$("$aprof" report --json "$json" | value - t.findings)"

run nested
check "nested: totals close" totals_close "$json"
equal "nested: what a handler began inside an event is in no number, and counted" "50 50" \
  "$(value "$json" 'f["fetch_quota"]["created"], t["health"]["nested_events"]')"
"$aprof" report "$json" >report.txt
contains "nested: the report's first line says so" "lost: 50 events in handlers" report.txt
refuse "nested: nor that nothing was" grep -q "nothing lost" report.txt
contains "nested: it is a finding" "50 events are in no number here" report.txt
refuse "nested: nothing new is none" grep -q "in handlers" \
  <("$aprof" report "$json" "$json")
json=virtual.json

# -- report ----------------------------------------------------------------------

check "report: of totals" "$aprof" report "$json"
"$aprof" report "$json" >report.txt
sed ':a;N;$!ba;s/\n    / /g' report.txt >flat.txt
contains "report: the first finding has the function, the time, both lines" \
  '`handle_upload` held the loop for 30.0 ms between server.c:61 uv_tcp_connect and server.c:160' \
  flat.txt
contains "report: what it cost" "cost: 30.0 ms, 56.1 % of the loop's time" flat.txt
contains "report: and what to type next" "next: aprof report $json -f handle_upload" flat.txt
contains "report: where the waiting was spent" \
  'handle_upload > ... > uv_tcp_connect  server.c:61' report.txt
equal "report: fits 80 columns" 0 "$(awk 'length > 80' report.txt | wc -l)"
refuse "report: no colours into a file" grep -q "$(printf '\033')" report.txt
"$aprof" report --threshold 100 "$json" >report.txt
contains "report: no finding below the threshold" "no finding" report.txt
"$aprof" report --top 1 --sort name "$json" >report.txt
contains "report: --sort and --top" "fetch_quota" report.txt
"$aprof" report --sort waiting "$json" >report.txt
contains "report: what sorts is shown" "by waiting" report.txt
equal "report: as a share of all there is" "handle_upload 62%" \
  "$(awk '/^handle_upload  / { print $1, $2; exit }' report.txt)"
"$aprof" report -f 'fetch_*' "$json" >report.txt
equal "report: of a function by name, all about it and of no other" "fetch_quota" \
  "$(grep -oE '^(handle_upload|fetch_quota)$' report.txt)"
contains "report: where it waits" "uv_tcp_connect  server.c:61" report.txt
refuse "report: of none of that name there is nothing" "$aprof" report -f nobody "$json"
contains "report: and it says where names are" "no function 'nobody' that did anything; --all lists them" check.out
refuse "report: --top leaves the others out" grep -q '^handle_upload  ' report.txt
"$aprof" report --json "$json" >report.json
equal "report: --json" "held 30010000 server.c:61 server.c:160" \
  "$(value report.json '*pick(t.findings[0], "kind held_ns from to")')"
run return
equal "run: what it cost is known" "true true" \
  "$(value "$json" 't["health"]["overhead_percent"] > 0, t["threads"][0]["overhead_percent"] > 0')"
"$aprof" run --preload -o out --report --options "profile:$profiles" -- ./hand return >report.txt 2>&1
contains "run --report: prints it" "handle_upload" report.txt
contains "run --report: with what it cost, at least where few events could be timed" " cost at least " report.txt

# -- live --------------------------------------------------------------------------

mkfifo in
"$aprof" run --preload -o out --options "profile:$profiles" -- ./hand live <in >pid.txt &
runner=$!
exec 9>in
until [ -s pid.txt ]; do sleep 0.02; done
pid=$(cat pid.txt)
check "live: dump" "$aprof" dump -o a.json "$pid"
equal "live: reason" "request" "$(value a.json 't["process"]["reason"]')"
"$aprof" dump -o - "$pid" >stdout.json
check "live: dump to standard output" totals_close stdout.json
"$aprof" report "$pid" >report.txt
contains "live: report of a PID" "handle_upload" report.txt
"$aprof" dump -o - "$pid" | "$aprof" report - >report.txt
contains "report: of standard input" "hand (pid $pid)" report.txt
"$aprof" dump -o - "$pid" | "$aprof" report a.json - >report.txt
contains "report: between a file and standard input" "between the two" report.txt
"$aprof" list --directory "$profiles" >list.txt
contains "live: list knows it lives" "live    hand" list.txt
kill -USR1 "$pid"
for _ in $(seq 200); do [ ! -f "out/hand.$pid.1.json" ] || break; sleep 0.02; done
check "live: SIGUSR1 makes totals" totals_close "out/hand.$pid.1.json"
equal "live: which say so" "signal 1" \
  "$(value "out/hand.$pid.1.json" 't["process"]["reason"], t["process"]["sequence"]')"
echo >&9
for _ in $(seq 200); do
  "$aprof" dump -o b.json "$pid"
  [ "$(value b.json 'f["handle_upload"]["done"]')" != 100 ] || break
  sleep 0.02
done
check "live: totals close" totals_close a.json b.json
"$aprof" report --json a.json b.json >interval.json
equal "interval: what happened between" "50 50" \
  "$(value interval.json '*(g.created for g in t.functions)')"
for one in "a 1" "b 51"; do # a bucket whose middle is 5111808
  edit "${one% *}.json" "g = f.handle_upload
g.slice_max_ns = 5084000
g.slice = dict.fromkeys(g.slice, 5084000) | {'buckets': [[4980736, ${one#* }]]}" >"max-${one% *}.json"
done
"$aprof" report --json max-a.json max-b.json >interval.json
equal "interval: no percentile is beyond what is known to be the longest ever" 5084000 \
  "$(value interval.json 'f["handle_upload"]["slice_p99_ns"]')"
refuse "interval: the earlier one comes first" "$aprof" report b.json a.json
contains "interval: and that is said" "give the earlier one first" check.out
refuse "interval: not of two processes" "$aprof" report "$json" b.json
check "off" "$aprof" off "$pid"
"$aprof" list --directory "$profiles" >list.txt
contains "off: list says so" "off     hand" list.txt
check "off: totals stay" "$aprof" dump -o off.json "$pid"
equal "off: totals stay as they are" 100 "$(value off.json 'f["handle_upload"]["done"]')"
check "on" "$aprof" on "$pid"
check "reset" "$aprof" reset "$pid"
"$aprof" dump -o reset.json "$pid"
equal "reset: nothing is left" 0 "$(value reset.json 'len(t["functions"])')"
check "off, on, reset: totals close" totals_close off.json reset.json
echo >&9
exec 9>&-
wait "$runner"
equal "live: its own exit status" 0 $?
check "reset: what came after it is counted from zero" totals_close "out/hand.$pid.json"

# -- a profile that was left over ------------------------------------------------

APROF_OPTIONS="profile:$profiles" LD_PRELOAD=$build/rt/.libs/libaprof.so.0 ./hand kill &
{ wait $!; } 2>/dev/null # bash tells of the kill
left=$(echo "$profiles"/hand-*.aprof)
check "left over: the profile is there" test -f "$left"
"$aprof" list --directory "$profiles" >list.txt
contains "left over: list says so" "killed  hand" list.txt
check "left over: dump" "$aprof" dump -o left.json "$left"
check "left over: totals close" totals_close left.json
equal "left over: reason" "recovered" "$(value left.json 't["process"]["reason"]')"
check "left over: report" "$aprof" report "$left"
cp "$left" copy.aprof
check "left over: a copy on disk is as good" "$aprof" report copy.aprof
check "left over: not swept while it is fresh" "$aprof" list --sweep --directory "$profiles"
check "left over: still there" test -f "$left"
"$aprof" list --sweep=0 --dry-run --directory "$profiles" >sweep.txt
contains "left over: --dry-run says what would go" "would remove $left" sweep.txt
check "left over: and removes nothing" test -f "$left"
check "left over: swept when old" "$aprof" list --sweep=0 --directory "$profiles"
refuse "left over: gone" test -e "$left"

# The directory of a run that was killed, and that of one that goes on.
"$aprof" run --options "profile:$profiles" -- sh -c 'kill -9 $PPID' >run.txt 2>&1 &
{ wait $!; } 2>/dev/null
killed=$(echo "$profiles"/run-*)
"$aprof" run --options "profile:$profiles" -- "$aprof" list --sweep --directory "$profiles" >sweep.txt
contains "a killed run: swept" "removed $killed" sweep.txt
equal "a killed run: one that goes on is not" 1 "$(wc -l <sweep.txt)"
equal "a killed run: nothing left over" "" "$(find "$profiles" -mindepth 1)"

# What nobody here can read takes memory all the same; however many, it is one line.
useless=$profiles/useless
mkdir -m 700 "$useless"
for number in 1 2 3; do
  cp copy.aprof "$useless/older$number.aprof"
  printf '\1\0\0\0' | dd of="$useless/older$number.aprof" bs=1 seek=8 conv=notrunc status=none
done
truncate -s 128K "$useless/empty.aprof"
"$aprof" list --directory "$useless" >useless.txt 2>&1
equal "useless: no fault of the list" 0 $?
contains "useless: those of another version" "3 more, written by another version" useless.txt
contains "useless: one with nothing in it" "1 more with nothing in it" useless.txt
check "useless: not swept while fresh" "$aprof" list --sweep --directory "$useless"
check "useless: all there" test "$(ls "$useless" | wc -l)" -eq 4
check "useless: not swept while locked" flock "$useless/older1.aprof" \
  "$aprof" list --sweep=0 --directory "$useless"
equal "useless: only that one is there" "older1.aprof" "$(ls "$useless")"

# -- what is not ours, or no file ------------------------------------------------

# says NAME STATUS TEXT COMMAND...
says() {
  local name=$1 want=$2 text=$3
  shift 3
  timeout 20 "$@" >said.txt 2>&1 </dev/null
  equal "$name: status" "$want" $?
  contains "$name: message" "$text" said.txt
}
strange=$profiles/strange
mkdir -m 700 "$strange"
cp copy.aprof "$strange/good.aprof"
ln -s "$work/copy.aprof" "$strange/link.aprof"
mkfifo "$strange/pipe.aprof"
says "list: a symbolic link" 1 "link.aprof is left alone: it is a symbolic link" \
  "$aprof" list --directory "$strange"
contains "list: a pipe" "pipe.aprof is left alone: it is not a regular file" said.txt
contains "list: the others are listed" "$strange/good.aprof" said.txt
says "list --sweep: a link" 1 "removed $strange/good.aprof" "$aprof" list --sweep=0 --directory "$strange"
check "list --sweep: what a link points to stays" test -f copy.aprof
check "list --sweep: so does the link" test -h "$strange/link.aprof"
for command in dump report; do
  says "$command: a symbolic link" 1 "it is a symbolic link; name the file itself" \
    "$aprof" $command "$strange/link.aprof"
  says "$command: a pipe" 1 "it is not a regular file" "$aprof" $command "$strange/pipe.aprof"
  says "$command: a device" 1 "it is not a regular file" "$aprof" $command /dev/zero
  says "$command: a directory" 1 "s a directory" "$aprof" $command "$strange"
done
says "coverage: a pipe" 1 "it is not a regular file" "$aprof" coverage "$strange/pipe.aprof"
says "list: no directory" 1 "cannot look into ./nowhere: No such file" \
  "$aprof" list --directory ./nowhere
mkdir -m 700 xdg
ln -s "$strange" xdg/aprof
says "list: the directory is a link" 1 "xdg/aprof is left alone: it is no directory" \
  env XDG_RUNTIME_DIR="$work/xdg" "$aprof" list
rm xdg/aprof
mkdir xdg/aprof
chmod 777 xdg/aprof
says "list: a directory that others may write to" 1 "xdg/aprof is left alone: others may write" \
  env XDG_RUNTIME_DIR="$work/xdg" "$aprof" list
chmod 700 xdg/aprof

mkfifo in2
APROF_OPTIONS="profile:memfd,exit:no" LD_PRELOAD=$build/rt/.libs/libaprof.so.0 ./hand live <in2 >pid2.txt &
exec 8>in2
until [ -s pid2.txt ]; do sleep 0.02; done
pid2=$(cat pid2.txt)
env XDG_RUNTIME_DIR="$work/xdg" "$aprof" list >list.txt
contains "list: a memfd" "$pid2  live    hand" list.txt
contains "list: which has no name" "(memfd)" list.txt
check "dump: a memfd, by its process" "$aprof" dump -o memfd.json "$pid2"
check "dump: its totals close" totals_close memfd.json

# as another user, where this one may become one
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if [ "$(id -u)" -eq 0 ] && "${nobody[@]}" "$aprof" --version >/dev/null 2>&1; then
  cp copy.aprof "$strange/theirs.aprof"
  chown 65534 "$strange/theirs.aprof"
  says "list: a file of another user" 1 "theirs.aprof is left alone: it is not the file of" \
    "$aprof" list --sweep=0 --directory "$strange"
  check "list --sweep: it stays" test -f "$strange/theirs.aprof"
  for command in dump report on; do
    says "$command: a process of another user" 1 "process $pid2 is another user's" \
      "${nobody[@]}" "$aprof" $command "$pid2"
  done
  # A worker that root started and that became somebody else.
  chmod 711 "$work"
  mkfifo in3
  "${nobody[@]}" env -u XDG_RUNTIME_DIR LD_PRELOAD="$build/rt/.libs/libaprof.so.0" \
    ./hand live <in3 >pid3.txt &
  exec 7>in3
  until [ -s pid3.txt ]; do sleep 0.02; done
  pid3=$(cat pid3.txt)
  theirs=$(readlink "/proc/$pid3/fd/"* | grep '\.aprof$')
  "$aprof" list >list.txt 2>&1
  contains "list: root sees a worker of another user" "$pid3  live    hand" list.txt
  kill -9 "$pid3"
  wait "$!" 2>/dev/null
  exec 7>&-
  "$aprof" list >list.txt 2>&1
  contains "list: root sees what it left" "$theirs" list.txt
  check "dump: root makes its totals" "$aprof" dump -o theirs.json "$theirs"
  check "dump: they close" totals_close theirs.json
  rm -f "$theirs"
  squatted=$(mktemp -d "$profiles/squatted.XXXXXX")
  chmod 755 "$profiles" "$squatted"
  mkdir -m 755 "$squatted/aprof"
  cp copy.aprof "$squatted/aprof/x.aprof"
  chmod 644 "$squatted/aprof/x.aprof"
  says "list: a directory that another user took" 1 "squatted" \
    "${nobody[@]}" env XDG_RUNTIME_DIR="$squatted" "$aprof" list
  contains "list: says why" "it should be its user's alone" said.txt
  refuse "list: and does not look into it" grep -qF "/x.aprof" said.txt
  chmod 600 "$squatted/aprof/x.aprof"
  says "dump: a file that may not be read" 1 "Permission denied" \
    "${nobody[@]}" "$aprof" dump -o - "$squatted/aprof/x.aprof"
  chmod 700 "$profiles"
else
  skip "files of other users" "only root can make some"
fi
echo >&8
echo >&8
exec 8>&-
rm -rf "$strange" "${squatted:-$strange}"

# -- by name -------------------------------------------------------------------------

# Alone in the places where profiles lie by themselves, and no other process is called so.
alone=alone$$
export XDG_RUNTIME_DIR=$profiles/named
mkdir -m 700 "$XDG_RUNTIME_DIR"
cp hand $alone
called() {
  LD_PRELOAD=$build/rt/.libs/libaprof.so.0 APROF_OPTIONS=exit:no ./$alone live <in4 >>pids.txt &
  until [ "$(wc -l <pids.txt)" -eq "$1" ]; do sleep 0.02; done
}
mkfifo in4
: >pids.txt
exec 7<>in4
says "name: nobody" 1 "no process of that name has a profile" "$aprof" dump nobody
called 1
for name in $alone ./$alone; do # which is a file here
  "$aprof" dump -o - "$name" >named.json
  equal "name: dump $name" "$(sed -n 1p pids.txt)" "$(value named.json 't["process"]["pid"]')"
done
"$aprof" report $alone >report.txt
contains "name: report" "$alone (pid $(sed -n 1p pids.txt))" report.txt
check "name: off" "$aprof" off $alone
called 2
for command in dump report reset; do
  says "name: $command of two" 2 "2 live processes are called $alone; name one by its PID:" "$aprof" $command $alone
  equal "name: both are listed" "$(sort pids.txt)" "$(awk -v name=$alone '$3 == name {print $1}' said.txt | sort)"
done
kill -9 "$(sed -n 1p pids.txt)"
while "$aprof" list | grep -q "^ *$(sed -n 1p pids.txt)  off"; do sleep 0.02; done
"$aprof" dump -o - $alone >named.json
equal "name: who lives goes before who is dead" "$(sed -n 2p pids.txt)" "$(value named.json 't["process"]["pid"]')"
kill -9 "$(sed -n 2p pids.txt)"
while "$aprof" list | grep -q "^ *$(sed -n 2p pids.txt)  live"; do sleep 0.02; done
says "name: two are left" 2 "2 profiles are left of processes called $alone; name one by its profile:" \
  "$aprof" dump $alone
rm "$XDG_RUNTIME_DIR/aprof/$alone-$(sed -n 1p pids.txt)"-*
"$aprof" dump -o - $alone >named.json
equal "name: one is left" "recovered" "$(value named.json 't["process"]["reason"]')"
exec 7>&-
unset XDG_RUNTIME_DIR

# -- a large program ---------------------------------------------------------------

"${CC:-gcc}" -O1 -I"$src/rt/include" "$src/tests/cli/scale.c" -o scale -lpthread || exit 1
APROF_OPTIONS="profile:$profiles,clock:virtual,memory:200M" \
  LD_PRELOAD=$build/rt/.libs/libaprof.so.0 ./scale 500 8 3000 </dev/null >/dev/null &
{ wait $!; } 2>/dev/null
large=$(echo "$profiles"/scale-*.aprof)
check "large: dump" "$aprof" dump -o large.json "$large"
check "large: totals close" totals_close large.json
equal "large: all are there" "3000 true" \
  "$(value large.json 'sum(x["live"] for x in t["functions"]), len(t["live"]) < 1600')"
"$aprof" report large.json >report.txt
equal "large: the report fits 80 columns" 0 "$(awk 'length > 80' report.txt | wc -l)"
check "large: and two screens" test "$(wc -l <report.txt)" -lt 50
check "large: it shows the worst loops" test "$(grep -c '^  loop ' report.txt)" -le 4
check "large: between it and itself" "$aprof" report large.json large.json
rm -f "$large"

# -- coverage --------------------------------------------------------------------

# notes OBJECT LINE...: an object file that carries these notes of the plugin
notes() {
  local object=$1
  shift
  printf '%b\n' "$@" >notes.txt
  echo 'int symbol_of_'"${object%.o}"';' | "${CC:-gcc}" -fPIC -x c -c - -o bare.o
  objcopy --add-section .aprof.coverage=notes.txt bare.o "$object"
}
headers=$src/rt/include/aprof
gate=$(sed -n 's/^#define APROF_ABI //p' "$headers/abi.h").$(sed -n 's/^#define APROF_GATE_ROWS //p' "$headers/event-table.h")
notes main.o "unit\tmain.c\t1\t$gate" 'function\tserver.c:140\thandle_upload' \
  'function\tinline.h:3\tshared' 'await\tmain.c:12\tco_wait\thandle_upload' \
  'await\tmain.c:12\tco_wait\thandle_upload' 'await\tinline.h:4\tco_wait\tshared' \
  'declared\tlib.h:7\tfetch' 'declared\tserver.h:8\thandle_upload' \
  'binding\tmy.aprof:1\t3\tawait call:co_wait' 'binding\tmy.aprof:2\t0\tawait call:co_other' \
  'binding\t/usr/share/aprof/bindings/libuv.aprof:20\t2\tcreate call:uv_write' \
  'binding\t/usr/share/aprof/bindings/libuv.aprof:21\t0\tcreate call:uv_read'
notes lib.o "unit\tlib.c\t1\t$gate" 'function\tlib.c:10\tfetch' 'function\tinline.h:3\tshared' \
  'await\tinline.h:4\tco_wait\tshared' 'binding\tmy.aprof:2\t1\tawait call:co_other'
notes other.o "unit\tother.c\t1\t$gate" 'outside\tother.c:40\tco_wait\tmain' 'later\tof\tanother\tkind'
echo 'int main(void) { return 0; }' | "${CC:-gcc}" -x c - -x none main.o -o covered
"${CC:-gcc}" -shared lib.o -o lib.so
"${CC:-gcc}" -shared bare.o -o bare.so
ar rc lib.a lib.o bare.o
check "coverage: a program" "$aprof" coverage covered
"$aprof" coverage covered >coverage.txt
contains "coverage: what there is" "2 async functions, 3 awaits, in 1 unit" coverage.txt
contains "coverage: N of M" "2 of 3 async functions instrumented" coverage.txt
contains "coverage: which one is missing" "lib.h:7  fetch" coverage.txt
contains "coverage: which line matched nothing" "my.aprof:2  await call:co_other" coverage.txt
contains "coverage: shipped files are counted" "libuv.aprof: 1 line matched" coverage.txt
refuse "coverage: --strict" "$aprof" coverage --strict covered
for library in lib.so lib.a; do
  check "coverage: whole with $library" "$aprof" coverage --strict covered "$library"
  "$aprof" coverage covered "$library" >coverage.txt
  contains "coverage: with $library, all" "3 of 3 async functions instrumented" coverage.txt
  contains "coverage: with $library, inline functions count once" "3 awaits, in 2 units" coverage.txt
  contains "coverage: with $library, nothing amiss" "nothing amiss" coverage.txt
done
"$aprof" coverage covered lib.so other.o bare.so >coverage.txt
contains "coverage: an await outside" "other.c:40  co_wait  in main" coverage.txt
contains "coverage: a file without the plugin" "  bare.so" coverage.txt
check "coverage: --strict, such a file is not amiss" "$aprof" coverage --strict covered lib.so bare.so
refuse "coverage: --strict, an await outside is" "$aprof" coverage --strict covered lib.so other.o bare.so
"$aprof" coverage --totals a.json covered lib.so >coverage.txt
contains "coverage: what never ran" "lib.c:10  fetch" coverage.txt
refuse "coverage: what did is not named" grep -q "140  handle_upload" coverage.txt
"$aprof" coverage --json --totals a.json covered lib.so >coverage.json
equal "coverage: --json" "aprof.coverage/1 0 3 true" \
  "$(value coverage.json 't.schema, t.amiss, len(t.awaits), f.handle_upload.ran')"
strip covered
check "coverage: strip keeps the notes" "$aprof" coverage --strict covered lib.so

# -- messages and statuses -------------------------------------------------------

echo '{"a": 1}' >other.json
echo 'not JSON' >text.txt
head -c 40000 copy.aprof >short.aprof
says "list: --dry-run alone" 2 "goes with --sweep" "$aprof" list --dry-run
says "no command" 0 "Usage: aprof COMMAND" "$aprof"
says "unknown command" 2 "no command 'frobnicate'" "$aprof" frobnicate
says "--help" 0 "the profiles of live and ended" "$aprof" --help
says "--version" 0 "aprof " "$aprof" --version
for command in $("$aprof" --help | sed -n 's/^  \([a-z]\+\)  .*/\1/p'); do
  says "$command --help" 0 "Usage: aprof $command" "$aprof" "$command" --help
done
says "report: of standard input twice" 2 "only one of the two" "$aprof" report - -
says "report: standard input without a word" 1 "standard input is neither totals nor" "$aprof" report -
cat copy.aprof | "$aprof" report - >said.txt 2>&1
contains "report: a profile on standard input" "standard input is a profile: name its file" said.txt
for command in report dump on off reset coverage; do
  says "$command: an empty argument" 2 "argument 1 of \`aprof $command' is empty" "$aprof" "$command" ""
done
says "report: an empty argument among others" 2 "argument 2 of" "$aprof" report a.json "" a.json
says "run: an empty option" 2 "an option's value is empty" "$aprof" run -o "" -- true
says "run: an empty program" 2 "the program's name is empty" "$aprof" run -- ""
python3 -c 'print("[" * 2000 + "]" * 2000)' >deep.json
says "report: nested too deep" 1 "deep.json is neither totals nor a profile: it nests 2000 deep" \
  "$aprof" report deep.json
# edited NAME CODE MESSAGE: totals `t` of which CODE changed something
edited() {
  edit a.json "$2" >edited.json
  says "report: $1" 1 "$3" "$aprof" report edited.json
}
edited "a count below zero" 't["functions"][1]["created"] = -1' "functions[1].created is -1, not a count"
edited "a time beyond all clocks" 't["functions"][0]["exec_ns"] = 2**64 - 1' \
  "functions[0].exec_ns is 18446744073709551615, not a count"
edited "a fraction of a nanosecond" 't["threads"][0]["idle_ns"] = 1.5' "threads[0].idle_ns is 1.5"
edited "a text for a number" 't["functions"][0]["awaits"][0]["count"] = "many"' \
  'functions[0].awaits[0].count is "many", not a count'
edited "a wall that is not its parts" 't["functions"][0]["wall_ns"] += 1' "functions[0].wall_ns is "
edited "more made than ended" 't["functions"][0]["created"] += 1' "functions[0].created is "
edited "waits without an await" 't["functions"][0]["awaits"] = []' "functions[0].waiting_ns is "
edited "a tree of another program" 't["tree"][-1]["parent"] = 4711' \
  ".parent is 4711, which is no function's path before it"
edited "a member that is gone" 'del t["health"]["events"]' "health.events is missing, not a count"
edited "elapsed is no sum" 't["threads"][0]["elapsed_ns"] = 5' "threads[0].elapsed_ns is 5, but"
says "report: bad key" 2 "--sort takes no 'colour': it is one of exec, calls" "$aprof" report --sort colour a.json
says "report: no file" 1 "there is no file nowhere.json, and no process of that name" "$aprof" report nowhere.json
says "report: other JSON" 1 "no totals of aprof" "$aprof" report other.json
says "report: no JSON" 1 "neither totals nor a profile" "$aprof" report text.txt
says "report: no such process" 1 "there is no process 4194303" "$aprof" report 4194303
says "report: not profiled" 1 "has no profile" "$aprof" report $$
LD_PRELOAD=$build/rt/.libs/libaprof.so.0 sleep 100 &
early=$!
until grep -q libaprof "/proc/$early/maps"; do sleep 0.01; done
says "report: before the first future" 1 "$early has made no future yet: it has the runtime" \
  "$aprof" report $early
kill $early
check "dump: a short profile is read as far as it goes" "$aprof" dump -o short.json short.aprof
says "dump: totals are no profile" 1 "is not a profile" "$aprof" dump a.json
says "dump: to nowhere" 1 "cannot write nowhere/x.json" "$aprof" dump -o nowhere/x.json copy.aprof

# A signal when the totals are all but there: what is unfinished goes too.
cat >at-rename.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int rename(const char *from, const char *to) {
  raise(atoi(getenv("SIGNAL")));
  return (int)syscall(SYS_rename, from, to);
}
END
"${CC:-gcc}" -shared -fPIC at-rename.c -o at-rename.so || exit 1
mkdir half
for number in 1 2 15; do
  timeout 20 env LD_PRELOAD=./at-rename.so SIGNAL="$number" "$aprof" dump -o half/x.json \
    copy.aprof >said.txt 2>&1
  equal "dump: ended by signal $number" $((128 + number)) $?
  equal "dump: nothing unfinished is left by signal $number" "" "$(ls half)"
done
(trap "" INT && env LD_PRELOAD=./at-rename.so SIGNAL=2 "$aprof" dump -o half/x.json copy.aprof) \
  >said.txt 2>&1
check "dump: a signal that is ignored stays so" totals_close half/x.json
for number in 1 15; do # meant for the program and all that it started
  cp copy.aprof "half/$number.aprof"
  env LD_PRELOAD=./at-rename.so SIGNAL="$number" "$aprof" dump --fd 3 -o "half/$number.json" \
    3<>"half/$number.aprof" >said.txt 2>&1
  check "dump: at a program's end, in spite of signal $number" totals_close "half/$number.json"
done
cat >at-fchmod.c <<'END'
#include <signal.h>
#include <sys/stat.h>
int fchmod(int fd, mode_t mode) { return fd + (int)mode + raise(SIGKILL); }
END
"${CC:-gcc}" -shared -fPIC at-fchmod.c -o at-fchmod.so || exit 1
mkdir "$profiles/half" # where files need no name
{ LD_PRELOAD=./at-fchmod.so "$aprof" dump -o "$profiles/half/x.json" copy.aprof; } 2>said.txt
equal "dump: killed while it writes" 137 $?
equal "dump: of which nothing is left" "" "$(ls "$profiles/half")"
rmdir "$profiles/half"
says "dump: a limit of the file size" 1 "cannot write half/large.json: File too large" \
  prlimit --fsize=4096 "$aprof" dump -o half/large.json copy.aprof
python3 -c 'print("[0" + ",0" * 4000000 + "]")' >many.json
says "report: too little memory" 1 "out of memory; free some, or raise the limit" \
  prlimit --as=134217728 "$aprof" report many.json
says "report: with enough it is seen what that is" 1 "is JSON, but no totals" \
  "$aprof" report many.json
python3 -c 'print("{\"a\":[0" + ",0" * 17000000 + "]}")' >many.json
says "report: what takes too much to read" 1 \
  "many.json is neither totals nor a profile: it takes over 1024 MB of memory to read" \
  prlimit --as=1600000000 "$aprof" report many.json
truncate -s 300M many.json
says "report: what is too long" 1 "cannot read many.json: it is over 256 MB, which no totals are" \
  "$aprof" report many.json
{ cat many.json | "$aprof" report -; } >said.txt 2>&1
contains "report: ... from a pipe" "cannot read standard input: it is over 256 MB" said.txt
rm many.json

# The least that the program itself runs with.
for room in $(seq 2600 100 8000); do
  (ulimit -v "$room"; LD_PRELOAD=$build/rt/.libs/libaprof.so.0 ./hand return) >said.txt 2>&1 && break
done
contains "too little address space for a profile: it is said" \
  "this process is not profiled: it may not take the address space of a profile" said.txt
equal "... in a line" 1 "$(wc -l <said.txt)"
equal "dump: and nothing of it is left" "1.json 15.json x.json" "$(cd half && echo *.json*)"
says "on: no live process" 1 "belongs to no live process" "$aprof" on copy.aprof
says "coverage: of nothing" 2 "coverage of what" "$aprof" coverage
says "coverage: no notes" 1 "carries no notes of the plugin" "$aprof" coverage bare.so
says "coverage: no program" 1 "is no program, object or archive" "$aprof" coverage text.txt
says "coverage: no file" 1 "cannot read nowhere: No such file" "$aprof" coverage nowhere
says "run: no program" 2 "which program" "$aprof" run
says "run: no such program" 127 "cannot run ./nowhere" "$aprof" run -- ./nowhere
says "run: not a program" 126 "cannot run ./text.txt" "$aprof" run -- ./text.txt
says "run: no runtime" 1 "there is no runtime /nowhere" "$aprof" run --runtime /nowhere -- ./hand
says "run: not instrumented" 0 "true itself carries no notes of the plugin" "$aprof" run --report -- true

# -- documentation ---------------------------------------------------------------

equal "aprof-totals(5) tells of every member in the schema" "" "$(python3 -c 'import json, re, sys
names = set()
def walk(x):
    if isinstance(x, dict):
        names.update(x.get("properties", {}))
        x = list(x.values())
    if isinstance(x, list):
        for y in x:
            walk(y)
walk(json.load(open(sys.argv[1])))
text = open(sys.argv[2]).read()
print(*(n for n in sorted(names) if not re.search(rf"\b{n}\b", text)))' \
  "$schema" "$src/doc/aprof-totals.5")"
for command in $("$aprof" --help | sed -n 's/^  \([a-z]\+\)  .*/\1/p'); do
  [ "$command" = cflags ] || check "aprof-$command(1)" test -f "$src/doc/aprof-$command.1"
done

# -- signals ---------------------------------------------------------------------

cat >trap.sh <<'END'
trap 'exit 42' TERM
echo ready
while :; do sleep 0.05; done
END
"$aprof" run -- bash trap.sh >trap.txt &
runner=$!
until grep -qs ready trap.txt; do sleep 0.02; done
kill -TERM "$runner"
wait "$runner"
equal "run: SIGTERM reaches the program, whose status is kept" 42 $?

finish
