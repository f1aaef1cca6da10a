#!/bin/bash
# SPDX-License-Identifier: MIT
# What reading a large profile costs, in thousands of instructions by callgrind, against the ceilings in
# bench/frame-ceilings: the first view of 10 000 paths of 3000 functions on four threads, each with
# histograms, and the frames of a live screen after it, in each of which every thread has been on
# all paths again, as on a busy program none stays as it was.
#
#   bench/frame.sh            from a build directory, or with APROF_BUILD
#   bench/frame.sh --ratchet  lowers the ceilings to what is reached now
#   bench/frame.sh --times    ms of processor time of this machine instead, and judges nothing
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../tests/lib.sh"
. "$here/ceilings.sh"
ceilings=$here/frame-ceilings unit="thousand instructions"
functions=3000 wide=17 threads=4 frames=5

if ! command -v valgrind >/dev/null && [ "${1:-}" != --times ]; then
  skip "frame" "valgrind is not installed"
  finish
fi

# Each function calls `wide` others, four deep. Threads take turns, and time is what they say it is, so that
# each run counts the same.
program() {
  cat <<EOF
#include <aprof.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
enum { N = $functions, WIDE = $wide, THREADS = $threads, WARM = 20 };
static void (*const table[N])(int);
static unsigned long chance = 1;
static void below(int i, int depth) {
  chance = chance * 6364136223846793005 + 1442695040888963407;
  aprof_clock_advance(100 + (chance >> 40) % 10000);
  for (int j = 1; depth < 3 && j <= WIDE; j++)
    table[(i * WIDE + j) % N](depth + 1);
}
EOF
  seq 0 $((functions - 1)) | sed 's/.*/APROF_ASYNC static void f_&(int depth) { below(&, depth); }/'
  echo "static void (*const table[N])(int) = {"
  seq 0 $((functions - 1)) | sed 's/.*/f_&,/'
  cat <<EOF
};
static sem_t turn[THREADS], over;
static void *work(void *own) {
  for (;;) {
    sem_wait(own);
    f_0(0);
    sem_post(&over);
  }
  return own;
}
static void round_of_all(void) {
  for (int i = 0; i < THREADS; i++) {
    sem_post(&turn[i]);
    sem_wait(&over);
  }
}
int main(void) {
  char byte = '.';
  sem_init(&over, 0, 0);
  for (int i = 0; i < THREADS; i++) {
    pthread_t thread;
    sem_init(&turn[i], 0, 0);
    pthread_create(&thread, 0, work, &turn[i]);
  }
  for (int i = 0; i < WARM; i++)
    round_of_all();
  while (write(1, &byte, 1) == 1 && read(0, &byte, 1) == 1)
    round_of_all();
  return 0;
}
EOF
}
program >"$work/many.c"
check "compile" "${CC:-gcc}" -std=gnu11 -O1 -fplugin="$plugin" -I"$src/rt/include" "$work/many.c" \
  -pthread -o "$work/many"
[ "$failed" -eq 0 ] || finish

# reads COMMAND...: bench/frame by that, beside the program
reads() {
  coproc APROF_RUNTIME=$build/rt/.libs/libaprof.so.0 APROF_OPTIONS=clock:virtual,exit:no,signal:none \
    exec "$work/many"
  local program=$COPROC_PID to=${COPROC[1]} from=${COPROC[0]} profile
  read -r -n 1 <&"$from"
  "$aprof" list --json >"$work/list.json"
  profile=$(value "$work/list.json" "one(t.profiles, pid=$program).profile")
  "$@" "$build/bench/frame" "$profile" "$frames" <&"$from" >&"$to"
  exec {to}>&-
  wait "$program"
}

if [ "${1:-}" = --times ]; then
  reads env
  finish
fi
reads valgrind --tool=callgrind --callgrind-out-file="$work/out" --dump-before=mark 2>"$work/log" || cat "$work/log"
equal "what is read" "paths 10436, functions 3000, threads 4" "$(grep ^paths "$work/log")"
for file in $(printf '%s\n' "$work"/out.* | sort -V); do
  sed -n 's/^totals: //p' "$file"
done | awk -v frames="$frames" '
  function least(name, value) { if (!(name in best) || value < best[name]) best[name] = value }
  NR == 2 { least("first", $1) }
  NR > 3 && NR % 3 == 1 { least("reading", $1) }
  NR > 3 && NR % 3 == 2 { least("window", $1) }
  END { for (name in best) printf "%s %d\n", name, best[name] / 1e3 }' | sort >"$work/counted"
equal "parts counted" "first reading window" "$(cut -d' ' -f1 "$work/counted" | xargs)"
while read -r name thousands; do
  judge "$name" "$thousands" $((thousands / 100))
done <"$work/counted"

[ "${1:-}" != --ratchet ] || ratchet
finish
