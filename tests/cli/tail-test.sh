#!/bin/bash
# SPDX-License-Identifier: MIT
# Questions about a recording: tail, blame, path, slow; of a program on the virtual clock, so that
# each number is known, and what they say where there is nothing to answer.
. "${0%/*}/../lib.sh"

export NO_COLOR=1 LC_ALL=C.UTF-8
unset APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1

compiler=$(gcc_of "${majors##* }")
check "the program compiles" "$compiler" -g -O1 -Wall -Wextra -Werror "-fplugin=$plugin" -I"$src/rt/include" \
  "$src/tests/cli/tail.c" -o shop
APROF_OPTIONS=clock:virtual "$aprof" record -o shop.trace -- ./shop >record.txt 2>&1
equal "it is recorded" 0 $?

# asked QUESTION OPTION...: in QUESTION.txt and QUESTION.json
asked() {
  "$aprof" "$@" shop.trace >"$1.txt" 2>err.txt
  equal "$1: nothing to complain about" "0 0" "$? $(wc -c <err.txt)"
  equal "$1: fits 80 columns" "" "$(awk 'length > 80' "$1.txt")"
  "$aprof" "$@" --json shop.trace >"$1.json"
  check "$1 --json: as its schema says" conforms "$1.json"
}

# -- tail ---------------------------------------------------------------------------------
asked tail
equal "tail: the first line is the cause" \
  "get_item: +49.00 of the +61.00 ms: waiting in \`pool_get\` at tail.c:$(grep -n 'pool_get(r, on' "$src/tests/cli/tail.c" | cut -d: -f1)," \
  "$(head -n 1 tail.txt | grep -o '^get_item: .*tail.c:[0-9]*,')"
contains "tail: which are slow" "slowest 5 % (64.0 ms or more): 2 of 40; 64.0 ms on average, others 3.00 ms" tail.txt
check "tail: who held the loop" grep -qE '^queued +behind save_upload tail.c:[0-9]+ +0.00 +12.00 +\+12.00 +20 %$' tail.txt
check "tail: all of it" grep -qE '^total, ms +3.00 +64.00 +\+61.00 +100 %$' tail.txt
contains "tail: nothing is lost" "40 requests; nothing lost" tail.txt
equal "tail --json: the rows are all of the wall" "true true" \
  "$(value tail.json 'all(sum(r.others.time_ns for r in k.rows) == k.others_wall_ns for k in t.kinds), all(sum(r.slow.time_ns for r in k.rows) == k.slow_wall_ns for k in t.kinds)')"
equal "tail --json: to the nanosecond" "128000000 114000000" \
  "$(value tail.json 't.kinds[0].slow_wall_ns, t.kinds[0].others_wall_ns')"
equal "tail --json: the cause" "pool_get longer" "$(value tail.json '*pick(t.kinds[0].cause, "name how")')"
"$aprof" tail --over 3s shop.trace >tail.txt
contains "tail --over: none is" "get_item: none of the 40 is slow" tail.txt
"$aprof" tail --slowest 2.5% --top 1 -o tail.out shop.trace
contains "tail --slowest" "slowest 2.5 % (64.0 ms or more): 1 of 40" tail.out
check "tail --top: the rest is summed up" grep -qE '^running +2 more ' tail.out

# -- blame --------------------------------------------------------------------------------
asked blame
contains "blame: all that was queued" "24.0 ms queued, 2 times" blame.txt
check "blame: who held the loop" grep -qE '^save_upload tail.c:[0-9]+ +24.0 ms +100% +2 +12.0 ms$' blame.txt
contains "blame: whom it delayed" "of \`on_connection\` 24.0 ms, 2 times" blame.txt
"$aprof" blame --json --kind 'get*' --slowest 2.5% shop.trace >blame.json
equal "blame of requests: what they were queued" "12000000 1 1" \
  "$(value blame.json 't.queued_ns, t.queued_count, t.requests')"

