#!/bin/bash
# SPDX-License-Identifier: MIT
# Exports are opened by those that they are for: sums equal the totals, names of any characters do
# no harm, several processes stay apart.
. "${0%/*}/../lib.sh"

unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1

compiler=$(gcc_of "${majors##* }")
check "a program to export" "$compiler" -g -O1 -I"$src/rt/include" -fplugin="$plugin" \
  "$src/tests/cli/findings.c" -o program
check "it runs" "$aprof" run --clock virtual -o out -- ./program held queued
mv out/program.*.json a.json
"${CC:-gcc}" -g -I"$src/rt/include" "$src/tests/cli/hand.c" -o hand || exit 1
check "one with deeper stacks, too" "$aprof" run -q --preload --clock virtual -o out -- ./hand virtual
mv out/hand.*.json deep.json
# many FUNCTIONS FILE: four deep, on two threads, of functions that call each other
"${CC:-gcc}" -g -I"$src/rt/include" "$src/tests/cli/scale.c" -o scale -lpthread || exit 1
many() {
  "$aprof" run -q --preload --clock virtual -o many -- ./scale "$1" 2 200 </dev/null >/dev/null 2>&1
  mv many/scale.*.json "$2"
}
many 11 many.json
# Another process, whose functions and awaits have names that mean something to one format or another.
edit many.json '
t.process.pid += 1
t.process.name = "odd; \"one\", (1)"
names = ["std::map<int, std::vector<char>>::operator[](int, \"x;y\")", "a;b 7", "tab\tand\nline", "(anonymous)::f",
         "0 0", "=1+1", "# comment", "\u5904\u7406", "fn=(2) x", "", "a,b"]
for i, x in enumerate(t.functions): x["name"] = names[i % len(names)] + str(i)
for i, p in enumerate(t.tree):
    if "callee" in p: p["callee"] = names[i % len(names)]
    else: p["function"] = t.functions[p.function_index].name' >odd.json

# amount MEASURE FILE...: of all stacks, from the totals. Who waits for its own callee has no wait.
amount() {
  local measure=$1 sum=0 part
  shift
  for part in $(value "$@" 'sum({
      "exec": total(t.functions, "exec_ns"), "queued": total(t.functions, "queued_ns"),
      "calls": total(t.functions, "created"),
      "waiting": sum(p.all_ns for p in t.tree if p.get("waits_for") == "outside")}[m] for m in
    {"wall": ["exec", "queued", "waiting"]}.get("'"$measure"'", ["'"$measure"'"]))'); do
    sum=$((sum + part))
  done
  echo $sum
}
check "there is time of each kind" test "$(amount exec a.json)" -gt 0 -a "$(amount queued a.json)" -gt 0 \
  -a "$(amount waiting a.json)" -gt 0 -a "$(amount calls a.json)" -gt 0

# -- folded ---------------------------------------------------------------------------

folded_sum() {
  awk '{ sum += $NF } END { print sum + 0 }'
}
for measure in wall exec waiting queued calls; do
  for file in a deep odd; do
    "$aprof" export --to folded --measure $measure $file.json >$file.$measure
    equal "folded: $measure of $file.json" "$(amount $measure $file.json)" "$(folded_sum <$file.$measure)"
    equal "folded: lines are frames and a number, in $file" "" "$(grep -vE '^[^;]+(;[^;]+)* [0-9]+$' $file.$measure)"
  done
done
equal "folded: odd names make no other stacks" "$("$aprof" export --to folded many.json | wc -l)" "$(wc -l <odd.wall)"
equal "folded: and no deeper ones" "$("$aprof" export --to folded many.json | tr -dc ';\n')" "$(tr -dc ';\n' <odd.wall)"
equal "folded: wall, if nothing is said" "$(cat a.wall)" "$("$aprof" export --to folded a.json)"
"$aprof" export --to folded a.json odd.json -o both.folded
equal "folded: two processes" $(amount wall a.json odd.json) "$(folded_sum <both.folded)"
equal "folded: each a root" "odd: \"one\", (1) ($(value odd.json t.process.pid)) program ($(value a.json t.process.pid))" \
  "$(sed 's/;.*//' both.folded | sort -u | xargs -d '\n')"
edit a.json 'for p in t.tree: p.background = "callee" in p' >listener.json
equal "folded: waiting for new work is left out" 0 "$("$aprof" export --to folded --measure waiting listener.json | folded_sum)"
equal "folded: unless it is asked for" "$(amount waiting a.json)" \
  "$("$aprof" export --to folded --measure waiting --all listener.json | folded_sum)"
# Of a function whose code has no events times are not known: they are no time.
edit a.json 'for x in t.functions: x.update(instrumented=False, exec_ns=None, queued_ns=None, wall_ns=None)
for p in t.tree:
    if "function" in p: p.update(exec_ns=None, queued_ns=None, wall_ns=None)' >unseen.json
