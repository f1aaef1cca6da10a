#!/bin/bash
# SPDX-License-Identifier: MIT
# What recording costs a server at full load, and what asking a recording of ten million events
# takes. Prints the text of bench/RECORD.md.
#
# Servers and load have a processor each; the recorder takes what is left of either. Each server
# is started once and loaded for a short time with recording off, on, off, on..., so that what else the
# machine does meets both alike; the medians count. Instructions are those of user code under
# callgrind, with the events going to a ring: they do not depend on noise at all. The recording
# is one of the HTTP server under the same load. Fails where a question takes longer than 5 s of a
# processor, or more than 1 GB, or where recording keeps less than 95 % of the throughput, if
# nobody else wanted the processors.
. "$(dirname "$0")/lib.sh"
rounds=15 seconds=0.8 events=10000000
short=100 long=500 # requests under callgrind
[ -z "$quick" ] || { rounds=2 seconds=0.2 events=200000 short=20 long=120; }
programs=$bench_dir/programs
faults=0
fault() {
  faults=$((faults + 1))
  say "record: $*"
}

compile() { # OUTPUT SOURCES... with flags
  "$cc" -std=gnu11 -O2 -g -I"$src/rt/include" "${@:2}" -o "$work/$1"
}
compile load "$programs/load.c"
compile stackful -fplugin="$plugin" "$programs/server-stackful.c"
compile stackless -fplugin="$plugin" "$programs/server-stackless.c"
names=(stackful stackless)
if pkg-config --exists libuv; then
  # shellcheck disable=SC2046 # a list of words
  compile http -fplugin="$plugin" "$src"/examples/http-server/*.c $(pkg-config --cflags --libs libuv)
  names+=(http)
fi
cat >"$work/measured.py" <<'EOF'
# measured.py OUT COMMAND...: runs it; user s, system s, most memory in MB, elapsed s to OUT
import os, resource, subprocess, sys, time
begin = time.monotonic()
status = subprocess.call(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
open(sys.argv[1], "w").write("%.2f\t%.2f\t%.0f\t%.2f\n" % (
    used.ru_utime, used.ru_stime, used.ru_maxrss / 1024, time.monotonic() - begin))
sys.exit(status)
EOF
measured() { python3 "$work/measured.py" "$@"; }

# ---- servers ----

server_cpu=$(($(nproc) > 1 ? 1 : 0))
# start NAME OPTIONS [WRAPPER...]: sets pid and port
start() {
  local name=$1 options=$2 arguments=()
  shift 2
  [ "$name" != http ] || arguments=(--root="$work")
  : >"$work/$name.log"
  APROF_RUNTIME=$runtime APROF_OPTIONS=signal:none,exit:no,clock:tsc,memory:1G,$options \
    taskset -c "$server_cpu" "$@" "$work/$name" "${arguments[@]}" >"$work/$name.log" 2>&1 &
  pid=$!
  started+=" $pid"
  port=
  until [ -n "$port" ]; do
    kill -0 "$pid" 2>/dev/null || { say "bench: $name did not start:"; cat "$work/$name.log" >&2; exit 1; }
    port=$(sed -n 's/^listening on [^0-9]*\(127.0.0.1:\)\{0,1\}\([0-9]*\)$/\2/p' "$work/$name.log")
    sleep 0.05
  done
}
stop() {
  kill -TERM "$pid"
  wait "$pid" || true
  started=${started/ $pid/}
}
load() { # NAME ARGUMENT...
  local what=get
  [ "$1" != http ] || what=/hello
  taskset -c 0 "$work/load" $what "$port" "pid=$pid" "${@:2}"
}

# ---- throughput ----

# sample NAME VARIANT
sample() {
  load "$1" "seconds=$seconds" | awk -F '\t' -v OFS='\t' -v v="$2" '{
    print v, "rate", $3; print v, "cpu", $4; print v, "p99", $6 }' >>"$work/$1.samples"
}

# With a recorder, from its first image to behind the load.
sample_recorded() { # NAME
  rm -f "$work/at.trace"
  measured "$work/cost" "$build/aprof" record -o "$work/at.trace" \
    --for "$(awk -v s="$seconds" 'BEGIN { print s + 0.4 }')s" "$pid" 2>"$work/said" &
  local recorder=$!
  until [ -s "$work/at.trace" ]; do
    kill -0 "$recorder" 2>/dev/null || { cat "$work/said" >&2; exit 1; }
    sleep 0.02
  done
  sample "$1" on
  wait "$recorder"
  cut -f 1,2 "$work/cost" | awk -v OFS='\t' -v s="$seconds" '{ print "on", "recorder", 100 * ($1 + $2) / s }' \
    >>"$work/$1.samples"
  sed -n 's/^aprof: \(.*\) events, \(.*\) lost, .*/\1\t\2/p' "$work/said" >>"$work/$1.events"
}

throughput() { # NAME
  say "record: $1, $rounds rounds"
  start "$1" exit:no
  load "$1" seconds=0.2 >/dev/null
  for _ in $(seq "$rounds"); do
    sample "$1" off
    sample_recorded "$1"
  done
  stop
}

