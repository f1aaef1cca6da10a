#!/bin/bash
# SPDX-License-Identifier: MIT
# aprof record: a program from its first future on, live processes, one recorder at a time, what a
# killed one leaves, files in turn, what is in the rings. Whatever is recorded adds up to what the
# process counted, to the tick.
. "${0%/*}/../lib.sh"

profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
started=()
trap 'kill -9 "${started[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export NO_COLOR=1 APROF_OPTIONS=profile:$profiles,dir:$work/out LC_ALL=C.UTF-8
unset APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1
mkdir out
balance=$build/tests/cli/balance

# says NAME STATUS TEXT COMMAND...
says() {
  local name=$1 want=$2 text=$3
  shift 3
  timeout 60 "$@" >said.txt 2>&1 </dev/null
  equal "$name: status" "$want" $?
  contains "$name: message" "$text" said.txt
}

# number NAME FILE: of what balance prints
number() {
  sed -n "s/.*\\<$1 \\([0-9]*\\).*/\\1/p" "$2" | tail -n 1
}

# adds_up NAME FILE: path by path
adds_up() {
  "$balance" "$2" >balance.txt 2>&1
  equal "$1: the events add up to what was counted" 0 $?
  [ "$(number lost balance.txt)" = 0 ] || not_ok "$1: nothing is lost" balance.txt
  grep -q "images whole" balance.txt || not_ok "$1: its images are of one moment" balance.txt
}

# start [ARG...]: a program that goes on; sets pid
start() {
  rm -f pid.txt
  ./prog "$@" >pid.txt 2>err.txt &
  started+=($!)
  until_true test -s pid.txt
  pid=$(cat pid.txt)
  until_true "$aprof" dump -o early.json "$pid" 2>/dev/null
}

# grows FILE BYTES: it has more
grows() {
  [ "$(stat -c %s "$1")" -gt "$2" ]
}