# -- path ---------------------------------------------------------------------------------
asked path
contains "path: the requests" "get_item: 40, p50 3.00 ms, p95 3.00 ms, longest 64.0 ms" path.txt
equal "path --json: the rows are all of the wall" true \
  "$(value path.json 'all(sum(r.time_ns for r in k.rows) == k.wall_ns for k in t.kinds)')"
"$aprof" path --what-if pool_get=0.5 --json shop.trace >path.json
check "path --what-if --json: as its schema says" conforms path.json
# (3 ms less 0.75; of the slow ones 25.25 less, and the upload comes when it came: the queue is gone.)
equal "path --what-if: half the wait, and nobody is in the way" "3000000 2250000 64000000 26750000" \
  "$(value path.json 't.kinds[0].what_if.replayed.p50_ns, t.kinds[0].what_if.changed.p50_ns, t.kinds[0].what_if.replayed.p99_ns, t.kinds[0].what_if.changed.p99_ns')"
"$aprof" path --what-if pool_get=0.5 shop.trace >path.txt
contains "path --what-if: its assumptions" "first in first out" path.txt
equal "path --what-if: fits 80 columns" "" "$(awk 'length > 80' path.txt)"

# -- slow ---------------------------------------------------------------------------------
asked slow
contains "slow: a request" "get_item 64.00 ms = 12.00 queued + 1.50 running + 50.50 waiting" slow.txt
check "slow: laid out in time" grep -qE '^ +51.50  queued +12.00  behind save_upload tail.c:[0-9]+$' slow.txt
equal "slow --json: each is all of its wall" "true 5" \
  "$(value slow.json 'all(sum(p.time_ns for p in s.path) == s.wall_ns for s in t.slowest), len(t.slowest)')"
"$aprof" slow --over 10ms shop.trace >slow.txt
contains "slow --over: so many" "2 of 40 requests took 10.0 ms or more" slow.txt
"$aprof" slow --slowest 2.5% --top 0 --json shop.trace >slow.json
equal "slow --slowest" 1 "$(value slow.json 'len(t.slowest)')"

# -- what cannot be -----------------------------------------------------------------------
# wrong STATUS TEXT COMMAND...
wrong() {
  local status=$1 text=$2
  shift 2
  "$@" >out.txt 2>err.txt
  equal "$*: status" "$status" $?
  contains "$*: says why" "$text" err.txt
}
wrong 1 "no requests of kind PUT" "$aprof" tail --kind PUT shop.trace
wrong 1 "no await or function \`nothing'" "$aprof" path --what-if nothing=0.5 shop.trace
wrong 2 "AWAIT=FACTOR" "$aprof" path --what-if pool_get shop.trace
wrong 2 "a share of the requests" "$aprof" tail --slowest 200% shop.trace
wrong 2 "--slowest, or --over" "$aprof" blame --slowest 5% --over 1ms shop.trace
wrong 2 "one target at a time" "$aprof" tail shop.trace shop.trace
wrong 1 "it is a function: --by $src/tests/cli/tail.c:" "$aprof" tail --by get_item shop.trace
wrong 1 "no process has a label \`shard'; --by takes" "$aprof" tail --by shard shop.trace
wrong 1 "all of these are of one host, " "$aprof" tail --by host shop.trace
"$aprof" merge --traces shop.trace shop.trace >traces.txt
contains "merge --traces of recordings speaks of these" "requests that began and ended within" traces.txt
head -c 100 shop.trace >torn.trace
refuse "a torn header" "$aprof" tail torn.trace
echo '{}' >totals.json
for asked in tail "flame --slowest 5%" "slow --slowest 5%" "path"; do
  # shellcheck disable=SC2086 # a command and its options
  wrong 1 "totals.json is no recording, and nothing else has single requests: make one with \`aprof record'" \
    "$aprof" $asked totals.json
done

finish
