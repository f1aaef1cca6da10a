#!/bin/bash
# SPDX-License-Identifier: MIT
# aprof probe: hits and values against what the program is known to do, its own counters (gcov), and
# what a debugger prints; optimised, inlined, stripped, on threads that come later; and what is
# refused, and how.
. "${0%/*}/../lib.sh"
cd "$work" || exit 1
[ "$(uname -m)" = x86_64 ] || { skip "probes" "they are tested on x86-64"; finish; exit; }
program=$src/tests/cli/probe.c
line() { grep -n "/\* $1 \*/" "$program" | cut -d: -f1; } # WORDS: of that comment

# start PROGRAM: it waits to be told; $pid, and descriptor 9 tells it
start() {
  rm -f tell && mkfifo tell
  "$1" <tell >said 2>&1 &
  pid=$!
  exec 9>tell
  until_true runs "$1" # no longer the shell that was forked for it
}
places=1 # addresses that are watched, of each thread
runs() { [ "$(readlink "/proc/$pid/exe")" -ef "$1" ]; }
go() { echo >&9; }
logged() { [ "$(grep -c '^ .*[0-9]  ' probed.out)" -ge "$1" ]; }
stop() { # [PROBER [LINES]]: once that watches the second thread; it ends once its log has so many
  until_true grep -q half said
  [ -z "${1:-}" ] || until_true armed "$1" $((2 * places))
  echo >&9
  until_true grep -q done said
  until_true logged "${2:-0}"
  echo >&9
  exec 9>&-
  wait "$pid"
}
# probed PROGRAM LINES ARGUMENT...: watched from before its first request, until so many are in the
# log, to its end; the result is in probed.json
probed() {
  local name=$1 lines=$2
  shift 2
  start "./$name"
  "$aprof" probe "$pid" "$@" --json --log >probed.out 2>probed.err 9>&- &
  local prober=$!
  until_true armed "$prober" || return 1
  go
  stop "$prober" "$lines"
  wait "$prober"
  local status=$?
  sed -n '/^{"schema"/,$p' probed.out >probed.json
  [ $status -eq 0 ] || sed 's/^/# /' probed.err
  [ -s probed.json ] || echo "# no result, $(wc -l <probed.out) lines of its log; said: $(cat said)"
  return $status
}
# armed PROBER [COUNT]: it has so many breakpoints, and waits for hits (once all were armed it looks
# whether the process ends), or has ended
armed() {
  kill -0 "$1" || return 0
  ls -l "/proc/$1/fd" >fds
  grep -q pidfd fds && [ "$(grep -c 'anon_inode:\[perf_event\]' fds)" -ge "${2:-1}" ]
}

compile() { gcc -g "$@" "$program" -lpthread; }
check "compiled" compile -O0 -o plain
check "optimised" compile -O2 -o fast
check "for gcov" compile -O2 --coverage -o counted
if ! probed plain 0 "probe.c:$(line each)" -n 1 && grep -qE 'perf events are|no hardware breakpoints|allows perf' probed.err; then
  skip "probes" "$(cat probed.err)"
  finish
  exit
fi

# shown NAME: what the expression of that text was, "VALUE COUNT" by value
shown() {
  value probed.json "' '.join(sorted(f'{v[\"value\"]}:{v[\"count\"]}' for v in one(t.shown, expression='$1')['values']))"
}

