#!/bin/bash
# SPDX-License-Identifier: MIT
# A million live futures, ten thousand sites, 64 threads, counters near their overflow, and a
# dump after the other while all that runs (scale.c). Prints the text of bench/SCALE.md:
# memory per item, time of a dump, and the longest an application thread was held up, beside
# the same with profiling off. Fails where totals are not what the program itself counted.
. "$(dirname "$0")/lib.sh"
futures=1000000 threads=64 seconds=10 memory=1000M
[ -z "$quick" ] || { futures=20000 threads=8 seconds=1 memory=1000M; }
faults=0
fault() {
  faults=$((faults + 1))
  say "scale: $*"
}

# At -O1: what is measured is in the runtime.
"$cc" -std=gnu11 -O1 -g -I"$src/rt/include" -fplugin="$plugin" "$bench_dir/scale.c" -pthread \
  -o "$work/scale"

# begin NAME OPTION...: the program, its steps on descriptor 8, its answers on 9
begin() {
  local name=$1
  shift
  mkfifo "$work/$name.in" "$work/$name.out"
  APROF_RUNTIME=$runtime APROF_OPTIONS=dir:$work,signal:none,exit:no,profile:memfd,$1 \
    "$work/scale" "futures=$futures" "threads=$threads" <"$work/$name.in" >"$work/$name.out" &
  scale=$!
  started+=" $scale"
  exec 8>"$work/$name.in" 9<"$work/$name.out"
  rm -f "$work/$name.in" "$work/$name.out"
}
# step NAME [ARGUMENT]: the program's line, kept as "NAME..."
step() {
  local line
  echo "$*" >&8
  answer line
  printf '%s\n' "$line"
}
answer() { read -r -u 9 "$1" || { say "scale: the program has ended"; exit 1; }; }
finish_scale() {
  exec 8>&-
  answer last
  wait "$scale" || fault "the program's status was $?"
  started=${started/ $scale/}
  exec 9<&-
}
dump() { "$build/aprof" dump --output="$work/totals.json" "$scale"; }
# profile_bytes, of now
profile_bytes() { dump && jq .health.memory_bytes "$work/totals.json"; }

# held LABEL LINE: a row of the table of stalls
held() {
  awk -F '\t' -v label="$1" -v line="$2" 'BEGIN {
    split(line, f, "\t")
    printf "| %s | %d | %d | %d | %d | %d | %d |\n", label, f[2], f[3], f[4], f[5], f[6], f[7]
  }'
}

rows=$work/rows
run_off() {
  say "scale: profiling off"
  begin off enabled:no
  held "$futures futures brought to life, off" "$(step futures)" >>"$rows"
  held "10 000 sites used first, off" "$(step sites)" >>"$rows"
  held "$threads threads, off" "$(step "threads $seconds 16")" >>"$rows"
  finish_scale
}

run_on() {
  local at_start with_futures with_sites with_threads line dumps=0
  say "scale: profiling on"
  begin on "memory:$memory"
  held "one future, on" "$(step "threads 0 1")" >/dev/null # the profile is there
  at_start=$(profile_bytes)
  held "$futures futures brought to life, on" "$(step futures)" >>"$rows"
  with_futures=$(profile_bytes)
  held "10 000 sites used first, on" "$(step sites)" >>"$rows"
  with_sites=$(profile_bytes)
  step wrap >/dev/null
  held "$threads threads, each coming upon 10 000 sites, on" \
    "$(step "threads $seconds 5000")" >>"$rows"
  with_threads=$(profile_bytes)
  step "threads $seconds 16" >/dev/null
  held "$threads threads, on" "$(step "threads $seconds 16")" >>"$rows"
  echo "threads $seconds 16" >&8
  : >"$work/dumps"
  while ! read -r -t 0 -u 9; do
    dump_timed
    dumps=$((dumps + 1))
  done
  answer line
  held "$threads threads, on, $dumps dumps meanwhile" "$line" >>"$rows"
  dump
  check
  finish_scale
  compare
  {
    echo "| a live future | $(((with_futures - at_start) / futures)) bytes, its share of the table of keys included |"
    echo "| a site in its first thread | $(((with_sites - with_futures) / 10000)) bytes |"
    echo "| what one more thread came upon of 10 000 sites | $(((with_threads - with_sites) / threads / 1024)) KB |"
    echo "| the profile at the end | $((with_threads / 1048576)) MB |"
  } >"$work/memory"
}

dump_timed() {
  local begin_ns
  begin_ns=$(date +%s%N)
  dump || fault "a dump failed"
  awk -v took=$(($(date +%s%N) - begin_ns)) 'BEGIN { printf "%.0f\n", took / 1e6 }' >>"$work/dumps"
  if [ ! -e "$work/checked" ]; then
    : >"$work/checked"
    check
  fi
}

check() {
  "$src/tests/lib/totals.py" close "$work/totals.json" \
    >"$work/check.log" 2>&1 || { cat "$work/check.log" >&2; fault "the equations of a dump"; }
}

# What the program counted and what the last dump says.
compare() {
  local runs calls found_runs found_calls lost
  runs=$(cut -f2 <<<"$last") calls=$(cut -f3 <<<"$last")
  found_runs=$(jq '[.functions[] | select(.name == "turn") | .slices] | add' "$work/totals.json")
  found_calls=$(jq '[.functions[] | select(.name | test("^f[0-9]+$")) | .done] | add' "$work/totals.json")
  lost=$(jq -c '.health | {lost_futures, lost_events, missed_events, lost_histograms, other_nodes}' \
    "$work/totals.json")
  [ "$runs" = "$found_runs" ] || fault "runs: $runs by the program, $found_runs in the totals"
  [ "$calls" = "$found_calls" ] || fault "calls: $calls by the program, $found_calls in the totals"
  {
    echo "By the program's own count and in the totals: runs $runs and $found_runs, calls $calls and $found_calls"
    echo "(10 000 000 000 of them wound on before). $lost"
  } >"$work/counts"
}

results() {
  echo "# Scale, measured"
  echo
  echo "Made by \`scripts/bench --keep scale\` (\`bench/scale.c\`, \`bench/scale.sh\`), memory:$memory."
  echo
  machine
  echo
  echo "## Memory"
  echo
  echo "| item | profile |"
  echo "|---|---|"
  cat "$work/memory"
  echo
  echo "## How long a thread is held up"
  echo
  echo "CPU: by the clock of the thread, which runs only while the thread does. Over wall clock time also"
  echo "come other threads and programs: compare with \"off\"."
  echo
  echo "| step | iterations | CPU ns each | longest, CPU us | over 100 us, CPU | longest, wall us | over 100 us, wall |"
  echo "|---|---|---|---|---|---|---|"
  cat "$rows"
  echo
  echo "## Dumps"
  echo
  sort -n "$work/dumps" | awk '{ v[NR] = $1 } END {
    printf "%d while all that ran: median %d ms, longest %d ms, of the command from start to end.\n", NR, v[int((NR + 1) / 2)], v[NR] }'
  cat "$work/counts"
}

run_off
run_on
results
[ "$faults" -eq 0 ]
