#!/bin/bash
# SPDX-License-Identifier: MIT
# Requests on the page, of a profile made by hand: by kind, and the whole page of one kind alone; as
# a file, and as aprof serve has it from totals in a directory.
. "${0%/*}/../lib.sh"

unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND JOURNAL_STREAM
export LC_ALL=C.UTF-8
started=()
trap 'kill "${started[@]}" 2>/dev/null; wait 2>/dev/null; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
cd "$work" || exit 1
"${CC:-gcc}" -D_GNU_SOURCE -O1 -I"$src/rt/include" "$src/tests/cli/requests.c" \
  "$src/tests/cli/synthetic.c" -o requests || exit 1
mkdir totals
for rounds in 40 60 80 100; do
  ./requests $rounds.aprof $rounds || exit 1
  "$aprof" dump -o totals/shop.$rounds.json $rounds.aprof
done
cp totals/shop.100.json shop.json

# -- the document -----------------------------------------------------------------------

"$aprof" html --json shop.json >all.page
"$aprof" html --json --kind 'GET*' shop.json >get.page
"$aprof" html --json --tier fs shop.json >fs.page
check "the document is as its schema says" conforms all.page get.page fs.page
equal "requests: all kinds, whichever is meant" "GET /item POST /upload save_upload|GET /item POST /upload save_upload" \
  "$(value all.page '" ".join(k.kind for k in t.requests)')|$(value get.page '" ".join(k.kind for k in t.requests)')"
equal "of one kind: what ran in it" "get_item 600000000|save_upload" \
  "$(value get.page '"%s %d" % tuple(pick(one(f for f in t.functions if f.exec_ns), "name exec_ns"))')|$(value fs.page '" ".join(f.name for f in t.functions if f.created)')"
equal "of one kind: its paths, which add up" true \
  "$(value get.page 'sum(row[5] for row in t.paths.rows) == total(t.functions, "exec_ns") and all(t.functions[row[1]].name == "get_item" for row in t.paths.rows)')"
equal "of one kind: it says so" "GET* null|null fs" \
  "$(value get.page 't.summary.only_kind' | tr -d '"') $(value get.page 't.summary.only_tier')|$(value fs.page 't.summary.only_kind') $(value fs.page 't.summary.only_tier' | tr -d '"')"
equal "findings are the whole's" "$(value all.page 'len(t.findings)')" "$(value fs.page 'len(t.findings)')"
refuse "of a kind that nobody has: refused" "$aprof" html --json --kind nobody shop.json

# -- others that show a part --------------------------------------------------------------

"$aprof" export --to folded shop.json | sort >all.folded
"$aprof" export --to folded --kind 'GET*' shop.json | sort >get.folded
equal "export: stacks of one kind are those beneath its function" "$(grep ^get_item all.folded)" "$(cat get.folded)"
"$aprof" export --to csv --rows requests --kind 'POST*' shop.json >kinds.csv
equal "export: and kinds" 2 "$(wc -l <kinds.csv)"
refuse "metrics have kinds as labels: --kind is refused" "$aprof" export --to prometheus --kind x shop.json
refuse "export of a kind that nobody has" "$aprof" export --to folded --kind nobody shop.json
equal "flame: of one kind" "0 1" "$("$aprof" flame --kind 'GET*' shop.json | grep -c save_upload) $("$aprof" flame shop.json --kind '*' | grep -qF get_item && echo 1)"
edit shop.json 'for k in t.requests: k.wall_ns *= 2
t.process.pid = 99' >slower.json
"$aprof" diff --kind 'POST*' --json shop.json slower.json >diff.json
equal "diff: of one kind" "POST /upload" "$(value diff.json '" ".join(k.kind for k in t.requests)')"
refuse "diff of a kind that nobody has" "$aprof" diff --kind nobody shop.json slower.json

# -- the page --------------------------------------------------------------------------------

if grep -q '^PAGE_TRUE = #' "$build/Makefile" || [ ! -x "$build/aprof-serve" ]; then
  skip "the page" "built without it, or without aprof serve"
  finish
fi
"$aprof" html -o page.html shop.json
served serve --listen 127.0.0.1:0 totals
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
  done < <(node "$src/tests/web/requests.mjs" "$build/web/test" "$work" "$url" 2>&1; echo "ended $?")
else
  not_ok "packages to try it with" install.out
fi
finish
