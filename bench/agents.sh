#!/bin/bash
# SPDX-License-Identifier: MIT
# One collector of many machines: 200 agents (agents.py) with a process of 5000 functions each, from
# `aprof serve --from' on this machine. Prints the text of bench/AGENTS.md: how long a round takes and
# how old numbers become, the collector's memory and processor time, what its answers take, and what
# is in none of them.
. "$(dirname "$0")/lib.sh"
agents=200 functions=5000 seconds=60
[ -z "$quick" ] || { agents=8 functions=200 seconds=5; }
[ -x "$build/aprof-serve" ] || { say "agents: built without libmicrohttpd"; exit 1; }
cd "$work"

"$cc" -O1 -I"$src/rt/include" "$src/tests/cli/scale.c" -o many -lpthread
mkfifo in
LD_PRELOAD=$runtime APROF_OPTIONS=memory:1000M,exit:no,clock:virtual ./many "$functions" 1 200 <in >pid &
started+=" $!"
exec 7>in
until [ -s pid ]; do sleep 0.1; done
for n in 1 2 3; do "$build/aprof" dump -o "totals$n.json" "$(cat pid)"; sleep 1; done
echo >&7
size=$(($(stat -c %s totals3.json) / 1000))

python3 "$src/tests/cli/agents.py" "$agents" totals[123].json >hosts 7>&- &
started+=" $!"
until grep -q '^# all' hosts; do sleep 0.1; done
"$build/aprof" serve --listen 127.0.0.1:0 --from hosts --every 2s >served 2>&1 7>&- &
server=$!
started+=" $server"
until grep -q ^serving served; do sleep 0.1; done
url=$(sed -n 's,^serving \(.*\)/$,\1,p' served)
began=$(date +%s.%N)

# ask EXPRESSION: of /api/processes, as d
ask() { curl -s "$url/api/processes" | python3 -c "import json, sys; d = json.load(sys.stdin); print($1)"; }
# ticks: processor time of the collector, s
ticks() { awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) / hz }' "/proc/$server/stat"; }
answered() { ask 'sum(h["age_ns"] is not None for h in d["hosts"])'; }
limit=$((SECONDS + 900))
while [ "$(answered)" -lt "$agents" ] && [ $SECONDS -lt $limit ]; do sleep 1; done
all=$(answered)
first=$(awk -v a="$began" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')
used_first=$(ticks)
sleep "$seconds"
used=$(awk -v a="$used_first" -v b="$(ticks)" -v s="$seconds" 'BEGIN { printf "%.0f", 100 * (b - a) / s }')
ages=$(ask '"%.1f %.1f" % (sorted(h["age_ns"] for h in d["hosts"])[len(d["hosts"]) // 2] / 1e9, max(h["age_ns"] for h in d["hosts"]) / 1e9)')
dropped=$(ask 'sum(h["left_out"] for h in d["hosts"])')
counted=$(ask 'sum(h["counted"] for h in d["hosts"])')
# answer PATH: seconds, kB
answer() {
  local before got
  before=$(ticks)
  got=$(curl -s --max-time 900 -o body -w '%{time_total} %{size_download}' "$url$1") || { say "agents: $1: curl's status is $?"; exit 1; }
  awk -v used="$(awk -v a="$before" -v b="$(ticks)" 'BEGIN { print b - a }')" '{ printf "%.1f s | %.1f s | %d kB", $1, used, $2 / 1000 }' <<<"$got"
}
totals=$(answer /api/totals)
together=$(python3 -c 'import json; print(len(json.load(open("body")).get("processes", [])))')
host=$(answer '/api/totals?host=host7')
page=$(answer '/api/page?range=start')
left=$(python3 -c 'import json; print(json.load(open("body"))["summary"].get("left_out", 0))')
metrics=$(answer /metrics)
series=$(grep -vc '^#' body)
memory=$(awk '/^VmRSS/ { now = $2 } /^VmHWM/ { most = $2 } END { printf "%d MB, at most %d MB", now / 1000, most / 1000 }' "/proc/$server/status")

cat <<TEXT
# Many machines, measured

Made by \`scripts/bench --keep agents\` (\`bench/agents.sh\`, \`agents.py\`): $agents agents, one process of $functions functions
each, $size kB of totals; the simulator and the collector share the machine.

$(machine)

| | |
|---|---|
| until $all have answered | $first s, $used_first s of a processor |
| processor, from then on | $used % of one |
| age of what is known, after $seconds s | median ${ages% *} s, oldest ${ages#* } s |
| agents that count | $counted of $agents |
| processes for which there was no room | $dropped |
| memory of the collector | $memory |

| answer | time | of a processor | size |
|---|---|---|---|
| \`/api/totals\`, of $together processes | $totals |
| \`/api/totals?host=\`, of one | $host |
| \`/api/page\`, $left processes left out | $page |
| \`/metrics\`, $series series | $metrics |
TEXT
