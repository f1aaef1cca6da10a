#!/bin/bash
# SPDX-License-Identifier: MIT
# Each query of the Grafana dashboard, asked of a real Prometheus that scrapes a program and of a
# VictoriaMetrics that was given what it scrapes: both answer, with what totals say.
. "${0%/*}/../lib.sh"
. "${0%/*}/../lib/metrics.sh"

unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND
profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
started=()
trap 'kill -9 "${started[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export APROF_OPTIONS=profile:$profiles LC_ALL=C.UTF-8
cd "$work" || exit 1
dashboard=$src/doc/grafana/aprof.json

# What Grafana would do with it before it asks.
cat >queries.py <<'PY'
"""Prints each query with its variables filled in; with an address, asks there, and prints of each
whether it has an answer. One that ends in > 0 may have none."""
import json, re, sys, urllib.parse, urllib.request
d = json.load(open(sys.argv[1], encoding="utf-8"))
panels = [p for p in d["panels"] if p["type"] != "row"]
assert len({p["id"] for p in d["panels"]}) == len(d["panels"]), "ids"
cells = [(x, y) for p in d["panels"] for g in [p["gridPos"]]
         for x in range(g["x"], g["x"] + g["w"]) for y in range(g["y"], g["y"] + g["h"])]
assert len(set(cells)) == len(cells) and max(cells)[0] < 24, "panels overlap"
names = {v["name"] for v in d["templating"]["list"]}
def fill(text):
    text = text.replace("$__rate_interval", "30s")
    for name in names:
        text = text.replace("$" + name, ".+")
    assert "$" not in text, text
    return text
queries = [(p["title"], t["expr"]) for p in panels for t in p["targets"]]
queries += [(a["name"], a["expr"]) for a in d["annotations"]["list"]]
queries += [(v["label"], re.fullmatch(r"label_values\((.*), (\w+)\)", v["definition"]).group(1))
            for v in d["templating"]["list"] if v["type"] == "query"]
for title, text in queries:
    text = fill(text)
    if len(sys.argv) < 3:
        print(text)
        continue
    try:
        url = sys.argv[2] + "/api/v1/query?query=" + urllib.parse.quote(text)
        found = json.load(urllib.request.urlopen(url, timeout=10))["data"]["result"]
        print("ok" if found or text.endswith("> 0") else f"no answer to {text}:", title)
    except OSError as error:
        print(f"{error} for {text}:", title)
PY
check "a dashboard of panels that do not overlap" python3 queries.py "$dashboard"
python3 queries.py "$dashboard" >queries.txt
check "there are queries" test "$(wc -l <queries.txt)" -gt 25

# A program on a loop of its own that never ends, with timers that say when they are due.
sed 's/SAMPLES = 12/SAMPLES = 1 << 30/' "$src/examples/tiny-loop.c" >station.c
sed 's/fn=a2 rearm/fn=a2 due=a1:ms rearm/; s/fn=a2  /fn=a2 due=a1:ms/' "$src/examples/tiny-loop.aprof" >station.aprof
check "a program to look at" "$(gcc_of "${majors##* }")" -g -O1 -fplugin="$plugin" \
  -fplugin-arg-aprof-bindings=station.aprof station.c -o station
APROF_RUNTIME=$build/rt/.libs/libaprof.so.0 ./station >/dev/null &
station=$!
started+=("$station")
has_profile() { "$aprof" dump -o "${1:-any.json}" "$station"; }
until_true has_profile

# ask_all ADDRESS WHO: each query
ask_all() {
  while read -r line; do
    case $line in
    "ok "*) ok "$2: ${line#ok }" ;;
    *) not_ok "$2: $line" ;;
    esac
  done < <(LD_PRELOAD="" python3 queries.py "$dashboard" "$1" 2>&1)
}

if command -v prometheus >/dev/null; then
  serve_output "$aprof" export --to openmetrics "$station"
  start_prometheus 1s
  scraped() { [ "$(ask 'sum_over_time(up{job="aprof"}[1m])')" -ge "$1" ]; }
  check "Prometheus scrapes it" until_true scraped 3
  ask_all "$prometheus" "Prometheus"
  # What it has lies between two totals.
  has_profile before.json
  now() { ask aprof_process_elapsed_seconds | awk -v since="$1" '{ exit !($1 > since) }'; }
  until_true now "$(value before.json 't.process.elapsed_ns / 1e9')"
  exec=$(ask 'sum(aprof_function_exec_seconds_total)')
  has_profile after.json
  equal "Prometheus: time that futures ran, as in totals before and after" true \
    "$(value before.json "total(t.functions, 'exec_ns') / 1e9 <= $exec + 1e-9")"
  equal "Prometheus: time that futures ran, no more than after" true \
    "$(value after.json "total(t.functions, 'exec_ns') / 1e9 >= $exec - 1e-9")"
else
  skip "a real Prometheus" "not installed"
fi

if command -v victoria-metrics >/dev/null; then
  port=$(free_port)
  victoria=http://127.0.0.1:$port
  victoria-metrics -storageDataPath=victoria -httpListenAddr="127.0.0.1:$port" -search.latencyOffset=0s \
    -search.disableCache >victoria.log 2>&1 &
  started+=($!)
  check "VictoriaMetrics starts" until_true curl -sf "$victoria/health"
  for _ in 1 2 3; do
    has_profile totals.json
    "$aprof" export --to openmetrics totals.json >metrics.txt
    curl -sf --data-binary @metrics.txt "$victoria/api/v1/import/prometheus?extra_label=instance=here" || not_ok "import"
  done
  curl -s "$victoria/internal/force_flush"
  # What was imported last is seen last.
  imported() { [ "$(ask 'sum(aprof_process_elapsed_seconds)' "$victoria" | xargs printf '%.6f')" = "$1" ]; }
  check "VictoriaMetrics takes OpenMetrics" until_true imported \
    "$(value totals.json '"%.6f" % (t.process.elapsed_ns / 1e9)')"
  for pair in exec_seconds_total:exec_ns waiting_seconds_total:waiting_ns queued_seconds_total:queued_ns; do
    equal "VictoriaMetrics: ${pair%:*} is that of the totals" true \
      "$(value totals.json "abs(total(t.functions, '${pair#*:}') / 1e9 - $(ask "sum(aprof_function_${pair%:*})" "$victoria")) < 1e-6")"
  done
  equal "VictoriaMetrics: and so are futures" "$(value totals.json 'total(t.functions, "created")')" \
    "$(ask 'sum(aprof_function_created_total)' "$victoria")"
  ask_all "$victoria" "VictoriaMetrics"
else
  skip "a real VictoriaMetrics" "not installed"
fi

finish
