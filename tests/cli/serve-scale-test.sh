#!/bin/bash
# SPDX-License-Identifier: MIT
# aprof serve --from with many servers: sums over all of them, a few asked at a time, how old each
# one's numbers are, and memory that has an end: what has no room is said everywhere, and comes in
# as others go.
. "${0%/*}/../lib.sh"

unset APROF_RUNTIME APROF_COMMAND JOURNAL_STREAM APROF_FROM_TOKEN
if [ ! -x "$build/aprof-serve" ] || grep -q '^CURL_TRUE = #' "$build/Makefile"; then
  skip "aprof serve --from, many" "built without libmicrohttpd or libcurl"
  finish
fi
started=()
trap 'kill -9 "${started[@]}" 2>/dev/null; wait 2>/dev/null; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C.UTF-8
hosts=90 # more than the 64 live processes that are looked at

"${CC:-gcc}" -O1 -I"$src/rt/include" "$src/tests/cli/scale.c" -o many -lpthread || exit 1
# totals_of FUNCTIONS: those of such a process, in totals.FUNCTIONS.json
totals_of() {
  mkfifo "in.$1"
  LD_PRELOAD=$build/rt/.libs/libaprof.so.0 APROF_OPTIONS=profile:memfd,memory:200M,exit:no,clock:virtual \
    ./many "$1" 1 20 <"in.$1" >"pid.$1" 2>/dev/null &
  started+=($!)
  exec 7>"in.$1"
  until_true test -s "pid.$1"
  "$aprof" dump -o "totals.$1.json" "$(cat "pid.$1")"
  echo >&7
}
# simulate LIST TOTALS...
simulate() {
  local list=$1
  shift
  "$src/tests/cli/agents.py" "$hosts" "$@" >"$list" 7>&- &
  started+=($!)
  until_true grep -q '^# all' "$list"
}
# collect NAME OPTION...: sets collector, url; it prints to NAME.out, NAME.err
collect() {
  served "$1" --listen 127.0.0.1:0 --every 500ms "${@:2}"
  collector=$server
  url=${url%/}
}
# of_hosts EXPRESSION: of /api/processes, as t
of_hosts() { curl -s --max-time 60 "$url/api/processes" >processes.json && value processes.json "$1"; }
is() { [ "$(of_hosts "$1")" = "$2" ]; }
get() { curl -s --max-time 120 -D head -o body "$url$1"; }
made() { value "$1" "total(t.functions, 'created')"; }

# -- all of them -----------------------------------------------------------------------------
totals_of 30
simulate all totals.30.json
collect collector --from all
check "all $hosts answer" until_true is 'sum(h.state == "answers" and h.processes == 1 for h in t.hosts)' $hosts
check "each says how old it is" is 'sum(h.age_ns is not None and h.counted and not h.left_out for h in t.hosts)' $hosts
check "/api/processes: as its schema says" conforms processes.json
get /api/totals
equal "sums are of all of them" "$hosts $((hosts * $(made totals.30.json)))" "$(value body 'len(t.processes)') $(made body)"
check "they add up" totals_close body
refuse "nothing is left out" grep -qi "^aprof-left-out" head
equal "which processes these are" "$hosts" "$(value body 'len({p.host for p in t.processes})')"
get "/api/totals?where=zone=a"
equal "of those with a label" "$((hosts / 2)) $((hosts / 2 * $(made totals.30.json)))" "$(value body 'len(t.processes)') $(made body)"
get "/api/totals?by=process"
equal "functions of each apart" $((hosts * $(value totals.30.json 'len(t.functions)'))) "$(value body 'len(t.functions)')"
equal "... of the process that they are of" "$hosts" "$(value body 'len({f.process for f in t.functions})')"
check "... they add up" totals_close body
get "/api/page?range=start"
equal "/api/page: of all" 0 "$(value body t.summary.left_out)"
get /metrics
equal "metrics: the age of each, and what has no room" "$hosts $hosts 0" \
  "$(grep -c '^aprof_agent_age_seconds{' body) $(grep -c '^aprof_agent_left_out{' body) $(grep '^aprof_agent_left_out{' body | grep -vc ' 0$')"
most=$(curl -s "$(sed -n 's,^host0=\([^ ]*\) .*,\1,p' all)/most")
check "a few were asked at a time: $most" test "$most" -ge 1 -a "$most" -le 8
kill $collector

# -- with an end of memory --------------------------------------------------------------------
totals_of 500
simulate large totals.500.json
collect bounded --from large --memory 64M
check "each is asked" until_true is 'sum(h.age_ns is not None for h in t.hosts)' $hosts
in=$(of_hosts 'sum(h.processes for h in t.hosts)')
out=$(value processes.json 'sum(h.left_out for h in t.hosts)')
check "some have no room: $in in, $out not" test "$in" -ge 5 -a "$out" -ge 20
equal "each is either in, or said to have no room" "$hosts" $((in + out))
check "as the schema says" conforms processes.json
contains "it is said why" "there is no room here for 1 of its processes" processes.json
equal "standard error says it once" 1 "$(grep -c 'no room.*--memory' bounded.err)"
get /api/totals
equal "sums are of those that are in" "$in $((in * $(made totals.500.json)))" "$(value body 'len(t.processes)') $(made body)"
equal "and say how many are not" "$out" "$(sed -n 's/^Aprof-Left-Out: \([0-9]*\).*/\1/Ip' head)"
get "/api/page?range=start"
equal "so does the page" "$out" "$(value body t.summary.left_out)"
get /metrics
equal "and metrics" "$out" "$(awk '/^aprof_agent_left_out\{/ { sum += $NF } END { print sum }' body)"
head -n "$((in / 2))" large >shorter && tail -n 3 large >>shorter && mv shorter large
check "once others go, there is room" until_true is 'sum(h.left_out for h in t.hosts), sum(h.processes for h in t.hosts)' "0 $((in / 2 + 2))"
kill $collector

# -- live ones, of which a few are meant -----------------------------------------------------
# What is looked at and not meant takes no room from what is; memory that is free again is overwritten.
"${CC:-gcc}" -O2 -I"$src/rt/include" "$src/tests/cli/scale.c" -o few -lpthread || exit 1
mkfifo in.live
for i in $(seq 1 75); do
  LD_PRELOAD=$build/rt/.libs/libaprof.so.0 APROF_OPTIONS=memory:2M,exit:no,clock:virtual \
    "./$([ "$i" -le 3 ] && echo few || echo many)" 5 1 20 <in.live >"live.$i" 2>/dev/null 7>&- &
  started+=($!)
done
exec 8>in.live
for i in $(seq 1 75); do until_true test -s "live.$i"; done
MALLOC_PERTURB_=165 served live --listen 127.0.0.1:0
url=${url%/}
get "/api/totals?where=build=$(readelf -n few | sed -n 's/.*Build ID: //p')"
equal "75 live ones, 3 of a build" "3 few" "$(value body 'len(t.processes), *{p.name for p in t.processes}')"
check "they are whole" totals_close body
kill "$server"

refuse "--memory without --from" "$aprof" serve --memory 1G
contains "... is said" "--memory is of what others tell" check.out
refuse "too little memory" "$aprof" serve --from http://127.0.0.1:1 --memory 1M
contains "... how much it takes" "64M at least" check.out
finish
