#!/bin/bash
# SPDX-License-Identifier: MIT
# Totals as time goes on: aprof run --every, aprof serve --totals. Which files there are, what is in
# them, how many stay, that the program does not see who makes them, and that they are a history.
. "${0%/*}/../lib.sh"

profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
started=()
trap 'kill -9 "${started[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
unset APROF_RUNTIME APROF_COMMAND JOURNAL_STREAM
export APROF_OPTIONS=profile:$profiles LC_ALL=C.UTF-8 NO_COLOR=1
cd "$work" || exit 1
"${CC:-gcc}" -O1 -I"$src/rt/include" "$src/tests/cli/scale.c" -o scale -lpthread || exit 1

# start COMMAND...: a program under it that prints its PID and kills itself when its standard input
# ends; sets run and pid
start() {
  rm -f in pid
  mkfifo in
  "$@" ./scale 20 2 50 <in >pid 2>err &
  run=$!
  started+=("$run")
  exec 6>in
  until_true test -s pid
  pid=$(cat pid)
}
# stop: sets status
stop() {
  exec 6>&-
  wait "$run"
  status=$?
}
numbers() { find "$1" -name "scale.$2.every-*.json" | sed 's/.*every-0*\([0-9]*\)\.json/\1/' | sort -n | xargs; }
last() { numbers "$1" "$2" | sed 's/.* //'; }
reaches() { [ "$(last "$1" "$2")" -ge "$3" ]; }
children() { cat "/proc/$1/task/$1/children"; }

# -- run -------------------------------------------------------------------------------------

start "$aprof" run --preload -o out --every 30ms --keep 3 --
check "run: totals come while it runs" until_true reaches out "$pid" 6
equal "run: the program has no child" "" "$(children "$pid")"
stop
equal "run: its status is the program's" 137 "$status"
end=$(last out "$pid")
equal "run: the last three stay" "$((end - 2)) $((end - 1)) $end" "$(numbers out "$pid")"
contains "run: the last totals are as ever" "totals: out/scale.$pid.json" err
equal "run: nothing else is said" 1 "$(wc -l <err)"
equal "run: nothing half written stays" "" "$(find out -name '*.json.*')"
name() { printf 'out/scale.%s.every-%06d.json' "$pid" "$1"; }
first=$(name $((end - 2))) second=$(name "$end")
totals_close "$first" "$second" "out/scale.$pid.json"
check "run: each is later than the one before" test "$(value "$first" t.process.elapsed_ns)" -lt \
  "$(value "$second" t.process.elapsed_ns)"
"$aprof" report "$first" "$second" >interval.txt 2>&1
equal "run: two of them are an interval" 0 $?
"$aprof" report --window 1s out >window.txt 2>window.err
equal "run: a window of the directory" "0 " "$? $(cat window.err)"

start "$aprof" run --preload -q -o all --every 10ms --keep 0 --
check "keep 0: totals come" until_true reaches all "$pid" 4
stop
equal "keep 0: all stay" "$(seq "$(last all "$pid")" | xargs)" "$(numbers all "$pid")"

start "$aprof" run --preload -q -o killed --every 10ms --
makers=$(children "$run")
makers=${makers/$pid/}
check "a run that is killed: somebody made totals" test -n "${makers// /}"
disown "$run"
kill -9 "$run"
# shellcheck disable=SC2086 # one number
check "... and ends with it" until_true eval '! kill -0 '$makers
exec 6>&-

start "$aprof" run --preload -q -o gone --every 10ms --
check "a directory that goes: totals came" until_true reaches gone "$pid" 2
rm -rf gone
check "... it is said" until_true grep -q "every-.*cannot\|cannot.*every-" err
mkdir gone
check "... it is there again, and so are totals" until_true reaches gone "$pid" 2
stop
equal "... once" 1 "$(grep -c every- err)"

says() {
  local name=$1 status=$2 text=$3
  shift 3
  "$@" >said.txt 2>&1
  equal "$name: status" "$status" $?
  contains "$name: what is said" "$text" said.txt
}
says "--keep alone" 2 "--keep is of totals that are made --every TIME" "$aprof" run --keep 3 -- true
says "too often" 2 "--every is 10ms to 24h" "$aprof" run --every 1ms -- true
says "profiles in memory" 0 "the profiles are in memory" "$aprof" run --options profile:memfd --every 1s -- true

# -- serve -----------------------------------------------------------------------------------

if [ ! -x "$build/aprof-serve" ]; then
  skip "aprof serve" "built without libmicrohttpd"
  finish
fi
# serve ARGUMENT...: sets url and server
serve() {
  served serve --listen 127.0.0.1:0 "$@"
}
leave() {
  kill "$server"
  wait "$server"
}
export APROF_OPTIONS=profile:$profiles,dir:$work
start env LD_PRELOAD="$build/rt/.libs/libaprof.so.0"
mkdir history
serve --totals history --every 20ms --keep 4 "$pid"
check "serve: totals come" until_true reaches history "$pid" 6
leave
equal "serve: ends well" 0 $?
before=$(last history "$pid")
equal "serve: the last four stay" "$(seq $((before - 3)) "$before" | xargs)" "$(numbers history "$pid")"
serve --totals history --every 20ms --keep 4
check "serve again: numbers go on" until_true reaches history "$pid" $((before + 2))
leave
equal "serve again: of theirs none is too many" 4 "$(numbers history "$pid" | wc -w)"
exec 6>&-
wait "$run" 2>/dev/null
serve history
curl -s --max-time 60 "${url}api/totals?pid=$pid" >served.json
equal "serve DIR: they are the process's" "$pid" "$(value served.json t.process.pid)"
leave
says "no such directory" 2 "there is no such directory" "$aprof" serve --totals missing
says "--keep without --totals" 2 "--keep is of --totals DIR" "$aprof" serve --keep 3
says "of a directory" 2 "--totals is of live processes" "$aprof" serve --totals history history
finish
