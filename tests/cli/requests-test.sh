#!/bin/bash
# SPDX-License-Identifier: MIT
# Requests by kind in what the commands show: report, slow, ps, and their JSON. Of profiles that are
# made by hand, so that each number is known.
. "${0%/*}/../lib.sh"

export NO_COLOR=1 LC_ALL=C.UTF-8
unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1
"${CC:-gcc}" -D_GNU_SOURCE -O1 -I"$src/rt/include" "$src/tests/cli/requests.c" \
  "$src/tests/cli/synthetic.c" -o requests || exit 1

narrow() {
  equal "$1: fits 80 columns" "" "$(awk 'length > 80' "$2")"
}

./requests early.aprof 50 || exit 1
./requests late.aprof 100 || exit 1
for when in early late; do
  check "$when: totals" "$aprof" dump -o $when.json $when.aprof
done
totals_close late.json

# -- report -----------------------------------------------------------------------------

"$aprof" report late.aprof >report.txt 2>err.txt
equal "report: nothing to complain about" "0 0" "$? $(wc -c <err.txt)"
narrow "report" report.txt
contains "report: the head counts them" "122 requests" report.txt
sed 's/  */ /g' report.txt >rows.txt
contains "report: a kind with its parts and tiers" \
  "GET /item 100 8.7ms 11ms 8.7ms = 10% 20% 70% db 35%" rows.txt
contains "report: one with next to nothing of the time is counted" "1 kind more: --all" rows.txt
"$aprof" report --all late.aprof | sed 's/  */ /g' >all.txt
contains "report: one without a label is called as its function" "save_upload 1 100us 100us 100us" \
  all.txt
contains "report: what the columns have not" "20 failed; 1 still going on; 3 futures ran on after" rows.txt
contains "report: an endless one is a finding" "ENDLESS" report.txt
tr '\n' ' ' <report.txt | sed 's/  */ /g' >line.txt
contains "report: and the future that holds it" \
  "it is held by \`get_item\`, which waits at db.c:77 pool_get, for 30.0 s so far" line.txt
"$aprof" report --endless 1min late.aprof >report.txt
refuse "report: --endless moves the limit" grep ENDLESS report.txt
"$aprof" report late.json >json.txt
"$aprof" report late.aprof >report.txt
edit late.json 't.health.lost_requests = 7' >full.json
"$aprof" report full.json >full.txt
contains "report: requests without room are lost" "lost: 7 requests" full.txt
equal "report: the same of totals" "$(grep -A4 ^requests report.txt)" "$(grep -A4 ^requests json.txt)"

"$aprof" report --kind 'GET*' late.aprof >kind.txt
narrow "--kind" kind.txt
sed 's/  */ /g' kind.txt >rows.txt
contains "--kind: its parts" " waiting 70% 6.1ms 5.9ms 8.0ms 8.0ms" rows.txt
contains "--kind: its tiers, each by its requests" " db 35% 100 299 0 3.0ms 2.9ms 4.0ms" rows.txt
contains "--kind: what is of none" " (no tier) 28% 870us 1.5ms" rows.txt
refuse "--kind: no other" grep POST kind.txt
"$aprof" report --tier fs late.aprof >tier.txt
contains "--tier: kinds that were in it" "POST /upload: 20" tier.txt
refuse "--tier: no other" grep GET tier.txt
"$aprof" report --kind nobody late.aprof >none.txt 2>err.txt
equal "--kind of none: exit status" 1 $?
contains "--kind of none: a message" "has no requests of kind nobody" err.txt

"$aprof" report early.json late.json >between.txt
sed 's/  */ /g' between.txt >rows.txt
contains "an interval has what came between" "GET /item 50 8.7ms 11ms 8.7ms" rows.txt

equal "report --json: kinds" "GET /item,POST /upload,save_upload" \
  "$("$aprof" report --json late.aprof >r.json && value r.json '",".join(k.kind for k in t.requests)')"

# -- slow -------------------------------------------------------------------------------

"$aprof" slow late.aprof >slow.txt 2>err.txt
equal "slow: nothing to complain about" "0 0" "$? $(wc -c <err.txt)"
narrow "slow" slow.txt
contains "slow: the kind" "GET /item: 100 ended, p99 11.3 ms, longest 11.4 ms" slow.txt
sed 's/  */ /g' slow.txt >rows.txt
contains "slow: a request, when and where its time went" \
  "11ms 22:13:20.090 11ms = 10% 20% 70% db 35% (4) parse 28%" rows.txt
contains "slow: its trace" "trace 4bf92f3577b34da60000000000000009" rows.txt
contains "slow: how many more are kept" "and 5 more: --top 0" rows.txt
"$aprof" slow --over 30ms late.aprof >over.txt
refuse "slow --over: no faster one" grep GET over.txt
contains "slow --over: slower ones" "POST /upload: 20 ended" over.txt
"$aprof" slow --over 1min late.aprof >over.txt
contains "slow --over: none" "none of the 12 slowest kept took 60.0 s" over.txt
"$aprof" slow --json --top 0 late.aprof >slow.json
equal "slow --json: each with its kind" "10 2" \
  "$(value slow.json 'len(where(t.slowest, kind="GET /item")), len(where(t.slowest, kind="POST /upload"))' | tr -d ',()')"
