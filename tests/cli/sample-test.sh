#!/bin/bash
# SPDX-License-Identifier: MIT
# Recordings of some requests: a share of them, or a rate. What is kept is whole, and the same as in
# a recording of everything; what is not is said.
. "${0%/*}/../lib.sh"

profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
started=()
trap 'kill -9 "${started[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export NO_COLOR=1 LC_ALL=C.UTF-8 APROF_OPTIONS=profile:$profiles,dir:$work/out
unset APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1
mkdir out

compiler=$(gcc_of "${majors##* }")
for name in tail sample; do
  check "$name.c compiles" "$compiler" -g -O1 -Wall -Wextra -Werror "-fplugin=$plugin" \
    -I"$src/rt/include" "$src/tests/cli/$name.c" -o "$name" -pthread
done

# says NAME STATUS TEXT COMMAND...
says() {
  local name=$1 want=$2 text=$3
  shift 3
  timeout 60 "$@" >said.txt 2>&1 </dev/null
  equal "$name: status" "$want" $?
  contains "$name: message" "$text" said.txt
}

# start [busy]: a program that goes on; sets pid
start() {
  rm -f pid.txt
  ./sample "${1:-live}" >pid.txt 2>err.txt &
  started+=($!)
  until_true test -s pid.txt
  pid=$(cat pid.txt)
  until_true "$aprof" dump -o early.json "$pid"
}

# -- the same requests ----------------------------------------------------------------------
# On the virtual clock two runs are one and the same.
virtual=clock:virtual,profile:$profiles,dir:$work/out
# recorded ARG...: what is over before it is seen is run again
recorded() {
  APROF_OPTIONS=$virtual timeout 60 "$aprof" record "$@" -- ./tail >said.txt 2>&1
}
check "all of it" until_true recorded -o all.trace
check "every second" until_true recorded --sample 1/2 -o half.trace
contains "every second: is said" "kept 20 of 40 requests" said.txt
for name in all half; do
  check "$name: asked" "$aprof" slow --over 1us --top 0 --json -o $name.json $name.trace
  check "$name: as its schema says" conforms $name.json
done
cat >same.py <<'END'
import json, sys
whole, part = ({r["number"]: r for r in json.load(open(f))["slowest"]} for f in sys.argv[1:3])
def plain(r):
    r = dict(r, began_at_ns=0)
    r["path"] = [dict(p, thread=0) for p in r["path"]]
    return r
differ = [n for n in part if plain(part[n]) != plain(whole.get(n, {"path": []}))]
print(len(part), "differ:", differ)
sys.exit(bool(differ) or not part)
END
check "each request that is kept is as it is among all" python3 same.py all.json half.json
cat check.out
equal "one was late behind what is left out" 1 \
  "$(value half.json 'len([r for r in t.slowest if r.wall_ns == 64000000])')"
equal "JSON: the share" "0.5 0.5 0 40 20" \
  "$(value half.json '*pick(t.recording.sampled, "least most changes begun kept")')"
equal "JSON: of a recording of everything" null "$(value all.json 't.recording.sampled')"
for question in slow tail blame path; do
  "$aprof" $question half.trace >asked.txt
  check "$question says it" grep -qzE '20[[:space:]]+requests,[[:space:]]+sampled[[:space:]]+1/2[[:space:]]+of[[:space:]]+40[[:space:]]+that[[:space:]]+began' asked.txt
done
"$aprof" path --what-if pool_get=0.5 half.trace >asked.txt
contains "path --what-if: what that is worth" "Only requests that were kept are changed" asked.txt
check "half as many events" test "$(value half.json t.recording.events)" -lt \
  "$(($(value all.json t.recording.events) * 3 / 4))"

