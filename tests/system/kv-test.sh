#!/bin/bash
# SPDX-License-Identifier: MIT
# Whose time, of a key-value server in two processes on libuv: each kind of request in each tier, as often
# and as long as the programs themselves say by stamps on either side of each bracket (kv-stamps.h). So
# a busy machine changes both. The mean of a bracket is within a microsecond of what is around it.
. "${0%/*}/../lib.sh"

export NO_COLOR=1 LC_ALL=C.UTF-8
unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1
if ! pkg-config --exists libuv; then
  skip "a key-value server" "no libuv"
  finish
fi
keys=500
compiler=$(gcc_of "${majors##* }")
for program in front db; do
  # shellcheck disable=SC2046 # flags
  check "kv-$program compiles" "$compiler" -std=gnu11 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror \
    "-fplugin=$plugin" -I"$src/rt/include" "$src/tests/system/kv-$program.c" -o "kv-$program" \
    $(pkg-config --cflags --libs libuv)
done

# -- it serves ----------------------------------------------------------------------------

for ((i = 0; i < keys; i++)); do
  printf '%s\n' "create k$i v$i" "read k$i" "update k$i w$i" "read k$i" "delete k$i" "read k$i" >&3
  printf '%s\n' "create k$i: v$i" "read k$i: v$i" "update k$i: w$i" "read k$i: w$i" "delete k$i: none" \
    "read k$i: none" >&4
done 3>commands.txt 4>expected.txt
mkdir front db
exec 5< <(APROF_OPTIONS=dir:db exec ./kv-db socket db.stamps)
db=$!
read -r _ <&5
# shellcheck disable=SC2002 # a pipe, since a loop cannot wait for a file
cat commands.txt | APROF_OPTIONS=dir:front ./kv-front socket front.stamps >answers.txt
equal "it ends" 0 $?
wait "$db" 2>/dev/null
check "its answers" cmp answers.txt expected.txt
until_true test -s db.stamps
check "their totals close" totals_close front/*.json db/*.json

# -- each kind in each tier ------------------------------------------------------------------

for process in front db; do
  value $process/*.json '*((r.kind, "_total", r.count, r.wall_ns) for r in t.requests)' >found.txt
  value $process/*.json '*((r.kind, x.tier, x.count, x.wall_ns) for r in t.requests for x in r.tiers)' >>found.txt
  equal "$process: the same kinds and tiers, as often" \
    "$(sed 's/^stamps \([a-z]* [a-z_]* [0-9]*\) .*/\1/' $process.stamps | sort)" \
    "$(tr -d '[]",' <found.txt | cut -d' ' -f1-3 | sort)"
  # The profile's clock and ours may run apart by some millionths.
  tr -d '[]",' <found.txt | awk -v process="$process" '
    NR == FNR { count[$2, $3] = $4; inner[$2, $3] = $5; outer[$2, $3] = $6; next }
    { n = count[$1, $2]; clock = 20 * n + $4 / 10000
      low = inner[$1, $2] - clock; high = outer[$1, $2] + clock
      printf "%s %s %s %s: mean %.3f us, stamps %.3f to %.3f\n",
        n && $4 >= low && $4 <= high ? "ok" : "not_ok", process, $1, $2, $4 / n / 1000,
        inner[$1, $2] / n / 1000, outer[$1, $2] / n / 1000 }' $process.stamps - >judged.txt
  while read -r verdict text; do
    "$verdict" "$text"
  done <judged.txt
  check "$process: stamps are no more than a microsecond apart" \
    test "$(awk '{ print $7; exit }' $process.stamps)" -lt 1000
done
equal "requests are told apart by process" "3000 3000" \
  "$(value front/*.json 'total(t.requests, "count")') $(value db/*.json 'total(t.requests, "count")')"