check "the program is compiled" "$(gcc_of "${majors##* }")" -O1 -g "-fplugin=$plugin" \
  -I"$src/rt/include" "-fmacro-prefix-map=$src/tests/cli/=" "$src/tests/cli/record.c" -o prog -pthread
check "so is what looks at the switch" "${CC:-gcc}" -I"$src/rt/include" "$src/tests/cli/untraced.c" -o untraced

# -- a program, from the start ---------------------------------------------------------

says "program: its own status" 7 "events, 0 lost" "$aprof" record -o prog.trace -- ./prog 100
adds_up "program" prog.trace
equal "program: each future" 400 "$(number ended balance.txt)"
equal "program: each wait, calls among them" 700 "$(number waits balance.txt)"
equal "program: finished" 0 "$(number truncated balance.txt)"
says "program: four threads" 7 "0 lost" "$aprof" record -o threads.trace -- ./prog threads 100
adds_up "program: four threads" threads.trace
equal "program: futures of each" 1600 "$(number ended balance.txt)"
says "program: an empty argument is its own" 7 "events, 0 lost" "$aprof" record -o prog.trace -- ./prog "" 100
says "program: an empty name" 2 "the program's name is empty" "$aprof" record -- ""
says "an empty target" 2 "argument 1 of \`aprof record' is empty" "$aprof" record ""
says "program: none" 127 "nothing to record" "$aprof" record -- ./nowhere
says "program: no future" 1 "made no future" "$aprof" record -- true
(
  ulimit -f 100
  "$aprof" record -o full.trace -- ./prog 1 >full.txt 2>&1
)
contains "program: no room for a profile" "or had no room for a profile, which it says itself" full.txt
says "program: no future, and its own status" 3 "made no future" "$aprof" record -- sh -c 'exit 3'
# Over, with its totals, before the recorder has looked: as on a busy machine.
mkdir late
cat >hurried <<'EOF'
#!/bin/sh
recorder=$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$PPID/stat")
kill -STOP "$recorder"
(
  for _ in $(seq 2000); do
    ls late/*.json >/dev/null 2>&1 && break
    sleep 0.02
  done
  kill -CONT "$recorder"
) &
./prog 100
EOF
chmod +x hurried
says "program: a short one, and a recorder that comes late" 7 "events, 0 lost" \
  env "APROF_OPTIONS=profile:$profiles,dir:$work/late" "$aprof" record -o late.trace -- ./hurried
adds_up "program: a late recorder" late.trace
equal "program: each future, for a late recorder" 400 "$(number ended balance.txt)"

# -- live ---------------------------------------------------------------------------------

start threads
says "live: for a while" 0 "events, 0 lost" "$aprof" record --for 300ms -o live.trace "$pid"
# On a busy machine the images of one that goes on may be torn; but not always.
whole() {
  "$aprof" record -q --for 300ms -o live.trace "$pid"
  "$balance" live.trace >balance.txt
  grep -q "images whole" balance.txt
}
check "live: its images are of one moment" until_true whole
check "live: it adds up" "$balance" live.trace
check "live: something happened" test "$(number ended balance.txt)" -gt 10
"$aprof" record -o - --for 100ms "$pid" 2>/dev/null | cat >pipe.trace
check "live: through a pipe" "$balance" pipe.trace

"$aprof" record -q -o first.trace "$pid" 2>first.txt &
recorder=$!
started+=("$recorder")
until_true grows first.trace 4096
says "two: the second is refused" 1 "is recorded already, by process $recorder (aprof)" \
  "$aprof" record -o second.trace "$pid"
refuse "two: and leaves no file" test -e second.trace
kill -TERM $recorder
wait $recorder
equal "ended by a signal: status" 0 $?
check "ended by a signal: it is whole" "$balance" first.trace

"$aprof" record -o killed.trace "$pid" 2>/dev/null &
recorder=$!
started+=("$recorder")
until_true grows killed.trace 20000
kill -9 $recorder
wait $recorder 2>/dev/null
"$balance" killed.trace >balance.txt
equal "killed: up to there" 1 "$(number truncated balance.txt)"
check "killed: has events" test "$(number events balance.txt)" -gt 100
"$aprof" export --to ndjson -o killed.ndjson killed.trace
equal "killed: no request that is whole took no time" 0 "$(grep -c '"wall_ns": *0[,}]' killed.ndjson)"
says "killed: the next one begins" 0 "0 lost" "$aprof" record --for 100ms -o next.trace "$pid"
check "killed: and can be read" "$balance" next.trace
"$aprof" record -o paused.trace "$pid" 2>paused.txt &
recorder=$!
started+=("$recorder")
until_true grows paused.trace 20000
kill -STOP $recorder
until_true ./untraced "$profiles"/*"$pid"*.aprof
kill -CONT $recorder
size=$(stat -c %s paused.trace)
until_true grows paused.trace $((size + 20000))
kill -TERM $recorder
wait $recorder
equal "stopped for longer than its lease: status" 0 $?
contains "stopped for longer than its lease: it says so" "stood still for seconds" paused.txt
says "full disk at the end" 1 "cannot write /dev/full: No space left on device" \
  "$aprof" record --last -o /dev/full "$pid"
says "full disk" 1 "cannot write /dev/full: No space left on device" \
  "$aprof" record --for 5s -o /dev/full "$pid"
says "a place that is none" 1 "cannot write nowhere/x: No such file or directory" \
  "$aprof" record -o nowhere/x "$pid"

"$aprof" record -o end.trace "$pid" 2>end.txt &
recorder=$!
started+=("$recorder")
until_true grows end.trace 4096
kill -9 "$pid"
wait $recorder
equal "the process ends: status" 0 $?
check "the process ends: it is whole" "$balance" end.trace

# Its rings are 64 KB: while the recorder stands still they are overwritten.
start busy
"$aprof" record --size 64k -o small.trace "$pid" 2>small.txt &
recorder=$!
started+=("$recorder")
until_true grows small.trace 20000
kill -STOP $recorder
"$aprof" dump -o before.json "$pid"
more_events() {
  "$aprof" dump -o - "$pid" >events.json &&
    [ "$(value events.json 't["health"]["events"]')" -gt $(($(value before.json 't["health"]["events"]') + 20000)) ]
}
until_true more_events
kill -CONT $recorder
kill -TERM $recorder
wait $recorder
contains "overwritten: what to do is said" "larger rings (--size" small.txt
"$balance" small.trace >balance.txt
check "overwritten: as many as were said at the end" test "$(number missing balance.txt)" -gt 0
kill -9 "$pid"

# -- threads that there is no room for ----------------------------------------------------------

APROF_OPTIONS=$APROF_OPTIONS,memory:1M "$aprof" record -o crowd.trace -- ./prog crowd 2 2>crowd.txt >prog.txt
contains "no room: for rings, what to do is said" "had no room for a ring; smaller ones (--size), or more" crowd.txt
contains "no room: for threads, what to do is said" "more were of threads that got no room in the profile" crowd.txt
refuse "no room: nothing was overwritten" grep -q "larger rings" crowd.txt
"$balance" crowd.trace >balance.txt
check "no room: as many as were said at the end" test "$(number missing balance.txt)" -gt 0
says "room: with more memory nothing is said" 7 "0 lost" "$aprof" record -o crowd.trace --size 64k -- ./prog crowd 2
refuse "room: for all" grep -q "no room" said.txt

# -- files in turn -----------------------------------------------------------------------------

start busy
"$aprof" record --rotate 1M --keep 2 --size 64M -o turn.trace "$pid" 2>turn.txt &
recorder=$!
started+=("$recorder")
until_true test -e turn.4.trace
kill -TERM $recorder
wait $recorder
equal "rotate: status" 0 $?
contains "rotate: is said" "and those before" turn.txt
equal "rotate: two are kept" 2 "$(find . -name 'turn*.trace' | wc -l)"
for file in turn*.trace; do
  "$balance" "$file" >balance.txt 2>&1
  check "rotate: $file stands by itself" test "$(number truncated balance.txt)" = 0
  equal "rotate: $file ends with its own numbers" "$(number events balance.txt) $(number lost balance.txt)" \
    "$(number told balance.txt) $(number missing balance.txt)"
done
kill -9 "$pid"

# -- what is in the rings --------------------------------------------------------------------------

start
says "--last: nothing traced" 1 "there are no events in the rings" "$aprof" record --last -o last.trace "$pid"
kill -9 "$pid"
rm -rf "${profiles:?}"/*
APROF_OPTIONS=$APROF_OPTIONS,trace:flight=64K start busy
has_events() {
  "$aprof" dump -o - "$pid" >events.json && [ "$(value events.json 't["health"]["events"] > 50000')" = true ]
}
until_true has_events
says "--last: live" 0 "events, " "$aprof" record --last -o last.trace "$pid"
check "--last: can be read" test -n "$("$balance" last.trace | grep events)"
kill -9 "$pid"
wait "$pid" 2>/dev/null
says "--last: of one that was killed" 0 "events, " "$aprof" record --last -o dead.trace "$profiles"/*.aprof
says "asked as it is: what is to be done" 1 "is made a recording by \`aprof record --last'" "$aprof" tail "$profiles"/*.aprof
"$balance" dead.trace >balance.txt
# A thread that is killed while it writes an event leaves the oldest one's place half written.
held=$(number events balance.txt)
check "--last: as much as a ring holds, $held" test "$held" -ge 4095 -a "$held" -le 4096

# -- what is wrong -----------------------------------------------------------------------------------

says "--keep alone" 2 "of the files of --rotate" "$aprof" record --keep 3 1
says "--last --for" 2 "--last writes what is there" "$aprof" record --last --for 1s 1
says "a size that is none" 2 "that is no size" "$aprof" record --size 1x 1
says "units in any case" 1 "no process of that name" "$aprof" record --size 64K --rotate 1m nobody
says "nobody" 1 "no process of that name" "$aprof" record nobody
says "not a recording" 2 "is not a recording" "$balance" pid.txt
finish