equal "slow --json: member time" "true" \
  "$(value slow.json 'all(s.member_ns == s.queued_ns + s.exec_ns + s.waiting_ns for s in t.slowest)')"
check "slow --json: as its schema says" conforms slow.json
"$aprof" slow early.json late.json >between.txt
contains "slow: of an interval those that came between" "22:13:20.590" between.txt
refuse "slow: of an interval none that was there before" grep 22:13:20.090 between.txt

# Of two processes both, each with its own.
./requests other.aprof 20 77 || exit 1
"$aprof" dump -o other.json other.aprof
check "merge: totals" "$aprof" merge -o both.json late.json other.json
equal "merge: their requests are one kind's" 120 \
  "$(value both.json 'where(t.requests, kind="GET /item")[0].count')"
"$aprof" slow --top 0 --kind 'GET*' both.json >slow.txt
"$aprof" slow --json both.json >slow.json
check "merge: their JSON is as its schema says" conforms slow.json
contains "merge: the slowest say whose they are" "pid 77  trace 4bf92f3577b34da60000000000000009" slow.txt

# -- top --------------------------------------------------------------------------------

# rows FILE: of the table, a space between columns
rows() { sed '1,/^[v^ ]*KIND/d; s/  */ /g; s/ *$//' "$1"; }
"$aprof" top --once --top 0 late.aprof >top.txt
narrow "top" top.txt
rows top.txt >rows.txt
equal "top: kinds, their tiers and the functions beneath, the dearest first" \
  "v GET /item; [db]; [parse]; get_item;v POST /upload; [fs]; [parse]; save_upload;v save_upload; save_upload;" \
  "$(sed 's/ [0-9].*//; s/ (2)//' rows.txt | tr '\n' ';')"
contains "top: a kind" "v GET /item 1.7 0.3% 870us 6.1ms 8.7ms 11ms 1" rows.txt
contains "top: a tier" " [db] 1.7 0% - 3.0ms 2.9ms 4.0ms" rows.txt
contains "top: a function that requests of several kinds begin in" "save_upload (2) 0.3" rows.txt
"$aprof" top --once --sort name --top 0 late.aprof >top.txt
equal "top: sorted by name" "v GET /item;v POST /upload;v save_upload;" \
  "$(rows top.txt | sed -n 's/^\(v .*[a-z]\) [0-9].*/\1/p' | sed 's/ [0-9].*//' | tr '\n' ';')"
"$aprof" top --once --tier fs late.aprof >top.txt
equal "top --tier: kinds that were in it, and nothing else" "v POST /upload" "$(rows top.txt | sed -n 's/ [0-9].*//; /^v/p')"
"$aprof" top --once --kind nobody late.aprof >top.txt
contains "top --kind of none: it says so" "no such requests in this time" top.txt
"$aprof" top --once --flat late.aprof >top.txt
refuse "top --flat: functions alone" grep -q "GET /item  " top.txt
"$aprof" top --once --json late.aprof >top.json
check "top --json: as its schema says" conforms top.json
equal "top --json: kinds as totals have them" true \
  "$(value top.json "[k.exec_ns for k in t.processes[0].requests] == sorted((k.exec_ns for k in t.processes[0].requests), reverse=True) and [k.count for k in t.processes[0].requests] == [100, 20, 1]")"

# -- ps ---------------------------------------------------------------------------------

"$aprof" ps late.aprof >ps.txt
contains "ps: requests are counted" "1 request, 1 live future" ps.txt
contains "ps: each with the future that holds it" "GET /item, 30.0 s: \`get_item\` waiting at db.c:77 pool_get" ps.txt
"$aprof" ps --json late.aprof >ps.json
equal "ps --json: those that go on" "GET /item 1 true" \
  "$(value ps.json 't.live_requests[0].kind, t.live_requests[0].members, not t.live_requests[0].rootless' | tr -d "(),'")"

# -- export -----------------------------------------------------------------------------

"$aprof" export --to prometheus late.aprof >m.prom
contains "metrics: requests by kind" \
  'aprof_request_count_total{process="shop",pid="4242",kind="GET /item",function="get_item",place="item.c:50"} 100' m.prom
contains "metrics: a histogram" \
  'aprof_request_wall_duration_seconds_count{process="shop",pid="4242",kind="GET /item",function="get_item",place="item.c:50"} 100' m.prom
contains "metrics: time in a tier" 'place="item.c:50",tier="db"} 0.304500000' m.prom
"$aprof" export --to prometheus --top 1 late.aprof >few.prom
contains "metrics: kinds beyond N are one" 'kind="(other)"' few.prom
equal "metrics: the same sum" "$(awk '/^aprof_request_exec_seconds_total/ { s += $NF } END { print s }' m.prom)" \
  "$(awk '/^aprof_request_exec_seconds_total/ { s += $NF } END { print s }' few.prom)"
