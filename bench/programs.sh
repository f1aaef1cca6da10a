#!/bin/bash
# SPDX-License-Identifier: MIT
# Whole programs without the plugin, with it and no runtime, off and on: processor time
# per request, throughput, latency, instructions. Prints the text of bench/PROGRAMS.md.
#
# All four variants of a program run at once, and are loaded one after the other for a
# short time, again and again (ABCDABCD...), so that what else the machine does meets all
# of them alike; the medians count. Servers and load have a processor each. Instructions
# are those of user code under callgrind: they do not depend on noise at all.
#
# memcached's source comes with `apt-get source` into the build directory, and stays there;
# MEMCACHED_SRC names a tree that is there already. Where neither is to be had the program
# is left out, and named.
. "$(dirname "$0")/lib.sh"
programs=$bench_dir/programs
generations=3 rounds=6 seconds=0.5 switches=20000000
short=100 long=500 # requests under callgrind
[ -z "$quick" ] || { generations=1 rounds=1 seconds=0.1 switches=500000 short=20 long=120; }
variants=(plain absent off on)
left_out=()
notes=$work/notes
: >"$notes"

# ---- the programs: each as NAME-plain, without the plugin, and NAME, with it ----

compile() { # OUTPUT SOURCES... with flags
  "$cc" -std=gnu11 -O2 -g -I"$src/rt/include" "${@:2}" -o "$work/$1"
}
compile load "$programs/load.c"
compile steps.so -shared -fPIC -fplugin="$plugin" -fplugin-arg-aprof-bindings=none "$programs/steps.c"
both() { # NAME SOURCES...
  compile "$1-plain" "${@:2}"
  compile "$1" -fplugin="$plugin" "${@:2}"
}
both pingpong "$programs/pingpong.c"
both stackful "$programs/server-stackful.c"
both stackless "$programs/server-stackless.c"
names=(stackful stackless)
if pkg-config --exists libuv; then
  # shellcheck disable=SC2046 # a list of words
  both http "$src"/examples/http-server/*.c $(pkg-config --cflags --libs libuv)
  names+=(http)
else
  left_out+=("the HTTP server (libuv1-dev)")
fi

# Configured once; the build without the plugin stays as well.
memcached_build() { # NAME FLAGS
  local at=$build/bench-memcached/build
  [ -f "$at/Makefile" ] || {
    mkdir -p "$at"
    (cd "$at" && "$memcached/configure" --disable-docs --disable-coverage CC="$cc" \
      CFLAGS="-O2 -g") >"$work/$1.log" 2>&1
  }
  [ "$1" = memcached ] || [ ! -x "$at/plain" ] || { cp "$at/plain" "$work/$1"; return; }
  (cd "$at" && rm -f ./*.o memcached && make -j2 memcached CFLAGS="-O2 -g $2") >"$work/$1.log" 2>&1 &&
    cp "$at/memcached" "$work/$1" && { [ "$1" = memcached ] || cp "$at/memcached" "$at/plain"; }
}
memcached=${MEMCACHED_SRC:-}
[ -n "$memcached" ] || ! fetch_source memcached "$build/bench-memcached" || memcached=$tree
if [ -n "$memcached" ] && memcached_build memcached-plain "" &&
  memcached_build memcached "-fplugin=$plugin -fplugin-arg-aprof-bindings=$programs/memcached.aprof"; then
  names+=(memcached)
else
  left_out+=("memcached: no source, or it does not build")
fi

# ---- running them ----

# environment VARIANT: what makes it that variant
environment() {
  local options=signal:none,profile:memfd,clock:${clock:-tsc},dir:$work
  case $1 in
  plain | absent) echo "APROF_RUNTIME=/nonexistent/libaprof.so" ;;
  off) echo "APROF_RUNTIME=$runtime APROF_OPTIONS=$options,exit:no,enabled:no" ;;
  on) echo "APROF_RUNTIME=$runtime APROF_OPTIONS=$options,exit:${at_exit:-yes}" ;;
  esac
}

declare -A pid port
# start NAME VARIANT [WRAPPER...]: sets pid and port of that variant
start() {
  local name=$1 variant=$2 program=$work/$1 log=$work/$1-$2.log arguments=()
  shift 2
  [ "$variant" != plain ] || program=$program-plain
  case $name in
  http) arguments=(--root="$work") ;;
  memcached) arguments=(-u "$(id -un)" -t 1 -c 200 -o no_lru_maintainer,no_lru_crawler -U 0
    -l 127.0.0.1 -p "$(free_port)") ;;
  esac
  : >"$log"
  # shellcheck disable=SC2046 # a list of words
  env $(environment "$variant") taskset -c "$server_cpu" "$@" "$program" "${arguments[@]}" \
    >"$log" 2>&1 &
  pid[$variant]=$!
  started+=" $!"
  port[$variant]=
  until [ -n "${port[$variant]}" ]; do
    kill -0 "${pid[$variant]}" 2>/dev/null || {
      say "bench: $name, $variant, did not start:"
      cat "$log" >&2
      exit 1
    }
    if [ "$name" = memcached ]; then
      ! (: <"/dev/tcp/127.0.0.1/${arguments[-1]}") 2>/dev/null || port[$variant]=${arguments[-1]}
    else
      port[$variant]=$(sed -n 's/^listening on [^0-9]*\(127.0.0.1:\)\{0,1\}\([0-9]*\)$/\2/p' "$log")
    fi
    sleep 0.05
  done
}
free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
stop() { # VARIANT
  kill -TERM "${pid[$1]}"
  wait "${pid[$1]}" || true
  started=${started/ ${pid[$1]}/}
}
server_cpu=$(($(nproc) > 1 ? 1 : 0))

# load NAME VARIANT ARGUMENT...: the line of load.c
load() {
  local name=$1 variant=$2 what=get
  shift 2
  [ "$name" != http ] || what=/hello
  taskset -c 0 "$work/load" $what "${port[$variant]}" "$@"
}

# sample ROW VARIANT NAME ARGUMENT...
sample() {
  local row=$1 variant=$2 name=$3
  shift 3
  load "$name" "$variant" pid="${pid[$variant]}" "seconds=$seconds" "$@" |
    awk -F '\t' -v OFS='\t' -v v="$variant" -v row="$row" '{
      print v, row "-rate", $3; print v, row "-cpu", $4; print v, row "-p50", $5; print v, row "-p99", $6
    }' >>"$work/$name.samples"
}

measure() { # NAME
  local name=$1 variant
  for generation in $(seq "$generations"); do
    say "programs: $name, generation $generation of $generations"
    for variant in "${variants[@]}"; do
      start "$name" "$variant"
      load "$name" "$variant" seconds=0.2 >/dev/null
    done
    for _ in $(seq "$rounds"); do
      for variant in "${variants[@]}"; do sample fixed "$variant" "$name" rate=10000; done
      for variant in "${variants[@]}"; do sample full "$variant" "$name"; done
      [ "$name" != http ] || wrk_round
    done
    for variant in "${variants[@]}"; do stop "$variant"; done
  done
  events_of "$name"
}

# Every route of the HTTP server, by wrk.
wrk_round() {
  command -v wrk >/dev/null || return 0
  yes 'a line of a page' | head -n 1000 >"$work/page.txt"
  for variant in "${variants[@]}"; do
    taskset -c 0 wrk -t1 -c16 -d1 --latency -s "$src/examples/http-server/load.lua" \
      "http://127.0.0.1:${port[$variant]}" | awk -v OFS='\t' -v v="$variant" '
        function us(t) { return t ~ /ms$/ ? t * 1000 : t ~ /us$/ ? t + 0 : t * 1000000 }
        $1 == "99%" { print v, "wrk-p99", us($2) }
        $1 == "Requests/sec:" { print v, "wrk-rate", $2 }' >>"$work/http.samples"
  done
}

# What the last server that was on says of itself: events, and whether anything was lost.
events_of() {
  local totals
  totals=$(ls -t "$work"/*.json 2>/dev/null | head -n 1)
  [ -n "$totals" ] || return 0
  jq -r --arg name "$1" '"\($name): \(.health.events) events in the last generation, lost or missed \(
    .health | .lost_futures + .lost_events + .missed_events), by its own estimate \(
    .health.overhead_percent // "?") % of the time"' "$totals" >>"$notes"
  rm -f "$work"/*.json
}

# instructions NAME: user instructions per request. One connection, and slowly, so that the
# server has almost always gone to sleep before the next request comes: each takes the same
# way. The median of three, for those that do not. The clock is that of steps.c, which goes as
# it does without callgrind.
instructions() {
  local name=$1 variant requests at_exit=no clock=virtual
  command -v valgrind >/dev/null || return 0
  for variant in "${variants[@]}"; do
    for _ in $(seq "$generations"); do
      for requests in "$short" "$long"; do
        # memcached sets its limit of descriptors, to 200 here, which valgrind refuses to change
        start "$name" "$variant" bash -c 'ulimit -Sn 200; exec "$@"' - \
          env LD_PRELOAD="$work/steps.so" valgrind --tool=callgrind --callgrind-out-file=/dev/null
        load "$name" "$variant" connections=1 rate=250 "requests=$requests" >/dev/null
        stop "$variant"
        sed -n 's/.*Collected : //p' "$work/$name-$variant.log" >>"$work/$name-$variant.counts"
      done
    done
    awk -v OFS='\t' -v v="$variant" -v n=$((long - short)) "$median"'
      NR % 2 == 1 { a = $1 } NR % 2 == 0 { each[NR / 2] = ($1 - a) / n }
      END { print v, "instructions", median(each, NR / 2) }' \
      "$work/$name-$variant.counts" >>"$work/$name.samples"
  done
}

# ---- the tables ----

columns=$'plain\twithout the plugin\nabsent\tno runtime\noff\toff\non\ton'
declare -A title=(
  [stackful]="A server of coroutines with stacks: nine async calls a request"
  [stackless]="The same server as state machines: a future for each request"
  [http]="The example HTTP server (libuv), GET /hello"
  [memcached]="memcached (Debian's source; libevent, one worker), get of 400 bytes"
)
rows=$'\t
fixed-cpu\t10 000 requests/s: CPU us per request
fixed-p50\tp50, us
fixed-p99\tp99, us
full-cpu\tas fast as it goes: CPU us per request
full-rate\trequests/s
full-p99\tp99, us'

# change NAME ROW
change() { changes "$2" "absent off on" <"$work/$1.samples"; }

results_of() { # NAME
  local more=
  echo "## ${title[$1]}"
  echo
  [ "$1" != http ] || more=$'\nwrk-rate\tevery route, under wrk: requests/s\nwrk-p99\tp99, us'
  matrix '%.2f' "$rows$more" "$columns" <"$work/$1.samples" | sed 's/\([0-9]\{4,\}\)\.[0-9]*/\1/g'
  echo
  # A request has 100 us of a processor at 10 000/s.
  echo "Of a processor, at 10 000 requests/s, more than without the plugin: $(changes fixed-cpu \
    "absent off on" 100 <"$work/$1.samples")."
  echo "Against the same round without the plugin, median: CPU at 10 000/s $(change "$1" fixed-cpu);"
  echo "CPU at full speed $(change "$1" full-cpu); requests/s $(change "$1" full-rate)."
  if grep -q instructions "$work/$1.samples"; then
    echo "Instructions of user code per request: $(awk -F '\t' '$2 == "instructions" {
      if ($1 == "plain") plain = $3
      printf "%s%s %.0f", ($1 == "plain" ? "" : ", "), $1, $3
      if ($1 != "plain") printf " (%+.1f %%)", 100 * ($3 / plain - 1)
    }' "$work/$1.samples")."
  fi
  sed -n "s/^$1: /Profiled: /p" "$notes" | sed 's/$/./'
  echo
}

