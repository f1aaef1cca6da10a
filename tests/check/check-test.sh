#!/bin/bash
# SPDX-License-Identifier: MIT
# aprof check: each rule finds the lines that say BAD in its folder, as C and as C++, and no others;
# the path that proves it; what it says of what it has not seen; statuses.
. "${0%/*}/../lib.sh"

[ -e "$build/aprof-check" ] || {
  skip "aprof check" "built without libclang"
  "$aprof" check >"$work/out" 2>&1
  equal "which is said" 1 $?
  contains "with what to do" "install libclang-dev" "$work/out"
  finish
}
export NO_COLOR=1 LC_ALL=C XDG_CACHE_HOME=$work/cache

# check_files NAME FILE... [-- FLAG...]: NAME.txt is what is printed, NAME.err what else; the status
check_files() {
  local name=$1
  shift
  "$aprof" check "$@" >"$work/$name.txt" 2>"$work/$name.err"
}
# found RULE FILE: its findings there, as FILE:LINE
found() {
  sed -nE "s/^([^ :]+:[0-9]+):[0-9]+: warning: .*\[$1\]\$/\1/p" "$2" | sort -u
}
marked() {
  { grep -n '/\* BAD' "$@" /dev/null; [ ! -e my.aprof ] || awk '/^# BAD/ { print FILENAME ":" NR + 1 }' my.aprof; } |
    cut -d: -f1,2 | sort -u
}

cd "$src/tests/check" || exit 1
for rule in */; do
  rule=${rule%/}
  cd "$rule" || exit 1
  mapfile -t files < <(ls | grep -E '\.(c|cc)$')
  bindings=()
  [ ! -e my.aprof ] || bindings=(-b my.aprof)
  check_files "$rule" "${bindings[@]}" "${files[@]}" -- -std=c++20
  equal "$rule: its status" 3 $?
  equal "$rule: what says BAD is found, and nothing else" "$(marked "${files[@]}")" "$(found "$rule" "$work/$rule.txt")"
  equal "$rule: no other rule finds anything" "" "$(grep ': warning: ' "$work/$rule.txt" | grep -v "\[$rule\]")"
  mapfile -t files < <(ls | grep -E '\.c$')
  check_files "$rule-as-c++" "${bindings[@]}" "${files[@]}" -- -x c++
  equal "$rule: the same as C++" "$(marked "${files[@]}")" "$(found "$rule" "$work/$rule-as-c++.txt")"
  cd .. || exit 1
done
equal "each rule has a folder here" "$("$aprof" check --rules | grep -v '^ ' | sort)" "$(ls -d */ | tr -d / | sort)"
for rule in */; do
  check "doc/check.md: ${rule%/}" grep -qx "## ${rule%/}" "$src/doc/check.md"
  check "aprof-check(1): ${rule%/}" grep -qx "\.B ${rule%/}" <(tr -d '\\' <"$src/doc/aprof-check.1")
done

# -- the path, and the caret -----------------------------------------------------------
out=$work/blocking-in-async.txt
grep -A7 '^log.c:13:' "$out" >"$work/one"
equal "the call has a caret" "      |     ^~~~~" "$(sed -n 3p "$work/one")"
equal "its path is whole, and the shortest" "server.c: 'on_read' is asynchronous: 'uv_read_start' is given it here
server.c: 'on_read' calls 'audit'
log.c: 'audit' calls 'flush'
log.c: 'flush' calls 'fsync'" "$(sed -nE 's/^([a-z.]+):[0-9]+: note: (.*)/\1: \2/p' "$work/one" | sed 's/ (libuv.*//' | head -n 4)"
contains "and a way to mend it" "to mend it, let a thread of a pool do it" "$work/one"
contains "of a call that could have a callback, to give it one" "server.c:49: note: to mend it, give it a callback" "$out"
equal "a function ends where its brace closes" "requests.c:$(($(grep -n 'uv_write(&request' "$src/tests/check/local-escapes/requests.c" | cut -d: -f1) + 1)): note: 'start' returns here, and nothing has ended it" \
  "$(grep -F "'start' returns here" "$work/local-escapes.txt")"

# -- a program by its compilation database ---------------------------------------------
mkdir -p "$work/build" "$work/src"
cd "$work" || exit 1
cp "$src/tests/check/blocking-in-async"/{server.c,log.c,log.h} src/
cat >build/compile_commands.json <<END
[{"directory": "$work/build", "command": "gcc -fplugin=aprof -fplugin-arg-aprof-bindings=my,own.aprof -Wall -DX=\"1 2\" -c ../src/server.c -o server.o", "file": "../src/server.c"},
 {"directory": "$work/build", "arguments": ["gcc", "-c", "$work/src/log.c"], "file": "$work/src/log.c"}]