# -- sums ------------------------------------------------------------------------------------
# Each request has a kind of its own, so the totals have what each had.
cat >sums.py <<'END'
import json, sys
totals = json.load(open(sys.argv[1]))
kinds = {k["kind"]: k for k in totals["requests"]}
rows = [json.loads(line) for line in open(sys.argv[2])]
bad = []
for r in rows:
    k = kinds[r["kind"]]
    for name in ("wall_ns", "queued_ns", "exec_ns", "waiting_ns"):
        if abs(k[name] - r[name]) > 100:  # each moment is rounded to ns by itself
            bad.append((r["kind"], name, k[name], r[name]))
print(len(rows), "rows", bad[:5])
sys.exit(bool(bad) or not rows)
END
says "threads" 0 "kept 50 of 200 requests" "$aprof" record --sample 1/4 -o threads.trace -- ./sample 200
check "threads: rows" "$aprof" export --to ndjson -o rows.json threads.trace
totals=(out/sample.*.json)
check "each has what the process counted for it" python3 sums.py "${totals[0]}" rows.json
cat check.out
"$aprof" slow --json -o threads.json threads.trace
equal "threads: every one that was kept is there, and whole" "50 50 0" \
  "$(value threads.json 't.recording.sampled.kept') $(wc -l <rows.json) $(value threads.json 't.recording.partial')"
for format in perfetto chrome otlp; do
  check "threads: as $format" "$aprof" export --to $format -o out.$format threads.trace
done

# -- those that a line lets in ----------------------------------------------------------------
check "with sample= in its line" "$compiler" -g -O1 "-fplugin=$plugin" -I"$src/rt/include" \
  '-DSERVE="async root sample=a0<50"' "$src/tests/cli/sample.c" -o some -pthread
says "sample=" 0 "kept 50 of 200 requests" "$aprof" record --sample 1 -o some.trace -- ./some 200
check "sample=: rows" "$aprof" export --to ndjson -o rows.json some.trace
totals=(out/some.*.json)
check "sample=: each has what the process counted for it" python3 sums.py "${totals[0]}" rows.json
cat check.out
"$aprof" slow --json -o some.json some.trace
equal "sample=: these alone, and whole" "50 50 0 0" \
  "$(value some.json 't.recording.sampled.kept, t.recording.requests, t.recording.partial, t.recording.lost')"
equal "sample=: those for which it holds" 50 "$(grep -cE '"kind": *"r[1-4]?[0-9]"' rows.json)"
check "sample=: a recording of everything has all" "$aprof" record -o some.trace -- ./some 60
"$aprof" slow --json -o some.json some.trace
equal "sample=: all of them" 60 "$(value some.json t.recording.requests)"

# -- live --------------------------------------------------------------------------------------
start
says "live: a share" 0 "of " "$aprof" record --sample 1/20 --for 1s -o live.trace "$pid"
"$aprof" slow --json -o live.json live.trace
equal "live: it was kept" true \
  "$(value live.json 'abs(t.recording.sampled.kept - t.recording.sampled.begun / 20) < 3')"
says "live: a rate" 0 "of " "$aprof" record --sample 40/s --for 3s -o rate.trace "$pid"
"$aprof" slow --json -o rate.json rate.trace
equal "live: a rate is followed" true \
  "$(value rate.json '60 <= t.recording.sampled.kept <= 240')"
says "live: then everything again" 0 "0 lost" "$aprof" record --for 200ms -o live.trace "$pid"
"$aprof" slow --json -o live.json live.trace
equal "live: nothing is left out then" null "$(value live.json t.recording.sampled)"

kill -9 "$pid"

# -- those that are asked for --------------------------------------------------------------------
check "--over" until_true recorded --over 50ms -o over.trace
contains "--over: is said" "38 requests were not asked for" said.txt
check "--over: asked" "$aprof" slow --over 1us --top 0 --json -o over.json over.trace
check "--over: as its schema says" conforms over.json
check "--over: each is as it is among all" python3 same.py all.json over.json
equal "--over: only these, and nothing lost" "2 50000000 null 38 0 0" \
  "$(value over.json 't.recording.requests, *pick(t.recording.only, "over_ns kind left_out"), t.recording.lost, t.recording.partial')"