pingpong() {
  local variant program
  for _ in $(seq $((quick ? 1 : 7))); do
    for variant in "${variants[@]}"; do
      program=$work/pingpong
      [ "$variant" != plain ] || program=$program-plain
      # shellcheck disable=SC2046 # a list of words
      env $(environment "$variant") taskset -c "$server_cpu" "$program" "$switches" |
        awk -v OFS='\t' -v v="$variant" '{ print v, "switch", $1; print v, "reads", $2 }' \
          >>"$work/pingpong.samples"
    done
  done
  rm -f "$work"/*.json
}

results() {
  local name
  echo "# Whole programs, measured"
  echo
  echo "Made by \`scripts/bench --keep programs\`: what it does stands in the head of \`bench/programs.sh\`. Medians of"
  echo "$((generations * rounds)) rounds of $seconds s, each server started $generations times; ±: half of the span of all rounds."
  echo
  machine
  echo
  echo "## The worst case: two coroutines that do nothing but hand over to each other"
  echo
  matrix '%.2f' $'\tCPU ns\nswitch\ta hand-over, which is an await\nreads\ttwo reads of the clock' "$columns" \
    <"$work/pingpong.samples"
  echo
  for name in "${names[@]}"; do results_of "$name"; done
  [ ${#left_out[@]} -eq 0 ] || printf 'Left out: %s.\n' "${left_out[*]}"
}

pingpong
for name in "${names[@]}"; do
  measure "$name"
  instructions "$name"
done
results
