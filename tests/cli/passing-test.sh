#!/bin/bash
# SPDX-License-Identifier: MIT
# aprof probe of a profiled program: which requests reached a line, against what the program is known to do;
# the recording that it makes, and aprof tail --by of that and of a live process.
. "${0%/*}/../lib.sh"
cd "$work" || exit 1
export NO_COLOR=1 LC_ALL=C.UTF-8
unset APROF_RUNTIME APROF_COMMAND
[ "$(uname -m)" = x86_64 ] || { skip "probes" "they are tested on x86-64"; finish; exit; }
program=$src/tests/cli/passing.c
line() { grep -n "/\* $1 \*/" "$program" | cut -d: -f1; } # WORDS: of that comment

compiler=$(gcc_of "${majors##* }")
check "the program compiles" "$compiler" -g -O2 -fno-omit-frame-pointer -Wall -Wextra -Werror "-fplugin=$plugin" -I"$src/rt/include" \
  "$program" -o passing -lpthread

# start: it waits to be told; $pid, and descriptor 9 tells it
events=1    # perf events for each thread
waits=pidfd # what it has once it waits
start() {
  rm -f tell said && mkfifo tell
  ./passing ${busy:-} <tell >said 2>&1 &
  pid=$!
  exec 9>tell
  until_true grep -q begun said
}
# armed PROBER [COUNT]: it has so many perf events, of breakpoints or samples, and waits for hits
# (once all were armed it looks whether the process ends), or has ended
armed() {
  kill -0 "$1" || return 0
  ls -l "/proc/$1/fd" >fds
  grep -q "$waits" fds && [ "$(grep -c 'anon_inode:\[perf_event\]' fds)" -ge "${2:-1}" ]
}
# beside COMMAND PLACE...: that of it, from before the first request to the end of the last; its status
beside() {
  start
  local command=("$1" "$pid" "${@:2}")
  [ "$1" != record ] || command=("$@" "$pid")
  "$aprof" "${command[@]}" >out 2>err 9>&- &
  local prober=$!
  until_true armed "$prober"
  echo >&9
  until_true grep -q half said
  until_true armed "$prober" $((2 * events))
  echo >&9
  until_true grep -q done said
  kill -TERM "$prober" # record leaves SIGINT to the terminal where a script started it
  wait "$prober"
  local status=$?
  echo >&9
  exec 9>&-
  wait "$pid"
  [ $status -eq 0 ] || sed 's/^/# /' err
  return $status
}

start
cold=passing.c:$(line 'not in the cache')
if ! "$aprof" probe "$pid" "$cold" --for 1ms --alone >out 2>err; then
  skip "probes" "$(cat err)"
  exec 9>&-
  finish
  exit
fi
contains "alone it counts hits" "0 hits" out
exec 9>&-
wait "$pid"

# -- which requests ------------------------------------------------------------------------
kinds="*sorted(' '.join(map(str, pick(k, 'kind hits came_by count'))) for k in t.requests.kinds)"
sum="sum(v['count'] for v in t.shown[0]['values'])"
beside probe "$cold" --json
equal "hits by kind of request" "GET /item 20 20 160 POST /upload 0 0 40" "$(value out "$kinds")"
check "as its schema says" conforms out
equal "each is some request's" "20 0 0" "$(value out 't.hits, t.requests.outside, t.requests.not_known')"
beside probe "passing.c:$(line saved)" --json
equal "of another kind" "GET /item 0 0 160 POST /upload 40 40 40" "$(value out "$kinds")"
beside probe between -s id --json
equal "between requests it is none's" "200 200 0" "$(value out 't.hits, t.requests.outside, t.requests.not_known')"
beside probe "passing.c:$(line 'has it')" --stack
contains "which future it is stands before its callers" "get_item; " out
check "in words" grep -qE '^  GET /item +160 +160 +160 +100%' out
beside probe db_get --stack --json
equal "who called it, as futures and as functions" "work > get_item > db_get; 160" \
  "$(value out '*{s.stack.split("; ")[0] + ";" for s in t.stacks}, sum(s["count"] for s in t.stacks)')"