equal "none is lost, missed or alive" "[0,0,0,0] [0,0,0,0]" \
  "$(for process in front db; do
    value $process/*.json '[*pick(t.health, "missed_events lost_futures lost_requests"), total(t.requests, "live")]'
  done | xargs)"

# -- what one sees ------------------------------------------------------------------------------

"$aprof" report front/*.json >report.txt
for kind in create read update delete; do
  check "the report has a line of $kind" grep -qE "^$kind +[0-9.k]+ .*db [0-9.]+%" report.txt
done
"$aprof" merge --traces --top 0 front/*.json db/*.json >traces.txt
check "both processes meet in traces" grep -qE '^[1-9][0-9]* requests? of several processes' traces.txt

# -- hosts whose clocks differ --------------------------------------------------------------------

# The totals of a database whose clock is so many seconds behind, on a host of its own. When a process
# started is told in steps of the kernel's clock, some milliseconds.
for behind in 754.25 -86400.5; do
  edit db/*.json "import datetime as d
at = d.datetime.fromisoformat(t.process.started_at[:26]) - d.timedelta(seconds=$behind)
t.process.update(host='elsewhere', started_at=at.isoformat(timespec='microseconds') + 'Z')" >elsewhere.json
  "$aprof" merge --traces --top 0 --json front/*.json elsewhere.json >traces.json
  conforms traces.json || not_ok "a clock that is $behind s behind: as the schema says" traces.json
  equal "a clock that is $behind s behind: found, within the error that is told" "true false true" \
    "$(value traces.json "abs(one(t.clocks).behind_ns - $behind * 1e9) <= one(t.clocks).error_ns + 10e6, one(t.clocks).one_host, one(t.clocks).fits")"
  check "... which is under 50 ms" test "$(value traces.json 'one(t.clocks).error_ns')" -lt 50000000
  equal "... each request lies within the one that asked for it" true \
    "$(value traces.json "all(0 <= r.at_ns <= max(0, x.wall_ns - r.wall_ns) for x in t.traces for r in x.requests[1:])")"
done
"$aprof" merge --traces front/*.json elsewhere.json >traces.txt
check "the text says it" grep -qE '^clock of elsewhere \(kv-db [0-9]+\): 24\.0 h ahead of that of ' traces.txt

# Recordings know who asked for each. The database's monotonic clock is another one, where one may.
head -n 300 commands.txt >fewer.txt
apart=(unshare -rT --monotonic 100000 --fork --)
"${apart[@]}" true 2>/dev/null || apart=()
exec 5< <(APROF_OPTIONS=exit:no exec "${apart[@]}" "$aprof" record -q -o db.trace -- ./kv-db socket2 db2.stamps 2>db.err)
db=$!
read -r _ <&5
# shellcheck disable=SC2002 # a pipe, since a loop cannot wait for a file
cat fewer.txt | APROF_OPTIONS=exit:no "$aprof" record -q -o front.trace -- ./kv-front socket2 front2.stamps >answers.txt 2>front.err
wait "$db" 2>/dev/null
check "recorded: its answers" cmp answers.txt <(head -n 300 expected.txt)
"$aprof" merge --traces --top 0 --json front.trace db.trace >traces.json
check "recorded: as the schema says" conforms traces.json
equal "recorded${apart[*]:+, by two clocks}: all requests, each beneath the one that its span is of" "300 true true" \
  "$(value traces.json 't.count, all(len(x.requests) == 2 for x in t.traces), all(r.by_span and r.parent == 0 and r.parent_span_id == x.requests[0].span_id and r.name == "kv-db" for x in t.traces for r in x.requests[1:])')"
"$aprof" merge --traces --top 1 front.trace db.trace >traces.txt
check "recorded: the text is a tree" grep -qE ' kv-db [0-9]+ +(create|read|update|delete)$' traces.txt
refuse "recordings and totals are not mixed" "$aprof" merge --traces front.trace db/*.json
contains "... and it is said" "is no recording" check.out
finish
