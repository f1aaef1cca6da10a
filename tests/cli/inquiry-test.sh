#!/bin/bash
# SPDX-License-Identifier: MIT
# What goes on in a live process while somebody asks by `aprof serve`: a share of many requests is
# recorded, samples are taken while they are asked for, a function is probed; and off again.
. "${0%/*}/../lib.sh"

profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
started=()
trap 'kill -9 "${started[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export NO_COLOR=1 LC_ALL=C.UTF-8 APROF_OPTIONS=profile:$profiles,dir:$work/out
unset APROF_RUNTIME APROF_COMMAND JOURNAL_STREAM
cd "$work" || exit 1
mkdir out
[ -x "$build/aprof-serve" ] || { skip "questions" "built without aprof serve"; finish; }

compiler=$(gcc_of "${majors##* }")
for name in sample cpu; do
  check "$name.c compiles" "$compiler" -g -O1 -fno-omit-frame-pointer "-fplugin=$plugin" -D_GNU_SOURCE \
    -I"$src/rt/include" "$src/tests/cli/$name.c" -o "$name" -pthread
done
check "what looks at the switch compiles" "${CC:-gcc}" -I"$src/rt/include" "$src/tests/cli/untraced.c" -o untraced

# start PROGRAM ARGUMENT...: one that goes on, and a server of it; sets pid, url, profile
start() {
  "$@" >/dev/null 2>err.txt &
  pid=$!
  started+=("$pid")
  until_true "$aprof" dump -o early.json "$pid"
  profile=$(echo "$profiles"/*"$pid"*.aprof)
  served "serve.$pid" --listen 127.0.0.1:0 "$pid"
}

# get PATH CURL-OPTION...: the status; its body
get() { curl -s --max-time 60 -o body -w '%{http_code}' "${@:2}" "$url$1"; }
# On a busy machine the lease may have ended since the last question.
answered() { [ "$(get "$1")" = 200 ] || ! get "api/record?pid=$pid" -X POST >/dev/null; }
costs() { get "api/record?pid=$pid" >/dev/null && grep -qE "$1" body || ! get "api/record?pid=$pid" -X POST >/dev/null; }

# -- a share of many requests ------------------------------------------------------------------

start ./sample busy
equal "a recording" 202 "$(get "api/record?pid=$pid" -X POST)"
check "it is of a share, which the line about its cost says" until_true costs ' events/s, [0-9.kM]+ lost, [0-9.]+% of the requests; it takes '
check "an answer" until_true answered "api/tail?pid=$pid&kind=fast"
check "it is as its schema says" conforms body
equal "of how many it is made" "true true" \
  "$(value body '0 < t.recording.sampled.kept < t.recording.sampled.begun, t.recording.share < 1')"
check "of a kind that one in five has" until_true answered "api/paths?pid=$pid&kind=slow"
kill -STOP "$pid" # it would only burn
check "when nobody asks it is over" until_true ./untraced "$profile"
kill -9 "${started[@]}" && started=()

# -- samples -------------------------------------------------------------------------------------

start ./cpu burn 100000
equal "no samples unless they are asked for" 409 "$(get "api/cpu?pid=$pid")"
contains "how they are" "POST /api/cpu?pid=PID" body
equal "asked for" 202 "$(get "api/cpu?pid=$pid" -X POST)"
sampled() {
  [ "$(get "api/cpu?pid=$pid&$1")" = 200 ] || grep -qE 'without samples|may not|perf_event' body ||
    ! get "api/cpu?pid=$pid" -X POST >/dev/null
}
check "samples of a function" until_true sampled "function=handle"
if ! grep -q '^{' body; then
  skip "samples" "$(cat body)"
else
  check "they are as their schema says" conforms body
  equal "rows add up: what each has of its own is all of it" true \
    "$(value body 'abs(sum(r.self_ns for r in t.rows) - t.cpu_ns) <= 0.02 * t.cpu_ns')"
  equal "rows: the function, and what it called beneath" "handle 0 null|true" \
    "$(value body 't.rows[0].name, t.rows[0].depth, t.rows[0].native')|$(value body 'any(r.name == "burn" and r.depth > 0 and r.native == "program" and r.cpu_ns > 0.9 * t.cpu_ns for r in t.rows)')"
  equal "a sample is worth what the rate says" true "$(value body 't.cpu_ns % t.samples.each_ns == 0')"
  check "of a kind of requests" until_true sampled "kind=turn"
  equal "is all of it here" "serve" "$(value body 't.rows[0].name if t.rows[0].depth == 0 and t.cpu_ns else t.rows')"
  equal "of a kind that nobody has: there is none" 202 "$(get "api/cpu?pid=$pid&kind=nobody")"
  contains "which is said" "was on no processor" body
  check "how many there are is said with the cost" until_true costs '^recording all, .* [0-9.k]+ samples[^;]*; it takes '
fi
# Whoever asks for something else goes on without them.
for _ in 1 2 3 4 5 6; do get "api/blame?pid=$pid" >/dev/null; sleep 1; done
equal "they are taken only while they are asked for" 409 "$(get "api/cpu?pid=$pid")"
equal "and what is recorded is" 200 "$(get "api/blame?pid=$pid")"
kill -STOP "$pid"
check "when nobody asks it is over" until_true ./untraced "$profile"
kill -CONT "$pid"

# -- a probe ---------------------------------------------------------------------------------------

equal "what is probed has a name" 400 "$(get "api/probe?pid=$pid" -X POST)"
equal "a recording is of no function" 400 "$(get "api/tail?pid=$pid&function=handle")"
equal "a probe" 202 "$(get "api/probe?pid=$pid&function=handle" -X POST)"
probed() {
  get "api/probe?pid=$pid&function=handle" >/dev/null
  grep -qE ' hits|may not|breakpoint' body
}
check "what came by" until_true probed
check "the process is not recorded for that" ./untraced "$profile"
none_watches() { [ "$(pgrep -c -P "${started[-1]}")" = 0 ]; }
check "when nobody asks it is over" until_true none_watches
equal "of what is not there" 202 "$(get "api/probe?pid=$pid&function=nothing_of_that_name" -X POST)"
equal "it is refused" 409 "$(get "api/probe?pid=$pid&function=nothing_of_that_name")"
contains "and why is said" "nothing_of_that_name" body
finish