beside probe get_item --json
equal "where a future begins it is that one's" "GET /item 160 160 160 POST /upload 0 0 40" "$(value out "$kinds")"
beside probe db_get -s 'id % 10' --slowest 10% --json
# On a busy machine others may take as long.
equal "only hits in the slowest" "16 144 7" \
  "$(value out "$sum, t.requests.left_out, t.shown[0]['values'][0]['value']")"
beside probe db_get --duration --over 40ms -s 'id % 10' --json
equal "calls that took long, and what they had" "7 20 true true" \
  "$(value out "*pick(t.shown[0]['values'][0], 'value count'), ($sum) == t.duration.over, t.duration.over < 80")"

# -- a recording ---------------------------------------------------------------------------
beside probe "$cold" --label cold -o passing.trace
equal "a recording is made" 0 $?
contains "its requests are marked" "GET /item +cold" out
"$aprof" slow passing.trace --top 1 >slow.out
contains "there, too" "GET /item +cold" slow.out
beside probe "$cold" -o plain.trace
for asked in "$cold" "$program:$(line 'not in the cache')"; do
  "$aprof" tail --by "$asked" plain.trace >tail.out 2>err
  check "tail --by: what differs" grep -qE '^GET /item: \+[0-9.]+ of the \+[0-9.]+ ms: waiting in `pause_us`' tail.out
  contains "tail --by: who reached it" "20 of 160" tail.out
done
"$aprof" tail --by "$cold" --json passing.trace >tail.json
equal "tail --by: marked or not they are of one kind" "20 140" \
  "$(value tail.json '*pick(one(t.kinds, kind="GET /item"), "slow others")')"
equal "it fits 80 columns" "" "$(awk 'length > 80' tail.out)"
"$aprof" tail --by "$cold" --json plain.trace >tail.json
check "tail --by --json: as its schema says" conforms tail.json
equal "tail --by --json" "$cold 20 140" "$(value tail.json 't.by, *pick(one(t.kinds, kind="GET /item"), "slow others")')"
"$aprof" tail --by other.c:1 plain.trace >out 2>err
equal "tail --by: another place" 1 $?
contains "is named, with the one that was watched" "other.c:1 was not watched in the recording; $cold was" err
"$aprof" tail --by "$cold" --over 1ms plain.trace >out 2>err
equal "tail --by: slow ones are another question" 2 $?

# -- samples ---------------------------------------------------------------------------------
# sampled FILE: which functions samples are in
sampled() {
  "$aprof" export --to folded --measure cpu -o folded "$1" 2>err || cat err
  for name in look_up decode pack; do
    grep -q "$name" folded && echo "$name"
  done
}
"$aprof" record --if-hit "$cold" "$$" >out 2>err
equal "record --if-hit: of samples" 2 $?
contains "is said" "--if-hit is of the samples of --cpu" err
if busy=busy events=2 beside record --cpu=499 --if-hit "$cold" -o hit.trace && ! grep -q 'without samples' err; then
  equal "samples only where it was come by" "decode" "$(sampled hit.trace)"
  "$aprof" flame --cpu -o hit.svg hit.trace
  contains "which the picture says" "Only in requests that reached $cold, from there on" hit.svg
  check "tail --by knows the place, too" "$aprof" tail --by "$cold" hit.trace
  busy=busy waits=perf_event beside record --cpu=499 -o all.trace
  equal "else all are there" "look_up decode pack" "$(sampled all.trace | xargs)"
else
  skip "record --if-hit" "$(cat err)"
fi

# -- live ------------------------------------------------------------------------------------
beside tail --by "$cold" --for 60s
check "tail --by of a live process" grep -qE '^GET /item: .*waiting in `pause_us`' out
contains "with who reached it" "20 of 160" out

start
"$aprof" record -o other.trace "$pid" 2>recorder.err 9>&- &
recorder=$!
until_true test -s other.trace
"$aprof" probe "$pid" db_get --for 10ms >out 2>err
equal "somebody else records: hits are counted all the same" 0 $?
contains "and why no more" "which requests reached it is not known" out
"$aprof" probe "$pid" db_get --for 10ms --label x >out 2>err
equal "but where that is asked for" 1 $?
contains "it is said" "is recorded already" err
kill -TERM $recorder
wait $recorder
"$aprof" probe "$$" main --label x --for 1ms >out 2>err
equal "a program that is not profiled has no requests" 1 $?
exec 9>&-
wait "$pid"
finish