# kept NAME ROW: of what it is without recording, in percent: the median of the rounds
kept() {
  awk -F '\t' -v row="$2" "$median"'
    $2 == row { n = ++count[$1]; value[$1, n] = $3 }
    END {
      for (i = 1; i <= n; i++) v[i] = 100 * value["on", i] / value["off", i]
      printf "%.1f", median(v, n)
    }' "$work/$1.samples"
}

# instructions NAME: user instructions per request, with recording off and on
instructions() {
  local variant requests
  command -v valgrind >/dev/null || return 0
  for variant in "" trace:flight=1M; do
    for requests in "$short" "$long"; do
      start "$1" "profile:memfd,$variant" bash -c 'exec "$@"' - \
        valgrind --tool=callgrind --callgrind-out-file=/dev/null
      load "$1" connections=1 rate=250 "requests=$requests" >/dev/null
      stop
      sed -n 's/.*Collected : //p' "$work/$1.log" >>"$work/$1.counts"
    done
  done
  awk -v n=$((long - short)) '{ c[NR] = $1 } END {
    off = (c[2] - c[1]) / n; on = (c[4] - c[3]) / n
    printf "Instructions of user code per request: off %.0f, on %.0f (%+.0f %%).\n", off, on, 100 * (on / off - 1) }' \
    "$work/$1.counts"
}

# ---- ten million events ----

record_many() {
  start http exit:no
  "$build/aprof" record --size 64M -o "$work/many.trace" "$pid" 2>"$work/many.said" &
  local recorder=$! now=0
  until [ -s "$work/many.trace" ]; do sleep 0.02; done
  # What the counters count; in the ring some are two, or three, and all 1.6 on average.
  while [ "$now" -lt "$events" ]; do
    load http requests=40000 >/dev/null
    "$build/aprof" dump -o "$work/now.json" "$pid"
    now=$(jq '.health.events * 1.6 | floor' "$work/now.json")
  done
  kill -TERM "$recorder"
  wait "$recorder"
  stop
  say "record: $(cat "$work/many.said")"
}

# ask LABEL COMMAND...: a row, the best of three. What writes a file of all is held to nothing.
ask() {
  local label=$1 most=5
  shift
  [ "$1" != export ] || most=1000
  for _ in 1 2 3; do
    measured "$work/asked" "$build/aprof" "$@" "$work/many.trace" >/dev/null || fault "$label: no answer"
    cat "$work/asked"
  done | sort -n | head -n 1 | awk -F '\t' -v label="$label" -v most="$most" '{
    printf "| %s | %.1f | %.1f | %d | %.1f |\n", label, $1, $2, $3, $4
    exit $1 + $2 > most || $3 > 1024 }' || fault "$label: over 5 s or 1 GB"
}

# ---- the text ----

for name in "${names[@]}"; do throughput "$name"; done
echo "# Recording, measured"
echo
echo "Made by \`scripts/bench --keep record\`: what it does stands in the head of \`bench/record.sh\`. Medians of"
echo "$rounds rounds of $seconds s with recording off, on, off, on...; ±: half of the span of all rounds."
echo
machine
for name in "${names[@]}"; do
  echo
  echo "## $name"
  echo
  matrix '%.2f' $'\tas fast as it goes\nrate\trequests/s\ncpu\tCPU us per request\np99\tp99, us\nrecorder\trecorder, % of a processor' \
    $'off\toff\non\trecorded' <"$work/$name.samples" | sed 's/\([0-9]\{4,\}\)\.[0-9]*/\1/g'
  echo
  echo "Recorded it keeps $(kept "$name" rate) % of its throughput. Events and lost ones, round by round:"
  awk -F '\t' '{ printf "%s%s, %s", (NR > 1 ? "; " : ""), $1, $2 } END { print "." }' "$work/$name.events"
  instructions "$name"
  [ "$busy_before" -gt 25 ] || [ -n "$quick" ] ||
    awk -v kept="$(kept "$name" rate)" 'BEGIN { exit kept < 95 }' ||
    fault "$name: recording keeps $(kept "$name" rate) %"
done
if [ -x "$work/http" ] && command -v jq >/dev/null; then
  record_many
  echo
  echo "## A recording of the HTTP server"
  echo
  echo "$(sed -n 's/^aprof: \(.*\) in .*/\1/p' "$work/many.said")."
  echo
  echo "| question | user s | system s | MB | s |"
  echo "|---|---|---|---|---|"
  ask "slow" slow
  ask "slow --json" slow --json
  ask "tail" tail
  ask "blame" blame
  most=$("$build/aprof" path --json "$work/many.trace" | jq -r '.kinds[0].rows[0].name')
  ask "path --what-if" path --what-if "$most=0.5"
  ask "flame --slowest 5%" flame --slowest 5% -o "$work/flame.svg"
  ask "flame --slowest 5% --diff" flame --slowest 5% --diff -o "$work/flame.svg"
  ask "export --to perfetto" export --to perfetto -o "$work/out.pftrace"
fi
exit $((faults > 0))