for build_of in plain fast; do
  probed $build_of 400 "probe.c:$(line each)" -s 'r->length' -s 'r->flag' -s 'r->mode > 15' -s 'r->name' \
    -s 'r->path' -s 'r->next->length' -s 'r->next->small[2]' -s 'shared_count' -s '*r' -s 'r->none'
  equal "$build_of: each request is a hit, none is lost" "400 400 400 0" \
    "$(value probed.json 't.hits, t.seen, t.matched, t.undecided')"
  conforms probed.json >conforms.out && ok "$build_of: its schema holds" || not_ok "$build_of: its schema holds" conforms.out
  equal "$build_of: a field" "0:40 1:40 2:40 3:40 4:40 5:40 6:40 7:40 8:40 9:40" "$(shown 'r->length')"
  equal "$build_of: a bit-field" "0:50 1:50 2:50 3:50 4:50 5:50 6:50 7:50" "$(shown 'r->flag')"
  equal "$build_of: a comparison" "0:208 1:192" "$(shown 'r->mode > 15')"
  equal "$build_of: an array of characters" '"often":300 "rare":100' "$(shown 'r->name')"
  equal "$build_of: a text" '"/one":200 "/two":200' "$(shown 'r->path')"
  equal "$build_of: through pointers" "7:400" "$(shown 'r->next->length')"
  equal "$build_of: an element" "-3:400" "$(shown 'r->next->small[2]')"
  equal "$build_of: a global variable" "7:400" "$(shown shared_count)"
  contains "$build_of: a struct is refused, with what to do" "a struct: ask for one of its members" probed.json
  contains "$build_of: so is a member that is not there" "it has no such member" probed.json
  check "$build_of: its second thread began while it was watched" \
    test "$(value probed.json 't.late_threads')" = 1
done

probed plain 54 handle -s color -s 'r->id' --if 'r->length >= 8 && color != GREEN'
equal "a function, arguments, a condition" "400 54" \
  "$(value probed.json 't.hits, t.matched')"
equal "names of an enumeration" "BLUE:27 RED:27" "$(shown color)"
equal "a line of its log for each that matches" 54 "$(grep -c 'r->id=' probed.out)"
probed plain 100 handle --if 'r->name == "rare"'
equal "a text is compared" 100 "$(value probed.json 't.matched')"

(cd . && probed counted 160 "probe.c:$(line 'long ones')" && gcov -o . counted-probe.gcda >gcov.out 2>&1)
counted=$(sed -n "s/^ *\([0-9]*\)\*\{0,1\}: *$(line 'long ones'):.*/\1/p" probe.c.gcov)
equal "hits of a line are what gcov counts" "$counted" "$(value probed.json 't.hits')"
check "which is more than none" test "${counted:-0}" -eq 160

probed fast 400 twice
equal "an inlined function is watched where it was inlined" "400 400 true 0 0" \
  "$(value probed.json 't.hits, t.seen, t.places[0].inlined, t.lost, t.unwatched_threads')"

probed plain 0 deeper --duration --most 1M
equal "from entry to return: all calls but the first of each caller, once it is armed" "1600 true" \
  "$(value probed.json 't.hits, t.duration["count"] >= 800 - t.lost')"
check "what was not seen is said" \
  test "$(value probed.json '1600 - t.lost <= t.duration["count"] + t.duration.unpaired <= 1600')" = true
probed plain 0 handle --stack
contains "callers" "main < work < deeper < deeper < deeper < deeper < handle" probed.json

cp fast bare && objcopy --only-keep-debug bare bare.debug && strip bare &&
  objcopy --add-gnu-debuglink=bare.debug bare
probed bare 400 "probe.c:$(line each)" -s 'r->length'
equal "debug information in a file of its own" 400 "$(value probed.json 't.hits')"
id=$(readelf -n bare | sed -n 's/.*Build ID: //p')
mkdir -p "elsewhere/.build-id/${id:0:2}"
mv bare.debug "elsewhere/.build-id/${id:0:2}/${id:2}.debug"
probed bare 400 "probe.c:$(line each)" -s 'r->length' --debug elsewhere
equal "by its build-id, below a directory that is named" 400 "$(value probed.json 't.hits')"
probed bare 0 "probe.c:$(line each)" --debug nowhere
contains "no such directory" "cannot look for debug information in nowhere" probed.err
probed bare 0 "probe.c:$(line each)"
equal "without any" 1 $?
contains "that is said, with what to do" "compile" probed.err

probed plain 400 handle -s '2 + 3 * 4' -s '7 & 6 == 6' --if '1 + 1 < 3 && 2 * 2 == 4'
equal "signs bind as in C" "14:400 1:400" "$(shown '2 + 3 * 4') $(shown '7 & 6 == 6')"

