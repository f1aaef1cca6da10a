#!/bin/bash
# SPDX-License-Identifier: MIT
# The page of a recording (aprof html): the answers of the commands that ask it, with their numbers,
# requests whose sums are the events', and processor time by samples; the document, then in a browser.
. "${0%/*}/../lib.sh"

profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
trap 'rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export NO_COLOR=1 LC_ALL=C.UTF-8
unset APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1

compiler=$(gcc_of "${majors##* }")
for name in tail cpu; do
  check "$name.c compiles" "$compiler" -g -O1 -fno-omit-frame-pointer "-fplugin=$plugin" -D_GNU_SOURCE \
    -I"$src/rt/include" "$src/tests/cli/$name.c" -o "$name" -pthread
done
APROF_OPTIONS=clock:virtual,profile:$profiles,dir:$work/out "$aprof" record -o shop.trace -- ./tail >record.txt 2>&1
equal "a program on the virtual clock is recorded" 0 $?
APROF_OPTIONS=profile:$profiles,dir:$work/out "$aprof" record --cpu=499 -o cpu.trace -- ./cpu burn 30 >cpu.txt 2>&1
equal "one that burns is sampled" 0 $?

# -- the document -----------------------------------------------------------------------

for name in shop cpu; do
  check "$name: the document" "$aprof" html --json -o $name.page $name.trace
  check "$name: it is as its schema says" conforms $name.page
done
for asked in tail blame path; do
  "$aprof" $asked --json shop.trace >$asked.json
done
"$aprof" slow --json shop.trace >paths.json
for asked in tail blame paths path; do
  check "its answer is that of the command: $asked" /usr/bin/python3 -c 'import json, sys
whole, answer = (json.load(open(name)) for name in sys.argv[1:3])
assert whole["answers"][sys.argv[3]] == answer' shop.page $asked.json $asked
done
equal "requests: as many, and as long, as the slowest of all say" "40 242000000 64000000 24000000" \
  "$(value shop.page '*pick(one(t.requests, kind="get_item"), "count wall_ns wall_max_ns queued_ns")')"
equal "requests: each is in its distributions" true \
  "$(value shop.page 'all(sum(n for _, n in k[name].buckets) == k.count for k in t.requests for name in ("wall", "queued", "exec", "waiting"))')"
equal "requests: percentiles, as far as buckets tell them" "3 64" \
  "$(value shop.page '*[round(one(t.requests, kind="get_item").wall[name] / 1e6) for name in ("p50", "p99")]')"
equal "paths add up to what functions have" true \
  "$(value shop.page 'all(sum(row[t.paths.columns.index(name)] for row in t.paths.rows) == total(t.functions, name) for name in ("exec_ns", "queued_ns", "waiting_ns"))')"
equal "whose numbers they are" "recording virtual 40 0" \
  "$(value shop.page 't.process.reason, t.clock.source, t.recording.requests, t.recording.lost' | tr -d '"')"
"$aprof" html --json --kind 'get*' -o get.page shop.trace
equal "of one kind: what belongs to it, and no more" "get_item get* true true" \
  "$(value get.page '" ".join(k.kind for k in t.requests), t.summary.only_kind, sum(row[5] for row in t.paths.rows) == t.requests[0].exec_ns, all(k.kind == "get_item" for k in t.answers.tail.kinds)' | tr -d '"')"
refuse "of a kind that nobody has: refused" "$aprof" html --json --kind nobody shop.trace
refuse "a recording is asked as it is" "$aprof" html --loop 1 shop.trace
if grep -q 'recorded without samples' cpu.txt; then
  skip "samples" "$(cat cpu.txt)"
else
  "$aprof" export --to folded --measure cpu -o cpu.folded cpu.trace
  equal "samples: as many, and as much, as the export's" "$(awk '{ all += $NF } END { printf "%d", all }' cpu.folded)" \
    "$(value cpu.page 'sum(row[t.paths.columns.index("cpu_ns")] for row in t.paths.rows)')"
  equal "samples: each for its time" true "$(value cpu.page 't.samples["count"] * t.samples.each_ns == sum(row[11] for row in t.paths.rows)')"
  equal "samples: native frames lie beneath the future" "program" \
    "$(value cpu.page 'max((row[11], row[12]) for row in t.paths.rows if row[3] == "burn")[1]' | tr -d '"')"
fi

# -- the page ------------------------------------------------------------------------------

if grep -q '^PAGE_TRUE = #' "$build/Makefile"; then
  skip "the page" "built without it"
  finish
fi
for name in shop cpu; do
  check "$name: the page" "$aprof" html -o $name.html $name.trace
done
if ! command -v chromium >/dev/null; then
  not_ok "there is a browser to open the page (Debian: chromium)"
elif "$src/web/install" "$src/web" "$build/web/test" >install.out 2>&1; then
  while IFS= read -r line; do
    case $line in
    "ok "*) ok "${line#ok }" ;;
    "not ok "*) not_ok "${line#not ok }" ;;
    "ended "*) equal "all of it was tried" "ended 0" "$line" ;;
    *) echo "$line" ;;
    esac
  done < <(node "$src/tests/web/recording.mjs" "$build/web/test" "$work" 2>&1; echo "ended $?")
else
  not_ok "packages to try it with" install.out
fi
finish