"$aprof" slow over.trace >asked.txt
check "--over: is said" grep -qzE 'of[[:space:]]+40[[:space:]]+that[[:space:]]+began,[[:space:]]+those[[:space:]]+of[[:space:]]+50.0[[:space:]]+ms[[:space:]]+or[[:space:]]+more[[:space:]]+alone:[[:space:]]+38[[:space:]]+others' asked.txt
"$aprof" blame --json over.trace >asked.json
equal "--over: and behind whom they were" 24000000 "$(value asked.json t.queued_ns)"
says "--over: tail has nothing to compare with" 1 "there are no others to compare them with" "$aprof" tail over.trace
check "--over: far less of it" test "$(value over.json t.recording.events)" -lt "$(($(value all.json t.recording.events) / 3))"

says "--over, threads" 0 "were not asked for" "$aprof" record --over 10ms -o threads.trace -- ./sample 200
"$aprof" export --to ndjson -o rows.json threads.trace
totals=$(find out -name 'sample.*.json' -newer all.trace -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2)
check "--over, threads: each has what the process counted for it" python3 sums.py "$totals" rows.json
cat check.out
"$aprof" slow --json -o threads.json threads.trace
equal "--over, threads: as many as the process counted" \
  "$(value "$totals" 'len([k for k in t.requests if k.wall_ns >= 10000000])') 0 0" \
  "$(wc -l <rows.json) $(value threads.json 't.recording.partial, t.recording.lost')"
says "--kind" 0 "were not asked for" "$aprof" record --kind 'r1?' -o threads.trace -- ./sample 40
"$aprof" export --to ndjson -o rows.json threads.trace
equal "--kind: these ten" 10 "$(grep -c '"kind": *"r1[0-9]"' rows.json)"
equal "--kind: and no other" 10 "$(wc -l <rows.json)"

# -- files in turn -----------------------------------------------------------------------------
start busy
"$aprof" record --sample 1/3 --rotate 1M --size 64M -o turn.trace "$pid" 2>turn.txt &
recorder=$!
started+=("$recorder")
until_true test -e turn.4.trace # what is left of the last one may be no whole request
kill -TERM $recorder
wait $recorder
equal "rotated: status" 0 $?
for file in turn.trace turn.2.trace turn.3.trace; do
  "$aprof" slow --json -o turn.json "$file"
  equal "$file stands by itself" true \
    "$(value turn.json 'abs(t.recording.sampled.kept - t.recording.sampled.begun / 3) < 5')"
  equal "$file has what it says" true \
    "$(value turn.json 'abs(t.recording.requests - t.recording.sampled.kept) < 30 + t.recording.sampled.kept / 5 or t.recording.lost > 0')"
done
kill -9 "$pid"
start busy
"$aprof" record --kind slow --sample 1/3 --rotate 1M --size 64M -o slow.trace "$pid" 2>turn.txt &
recorder=$!
started+=("$recorder")
until_true test -e slow.4.trace
kill -TERM $recorder
wait $recorder
equal "--kind, rotated: status" 0 $?
for file in slow.trace slow.2.trace slow.3.trace; do
  "$aprof" slow --top 0 --json -o turn.json "$file"
  equal "$file: one kind" slow "$(value turn.json '*sorted({s.kind for s in t.slowest})')"
done
equal "nothing is left beside" "" "$(find . -name '*~')"
kill -9 "$pid"

# -- what cannot be -----------------------------------------------------------------------------
for share in 0 1/0 2 x 1/x 0/s -1 1/2/3 101%; do
  says "--sample $share" 2 "that is no share of the requests" "$aprof" record --sample=$share 1
done
says "--last --over" 2 "no --kind, no --over" "$aprof" record --last --over 1s 1
says "--over to a pipe" 2 "write a file once more" "$aprof" record --over 1s -o - 1
says "--last --sample" 2 "no --sample" "$aprof" record --last --sample 1/2 1
finish