# What C says of signs, widths and fractions, and how debuggers write values.
check "in a file of its own, as the compiler splits it off" compile -O2 -gsplit-dwarf -o split
probed split 400 "probe.c:$(line each)" -s 'r->many > 5' -s 'r->many' -s 'r->grid[1][2]' -s '*r->grid[1]' \
  -s 'r->odd' -s 'r->weight * 4 < 198.5' -s '&r->next->small[3] - &r->next->small[1]' \
  -s 'r->flag << 1 | 1' -s '~r->flag ^ -1' -s 'r->next != NULL' -s 'r->length - 3u > 100'
equal "of no sign" "1:400 18446744073709551614:200 18446744073709551615:200" "$(shown 'r->many > 5') $(shown 'r->many')"
equal "arrays of arrays" "5:200 6:200 0:400" "$(shown 'r->grid[1][2]') $(shown '*r->grid[1]')"
equal "truth" "false:200 true:200" "$(shown 'r->odd')"
equal "fractions are compared" "0:2 1:398" "$(shown 'r->weight * 4 < 198.5')"
equal "how far apart" "2:400" "$(shown '&r->next->small[3] - &r->next->small[1]')"
equal "bits" "11:50 13:50 15:50 1:50 3:50 5:50 7:50 9:50" "$(shown 'r->flag << 1 | 1')"
equal "all of them" "400 400" "$(value probed.json 'sum(v["count"] for v in one(t.shown, expression="~r->flag ^ -1")["values"])') $(shown 'r->next != NULL' | cut -d: -f2)"
equal "less than nothing is much, of no sign" "0:280 1:120" "$(shown 'r->length - 3u > 100')"
probed fast 400 twice -s color -s 'r->length'
contains "what is around an inlined body is another's" "no such variable is visible here" probed.json

probed fast 400 "probe.c:$(line forgotten)" -s id
equal "an argument that is nowhere any more is what its caller passed" "400 0 400 0" \
  "$(value probed.json 't.shown[0].known, t.shown[0].unknown, len(t.shown[0]["values"]), t.shown[0].least')"

# -- libraries that are loaded later ------------------------------------------------------------
cat >late.c <<'END'
void abort(void);
long sum;
long late(long n) {
  if (n > 1000)
    abort(); /* that part lies elsewhere */
  return sum += n;
}
END
cat >host.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  char line[16];
  long (*late)(long);
  void *library = fgets(line, sizeof line, stdin) ? dlopen("./late.so", RTLD_NOW) : NULL;
  if (!library || !(*(void **)&late = dlsym(library, "late")))
    return 1;
  puts("half"), fflush(stdout);
  for (long n = fgets(line, sizeof line, stdin) ? 0 : 50; n < 50; n++)
    late(n);
  puts("done"), fflush(stdout);
  return !fgets(line, sizeof line, stdin);
}
END
check "a library, and who loads it" sh -c "gcc -g -O2 -shared -fPIC late.c -o late.so && gcc -O1 host.c -o host"
start ./host
"$aprof" probe "$pid" late >probed.out 2>&1
equal "what nothing has is not there" 1 $?
"$aprof" probe "$pid" late --later -s n --json >probed.json 2>probed.err 9>&- &
prober=$!
until_true armed $prober
go
until_true grep -q half said
until_true armed $prober 2 # what sees that something is loaded, and the breakpoint
go
until_true grep -q done said
go
exec 9>&-
wait "$pid"
wait $prober || sed 's/^/# /' probed.err
equal "until a library is loaded that has it" "50 1 true 1 0 49 true" \
  "$(value probed.json 't.hits, len(t.places), t.places[0].line in (3, 4), t.late_places, t.shown[0].least, t.shown[0].most, t.late_places_most_ns > 0')"
conforms probed.json >conforms.out && ok "as the schema says" || not_ok "as the schema says" conforms.out

