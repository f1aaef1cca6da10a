#!/bin/bash
# SPDX-License-Identifier: MIT
# Metrics: what promtool and a real Prometheus take, sums that equal the totals, labels that are
# bounded, several processes, a reset, and a file that is never there in part.
. "${0%/*}/../lib.sh"
. "${0%/*}/../lib/metrics.sh"

unset APROF_RUNTIME APROF_COMMAND
profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
started=()
trap 'kill -9 "${started[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export APROF_OPTIONS=profile:$profiles,clock:virtual LC_ALL=C.UTF-8
cd "$work" || exit 1

"${CC:-gcc}" -O1 -I"$src/rt/include" "$src/tests/cli/scale.c" -o scale -lpthread || exit 1
# start N FUNCTIONS: sets pid; it lives until its standard input ends
start() {
  mkfifo "in$1"
  LD_PRELOAD=$build/rt/.libs/libaprof.so.0 ./scale "$2" 2 200 <"in$1" >"pid$1" 2>/dev/null &
  started+=($!)
  eval "exec $((6 + $1))>in$1"
  for _ in $(seq 500); do
    [ ! -s "pid$1" ] || break
    sleep 0.02
  done
  pid=$(cat "pid$1")
}
# sum FILE FAMILY: of all its series
sum() {
  awk -v family="$2{" 'index($0, family) == 1 { sum += $NF } END { printf "%.9f\n", sum }' "$1"
}
# total FILE MEMBER: of all functions, in seconds
total() {
  value "$1" "'%.9f' % (total(t.functions, '$2') / 1e9)"
}
series() {
  grep -c "^$2{" "$1"
}

start 1 80
one=$pid
"$aprof" dump -o totals.json "$one"
check "a live process" "$aprof" export --to prometheus -o m.prom "$one"
for member in exec queued waiting wall; do
  equal "$member: the sum is that of the totals" "$(total totals.json "${member}_ns")" \
    "$(sum m.prom "aprof_function_${member}_seconds_total")"
done
equal "runs: the histogram counts those of the totals" \
  "$(value totals.json 'sum(bucket[1] for g in t.functions if g.exec for bucket in g.exec.buckets)').000000000" \
  "$(sum m.prom aprof_function_exec_duration_seconds_count)"
equal "50 functions, and the rest" 51 "$(series m.prom aprof_function_created_total)"
contains "the rest is named" 'function="(other)"' m.prom
equal "the rest: no more than all" "$(value totals.json 'total(t.functions, "created")').000000000" \
  "$(sum m.prom aprof_function_created_total)"
"$aprof" export --to prometheus --top 3 "$one" >few.prom
equal "--top 3: three, and the rest" 4 "$(series few.prom aprof_function_created_total)"
equal "--top 3: the same sum" "$(sum m.prom aprof_function_exec_seconds_total)" \
  "$(sum few.prom aprof_function_exec_seconds_total)"
refuse "--top 3: the rest is another series than that of 50" grep -qF \
  "$(grep -o 'without="[^"]*"' few.prom | sort -u)" m.prom
"$aprof" export --to prometheus --top 0 "$one" >all.prom
refuse "--top 0: no rest" grep -qF 'function="(other)"' all.prom
# le is cumulative, and the last is the count
equal "buckets never fall" "" "$(awk '/_bucket\{/ { key = $0; sub(/,le=.*/, "", key)
  if (key == last && $NF < before) print; last = key; before = $NF }' m.prom)"
equal "of totals as of the process" "$(grep -v elapsed m.prom | grep ^aprof_function_exec_seconds)" \
  "$("$aprof" export --to prometheus totals.json | grep ^aprof_function_exec_seconds)"

