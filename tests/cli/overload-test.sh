#!/bin/bash
# SPDX-License-Identifier: MIT
# aprof record --max-lag: while a loop is late the share of requests is halved, then recording stops,
# and comes back when it is calm; the recording and the command say so.
. "${0%/*}/../lib.sh"

profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
started=()
trap 'kill -9 "${started[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export NO_COLOR=1 LC_ALL=C.UTF-8 APROF_OPTIONS=clock:virtual,profile:$profiles,dir:$work/out
unset APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1
mkdir out

check "overload.c compiles" "$(gcc_of "${majors##* }")" -g -O1 -Wall -Wextra -Werror \
  "-fplugin=$plugin" -I"$src/rt/include" "$src/tests/cli/overload.c" -o overload

# says NAME STATUS TEXT COMMAND...
says() {
  local name=$1 want=$2 text=$3
  shift 3
  timeout 60 "$@" >said.txt 2>&1 </dev/null
  equal "$name: status" "$want" $?
  contains "$name: message" "$text" said.txt
}

# is FILE EXPRESSION: of what is in that recording by now
is() {
  "$aprof" slow --json -o now.json "$1" && [ "$(value now.json "$2")" = true ]
}

# record FILE OPTION...: until it is ended; sets recorder
record() {
  local file=$1
  shift
  "$aprof" record --max-lag 100ms --resume-after 300ms -o "$file" "$@" "$pid" 2>"$file.txt" &
  recorder=$!
  started+=("$recorder")
}

# start INPUT OPTIONS: sets pid
start() {
  mkfifo "$1"
  APROF_OPTIONS=$APROF_OPTIONS$2 ./overload <"$1" >"$1.txt" 2>err.txt &
  started+=($!)
  exec 9>"$1"
  until_true test -s "$1.txt"
  pid=$(cat "$1.txt")
  until_true "$aprof" dump -o early.json "$pid"
}

# ends FILE: its recorder is told to end
ends() {
  kill -TERM "$recorder"
  wait "$recorder"
  equal "$1: status" 0 $?
}

start input ""

# -- late, and calm again --------------------------------------------------------------------
kill -USR1 "$pid"
record late.trace
check "late: in the end recording stops" until_true is late.trace 't.recording.sampled.stopped_ns > 0'
check "late: at 1/64, from all" is late.trace 't.recording.sampled.least == 0.015625 and t.recording.sampled.most == 1'
kill -USR2 "$pid"
check "calm: then all is recorded again" until_true is late.trace 't.recording.sampled.last == 1'
ends late.trace
check "its end says how late, and what was done" grep -qE \
  'overload: what was ready waited 60[0-9] ms: the share was halved [0-9]+ times, recording was stopped (once|[0-9]+ times) for .* in all, and is all now' \
  late.trace.txt
check "nothing is lost by that" is late.trace 't.recording.lost == 0 and t.recording.sampled.stopped_events > 0'
check "as its schema says" conforms now.json
check "what is kept is whole, but for one at each end" is late.trace \
  't.recording.requests == t.recording.sampled.kept and t.recording.partial <= 3 and t.recording.sampled.kept > 20'
"$aprof" slow late.trace >asked.txt
check "and answers say it" grep -qzE 'sampled[[:space:]]+all[[:space:]]+to[[:space:]]+1/64.*that[[:space:]]+began[[:space:]]+\(and[[:space:]]+none[[:space:]]+for[[:space:]]+[0-9.]+[[:space:]]+m?s,[[:space:]]+while[[:space:]]+recording[[:space:]]+was[[:space:]]+stopped\)' asked.txt

# -- a share --------------------------------------------------------------------------------
record calm.trace --sample 1/2
check "calm: requests are kept" until_true is calm.trace 't.recording.sampled.kept > 50'
ends calm.trace
check "calm: it stays as it was asked for" is calm.trace \
  't.recording.sampled.changes == 0 and t.recording.sampled.last == 0.5 and t.recording.sampled.stopped_ns == 0'
equal "calm: nothing is said of it" 0 "$(grep -c overload calm.trace.txt)"
kill -USR1 "$pid"
record half.trace --sample 1/2
check "a share is halved, too" until_true is half.trace 't.recording.sampled.least < 0.008'
ends half.trace
check "the end of that" grep -q "overload: .*halved [0-9]* times" half.trace.txt

# -- a program with rings of its own --------------------------------------------------------------
# It goes on to trace, so it is known to be late all along.
exec 9>&-
wait "${started[0]}"
start other ,trace:flight=1M
kill -USR1 "$pid"
record flight.trace
check "flight: no request is kept in the end" until_true is flight.trace 't.recording.sampled.last == 0'
kill -USR2 "$pid"
check "flight: all again" until_true is flight.trace 't.recording.sampled.last == 1'
ends flight.trace
check "flight: is said" grep -q "overload: .*halved 6 times, recording was stopped once" flight.trace.txt
check "flight: no event is missing" is flight.trace 't.recording.lost == 0 and t.recording.sampled.stopped_events == 0'

# -- what cannot be -----------------------------------------------------------------------------
says "--max-lag 0" 2 "that is no time, as 50ms" "$aprof" record --max-lag 0 1
says "--max-lag x" 2 "that is no time, as 50ms" "$aprof" record --max-lag x 1
says "--last --max-lag" 2 "no --max-lag" "$aprof" record --last --max-lag 1s 1
says "--resume-after alone" 2 "is of what --max-lag TIME" "$aprof" record --resume-after 1s 1
finish
