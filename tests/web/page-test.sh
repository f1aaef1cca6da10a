#!/bin/bash
# SPDX-License-Identifier: MIT
# The page (aprof html), in a browser: its numbers are the totals', keys do what they should, it can
# be read by all, and hostile names do no harm. How it looks is for people: scripts/screenshots.
. "${0%/*}/../lib.sh"

unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1

compiler=$(gcc_of "${majors##* }")
cp "$src/tests/cli/findings.c" .
check "a program to draw" "$compiler" -g -O1 -I"$src/rt/include" -fplugin="$plugin" \
  "$PWD/findings.c" -o program
check "it runs" "$aprof" run --clock virtual -o out -- ./program held queued
mv out/program.*.json a.json
check "totals to draw" "$tests_dir/lib/variants.py"

# The document, which needs no browser.
for name in a bad none many; do
  "$aprof" html --json $name.json >$name.page
  check "$name: the document is as its schema says" conforms $name.page
  check "$name: its numbers are the totals'" /usr/bin/python3 - $name.json $name.page <<'PY'
import json, sys
t, p = (json.load(open(n)) for n in sys.argv[1:])
for name in ("process", "clock", "health", "threads"):
    assert t[name] == p[name], name
numbers = lambda row: {k: v for k, v in row.items() if isinstance(v, (int, float)) or v is None}
for f, g in zip(t["functions"], p["functions"], strict=True):
    for k, v in numbers(f).items():
        assert (g[k] or None) == (v or None), (f["name"], k, v, g[k])
    for k in ("exec", "slice", "wall", "queued"):
        assert g[k] == f[k], (f["name"], k)
at = p["paths"]["columns"].index
total = lambda name: sum(row[at(name)] for row in p["paths"]["rows"])
known = lambda rows, name: sum(row[name] or 0 for row in rows)
assert total("exec_ns") == known(t["functions"], "exec_ns")
assert total("queued_ns") == known(t["functions"], "queued_ns")
assert [k["member_ns"] for k in p["requests"]] == [k["queued_ns"] + k["exec_ns"] + k["waiting_ns"] for k in t["requests"] if k["count"] or k["live"]]
for k, m in zip((k for k in t["requests"] if k["count"] or k["live"]), p["requests"]):
    assert {n: m[n] for n in k if n not in ("tiers", "slowest")} == {n: v for n, v in k.items() if n not in ("tiers", "slowest")}, k["kind"]
    assert [x["calls"] for x in k["tiers"]] == [x["calls"] for x in m["tiers"]] and len(k["slowest"]) == len(m["slowest"])
assert total("waiting_ns") == sum(q["all_ns"] for q in t["tree"] if "await" in q and q["kind"] not in ("call", "run", "function"))
PY
done
check "lines of the source are in it" grep -q "static void crunch(" a.page
"$aprof" html --no-source --json a.json >bare.page
refuse "or left out" grep -q "static void crunch(" bare.page
edit a.json 'for g in t.functions: g.file = "/etc/passwd"' >secret.json
"$aprof" html --json secret.json >secret.page
refuse "what is no source stays where it is" grep -q root: secret.page
mkfifo pipe.c
edit a.json "for g in t.functions: g.file = '$PWD/pipe.c'" >pipe.json
check "nor is a pipe waited for" timeout 20 "$aprof" html --json -o pipe.page pipe.json

# npm's lock names no registry: each machine has its own.
refuse "the lock file names no host" grep -nE '"resolved"|https?://(registry|[^"]*npm)' "$src/web/package-lock.json"

if grep -q '^PAGE_TRUE = #' "$build/Makefile"; then
  refuse "without the page: it is refused" "$aprof" html a.json
  contains "and why is said" "was built without the page" "$work/check.out"
  finish
fi
for name in a bad none many; do
  check "$name: the page" "$aprof" html -o $name.html $name.json
done
refuse "nothing is taken from elsewhere" grep -oE '(src|href) *= *"?(https?:|//)|@import|url\((https?:|//)' a.html
refuse "no handler in an attribute" grep -qE '<[^>]* on[a-z]+=' none.html
check "licences are in it" grep -q "Apache License" a.html
check "$(wc -c <none.html) bytes for the page itself: under 300 kB" test "$(wc -c <none.html)" -lt 300000
check "$(wc -c <many.html) bytes for 20 000 paths: under 5 MB" test "$(wc -c <many.html)" -lt 5000000
if ! command -v chromium >/dev/null; then
  not_ok "there is a browser to open it (Debian: chromium)"
elif "$src/web/install" "$src/web" "$build/web/test" >install.out 2>&1; then
  while IFS= read -r line; do
    case $line in
    "ok "*) ok "${line#ok }" ;;
    "not ok "*) not_ok "${line#not ok }" ;;
    "ended "*) equal "all of it was tried" "ended 0" "$line" ;;
    *) echo "$line" ;;
    esac
  done < <(node "$src/tests/web/page.mjs" "$build/web/test" "$work" 2>&1; echo "ended $?")
else
  not_ok "packages to try it with" install.out
fi
finish
