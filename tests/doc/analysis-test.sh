#!/bin/bash
# SPDX-License-Identifier: MIT
# doc/analysis.md: each command in it runs, on totals of a program whose numbers are exact, and the
# members that it names are there; the scripts beside it say what these numbers are.
. "$(dirname "$0")/../lib.sh"

page=$src/doc/analysis.md
profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
trap 'rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1
"${CC:-gcc}" -g -I"$src/rt/include" "$src/tests/cli/hand.c" -o hand || exit 1
"$aprof" run -q --preload -o out --options "profile:$profiles" --clock virtual -- ./hand virtual >/dev/null ||
  not_ok "the program runs"
cp out/hand.*.json after.json
ln -s "$src/doc" doc
ln -s "$aprof" aprof
PATH=$work:$PATH

cp after.json before.json
edit after.json 't.process.pid += 1; t.process.started_at = "2026-01-01T00:00:00Z"' >baseline.json

# commands: of the table and of the blocks, a line each
commands() {
  sed -n '/^|/s/.*| `\(aprof [^`]*\)`[^|]*| .*/\1/p; /^```sh$/,/^```$/{ /^```/!p; }' "$page"
}
commands >commands.txt
check "there are commands" test "$(wc -l <commands.txt)" -ge 16
while read -r command; do
  if bash -o pipefail -c "$command" >said.txt 2>&1; then ok "$command"; else not_ok "$command" said.txt; fi
  case $command in
  *-o\ *) check "$command: writes it" test -s flame.svg ;;
  jq*hold* | *report* | doc/scripts/top* | doc/scripts/proc*) check "$command: says something" test -s said.txt ;;
  esac
done <commands.txt

# Members of totals that the table names stand in the schema.
sed -n '/^|/s/.*| \(`[a-z].*\) |$/\1/p' "$page" | grep -o '`[^`]*`' | tr -d '`' | grep -v '^aprof' |
  tr '.' '\n' | sed 's/\[\]//' | sort -u >members.txt
check "members are named" test "$(wc -l <members.txt)" -ge 15
while read -r member; do
  check "the schema has $member" grep -q "\"$member\"" "$src/doc/aprof.totals-2.schema.json"
done <members.txt

# Waits for a child are not among them: fetch_quota's own are.
waiting=$(value after.json 'round(f.fetch_quota.waiting_ns / 1e6)')
equal "top-awaits: what was waited for, once" "$waiting fetch_quota uv_tcp_connect server.c:61" \
  "$(doc/scripts/top-awaits after.json | awk 'NR == 1 { print $1, $4, $5, $6 }')"
equal "top-awaits: of two totals, together" "$((2 * waiting))" \
  "$(doc/scripts/top-awaits before.json after.json | awk 'NR == 1 { print $1 }')"
edit after.json 'for a in f.fetch_quota.awaits: a.open_ns = 5000000000' >open.json
equal "top-awaits: what goes on is in the sum, and in no mean" \
  "$(doc/scripts/top-awaits after.json | awk 'NR == 1 { print $1 + 5000, $3 }')" \
  "$(doc/scripts/top-awaits open.json | awk 'NR == 1 { print $1, $3 }')"
edit after.json 'f.handle_upload.slice.p99 = 20000000' >slower.json
doc/scripts/regression after.json slower.json 50 >said.txt
equal "regression: is found" 3 $?
contains "regression: and named" "handle_upload: p99 of a run" said.txt
check "regression: of no other" test "$(wc -l <said.txt)" -eq 1
check "regression: none is none" doc/scripts/regression slower.json after.json 50
edit after.json 't.process.pid = 7; t.functions = []; t.loop = []' >idle.json
equal "processes: the busiest first, what is unknown is no 0" "100.0 30.010 0.0 -" \
  "$(doc/scripts/processes idle.json after.json | cut -f 2,3 | xargs)"
finish
