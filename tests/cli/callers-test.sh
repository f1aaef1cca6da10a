#!/bin/bash
# SPDX-License-Identifier: MIT
# Who has called another async function lives and waits, for as long as that goes on: in
# each kind of totals that can be made meanwhile. Exact, on the virtual clock (hand.c).
. "${0%/*}/../lib.sh"

profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
trap 'exec 9>&-; rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export NO_COLOR=1
unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1

"${CC:-gcc}" -g -I"$src/rt/include" "$src/tests/cli/hand.c" -o hand || exit 1

# counts FILE: of both functions: created, done, detached, live
counts() {
  value "$1" '*(f[n][k] for n in ("handle_upload", "fetch_quota")
                for k in ("created", "done", "detached", "live"))'
}

# start: `pid` is in the middle of the call
start() {
  rm -rf in out pid.txt
  mkfifo in
  APROF_OPTIONS="profile:$profiles,dir:$work,clock:virtual" \
    LD_PRELOAD=$build/rt/.libs/libaprof.so.0 APROF_COMMAND=$aprof \
    ./hand inside 50 <in >pid.txt &
  runner=$!
  exec 9>in
  until [ -s pid.txt ]; do sleep 0.02; done
  pid=$(head -n 1 pid.txt)
}

# goes_on: `pid` has left the call
goes_on() {
  echo >&9
  until [ "$(wc -l <pid.txt)" -ge 2 ]; do sleep 0.02; done
}

# -- in the middle of it ---------------------------------------------------------------

start
check "live: dump" "$aprof" dump -o live.json "$pid"
check "live: totals close" totals_close live.json
equal "live: both have been made, and are alive" "51 50 0 1 51 50 0 1" "$(counts live.json)"
equal "live: the caller waits at its call" \
  "waiting server.c:151 fetch_quota call true 5000020000 5000070000" \
  "$(value live.json '*pick(by(t.live, "function").handle_upload, "state await callee kind aside since_ns age_ns")')"
equal "live: what it called waits for what that waits for" \
  "waiting server.c:61 uv_tcp_connect await false 5000000000 5000020000" \
  "$(value live.json '*pick(by(t.live, "function").fetch_quota, "state await callee kind aside since_ns age_ns")')"
equal "live: its wait is in the sums" 5000020000 \
  "$(value live.json 'sum(a["all_ns"] for a in f["handle_upload"]["awaits"] if a["line"] == 151) - 50 * 230000')"
# What the same were in aprof.totals/1.
edit live.json "t.schema = 'aprof.totals/1'
t.misses += t.ignored
del t['ignored']
for a in [a for x in t.functions for a in x.awaits] + [p for p in t.tree if 'await' in p]:
    a.waiting_ns = a.pop('all_ns')
    del a['waits_for']" >first.json
said() {
  for how in --json --all; do "$aprof" report $how - <"$1"; done
}
equal "live: totals of before tell the same" "$(said live.json)" "$(said first.json)"
edit live.json "f.fetch_quota.awaits[0].open_ns += 1" >odd.json
"$aprof" report odd.json 2>said.txt
contains "live: parts of a wait that do not add up are refused" "all_ns is " said.txt
equal "live: the one that is stuck is named, and not who called it" \
  "stuck fetch_quota" \
  "$(value live.json '*(x for y in t["findings"] if y["kind"] not in ("held", "queued")
                        for x in (y["kind"], y["function"]))')"
kill -USR1 "$pid"
until [ -f "$work/hand.$pid.1.json" ]; do sleep 0.02; done
equal "live: a signal's totals say the same" "51 50 0 1 51 50 0 1" "$(counts "hand.$pid.1.json")"
"$aprof" list --directory "$profiles" >list.txt
equal "live: so does the list" "102 2" "$(awk -v pid="$pid" '$1 == pid { print $6, $7 }' list.txt)"

# -- between two totals ----------------------------------------------------------------

goes_on
check "later: dump" "$aprof" dump -o later.json "$pid"
check "later: totals close" totals_close later.json
equal "later: both are over" "51 51 0 0 51 51 0 0" "$(counts later.json)"
"$aprof" report --json live.json later.json >interval.json
equal "interval: nothing was made, and both have ended" "0 0 0 0" \
  "$(value interval.json '*(f[n][k] for n in ("handle_upload", "fetch_quota") for k in ("created", "live"))')"
equal "interval: per call is per future that lived in it" "true true" \
  "$(value interval.json '*(g.exec_mean_ns is not None for g in t.functions)')"
"$aprof" report live.json later.json >interval.txt
contains "interval: what began before is told" "what began before counts: in sums its part since" \
  interval.txt
check "interval: and a wait that is longer than it is marked" \
  grep -qE '> uv_tcp_connect  server.c:61 +2 +200us +\^2\.5s +\^5\.0s' interval.txt
exec 9>&-
wait "$runner"

# -- switched off ----------------------------------------------------------------------

start
check "off" "$aprof" off "$pid"
check "off: dump" "$aprof" dump -o off.json "$pid"
check "off: totals close" totals_close off.json
equal "off: both are detached" "51 50 1 0 51 50 1 0" "$(counts off.json)"
check "off: and on" "$aprof" on "$pid"
goes_on
check "on: dump" "$aprof" dump -o on.json "$pid"
equal "on: what was detached stays so, as it was" "51 50 1 0 51 50 1 0" "$(counts on.json)"
equal "on: and waits no longer" \
  "$(value off.json 'f["handle_upload"]["waiting_ns"], f["fetch_quota"]["waiting_ns"]')" \
  "$(value on.json 'f["handle_upload"]["waiting_ns"], f["fetch_quota"]["waiting_ns"]')"
exec 9>&-
wait "$runner"

start
check "reset" "$aprof" reset "$pid"
check "reset: dump" "$aprof" dump -o reset.json "$pid"
equal "reset: neither is counted" 0 "$(value reset.json 'len(t["functions"])')"
exec 9>&-
wait "$runner"

# -- killed ----------------------------------------------------------------------------

rm -rf "${profiles:?}"/*
start
kill -KILL "$pid"
wait "$runner" 2>/dev/null
check "killed: dump" "$aprof" dump -o killed.json "$profiles"/*
check "killed: totals close" totals_close killed.json
equal "killed: both have been made, and lived" "51 50 0 1 51 50 0 1" "$(counts killed.json)"

finish
