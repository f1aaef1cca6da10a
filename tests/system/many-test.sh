#!/bin/bash
# SPDX-License-Identifier: MIT
# Five machines, as network namespaces behind one bridge, each with a program and an aprof serve; one
# of them waits long for its pool. `tail --by host' names machine and cause in its first line, in
# time, whatever becomes of the others: an agent that is killed, a network that is down, names whose
# addresses change; a collector that is killed changes nothing anywhere.
# Where namespaces are refused the five are addresses of the loopback, and it is said.
. "${0%/*}/../lib.sh"

if [ -z "${MANY_INSIDE:-}" ] && unshare -rnm true 2>/dev/null; then
  rm -rf "$work"
  MANY_INSIDE=1 exec unshare -rnm "$0"
fi
unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND JOURNAL_STREAM APROF_FROM_TOKEN
export NO_COLOR=1 LC_ALL=C.UTF-8
cd "$work" || exit 1
if [ ! -x "$build/aprof-serve" ] || grep -q '^CURL_TRUE = #' "$build/Makefile"; then
  skip "many machines" "built without libmicrohttpd or libcurl"
  finish
fi
profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
started=()
trap 'kill -9 "${started[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT

# -- machines ----------------------------------------------------------------------------------
# Five that can be reached from here, as 10.97.0.N; false where that is not allowed.
make_machines() {
  local n
  ip link set lo up && ip link add bridge type bridge && ip addr add 10.97.0.100/24 dev bridge &&
    ip link set bridge up && mount -t tmpfs none /run && mkdir -p /run/netns || return 1
  for n in 1 2 3 4 5; do
    ip netns add "node$n" && ip link add "to$n" type veth peer name eth0 netns "node$n" &&
      ip link set "to$n" master bridge && ip link set "to$n" up &&
      ip -n "node$n" addr add "10.97.0.$n/24" dev eth0 && ip -n "node$n" link set lo up &&
      ip -n "node$n" link set eth0 up || return 1
  done
}
if [ -n "${MANY_INSIDE:-}" ] && make_machines 2>machines.err; then
  apart=yes
  on() { local n=$1 && shift && exec ip netns exec "node$n" "$@"; }
  address() { echo "10.97.0.$1"; }
else
  skip "five network namespaces" "refused here ($(head -n 1 machines.err 2>/dev/null)): five addresses of the loopback instead"
  apart=
  ip link set lo up 2>/dev/null
  on() { shift && exec "$@"; }
  address() { echo "127.0.97.$1"; }
fi