"$aprof" export --to csv --rows requests late.aprof >kinds.csv
equal "csv: a row for each kind" 4 "$(wc -l <kinds.csv)"
"$aprof" export --to csv --rows tiers late.aprof >tiers.csv
contains "csv: tiers with their kind" 'shop,4242,testhost,GET /item,get_item,item.c,50,db,100,299' tiers.csv
equal "csv: as many values as names" 1 "$(awk -F, '{ print NF }' tiers.csv | sort -u | wc -l)"
"$aprof" export --to csv --rows slowest late.aprof >slow.csv
equal "csv: the slowest" 13 "$(wc -l <slow.csv)"

# -- diff, gates ------------------------------------------------------------------------

./requests slower.aprof 100 99 || exit 1
"$aprof" dump -o other.json slower.aprof
edit other.json 'for k in t.requests: k.count *= 2
for k in t.requests: k.wall_ns *= 3; k.exec_ns *= 3' >slower.json
"$aprof" diff late.json slower.json >diff.txt
equal "diff: exit status" 0 $?
sed 's/  */ /g' diff.txt >rows.txt
contains "diff: a kind's mean" "request.mean 8.70 ms 13.1 ms +50.0 %" rows.txt
"$aprof" diff --json late.json slower.json >diff.json
equal "diff --json: kinds and tiers" "3 4" \
  "$(value diff.json 'len(t.requests), len(t.tiers)' | tr -d '(),')"
gate() {
  "$aprof" report late.json --fail-if "$1" >/dev/null 2>err.txt
}
gate 'GET /item request.p99 > 10ms'
equal "a gate on requests fails" 3 $?
contains "and says which" "\`GET /item\` (item.c:50): request.p99 is 11.3 ms, gate > 10ms" err.txt
gate 'request.p99 > 1s'
equal "a gate on requests holds" 0 $?
gate 'db tier.mean > 3ms'
equal "a gate on a tier fails" 3 $?
contains "and says of which kind" "\`GET /item\` > \`db\` (item.c:50): tier.mean is 3.04 ms" err.txt
gate 'nobody request.mean > 3ms'
equal "a gate on no requests cannot be judged" 1 $?

# -- spans ------------------------------------------------------------------------------

equal "spans: inside futures and outside" "101 100000000 5000000" \
  "$(value late.json 't.spans[0].calls, t.spans[0].exec_ns, t.spans[0].other_ns' | tr -d '(),')"
"$aprof" export --to folded late.aprof >folded.txt
contains "spans: frames of their function" "get_item;parse_headers" folded.txt

# -- set --------------------------------------------------------------------------------

mkdir profiles
mkfifo line
./requests profiles/live.aprof 20 live <line >said.txt &
exec 9>line
until_true test -s said.txt
pid=$(head -n 1 said.txt)
"$aprof" list profiles/live.aprof >list.txt
sed 's/  */ /g' list.txt >rows.txt
contains "list TARGET: what is kept of each span" "parse_headers http.c:20 parse time 21" rows.txt
narrow "list TARGET" list.txt
check "set: detail" "$aprof" set profiles/live.aprof 'parse*' detail=count tier=db
"$aprof" list --json profiles/live.aprof >list.json
equal "set: is shown" "count db" "$(value list.json 't.spans[0].detail, t.spans[0].tier' | tr -d "(),'")"
check "set: by its tier" "$aprof" set profiles/live.aprof db detail=off
equal "set --json" "off" \
  "$("$aprof" set --json profiles/live.aprof db detail=off >set.json && value set.json 't.spans[0].detail')"
"$aprof" set profiles/live.aprof nobody detail=off 2>err.txt
equal "set: of no span: exit status" 1 $?
contains "set: of no span: a message" "has come to no span, and no tier, that is called nobody" err.txt
"$aprof" set profiles/live.aprof db tier=nowhere 2>err.txt
equal "set: no tier: exit status" 1 $?
contains "set: no tier: a message" "has no tier nowhere" err.txt
"$aprof" set profiles/live.aprof db detail=more 2>err.txt
equal "set: another detail: usage" 2 $?
echo >&9
exec 9>&-
wait
equal "set: the process has it" "2 1" "$(tail -n 1 said.txt)"
"$aprof" set profiles/live.aprof db detail=off 2>err.txt
equal "set: of one that ended: exit status" 1 $?

# -- of several processes --------------------------------------------------------------------

"$aprof" merge --traces late.json >traces.txt 2>&1
equal "traces: status" 0 $?
contains "traces: of one process there are none" "no trace is in more than one process" traces.txt
"$aprof" merge --traces --json late.json >traces.json
conforms traces.json
equal "traces: the same as JSON" "0 0" "$(value traces.json '"%d %d" % (t.count, len(t.traces))')"
for wrong in "--json:--json is for --traces" "--top 3:--top is for --traces" \
  "--traces --per-process:there are none to keep apart" ":Give two or more"; do
  # shellcheck disable=SC2086 # none, or several
  "$aprof" merge ${wrong%%:*} late.json >said.txt 2>&1
  equal "merge ${wrong%%:*}: status" 2 $?
  contains "merge ${wrong%%:*}: what is said" "${wrong#*:}" said.txt
done
finish
