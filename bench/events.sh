#!/bin/bash
# SPDX-License-Identifier: MIT
# The time of each event of aprof, and of two events of other tools, on this machine: as
# multiples of two reads of the time stamp counter in the same run. Rounds in which each
# variant runs once; medians of the rounds. Prints the text of bench/RESULTS.md.
. "$(dirname "$0")/lib.sh"
. "$bench_dir/peers.sh"
rounds=5
batches=4001
[ -z "$quick" ] || { rounds=1 batches=201; }

# compile OUTPUT FLAG...
compile() {
  local output=$1
  shift
  "$cc" -std=gnu11 -O2 -D_GNU_SOURCE -I"$src/rt/include" "$bench_dir/events.c" -pthread \
    -o "$work/$output" "$@"
}
compile plain
compile shared -fplugin="$plugin"
# The objects ask for the runtime weakly, which takes nothing out of an archive.
compile static -fplugin="$plugin" -Wl,-u,__aprof_attach "$build/rt/.libs/libaprof.a"
nm "$work/static" | grep -q ' T __aprof_attach' || { say "bench: the static runtime is not in it"; exit 1; }

# sample VARIANT PROGRAM ARGUMENT...: its lines into the samples; `options`: more of them
sample() {
  local variant=$1 program=$2
  shift 2
  APROF_OPTIONS=exit:no,signal:none,profile:memfd,memory:268435456${options:+,$options} \
    "$work/$program" "batches=$batches" "$@" |
    awk -F '\t' -v OFS='\t' -v variant="$variant" '{ print variant, $1, $3, $2 }' >>"$work/samples"
}

lives=(16 1000 10000 100000)
one_round() {
  local linkage threads live order
  export APROF_RUNTIME=/nonexistent/libaprof.so
  sample plain plain
  sample absent shared
  export APROF_RUNTIME=$runtime
  for linkage in shared static; do
    for threads in 1 2; do
      sample "off-$linkage-$threads" "$linkage" off "threads=$threads"
      sample "on-$linkage-$threads" "$linkage" "threads=$threads"
      options=trace:flight=1M sample "traced-$linkage-$threads" "$linkage" "threads=$threads"
      for live in "${lives[@]}"; do
        for order in hot random; do
          sample "$live-$order-$linkage-$threads" "$linkage" key "threads=$threads" "live=$live" \
            "order=$order"
        done
      done
    done
  done
  peers_round
}

events=$'\tevent
2 x rdtsc\ttwo reads of the time stamp counter
2 x clock_gettime\ttwo of `clock_gettime`
pair\tan await: suspend + resume
key\tthe same through a key: a run that pauses
call\tan async call without a suspension
stack-life\ta life on a stack: entered, one wait, left
key-life\ta life by key: created, run, paused, run, done
woken-life\tcreated, its key known before the call, woken, run, done
stopped-life\tthe same, woken, ended from elsewhere
span\ta span on a running future
request\ta request with its label and five tiers'

results() {
  echo "# What an event costs, measured"
  echo
  echo "Made by \`scripts/bench --keep events\`. Each program measures batches of 64 events, pinned, and takes"
  echo "the median of $batches; the tables have the median of $rounds rounds in which all of them ran in turn,"
  echo "and half of the span from the lowest round to the highest. x: multiples of two \`rdtsc\` in the same"
  echo "run. The loop and the call itself are part of each figure."
  echo
  machine
  echo
  echo "## Profiling on"
  echo
  matrix '%.2f x (%.1f ns)' "$events" \
    $'on-shared-1\tshared runtime\non-static-1\tstatic\non-shared-2\tshared, 2 threads\non-static-2\tstatic, 2 threads' \
    <"$work/samples"
  echo
  echo "## While somebody records"
  echo
  echo "What a row takes more than above is what its events tell the trace: two an await, six an async call."
  echo "The goal is 0.35 x for each event of the program: 0.70 x an await, or a call."
  echo
  matrix '%.2f x (%.1f ns)' "$events" \
    $'traced-shared-1\tshared runtime\ntraced-static-1\tstatic\ntraced-shared-2\tshared, 2 threads\ntraced-static-2\tstatic, 2 threads' \
    <"$work/samples"
  echo
  echo "## Off, or no runtime"
  echo
  matrix '%.3f x (%.2f ns)' "$events" \
    $'plain\twithout the plugin\nabsent\tno runtime\noff-shared-1\toff, shared runtime\noff-static-1\toff, static\noff-shared-2\toff, shared, 2 threads\noff-static-2\toff, static, 2 threads' \
    <"$work/samples"
  echo
  echo "## A run by key, by the number of futures alive"
  echo
  echo "In the order in which they were made, or at random. The object that the key is the address of has a"
  echo "cache line of its own; from some thousand on each run misses the cache for it, the table and the record."
  echo
  live_table
  echo
  peers_results
}

# The variants of a table are in the columns, so the two parts of the name change places.
live_table() {
  local live order rows=$'\tfutures, order'
  for live in "${lives[@]}"; do
    for order in hot random; do
      rows+=$'\n'"$live-$order"$'\t'"$live, $order"
    done
  done
  sed -n 's/^\([0-9]*-[a-z]*\)-\([a-z]*-[12]\)\tkey\t/\2\t\1\t/p' "$work/samples" |
    matrix '%.2f x (%.0f ns)' "$rows" \
      $'shared-1\tshared runtime\nstatic-1\tstatic\nshared-2\tshared, 2 threads\nstatic-2\tstatic, 2 threads'
}

peers_prepare
for round in $(seq "$rounds"); do
  say "events: round $round of $rounds"
  one_round
done
results