equal "folded: what was not seen has no time" "$(amount waiting a.json)" "$("$aprof" export --to folded unseen.json | folded_sum)"

# -- pprof ------------------------------------------------------------------------------

# pprof FILE WORD...: of that file
pprof() {
  local file=$1
  shift
  HOME=$work go tool pprof "$@" "$file" 2>&1
}
# raw_sum MEASURE: of the samples that -raw prints
raw_sum() {
  awk -v type="$1" '/^[a-z]+\/[a-z]+ / { for (i = 1; i <= NF; i++) if ($i ~ "^" type "/") column = i; next }
    /^Locations/ { exit } column && /^ *[0-9]+ .*:/ { sub(/:.*/, ""); sum += $column } END { printf "%d\n", sum }'
}
if go tool -n pprof >/dev/null 2>&1; then
  "$aprof" export --to pprof -o both.pb.gz a.json odd.json
  for file in a deep odd; do
    "$aprof" export --to pprof -o $file.pb.gz $file.json
    pprof $file.pb.gz -raw >$file.raw
    for measure in wall exec waiting queued calls; do
      equal "pprof: $measure of $file.json" "$(amount $measure $file.json)" "$(raw_sum $measure <$file.raw)"
    done
  done
  "$aprof" export --to pprof -o many.pb.gz many.json
  equal "pprof: odd names make no other samples" "$(pprof many.pb.gz -raw | grep -cE '^ *[0-9]+ .*: [0-9 ]+$')" \
    "$(grep -cE '^ *[0-9]+ .*: [0-9 ]+$' odd.raw)"
  contains "pprof: names are whole" 'std::map<int, std::vector<char>>::operator[](int, "x;y")0' odd.raw
  contains "pprof: the build-id" "M=1" a.raw
  contains "pprof: the build-id of the mapping" "$(value a.json t.process.build_id)" a.raw
  row=$(value a.json 'max((x.exec_ns, x.name, f"{x.file}:{x.line}") for x in t.functions)[1:]' | xargs)
  contains "pprof: place of a function: $row" "$row" a.raw
  pprof a.pb.gz -top -unit=ns -sample_index=exec >top.txt
  equal "pprof -top: the function that ran most, and for how long" \
    "$(value a.json 'max((x.exec_ns, x.name) for x in t.functions)' | sed 's/ /ns /')" \
    "$(awk 'on { print $1, $6; exit } /flat%/ { on = 1 }' top.txt)"
  contains "pprof: wall, if nothing is said" "Type: wall" <(pprof a.pb.gz -top)
  for file in a odd; do
    equal "pprof: one process of two" "$(amount exec $file.json)" \
      "$(pprof both.pb.gz -raw -tagfocus="pid=$(value $file.json t.process.pid)" | raw_sum exec)"
  done
  for line in "fetch_quota server.c:61" "handle_upload server.c:151"; do
    contains "pprof: a caller's line is that of its call, $line" "$line" deep.raw
  done
else
  skip "pprof" "no go"
fi

# -- speedscope -----------------------------------------------------------------------

"$aprof" export --to speedscope -o both.speedscope.json a.json odd.json
for file in a deep odd; do
  "$aprof" export --to speedscope -o $file.speedscope.json $file.json
  for measure in wall exec waiting queued calls; do
    equal "speedscope: $measure of $file.json" "$(amount $measure $file.json)" \
      "$(value $file.speedscope.json "[sum(p.weights) for p in t.profiles if p.name.endswith(': $measure')][0]")"
  done
  equal "speedscope: each sample has a weight, each end is the sum, in $file" true "$(value $file.speedscope.json 'all(
    len(p.samples) == len(p.weights) and p.endValue == sum(p.weights) for p in t.profiles)')"
done
equal "speedscope: two processes, each by name" "odd; \"one\", (1) program" \
  "$(value both.speedscope.json '*sorted({p.name.rsplit(" (", 1)[0] for p in t.profiles})')"
contains "speedscope: names are whole" 'std::map<int, std::vector<char>>::operator[](int, "x;y")0' \
  <(value odd.speedscope.json '*[f.name for f in t.shared.frames]')

# -- callgrind --------------------------------------------------------------------------

# annotate FILE WORD...: what callgrind_annotate says of it, without commas in numbers
annotate() {
  local file=$1
  shift
  callgrind_annotate --threshold=100 --auto=no "$@" "$file" 2>&1 | sed -E ':a; s/([0-9]),([0-9])/\1\2/; ta; s/\([^)]*%\)//g'
}
for file in a deep odd; do
  "$aprof" export --to callgrind -o $file.callgrind $file.json
  annotate $file.callgrind >$file.annotated
  amounts="$(amount exec $file.json) $(amount waiting $file.json) $(amount queued $file.json) $(amount calls $file.json)"
  equal "callgrind: totals of $file.json" "$amounts" "$(awk '/PROGRAM TOTALS/ { print $1, $2, $3, $4 }' $file.annotated)"
  equal "callgrind: functions of $file.json, together" "$amounts" "$(awk '/\[.*\]$/ && /^ *[0-9]/ {
    for (i = 1; i <= 4; i++) sum[i] += $i } END { print sum[1] + 0, sum[2] + 0, sum[3] + 0, sum[4] + 0 }' $file.annotated)"