END
echo 'blocking call:never' >build/my,own.aprof
sed -i 's/never(WNOHANG);/never(WNOHANG); \/* BAD *\//' src/server.c
check_files database
equal "build/ is found" 3 $?
equal "the bindings of its commands hold" "$(marked src/*.c)" "$(found blocking-in-async database.txt)"
check_files one -p build src/log.c
equal "a single unit knows no loop" 0 $?
check_files none -p src
equal "no database: status" 1 $?
contains "no database: what to do" "CMAKE_EXPORT_COMPILE_COMMANDS" none.err
mkdir cut
head -c 150 build/compile_commands.json >cut/compile_commands.json
check_files cut -p cut
equal "a database that was cut short: status" 1 $?
equal "with one message" "1 1" "$(wc -l <cut.err) $(grep -c 'cut/compile_commands.json is damaged: it is not JSON from byte' cut.err)"
contains "and what to do" "CMAKE_EXPORT_COMPILE_COMMANDS" cut.err
check_files both -p build -- -Wall
equal "flags and a database: status" 2 $?
check_files missing src/none.c --
equal "no such file: status" 1 $?
contains "no such file: which" "src/none.c cannot be read" missing.err

# -- what is known, and what has changed -------------------------------------------------
program=(-p build)
check_files write-baseline "${program[@]}" --write-baseline=known.txt
equal "a baseline is written: status" 0 $?
sed -i '1i \\' src/log.c
check_files baseline "${program[@]}" --baseline=known.txt
equal "what it knows is left out, also after lines have moved" 0 $?
contains "which is said" "$(grep -vc '^#' known.txt) left out" baseline.err
sed -i 's/^void audit/void more(void) { flush(3); fdatasync(3); }\nvoid audit/; s/flush(2);/flush(2), more();/' src/log.c
check_files baseline "${program[@]}" --baseline=known.txt
equal "what is new is found" "3 fdatasync" "$? $(sed -nE "s/.*warning: '([a-z]*)'.*/\1/p" baseline.txt)"
check_files baseline "${program[@]}" --baseline=there-is-none.txt
equal "no such baseline: status" 1 $?
contains "no such baseline: what to do" "--write-baseline=FILE makes one" baseline.err

cp -r src old
sed -i 's|  (void)timer;|  (void)timer;\n  usleep(7);|' src/server.c
diff -u old/server.c src/server.c >change.diff
check_files changed "${program[@]}" --diff=change.diff
equal "of a change what it adds is found" "3 usleep" "$? $(sed -nE "s/.*warning: '([a-z]*)'.*/\1/p" changed.txt)"
sed -i 's|audit(count);|audit(count + 1);|' src/server.c
git diff --no-index -U0 old/server.c src/server.c | check_files changed "${program[@]}" --diff=-
equal "and what it leads to, by a changed call" "3 fdatasync fsync usleep" \
  "${PIPESTATUS[1]} $(sed -nE "s/.*warning: '([a-z]*)'.*/\1/p" changed.txt | sort -u | xargs)"
check_files changed "${program[@]}" --diff=src/log.h
equal "no diff: status" 1 $?
: >empty.diff
check_files changed "${program[@]}" --diff=empty.diff
equal "no change, no finding" 0 $?

# -- for programs --------------------------------------------------------------------------
check_files json "${program[@]}" --json
grep -c ': warning:' <("$aprof" check "${program[@]}" 2>/dev/null) >count
equal "JSON: each finding" "$(cat count)" "$(value json.txt 'len(t.findings)')"
equal "JSON: the path" true "$(value json.txt 'all(len(r.path) > 1 and r.line for r in t.findings)')"
check "JSON: as its schema says" conforms json.txt
check_files sarif "${program[@]}" --sarif -o out.sarif
equal "SARIF: status" 3 $?
equal "SARIF: nothing else" "" "$(cat sarif.txt)"
cat >sarif.py <<'END'
import json, sys
log = json.load(open("out.sarif"))
run, = log["runs"]
rules = [r["id"] for r in run["tool"]["driver"]["rules"]]
assert log["version"] == "2.1.0" and len(set(rules)) == len(rules)
for r in run["results"]:
    assert rules[r["ruleIndex"]] == r["ruleId"]
    place = r["locations"][0]["physicalLocation"]
    line = open(place["artifactLocation"]["uri"]).read().split("\n")[place["region"]["startLine"] - 1]
    word = line[place["region"]["startColumn"] - 1 : place["region"]["endColumn"] - 1]
    assert "'" + word + "'" in r["message"]["text"] or len(word) == 1, (word, r)
    assert r["codeFlows"][0]["threadFlows"][0]["locations"]
