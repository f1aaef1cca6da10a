#!/bin/bash
# SPDX-License-Identifier: MIT
# The kill drill: three programs, each with an agent and now and then a recorder, and a collector of
# all three. At random moments one of these is killed (kill -9), and begins again. The programs notice
# nothing: each result is right, and each number of the profile is that of the program itself. Who is
# lost, and what, is said by those who are left.
# KILL_SEED, KILL_ROUNDS: which moments, and how many.
. "${0%/*}/../lib.sh"

unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND JOURNAL_STREAM APROF_FROM_TOKEN
export NO_COLOR=1 LC_ALL=C.UTF-8
cd "$work" || exit 1
if [ ! -x "$build/aprof-serve" ] || grep -q '^CURL_TRUE = #' "$build/Makefile"; then
  skip "the kill drill" "built without libmicrohttpd or libcurl"
  finish
fi
seed=${KILL_SEED:-$(($(date +%s) % 32768))}
rounds=${KILL_ROUNDS:-6}
RANDOM=$seed
echo "KILL_SEED=$seed KILL_ROUNDS=$rounds"
profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
started=()
trap 'kill -9 "${started[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT

check "the program compiles" "$(gcc_of "${majors##* }")" -g -O1 -Wall -Wextra -Werror "-fplugin=$plugin" \
  -I"$src/rt/include" "$src/tests/system/drilled.c" -pthread -o drilled
"${CC:-gcc}" -O1 -I"$src/rt/include" "$src/tests/cli/untraced.c" -o untraced || exit 1
balance=$build/tests/cli/balance

# -- who takes part ------------------------------------------------------------------------------
declare -a pid agent port recorder
for n in 0 1 2; do
  mkdir "out$n" "$profiles/$n" && chmod 700 "$profiles/$n"
  mkfifo "in$n"
  APROF_OPTIONS=profile:$profiles/$n,dir:$work/out$n ./drilled <"in$n" >"result$n" 2>"said$n" &
  pid[n]=$!
  started+=($!)
  eval "exec $((20 + n))>in$n"
  port[n]=0
done
start_agent() {
  local url
  served "agent$1" --listen "127.0.0.1:${port[$1]}" "${pid[$1]}" || return 1
  agent[$1]=$server
  url=${url%/} port[$1]=${url##*:}
}
start_collector() {
  served collector --listen 127.0.0.1:0 --every 200ms --from hosts || return 1
  collector=$server
  url=${url%/}
}
grows() { [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt "$2" ]; }
start_recorder() {
  rm -f "$1.trace"
  "$aprof" record -q -o "$1.trace" "${pid[$1]}" 2>"record$1.err" 20>&- 21>&- 22>&- &
  recorder[$1]=$!
  started+=($!)
  until_true grows "$1.trace" 20000
}
of_hosts() { curl -s --max-time 60 "$url/api/processes" >processes.json && value processes.json "$1"; }
is() { [ "$(of_hosts "$1")" = "$2" ]; }
all_answer() { is 'sum(h.state == "answers" and h.processes == 1 for h in t.hosts)' 3; }
state_is() { is "[h.state for h in t.hosts if h.name == 'host$1'][0]" "$2"; }
# done_by N: requests that its agent's totals have
done_by() { curl -s --max-time 60 "http://127.0.0.1:${port[$1]}/api/totals?pid=${pid[$1]}" >"now$1.json" && value "now$1.json" 'sum(k.count for k in t.requests)'; }
counts_from() { [ "$(done_by "$1")" -ge "$2" ]; }
for n in 0 1 2; do
  until_true "$aprof" report "${pid[n]}" >/dev/null
  check "agent $n" start_agent $n
  echo "host$n=http://127.0.0.1:${port[n]}" >>hosts
done
check "the collector" start_collector
check "all three answer" until_true all_answer

# -- the drill -------------------------------------------------------------------------------------
slay() {
  kill -9 "$1"
  wait "$1" 2>/dev/null
}
kill_agent() {
  local n=$1 before
  before=$(done_by "$n")
  slay "${agent[n]}"
  check "$2: it is said to be gone" until_true state_is "$n" gone
  check "$2: and why; the others answer" until_true \
    is "[h.says for h in t.hosts if h.name == 'host$n'][0], sum(h.state == 'answers' for h in t.hosts)" "nobody listens there 2"
  check "$2: it begins again" start_agent "$n"
  check "$2: all three answer" until_true all_answer
  check "$2: nothing is forgotten" counts_from "$n" "$before"
}
sum_from() { curl -s --max-time 60 "$url/api/totals" >sum.json && [ "$(value sum.json 'sum(k.count for k in t.requests)')" -ge "$1" ]; }
kill_collector() {
  local before
  before=$(curl -s "$url/api/totals" >sum.json && value sum.json 'sum(k.count for k in t.requests)')
  slay "$collector"
  check "$1: it begins again" start_collector
  check "$1: all three answer" until_true all_answer
  check "$1: nothing is forgotten" until_true sum_from "$before"
  check "$1: sums add up" totals_close sum.json
}
kill_recorder() {
  local n=$1
  check "$2: it records" start_recorder "$n"
  pause
  slay "${recorder[n]}"
  "$balance" "$n.trace" >balance.txt
  equal "$2: its file says that it ends early" 1 "$(sed -n "s,.*\<truncated \([0-9]*\).*,\1,p" balance.txt)"
  "$aprof" path "$n.trace" >path.txt 2>&1
  contains "$2: and so does what is asked of it" "the recording was cut off" path.txt
  check "$2: the next one begins" "$aprof" record -q --for 50ms -o next.trace "${pid[n]}"
  refuse "$2: it is whole" grep -q "cut off" <("$aprof" path next.trace 2>&1)
}
# A recorder of an agent's own, which goes with it.
kill_asked() {
  local n=$1
  recording() { curl -s --max-time 60 -X POST "http://127.0.0.1:${port[n]}/api/record?pid=${pid[n]}" >/dev/null && ! ./untraced "$profiles/$n"/*.aprof; }
  check "$2: it records" until_true recording
  kill_agent "$n" "$2"
  check "$2: nobody records" until_true ./untraced "$profiles/$n"/*.aprof
  check "$2: somebody else may" until_true "$aprof" record -q --for 50ms -o next.trace "${pid[n]}"
}
# The moment is what the drill is about: nothing is awaited.
pause() { sleep "$(printf '0.%03d' $((RANDOM % 300)))"; }
for ((round = 1; round <= rounds; round++)); do
  n=$((RANDOM % 3))
  pause
  case $((round % 4)) in
  0) kill_asked $n "$round, agent $n that records" ;;
  1) kill_recorder $n "$round, recorder $n" ;;
  2) kill_agent $n "$round, agent $n" ;;
  3) kill_collector "$round, collector" ;;
  esac
done
start_recorder 1
slay "${recorder[1]}" && slay "$collector"
for n in 0 1 2; do slay "${agent[n]}"; done

# -- nothing has changed anywhere --------------------------------------------------------------------
for n in 0 1 2; do
  check "program $n: its trace ends by itself" until_true ./untraced "$profiles/$n"/*.aprof
  eval "echo >&$((20 + n))"
  wait "${pid[n]}"
  equal "program $n: it ends as ever" "0 right" "$? $(cut -d' ' -f2 "result$n")"
  equal "program $n: it says nothing" "" "$(grep -v "$work/out$n" "said$n")"
  count=$(cut -d' ' -f1 "result$n")
  check "program $n: there were requests" test "$count" -gt 100
  equal "program $n: each is counted, and nothing else" "$count $((2 * count)) $((2 * count)) 0" \
    "$(value out$n/*.json 'sum(k.count for k in t.requests), f.get_item.done, sum(a.count for a in f.get_item.awaits), t.health.lost_events + t.health.lost_requests + t.health.lost_futures')"
  check "program $n: it adds up" totals_close out$n/*.json
done
finish
