#!/bin/bash
# SPDX-License-Identifier: MIT
# A server some of whose requests are slow for a reason that it knows (causes.c): `aprof tail` names
# it in its first line, its numbers are those that the server has stamped, within 1 %, and blame
# adds up to the queued time.
. "${0%/*}/../lib.sh"

export NO_COLOR=1 LC_ALL=C.UTF-8
unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1

if ! pkg-config --exists libuv; then
  skip "a server with slow requests" "no libuv"
  finish
fi
compiler=$(gcc_of "${majors##* }")
# shellcheck disable=SC2046 # flags
check "the server compiles" "$compiler" -g -O1 -Wall -Wextra -Werror "-fplugin=$plugin" -I"$src/rt/include" \
  "$src/tests/system/causes.c" -o causes $(pkg-config --cflags --libs libuv) -lpthread

# near WANTED FOUND OF: they differ by no more than 1 % of the last
near() {
  awk -v a="$1" -v b="$2" -v of="$3" 'BEGIN { d = a - b; exit !((d < 0 ? -d : d) <= of / 100) }'
}

# finds CAUSE NAME TEXT ROWS: the first line names it, and the rows (Python) are the stamps'
finds() {
  local cause=$1 name=$2 text=$3 rows=$4 slow slow_wall slow_cause others others_wall others_cause
  "$aprof" record -o "$cause.trace" -- ./causes "$cause" >"$cause.out" 2>"$cause.err"
  equal "$cause: recorded" 0 $?
  { read -r slow slow_wall slow_cause; read -r others others_wall others_cause; } < <(grep -E '^[0-9]+ [0-9]+ [0-9]+$' "$cause.out")
  "$aprof" tail "$cause.trace" >"$cause.txt" && "$aprof" tail --json "$cause.trace" >"$cause.json"
  check "$cause: --json is as its schema says" conforms "$cause.json"
  # On a machine that stood still meanwhile that is the cause, as the stamps say, too.
  if awk -v all="$((slow_wall - others_wall))" -v its="$((slow_cause - others_cause))" 'BEGIN { exit its < 0.6 * all }'; then
    check "$cause: the first line" grep -qE "$text \`$name\`" <(head -n 1 "$cause.txt")
  else
    skip "$cause: the first line" "the machine made more of the difference"
  fi
  cat "$cause.txt"
  equal "$cause: so many are slow" "$slow $others" "$(value "$cause.json" 't.kinds[0].slow, t.kinds[0].others')"
  check "$cause: the slow ones' wall" near "$slow_wall" \
    "$(value "$cause.json" 't.kinds[0].slow_wall_ns / t.kinds[0].slow')" "$slow_wall"
  check "$cause: the others' wall" near "$others_wall" \
    "$(value "$cause.json" 't.kinds[0].others_wall_ns / t.kinds[0].others')" "$slow_wall"
  check "$cause: what it takes of the slow ones" near "$slow_cause" \
    "$(value "$cause.json" "sum(r.slow.time_ns for r in t.kinds[0].rows if $rows) / t.kinds[0].slow")" "$slow_wall"
  check "$cause: and of the others" near "$others_cause" \
    "$(value "$cause.json" "sum(r.others.time_ns for r in t.kinds[0].rows if $rows) / t.kinds[0].others")" "$slow_wall"
  equal "$cause: rows are all of the wall" true \
    "$(value "$cause.json" 'all(sum(r.slow.time_ns for r in k.rows) == k.slow_wall_ns for k in t.kinds)')"
  "$aprof" blame --json "$cause.trace" >blame.json
  equal "$cause: blame is all that was queued" true \
    "$(value blame.json 'sum(r.time_ns for r in t.behind) == t.queued_ns and all(sum(d.time_ns for d in r.delayed) == r.time_ns + r.polled_ns for r in t.behind)')"
}
waits() {
  echo "r.what == 'waiting' and r.name == '$1'"
}
finds pool pool_get 'waiting in' "$(waits pool_get)"
finds disk disk_read 'waiting in' "$(waits disk_read)"
finds cache read_block 'waiting in' "$(waits read_block)"
finds retry db_query 'waiting in' "$(waits db_query)"
finds hog save_upload 'queued behind' "r.behind and r.name == 'save_upload'"

# A log of them while it runs: whatever ended before somebody looked is not in it.
# follow OPTION...: the lines, in log.json
follow() {
  ./causes disk >/dev/null &
  local pid=$!
  until_true "$aprof" ps "$pid" >/dev/null
  "$aprof" slow --follow --over 100ms --json "$@" "$pid" >log.json 2>log.err
  equal "slow --follow $*: until its end" 0 $?
  wait "$pid"
}
sums() {
  jq -se '[.[] | select(.wall_ns)] | (length, (map(.wall_ns >= 100000000) | all))' log.json | xargs
}
follow
read -r lines all < <(sums)
check "slow --follow: some of them" test "$lines" -ge 1
equal "slow --follow: each took so long" true "$all"
equal "slow --follow: nothing is said twice" "$lines" "$(jq -s 'map(.begin_ns // empty) | unique | length' log.json)"
follow --over 1ms --most 0
read -r lines all < <(sums)
check "slow --follow: more than the process keeps" test "$lines" -gt 32
equal "slow --follow: all of them" "$lines 0" "$(jq -s \
  '(map(.begin_ns // empty) | unique | length), (map(.left_out // 0) | add)' log.json | xargs)"
./causes disk >/dev/null &
until_true "$aprof" ps $! >/dev/null
"$aprof" slow --follow --over 100ms $! >log.txt
check "slow --follow: logfmt" grep -qE '^began=[0-9T:.-]+Z kind="[a-z_]+" wall_ms=[1-9][0-9]{2,}\.[0-9]{3} queued_ms=.* failed=false pid=[0-9]+$' log.txt
follow --most 1 --for 1500ms
check "slow --follow --most: so many a second" test "$(sums | cut -d' ' -f1)" -le 3

finish