# -- C++ -------------------------------------------------------------------------------------
if check "a program of C++ compiles" g++ -g -O1 "$src/tests/cli/probe.cc" -o shop; then
  taken=$(grep -n '// taken' "$src/tests/cli/probe.cc" | cut -d: -f1)
  # told LINES PLACE ARGUMENT...: as `probed'
  told() {
    start ./shop
    "$aprof" probe "$pid" "${@:2}" --json --log >probed.out 2>probed.err 9>&- &
    local prober=$!
    until_true armed "$prober"
    go
    until_true grep -q done said
    until_true logged "$1"
    go
    exec 9>&-
    wait "$pid"
    wait "$prober" || sed 's/^/# /' probed.err
    sed -n '/^{"schema"/,$p' probed.out >probed.json
  }
  told 50 "probe.cc:$taken" -s held -s 'what.left' -s 'what.name._M_dataplus._M_p' -s most -s shop::shelf::made -s which
  equal "a line of a method" 50 "$(value probed.json t.hits)"
  equal "its members, by reference, in namespaces, static, enumerators" '2:25 5:25|"tea":50|9:50|1:50|green:40 red:10' \
    "$(shown what.left)|$(shown what.name._M_dataplus._M_p)|$(shown most)|$(shown shop::shelf::made)|$(shown which)"
  equal "what a method calls by its name alone" "50 5 175" \
    "$(value probed.json 't.shown[0].known, t.shown[0].least, t.shown[0].most')"
  told 20 shop::shelf::take --if 'what.left > 3 && which == shop::color::green'
  equal "a method by its scopes" "50 20" "$(value probed.json 't.hits, t.matched')"
  told 100 shop::twice
  equal "a template is all its instances" "100 2" "$(value probed.json 't.hits, len(t.places)')"
  told 50 'twice<double>(double)'
  equal "one of them by its parameters" "50 1" "$(value probed.json 't.hits, len(t.places)')"
  if check "optimised" g++ -g -O2 "$src/tests/cli/probe.cc" -o shop; then
    told 100 "probe.cc:$(grep -n '// of each' "$src/tests/cli/probe.cc" | cut -d: -f1)"
    equal "a line of a template, where the compiler marks no statement" "100 2" "$(value probed.json 't.hits, len(t.places)')"
  fi
fi

# -- breakpoint instructions ------------------------------------------------------------------
probed fast 0 many_times
equal "more places than the processor has breakpoints" 1 $?
contains "what would do is said" "is 6 places in the program's code (it was inlined), and a processor watches 4" probed.err
# code: what the program's own code is in memory
code() {
  python3 - "$pid" <<'END'
import hashlib, os, sys
exe = os.readlink(f"/proc/{sys.argv[1]}/exe")
for line in open(f"/proc/{sys.argv[1]}/maps"):
    span, mode, *_, path = line.split(maxsplit=5)
    if "x" in mode and path.strip() == exe:
        begin, end = (int(x, 16) for x in span.split("-"))
        with open(f"/proc/{sys.argv[1]}/mem", "rb") as memory:
            memory.seek(begin)
            print(hashlib.sha1(memory.read(end - begin)).hexdigest())
END
}
as_before() { [ "$(code)" = "$before" ]; }
if [ "$(id -u)" -ne 0 ] || [ ! -e /sys/bus/event_source/devices/uprobe ]; then
  skip "breakpoint instructions" "they are root's, and this kernel has to have them"
elif ! places=6 probed fast 0 many_times --uprobes -s n --most 1M && grep -qE 'seccomp|is for root' probed.err; then
  skip "breakpoint instructions" "$(cat probed.err)"
else
  # What the kernel counts is all of them; what came too fast for its buffers is said.
  equal "all of them are hit" "2400 6 true" "$(value probed.json 't.hits, len(t.places), 0 < t.seen <= t.hits')"
  probed fast 400 "probe.c:$(line each)" --uprobes -s 'r->length' -s local --most 1M
  equal "with registers and stack" "400 0:40 1:40 2:40 3:40 4:40 5:40 6:40 7:40 8:40 9:40" "$(value probed.json t.hits) $(shown 'r->length')"
  # Of the second thread all of them: by then it is known where they return to.
  places=2 probed fast 0 handle --uprobes --duration --most 1M
  equal "with how long calls take" "400 true" \
    "$(value probed.json 't.duration["count"] + t.duration.unpaired, t.duration["count"] >= 200')"
  start ./fast
  before=$(code)
  "$aprof" probe "$pid" many_times --uprobes >probed.out 2>probed.err 9>&- &
  prober=$!
  until_true armed $prober
  check "they stand in the code" test "$(code)" != "$before"
  { kill -9 $prober && wait $prober; } 2>killed.err
  check "and go with who put them there" until_true as_before
  go
  stop
  if command -v setpriv >/dev/null; then
    chmod 755 . fast
    cat >plain.sh <<'END'