done
row=$(value a.json 'max((x.exec_ns, x.name) for x in t.functions)' | sed 's/ .*//')
contains "callgrind: a function by name and file" \
  "tests/cli/findings.c:$(value a.json 'max((x.exec_ns, x.name) for x in t.functions)[1]') [" a.annotated
equal "callgrind: inclusive, all is beneath the root" "$(amount exec deep.json) $(amount waiting deep.json)" \
  "$(annotate deep.callgrind --inclusive=yes | awk '/server.c:handle_upload/ { print $1, $2 }')"
contains "callgrind: names are whole" 'std::map<int, std::vector<char>>::operator[](int, "x;y")0' odd.callgrind
# Functions of one name and file that call each other must not count time twice.
edit many.json 'for x in t.functions: x.update(name="same", file="same.c")
for p in t.tree:
    if "function" in p: p.function = "same"' >same.json
"$aprof" export --to callgrind -o same.callgrind same.json
annotate same.callgrind --inclusive=yes >same.annotated
contains "callgrind: recursion is another function" "same'4 [" same.annotated
equal "callgrind: and counts once" "$(amount exec many.json)" "$(awk '/same.c:same / { print $1 }' same.annotated)"
# What is called, and is not, has both.
name=$(value many.json 'next(x.function for x in t.tree if x.get("parent") and "function" in x
  and any(y.get("function") == x.function and not y.parent for y in t.tree))')
"$aprof" export --to callgrind -o many.callgrind many.json
equal "callgrind: inclusive, with and without a caller" \
  "$(value many.json "sum(p.exec_ns + p.children_exec_ns for p in t.tree if p.get('function') == '$name')")" \
  "$(annotate many.callgrind --inclusive=yes | awk -v name=":$name" '$5 ~ name "$" { print $1 }')"

# -- chrome --------------------------------------------------------------------------

for file in a deep odd; do
  "$aprof" export --to chrome -o $file.trace.json $file.json
  thread=0
  for measure in wall exec waiting queued; do
    thread=$((thread + 1))
    # What lies in no other is of a root, and has all beneath. Ends are sums of floating point: a
    # tenth of a nanosecond is none.
    equal "chrome: $measure of $file.json" "$(amount $measure $file.json)" "$(value $file.trace.json \
      "(lambda l: round(1000 * sum(x.dur for x in l if not any(y is not x and y.ts < x.ts + 1e-4 and x.ts + x.dur < y.ts + y.dur + 1e-4
        and (y.dur > x.dur or l.index(y) < l.index(x)) for y in l))))([x for x in t.traceEvents if x.ph == 'X' and x.tid == $thread])")"
  done
done
contains "chrome: says that it is no time line" "how long, not when" a.trace.json

# -- csv -----------------------------------------------------------------------------------

cat >rows.py <<'PY'
"""Prints the sum of a column, or with = the distinct values."""
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8"), strict=True))
if any(None in r or None in r.values() for r in rows):
    sys.exit("rows and columns differ")
if sys.argv[2] == "=":
    print(*sorted({r[sys.argv[3]] for r in rows}), sep="\n")
else:
    print(sum(int(r[sys.argv[2]] or 0) for r in rows))
