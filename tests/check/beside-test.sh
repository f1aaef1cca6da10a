#!/bin/bash
# SPDX-License-Identifier: MIT
# What a check has found, beside what was measured: in the annotated source, and on the page.
. "${0%/*}/../lib.sh"

[ -e "$build/aprof-check" ] || {
  skip "aprof annotate --check" "built without libclang"
  finish
}
export NO_COLOR=1 LC_ALL=C XDG_CACHE_HOME=$work/cache
unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1
mkdir src
cat >src/server.c <<'END'
#include <aprof.h>
void flush(int descriptor);
APROF_ASYNC static void handle(int descriptor) {
  flush(descriptor);
}
int main(void) {
  handle(-1);
  return 0;
}
END
cat >src/log.c <<'END'
#include <unistd.h>
void flush(int descriptor) {
  fsync(descriptor);
}
END
compiler=$(gcc_of "${majors##* }")
check "a program" "$compiler" -g -I"$src/rt/include" -fplugin="$plugin" src/server.c src/log.c -o server
check "a run of it" "$aprof" run --clock virtual -o runs -- ./server
"$aprof" check -b blocking --json -o check.json src/server.c src/log.c -- 2>check.err
equal "a check of it finds something" 3 $?

"$aprof" annotate --check check.json runs/*.json server.c >server.txt 2>server.err
equal "a file without findings: status" 0 $?
equal "what was measured there, and nothing else" "1 0" "$(grep -c '^ .*3 APROF_ASYNC' server.txt) $(grep -c '\^' server.txt)"
"$aprof" annotate --check check.json runs/*.json log.c >log.txt 2>log.err
equal "a file where nothing was measured: status" 0 $?
equal "its finding stands beneath the line" \
  "3   fsync(descriptor); ^ 'fsync' blocks the thread, and all that its loop would run; asynchronous 'handle' comes here [blocking-in-async]" \
  "$(grep -A9 '^ *3 ' log.txt | sed '/^ *[4-9] /,$d; s/^ *//; 2,$s/  */ /g' | xargs -d '\n' | sed 's/- / /')"
equal "in 80 columns" 0 "$(awk 'length > 80' log.txt | wc -l)"
edit check.json 't.findings[0]["text"] = "\x1b[2J" + t.findings[0]["text"]' >hostile.json
"$aprof" annotate --check hostile.json runs/*.json log.c >hostile.txt 2>&1
equal "what a file says has no orders for a terminal" "1 0" \
  "$(grep -c fsync hostile.txt | sed 's/[1-9][0-9]*/1/') $(grep -c "$(printf '\033')" hostile.txt)"
"$aprof" annotate --json --check check.json runs/*.json log.c >log.json
check "JSON: as its schema says" conforms log.json
equal "JSON: line, rule" "3 check blocking-in-async" "$(value log.json '*pick(t.marks[0], "line what rule")')"
equal "JSON: how it is mended" "$(value check.json 't.findings[0].mend')" "$(value log.json 't.marks[0].mend')"
"$aprof" annotate runs/*.json log.c >none.txt 2>none.err
equal "without it the file is not known" 1 $?

echo '{}' >other.json
head -c 40 check.json >cut.json
for file in other.json cut.json there-is-none.json runs/*.json; do
  "$aprof" annotate --check "$file" runs/*.json log.c >none.txt 2>none.err
  equal "no check in ${file##*/}: status" 1 $?
  equal "it is said once" "1 1" "$(wc -l <none.err) $(grep -c "${file##*/}" none.err)"
done

"$aprof" html --json --check check.json -o page.json runs/*.json
equal "the page has it" "3 check blocking-in-async" \
  "$(value page.json "*pick(one(one(t.sources, file='src/log.c').marks, what='check'), 'line what rule')")"
check "the page: as its schema says" conforms page.json
finish
