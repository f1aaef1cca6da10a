#!/bin/bash
# SPDX-License-Identifier: MIT
# aprof serve --push: what happens is sent on as time goes on, each format as its consumer takes it;
# a server that is away, that refuses, that comes back: what is dropped is counted, and said. Who is
# recorded for that notices nothing, and is recorded no more when the server ends, however it does.
. "${0%/*}/../lib.sh"
. "${0%/*}/../lib/metrics.sh"

unset APROF_RUNTIME APROF_COMMAND JOURNAL_STREAM http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
if [ ! -x "$build/aprof-serve" ] || grep -q '^CURL_TRUE = #' "$build/Makefile"; then
  skip "aprof serve --push" "built without libmicrohttpd or libcurl"
  finish
fi
profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
started=()
trap 'kill -9 "${started[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export APROF_OPTIONS=profile:$profiles,exit:no LC_ALL=C.UTF-8
cd "$work" || exit 1
check "a program" "$(gcc_of "${majors##* }")" -g -O1 -Wall -Wextra -Werror "-fplugin=$plugin" -I"$src/rt/include" \
  "$src/tests/system/many.c" -o shop
mkfifo in
./shop 1000000 <in >out &
shop=$!
started+=($shop)
exec 8>in
until_true "$aprof" report $shop >/dev/null

# receive NAME ANSWER...: sets url to a server that answers so, and puts what comes into NAME/
receive() {
  mkfifo "$1.port"
  python3 "$src/tests/cli/receiver.py" "$@" >"$1.port" 2>"$1.err" 8>&- &
  receiver=$!
  started+=($receiver)
  read -r answered <"$1.port"
  url=http://127.0.0.1:$answered
}
# serve NAME OPTION...: sets server and collector; it prints to NAME.out, NAME.err
serve() {
  local url
  served "$1" --listen 127.0.0.1:0 --every 1s "${@:2}" $shop
  collector=${url%/}
}
has() { [ "$(find "$1" -name '[0-9]*' 2>/dev/null | wc -l)" -ge "${2:-2}" ]; }
# pushes MEMBER FORMAT: what is told of it
pushes() {
  curl -s "$collector/api/processes" >processes.json
  value processes.json "[p.$1 for p in t.pushes if p.format == '$2'][0]"
}
is() { [ "$(pushes "$1" "$2")" = "$3" ]; }
above() { [ "$(pushes "$1" "$2")" -gt "$3" ]; }

# -- each format -------------------------------------------------------------------------------
wishes=()
for format in otlp otlp-proto otlp-metrics ndjson pprof; do
  receive $format 200
  [ $format != ndjson ] || url=$url/rows
  wishes+=(--push "$format=$url")
done
echo "X-Token: secret" >headers
serve all --label zone=a --header-file headers "${wishes[@]}"
for format in otlp otlp-proto otlp-metrics ndjson pprof; do
  check "$format comes, and goes on to come" until_true has $format 3
done
pushes sent ndjson >sent.txt
check "/api/processes: as its schema says" conforms processes.json
check "what was sent is counted" test "$(cat sent.txt)" -gt 0
contains "and in metrics" "aprof_push_sent_total{format=\"ndjson\",url=" <(curl -s "$collector/metrics")
contains "with the headers" " secret" ndjson/log
python3 - >rows.txt <<'PY'
import glob, json
rows = [json.loads(line) for file in glob.glob("ndjson/[0-9]*") for line in open(file, encoding="utf-8")]
assert rows and all(r["kind"] == "GET /item" and r["wall_ns"] >= 2000000 for r in rows), rows[:2]
assert len({r["request"] for r in rows}) == len(rows), "twice"
spans = [s for file in glob.glob("otlp/[0-9]*") for r in json.load(open(file))["resourceSpans"] for c in r["scopeSpans"] for s in c["spans"]]
assert any(s["name"] == "GET /item" for s in spans)
def metrics(n):
    (resource,) = json.load(open(f"otlp-metrics/{n}"))["resourceMetrics"]
    of = {a["key"]: a["value"]["stringValue"] for a in resource["resource"]["attributes"]}
    assert of["service.name"] == "shop" and of["zone"] == "a", of
    return {m["name"]: m for m in resource["scopeMetrics"][0]["metrics"]}
first, later = metrics(1), metrics(3)
(a,), (b,) = (m["aprof.request.duration"]["histogram"]["dataPoints"] for m in (first, later))
assert int(b["count"]) > int(a["count"]) and a["startTimeUnixNano"] == b["startTimeUnixNano"], (a, b)
assert int(b["timeUnixNano"]) > int(a["timeUnixNano"]) > int(a["startTimeUnixNano"])
assert sum(map(int, b["bucketCounts"])) == int(b["count"]) and len(b["bucketCounts"]) == len(b["explicitBounds"]) + 1
assert b["sum"] / int(b["count"]) >= 0.002
states = {x["value"]["stringValue"]: p["asDouble"] for p in later["aprof.request.time"]["sum"]["dataPoints"] for x in p["attributes"] if x["key"] == "state"}
assert set(states) == {"running", "queued", "waiting"} and states["waiting"] > states["running"], states
print("fine")
PY
equal "requests once each, spans, and metrics that grow" fine "$(cat rows.txt)"
# Of one interval each, not of all since the start.
read -r from until < <(sed -nE '2s/.*from=([0-9]+)&until=([0-9]+).*/\1 \2/p' pprof/log)
check "a profile is of its interval" test "$until" -gt "$from" -a $((until - from)) -lt 60
check "of which the end is now" test $(($(date +%s) - until)) -lt 120
kill $server
wait $server
equal "it ends as asked" 0 $?
check "nobody records any more" until_true "$aprof" record -q --for 100ms -o after.trace $shop

# -- servers that do not take it ---------------------------------------------------------------
receive refuses 503 503 200
one=$url
receive never 400=no
two=$url/rows
serve odd --push "otlp=$one" --push "ndjson=$two" --push otlp-metrics=http://127.0.0.1:1
check "what is refused for now is sent again" until_true above retries otlp 1
check "and is taken" until_true above sent otlp 0
equal "nothing of it is dropped" 0 "$(pushes dropped otlp)"
check "what is refused for good is dropped, and counted" until_true above dropped ndjson 0
contains "with the reason" "status 400: no" <(pushes says ndjson)
check "a server that is away fails" until_true is fails otlp-metrics true
contains "as metrics say" "aprof_push_up{format=\"otlp-metrics\",url=\"http://127.0.0.1:1\"} 0" <(curl -s "$collector/metrics")
check "it is said once" until_true grep -q "pushing to http://127.0.0.1:1 fails, and is tried again" odd.err
check "of what is refused for good, that it is dropped" \
  until_true grep -q "pushing to $two fails, and what it refuses is dropped: status 400: no" odd.err
equal "no more than that of each" "" "$(sort odd.err | uniq -d)"
kill -9 $server
check "killed, it leaves no recorder" until_true "$aprof" record -q --for 100ms -o after.trace $shop

# -- the real one ------------------------------------------------------------------------------
if command -v clickhouse-server >/dev/null; then
  . "$src/tests/lib/clickhouse.sh"
  check "ClickHouse starts" clickhouse_start
  clickhouse_ask "$(clickhouse_statement 0)" </dev/null >created.txt
  serve rows --push "clickhouse=http://127.0.0.1:$clickhouse_port" --over 1ms
  rows() { clickhouse_ask "SELECT $1 FROM aprof_requests" </dev/null; }
  grows() { [ "$(rows "uniqExact(intDiv(begin_ns, 1000000000))")" -ge 3 ]; }
  check "rows come, second after second" until_true grows
  equal "each once" 1 "$(rows "uniqExact(request) = count()")"
  kill $server
  wait $server
  equal "each is as long as it was" 1 "$(rows "min(wall_ns) >= 2000000")"
else
  skip "ClickHouse" "not installed"
fi

# -- what cannot be ----------------------------------------------------------------------------
# wrong TEXT OPTION...
wrong() {
  local text=$1
  shift
  "$aprof" serve "$@" >wrong.out 2>&1
  equal "$*: usage" 2 $?
  contains "$*: says why" "$text" wrong.out
}
wrong "FORMAT=URL" --push nothing=http://127.0.0.1:1
wrong "http://HOST:PORT" --push otlp=127.0.0.1:1
wrong "a whole URL" --push ndjson=http://127.0.0.1:1
wrong "of live processes" --push otlp=http://127.0.0.1:1 --from http://127.0.0.1:1
wrong "which requests are sent" --over 5ms

echo >&8
wait $shop
equal "the program ends as ever" "0 some right" "$? $(cat out)"
says "a password in a URL" 2 "no place for a password" "$aprof" serve --push otlp=http://me:secret@127.0.0.1:1
says "headers that cannot be read" 1 "cannot read no-such-file" "$aprof" serve --listen 127.0.0.1:0 \
  --push otlp=http://127.0.0.1:1 --header-file no-such-file
finish