PY
for file in a deep odd; do
  "$aprof" export --to csv -o $file.csv $file.json
  for member in exec_ns queued_ns waiting_ns wall_ns created; do
    equal "csv: $member of $file.json" "$(value $file.json "total(t.functions, '$member')")" "$(python3 rows.py $file.csv $member)"
  done
  for list in "awaits waiting_ns" "awaits all_ns" "wakers count" "blocking held_ns" "delayed delayed_ns"; do
    "$aprof" export --to csv --rows "${list% *}" -o rows.csv $file.json
    equal "csv: $list of $file.json" "$(value $file.json "sum(total(x.${list% *}, '${list#* }') for x in t.functions)")" \
      "$(python3 rows.py rows.csv "${list#* }")"
  done
  for list in "loop elapsed_ns" "threads events" "live count" "misses count" "ignored count"; do
    "$aprof" export --to csv --rows "${list% *}" -o rows.csv $file.json
    equal "csv: $list of $file.json" "$(value $file.json "total(t.${list% *}, '${list#* }')")" \
      "$(python3 rows.py rows.csv "${list#* }")"
  done
  equal "csv: names of $file.json are whole" "$(value $file.json '*sorted({x.name.replace("\t", "?").replace("\n", "?") for x in t.functions})' | xargs -d '\n')" \
    "$(python3 rows.py $file.csv = name | xargs -d '\n')"
done
"$aprof" export --to csv -o both.csv a.json odd.json
equal "csv: two processes" "$(printf '%s\n' "$(value a.json t.process.pid)" "$(value odd.json t.process.pid)" | sort)" \
  "$(python3 rows.py both.csv = pid)"
"$aprof" export --to csv -o unseen.csv unseen.json
equal "csv: what was not seen is empty" "" "$(python3 rows.py unseen.csv = exec_ns)"

# -- in a browser ---------------------------------------------------------------------

# opened NAME FILE: the text of speedscope's table with that file in it, as NAME, in FILE.seen
opened() {
  local page=$build/web/test/node_modules/speedscope/dist/release/index.html
  printf "speedscope.loadFileFromBase64('%s', '%s')" "$1" "$(base64 -w0 "$2")" >"$2.js"
  timeout 100 chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=5000 \
    --user-data-dir="$work/chromium.$1" --allow-file-access-from-files --dump-dom \
    "file://$page#view=sandwich&localProfilePath=$work/$2.js" 2>/dev/null |
    sed 's/<style.*<\/style>//; s/<[^>]*>/ /g' | tr -s ' \n' ' ' >"$2.seen"
}
if ! command -v chromium >/dev/null || ! command -v npm >/dev/null; then
  skip "speedscope itself" "no chromium, or no npm"
elif "$src/web/install" "$src/web" "$build/web/test" >install.out 2>&1; then
  check "speedscope: its schema" python3 -c 'import json, sys
from jsonschema import Draft7Validator
schema = json.load(open(sys.argv[1]))
for file in sys.argv[2:]:
    Draft7Validator(schema).validate(json.load(open(file, encoding="utf-8")))' \
    "$build/web/test/node_modules/speedscope/dist/release/file-format-schema.json" {a,deep,odd,both}.speedscope.json
  # It reads the formats of others as well.
  "$aprof" export --to folded deep.json >deep.folded
  "$aprof" export --to pprof deep.json >deep.pb.gz
  opened deep.speedscope.json deep.speedscope.json &
  opened deep.txt deep.folded
  wait $!
  opened deep.pb.gz deep.pb.gz &
  opened callgrind.out.1 deep.callgrind
  wait $!
  opened trace.json deep.trace.json &
  opened odd.speedscope.json odd.speedscope.json
  wait $!
  root=handle_upload wall=$(amount wall deep.json) exec=$(amount exec deep.json)
  own=$(value deep.json 'sum(p.exec_ns for p in t.tree if p.get("function") == "handle_upload")')
  ms() { awk -v ns="$1" 'BEGIN { printf "%.2fms", ns / 1e6 }'; }
  commas() { sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta' <<<"$1"; }
  contains "speedscope: its own format" "$(ms "$wall") (100%) $(ms "$own") " deep.speedscope.json.seen
  contains "speedscope: each measure is to be chosen" ": exec $(ms "$exec")" deep.speedscope.json.seen
  contains "speedscope: folded stacks" "$(commas "$wall") (100%) $(commas "$own") " deep.folded.seen
  contains "speedscope: pprof" "$(ms "$wall") (100%) $(ms "$own") " deep.pb.gz.seen
  contains "speedscope: callgrind" "Exec $(commas "$exec")" deep.callgrind.seen
  contains "speedscope: a trace" "$(ms "$wall") (100%) $(ms "$own") " deep.trace.json.seen
  contains "speedscope: odd names" 'std::map&lt;int, std::vector&lt;char&gt;&gt;::operator[](int, "x;y")0' odd.speedscope.json.seen
  for file in *.seen; do
    contains "speedscope: a function by name, in ${file%.seen}" "$([ "${file#odd}" = "$file" ] && echo $root || echo "a;b 71")" "$file"
  done
else
  not_ok "speedscope itself" install.out
fi

# -- options ----------------------------------------------------------------------------

for words in "folded --top 3" "pprof --rows live" "prometheus --measure exec" "openmetrics --all"; do
  # shellcheck disable=SC2086 # words
  "$aprof" export --to $words a.json >said.txt 2>&1
  equal "--to $words: usage" 2 $?
  contains "--to $words: says why" "$(awk '{ print $2 }' <<<"$words") means nothing to the format ${words%% *}" said.txt
done

finish