check "the program compiles" "$(gcc_of "${majors##* }")" -g -O1 -Wall -Wextra -Werror "-fplugin=$plugin" \
  -I"$src/rt/include" "$src/tests/system/many.c" -o shop
place=many.c:$(grep -n '/\* at \*/' "$src/tests/system/many.c" | cut -d: -f1)
echo "0123456789abcdef-token" >token && chmod 600 token
export APROF_OPTIONS=profile:$profiles,exit:no APROF_FROM_TOKEN=0123456789abcdef-token
# machine N: its program, whose number is in pid.N, and its server, in agent.N
machine() {
  local n=$1 pool=1000000
  [ "$n" != 3 ] || pool=40000000
  mkfifo "in.$n"
  (on "$n" ./shop $pool) <"in.$n" >"out.$n" &
  echo $! >"pid.$n"
  started+=($!)
  eval "exec $((20 + n))>in.$n"
  until_true "$aprof" report "$(cat "pid.$n")" >/dev/null
  agent "$n"
}
agent() {
  local n=$1
  rm -f "agent.$n.out" # what the one before said is not this one's, which begins when it comes to it
  (on "$n" "$aprof" serve --listen "$(address "$n"):9797" --token-file token --label "zone=$((n % 2))" "$(cat "pid.$n")") \
    >"agent.$n.out" 2>&1 &
  echo $! >"agent.$n"
  started+=($!)
  until_true grep -q '^serving ' "agent.$n.out"
}
for n in 1 2 3 4 5; do
  machine $n
  echo "node$n=http://$(address $n):9797"
done >hosts

# -- which one, and why ------------------------------------------------------------------------
# by NAME OPTION...: what tail --by says is in tail.txt
by() {
  local name=$1
  shift
  check "$name" timeout 120 "$aprof" tail --for 3s -o tail.txt --from hosts --by "$@"
}
names_it() {
  check "$1: the first line names machine and cause" grep -qE \
    "^$2: GET /item: \+[0-9.]+ of the \+[0-9.]+ ms: waiting in \`pool_get\`" <(head -n 1 tail.txt)
  check "$1: and where" grep -qF "$place" <(head -n 3 tail.txt)
}
by "five machines are compared" host
names_it "one of five" node3
equal "five machines: 80 columns" "" "$(awk 'length > 80' tail.txt)"
equal "five machines: the slowest first, and all of them" "node3 5" \
  "$(awk '/^node[0-9]+ / { print $1 }' tail.txt | { read -r first && echo "$first $(($(wc -l) + 1))"; })"
by "as JSON" host --json
check "as JSON: as its schema says" conforms tail.txt
equal "as JSON: what differs adds up" "node3 pool_get true 5" "$(value tail.txt \
  't.kinds[0].stands_out, t.kinds[0].cause.name, all(abs(sum(r.more_ns for r in k.rows) - (sum(r.slow.time_ns for r in k.rows) / k.groups[0].count - sum(r.others.time_ns for r in k.rows) / sum(g.count for g in k.groups[1:]))) < 1000 for k in t.kinds), len(t.kinds[0].groups)')"
by "by a label of theirs" zone
names_it "by a label" 1
for n in 1 2 3 4 5; do
  "$aprof" record -q --for 1s -o "node$n.trace" "$(cat "pid.$n")" &
done
# shellcheck disable=SC2046 # numbers
wait $(jobs -p | tail -n 5)
"$aprof" tail --by process node?.trace >tail.txt
names_it "recordings" "shop $(cat pid.3) on [^ ]+"

# -- what goes wrong ---------------------------------------------------------------------------
kill -9 "$(cat agent.2)"
[ -z "$apart" ] || ip -n node4 link set eth0 down
by "with one that was killed, and one whose network is down, in a time that has a bound" host
names_it "... still" node3
contains "... who is gone is said" "node2 is in no number: nobody listens there" tail.txt
if [ -n "$apart" ]; then
  check "... and who cannot be reached" grep -qE "^node4 is in no number: (it takes too long|nobody|it hung)" tail.txt
  ip -n node4 link set eth0 up
fi
agent 2
reached() { curl -sf --max-time 60 -H "Authorization: Bearer $(cat token)" "http://$(address "$1"):9797/api/processes" >/dev/null; }
check "the network is back" until_true reached 4
by "who comes back is there" host
equal "... all five" 5 "$(grep -cE '^node[0-9] ' tail.txt)"

# -- a collector, and names whose addresses change -----------------------------------------------
# collect ARGUMENT...: sets collector to its PID, url
collect() {
  served collector --listen 127.0.0.1:0 --every 1s "$@"
  collector=$server
  url=${url%/}
}
# hosts_are COUNT: that answer
hosts_are() {
  curl -s "$url/api/processes" >processes.json &&
    [ "$(value processes.json 'sum(h.state == "answers" and h.processes == 1 for h in t.hosts)')" = "$1" ]
}
collect --from hosts
check "a collector has all five" until_true hosts_are 5
# those_of WHERE COUNT: of so many processes it tells then
those_of() { curl -s "$url/api/totals?where=$1" >those.json && [ "$(value those.json 'len(t.processes)')" = "$2" ]; }
check "what it tells of a label is of three" until_true those_of zone=1 3
build_id=$(value those.json 't.process.build_id')
check "of a build of all" until_true those_of "build=$build_id" 5
equal "of none of that build: not found" 404 \
  "$(curl -s -o none.txt -w '%{http_code}' "$url/api/totals?where=build=0000")"
contains "its metrics say which label a host has" 'label_zone="1"' <(curl -s "$url/metrics")
"$aprof" tail --by host --for 2s "$url" >tail.txt
names_it "of a collector" node3
kill -9 $collector
if [ -n "$apart" ] && ! grep -q '^multi *off' /etc/host.conf 2>/dev/null; then
  name() { for n in "$@"; do echo "$(address "$n") nodes"; done >names; }
  name 1 2 3
  mount --bind names /etc/hosts
  collect --from dns+http://nodes:9797
  check "a name: all its addresses" until_true hosts_are 3
  equal "... are hosts" "10.97.0.1 10.97.0.2 10.97.0.3" "$(value processes.json '*[h.name for h in t.hosts]')"
  name 1 2 3 4 5
  check "... also those that come" until_true hosts_are 5
  name 4 5
  gone() { hosts_are 2 && [ "$(value processes.json 'len(t.hosts)')" = 2 ]; }
  check "... and without those that go" until_true gone
  kill -9 $collector
else
  skip "a name of many addresses" "no namespaces"
fi

# -- nothing has changed anywhere ----------------------------------------------------------------
for n in 1 2 3 4 5; do
  eval "echo >&$((20 + n))"
  wait "$(cat pid.$n)"
  equal "machine $n: its program ends as ever" "0 some right" "$? $(cat out.$n)"
done
finish
