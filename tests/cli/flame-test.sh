#!/bin/bash
# SPDX-License-Identifier: MIT
# The flame graph is well-formed whatever names say, its widths are what totals say, and it is
# quick and small with many paths. How it looks is for people.
. "${0%/*}/../lib.sh"

unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1

compiler=$(gcc_of "${majors##* }")
check "a program to draw" "$compiler" -g -O1 -I"$src/rt/include" -fplugin="$plugin" \
  "$src/tests/cli/findings.c" -o program
check "it runs" "$aprof" run --clock virtual -o out -- ./program held queued
mv out/program.*.json a.json
for measure in exec queued waiting; do
  refuse "it has time $measure" [ "$(value a.json "total(t.functions, '${measure}_ns')")" = 0 ]
done

# Others made from these: with hostile names, more time, none, many paths.
check "totals to draw" "$tests_dir/lib/variants.py"

# root FILE ATTRIBUTE: of the outermost frame; checks that each lies in that above it
cat >root.py <<'PY'
import sys, xml.etree.ElementTree as E
n = "{http://www.w3.org/2000/svg}"
svg = E.parse(sys.argv[1]).getroot()
box = next(e for e in svg.iter(n + "svg") if e.get("class") == "frames")
rows = {}
for e in box:
    x, w, y = float(e.get("x")[:-1]), float(e.get("width")[:-1]), int(e.get("y"))
    assert e.find(n + "title") is not None
    assert not y or any(a - 1e-4 <= x and x + w <= a + b + 1e-4 for a, b, _ in rows[y - 18]), e.attrib
    assert all(x + w <= a + 1e-4 or a + b <= x + 1e-4 for a, b, _ in rows.get(y, [])[-1:]), e.attrib
    rows.setdefault(y, []).append((x, w, e))
print(rows[0][0][2].get(sys.argv[2]))
PY
root() {
  python3 root.py "$1" "$2"
}

# sum FILE MEASURE: what totals say
sum() {
  local exec="total(t.functions, 'exec_ns')" queued="total(t.functions, 'queued_ns')" waiting wall
  waiting="total([p for p in t.tree if p.get('waits_for') == 'outside'], 'all_ns')"
  wall="$exec + $queued + $waiting"
  value "$1" "${!2}"
}

for measure in wall exec waiting queued; do
  check "--$measure: draws" "$aprof" flame --$measure -o a.svg a.json
  equal "--$measure: as wide as totals say" "$(sum a.json $measure)" "$(root a.svg data-ns)"
done
"$aprof" flame a.json >a.svg
equal "all of it is the default, to standard output" "$(sum a.json wall)" "$(root a.svg data-ns)"
refuse "nothing is taken from elsewhere" grep -E '(href|src|url) *[=(] *"?(https?:|//|data:)|@import' a.svg

"$aprof" flame bad.json >bad.svg
equal "hostile names: well-formed, and as wide" "$(sum bad.json wall)" "$(root bad.svg data-ns)"
equal "hostile names: one script, ours" 1 "$(grep -c '<script' bad.svg)"
refuse "hostile names: no attribute of theirs" grep -E '<[^>]* onload=' bad.svg
if command -v xmllint >/dev/null; then
  check "hostile names: xmllint agrees" xmllint --noout bad.svg
fi

"$aprof" flame none.json >none.svg
equal "nothing measured: a picture" 0 "$(root none.svg data-ns)"
contains "nothing measured: it says so" "Nothing was measured" none.svg

name= extra=0
read -r name extra <more.txt
"$aprof" flame --diff --exec a.json more.json >diff.svg
equal "--diff: what A has" "$(sum a.json exec)" "$(root diff.svg data-a)"
equal "--diff: what B has" "$(($(sum a.json exec) + extra))" "$(root diff.svg data-b)"
check "--diff: what grew is red" grep -qE "class=\"b g[1-4].*<title>$name \\+" diff.svg
"$aprof" flame --diff --exec more.json a.json >back.svg
check "--diff: what shrank is blue" grep -qE "class=\"b s[1-4].*<title>$name -" back.svg
refuse "--diff: and nothing else" grep -E 'class="b g[1-4]" x=".*<title>' back.svg

"$aprof" flame --mark "/^$name\$/" a.json >mark.svg
check "--mark: a border" grep -qE "class=\"b [a-z l]* m\".*<title>$name\$" mark.svg
"$aprof" flame --per call a.json >call.svg
contains "--per call: says so" "per future" call.svg
"$aprof" flame --per second a.json >second.svg
contains "--per second: says so" " per second" second.svg

edit a.json 'for x in t.functions: x.update(instrumented=False, exec_ns=None, queued_ns=None, wall_ns=None)
for p in t.tree:
    if "function" in p: p.update(exec_ns=None, queued_ns=None, wall_ns=None)' >unseen.json
"$aprof" flame unseen.json >unseen.svg
equal "what was not seen has no width" "$("$aprof" flame --waiting a.json | root /dev/stdin data-ns)" "$(root unseen.svg data-ns)"

for wrong in "--per week a.json" "--mark /(/ a.json" "a.json more.json" "--diff a.json"; do
  "$aprof" flame $wrong >wrong.svg 2>wrong.txt
  equal "flame $wrong: is refused" "2 0" "$? $(wc -c <wrong.svg)"
done

start=$(date +%s%N)
check "20 000 paths: draws" "$aprof" flame --exec -o many.svg many.json
took=$((($(date +%s%N) - start) / 1000000))
check "20 000 paths: in under 2 s ($took ms)" test $took -lt 2000
equal "20 000 paths: as wide" "$(sum many.json exec)" "$(root many.svg data-ns)"
contains "20 000 paths: what is too narrow is said" "narrower than half a pixel" many.svg
check "20 000 paths: $(wc -c <many.svg) bytes" test "$(wc -c <many.svg)" -lt 3000000

finish