# Several processes in one, each family once.
start 2 20
two=$pid
"$aprof" export --to prometheus "$one" "$two" >both.prom
equal "two processes: each family once" "" "$(grep '^# TYPE' both.prom | sort | uniq -d)"
equal "two processes: both are there" 2 "$(series both.prom aprof_process_elapsed_seconds)"
equal "two processes: all series differ" "" "$(grep -v '^#' both.prom | sed 's/ [^ ]*$//' | sort | uniq -d)"
"$aprof" export --to prometheus >live.prom 2>err.txt
check "without a target: all that live" grep -qF "pid=\"$one\"" live.prom
check "without a target: all that live, the other" grep -qF "pid=\"$two\"" live.prom
edit totals.json 't.process.started_at = "2026-01-02T03:04:05.000Z"' >again.json
"$aprof" export --to openmetrics totals.json again.json >again.prom
equal "a process started again: all series differ" "" "$(grep -v '^#' again.prom | sed 's/ [^ ]*$//' | sort | uniq -d)"
check "by when" grep -q 'started="2026-01-02T03:04:05' again.prom
refuse "one process twice" "$aprof" export --to prometheus "$one" "$one"
if command -v promtool >/dev/null; then
  promtool check metrics <both.prom >promtool.txt 2>&1
  equal "promtool has nothing to say" "0 " "$? $(cat promtool.txt)"
else
  skip "promtool" "not installed"
fi

# The rest of many is made in little memory: a list of all their awaits, grown one by one, took 400 MB.
start 4 1500
"$aprof" dump -o many.json "$pid"
check "1500 functions: in 200 MB" bash -c "ulimit -v 200000; '$aprof' export --to prometheus many.json >many.prom"
equal "1500 functions: the sum" "$(total many.json exec_ns)" "$(sum many.prom aprof_function_exec_seconds_total)"

# OpenMetrics: its end, and when counters began.
"$aprof" export --to openmetrics "$one" >m.om
equal "OpenMetrics: ends with its mark" "# EOF" "$(tail -n 1 m.om)"
created() { awk '/^aprof_function_created_created/ { print $NF; exit }' "$1"; }
contains "OpenMetrics: counters have no suffix in their type" "# TYPE aprof_function_exec_seconds counter" m.om
started_at=$(value totals.json t.process.started_at)
equal "OpenMetrics: counters began when the process did" \
  "$(date -u -d "$started_at" +%s)" "$(created m.om | sed 's/\..*//')"
start 3 20
"$aprof" export --to openmetrics "$pid" >before.om
"$aprof" reset "$pid" >/dev/null
"$aprof" export --to openmetrics "$pid" >reset.om
equal "a reset: later, and from zero" "0.000000000 1" "$(sum reset.om aprof_function_exec_seconds_total) $(
  awk -v a="$(created before.om)" -v b="$(awk '/^aprof_process_counted_since/ { print $NF }' reset.om)" \
    'BEGIN { print (b > a) }')"

# A file for node exporters.
mkdir textfiles
check "--textfile" "$aprof" export --textfile textfiles "$one"
equal "--textfile: one file, nothing beside it" aprof.prom "$(ls -A textfiles)"
equal "--textfile: what a node exporter reads" "$(grep ^aprof_function_exec_seconds m.prom)" \
  "$(grep ^aprof_function_exec_seconds textfiles/aprof.prom)"
refuse "--textfile: a directory that is not there" "$aprof" export --textfile nowhere "$one"
"$aprof" export "$one" >out.txt 2>&1
equal "no format: usage" 2 $?
"$aprof" export --to graphite "$one" >out.txt 2>&1
equal "no such format: usage" 2 $?
contains "no such format: which there are" "there are openmetrics, prometheus" out.txt

# A real Prometheus, of what a server gives it as OpenMetrics.
if command -v prometheus >/dev/null; then
  serve_output "$aprof" export --to openmetrics "$one" "$two"
  start_prometheus 1s
  until_true answers 1 'up{job="aprof"}'
  equal "Prometheus: scrapes it" 1 "$(ask 'up{job="aprof"}')"
  equal "Prometheus: its sum is that of the totals" "$(total totals.json exec_ns)" \
    "$(ask "sum(aprof_function_exec_seconds_total{pid=\"$one\"})" | xargs printf '%.9f\n')"
  check "Prometheus: a quantile of a histogram" test -n \
    "$(ask 'histogram_quantile(0.99, sum by (le) (aprof_function_exec_duration_seconds_bucket))')"
else
  skip "a real Prometheus" "not installed"
fi

finish