print(len(run["results"]))
END
equal "SARIF: each finding, its rule, its words in the source, its path" "$(cat count)" "$(python3 sarif.py 2>&1)"
check_files both "${program[@]}" --json --sarif
equal "JSON and SARIF: status" 2 $?

# -- the cache --------------------------------------------------------------------------------
check_files cached "${program[@]}" --json
equal "units that have not changed come from the cache" 2 "$(value cached.txt 't.from_cache')"
echo >>src/log.h
echo 'static int added;' >>src/log.c
check_files cached "${program[@]}" --json
equal "those that have do not" 1 "$(value cached.txt 't.from_cache')"
check_files cached "${program[@]}" --json --no-cache
equal "nor does any, if it is to be so" 0 "$(value cached.txt 't.from_cache')"

# -- what is not seen --------------------------------------------------------------------
cp "$src/tests/check/blocking-in-async"/{server.c,log.c,log.h} src/
printf 'int f(void) { return 3 +; }\n' >broken.c
printf '#include "there-is-none.h"\nint g;\n' >header.c
python3 -c 'print("int deep = " + "- " * 300000 + "1;")' >deep.c
cat >pointer.c <<'END'
#include <uv.h>
struct hooks { void (*tell)(void); };
struct hooks *hooks;
static void on_timer(uv_timer_t *timer) { (void)timer; hooks->tell(); }
void arm(uv_timer_t *timer) { uv_timer_start(timer, on_timer, 1, 0); }
END
check_files unseen broken.c header.c deep.c pointer.c src/server.c src/log.c --
equal "a unit that crashes the parser does not end the run" "$(marked src/*.c)" \
  "$(found blocking-in-async unseen.txt)"
contains "it is named" "deep.c: the parser crashed" unseen.err
contains "so is one that does not parse" "broken.c: 1 error" unseen.err
contains "and one whose header is missing" "header.c: 1 error" unseen.err
contains "calls through pointers are counted" "1 call from asynchronous code through pointers" unseen.err
check_files unseen --unseen pointer.c --
contains "and listed" "pointer.c:4: hooks.tell" unseen.err

# -- names of C are no methods -------------------------------------------------------------
cat >own.cc <<'END'
#include <aprof.h>
#include <unistd.h>
struct Condition { int wait(); };
APROF_ASYNC int waits(Condition &condition) { return condition.wait(); }
END
check_files own -b blocking own.cc -- -std=c++20
equal "a method called wait is not wait() of the C library" 0 $?

# -- what blocks, does in every program ------------------------------------------------------
printf '#include <aprof.h>\n#include <unistd.h>\nAPROF_ASYNC void naps(void) { usleep(1); }\n' >naps.c
check_files naps naps.c --
equal "also where no header of a loop says that there is one" "3 naps.c:3" "$? $(found blocking-in-async naps.txt)"

# -- functions that machines write -----------------------------------------------------------
cat >large.py <<'END'
print("#include <aprof.h>\n#include <pthread.h>\nAPROF_AWAIT void yield_now(void);\nint test(int);")
print("static pthread_mutex_t one, many[2000];\nAPROF_ASYNC void in_turn(int n) {")
for i in range(1500):
    print(f"  pthread_mutex_lock(&one);\n  if (test({i}))\n    n++;\n  if (n > {i}) {{ pthread_mutex_unlock(&one); return; }}")
    print("  pthread_mutex_unlock(&one);\n  yield_now();" if i < 1499 else "  yield_now(); /* BAD */\n}")
print("APROF_ASYNC void at_once(int n) {")
for i in range(2000):
    print(f"  pthread_mutex_lock(&many[{i}]);\n  if (test({i}))\n    n++;")
print("}")
END
python3 large.py >large.c
timeout 30 "$aprof" check large.c -- >large.txt 2>large.err
equal "one of 9000 lines is followed: status" 3 $?
equal "in seconds, to its end" "$(marked large.c)" "$(found mutex-over-await large.txt)"
contains "one with too many ways is said" "'at_once' is too large: not all ways through it were followed" large.err

check_files unseen-json --json broken.c pointer.c large.c --
check "JSON with what was not seen: as its schema says" conforms unseen-json.txt

check_files all-broken deep.c --
equal "nothing could be read: status" 1 $?
finish