#!/bin/sh
exec setpriv --reuid=65534 --regid=65534 --clear-groups ./fast
END
    chmod 755 plain.sh
    "./plain.sh" <tell >said 2>&1 &
    pid=$!
    exec 9>tell
    until_true runs ./fast
    setpriv --reuid=65534 --regid=65534 --clear-groups "$aprof" probe "$pid" work --uprobes >probed.out 2>probed.err
    equal "other users have none" 1 $?
    contains "and are told what they have" "that is for root (CAP_PERFMON); without --uprobes" probed.err
    go
    stop
  fi
fi

# A debugger stops where the probe looks, and prints the same.
if command -v gdb >/dev/null; then
  probed plain 5 "probe.c:$(line each)" -s local -s 'r->weight' -n 5
  sed -n 's/.*local=\([-0-9]*\)  r->weight=\([0-9.]*\).*/\1 \2/p' probed.out >ours
  echo >one
  gdb -q -batch -ex "break probe.c:$(line each)" -ex "run <one" -ex "printf \"%ld %g\\n\", local, r->weight" \
    -ex continue -ex "printf \"%ld %g\\n\", local, r->weight" -ex continue \
    -ex "printf \"%ld %g\\n\", local, r->weight" ./plain 2>/dev/null | grep -E '^[0-9-]+ [0-9.]+$' >theirs
  equal "values are what gdb prints" "$(cat theirs)" "$(head -n 3 ours)"
  check "of three hits" test "$(wc -l <theirs)" = 3
fi

start ./plain
"$aprof" probe --list handle "$pid" >list.out
for words in 'long ones' each; do
  contains "the lines of a function: $words" " $(line "$words")" list.out
done
contains "with their text" "$(line each)  note(r->id);     /* each */" list.out
# said NAME TEXT STATUS ARGUMENT...
said() {
  "$aprof" probe "${@:4}" >out 2>err
  equal "$1" "$3" $?
  contains "$1, in words" "$2" err
}
said "a line without code" "the next line that has is" 1 "$pid" probe.c:1
said "a file of something else" "has no code of a file 'other.c'" 1 "$pid" other.c:1
said "a function that is not there" "there is no function 'nothing'" 1 "$pid" nothing
said "an expression that is none" "character 4: a ']' is missing" 1 "$pid" handle -s 'r[1'
said "no place" "which place? FILE:LINE or FUNCTION" 2 "$pid"
said "a line has no duration" "goes with a FUNCTION" 1 "$pid" "probe.c:$(line each)" --duration
said "no process" "there is no process 999999999" 1 999999999 handle
said "a name that nobody has" "no live process is called 'nobody-is'" 1 nobody-is handle
"$aprof" probe "$pid" handle --for 10ms >out
equal "nothing reached it, which is no error" 0 $?
contains "and is said" "0 hits, on 1 thread" out
"$aprof" probe "$pid" "probe.c:$(line each)" --most 100 >hot.out 2>&1 9>&- &
prober=$!
until_true armed $prober
go
stop
wait $prober
check "too hot, or over before that was seen" grep -qE "SWITCHED OFF: it was reached more than 100|the process has ended" hot.out
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  start ./plain
  chmod 755 "$work"
  setpriv --reuid=65534 --regid=65534 --clear-groups "$aprof" probe "$pid" handle --for 1s >out 2>err
  equal "another user's process is refused" 1 $?
  contains "with what to do" "as its user, or as root" err
  go && stop
fi
finish
