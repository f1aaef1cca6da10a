#!/bin/bash
# SPDX-License-Identifier: MIT
# aprof record --cpu: where processor time goes lies beneath the async function that took it, by
# frame pointers, by unwind tables, in generated code; --switches: what ran was on a processor, was
# preempted, or blocked. What the kernel refuses is said, and the recording is there.
. "${0%/*}/../lib.sh"

profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
trap 'rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export NO_COLOR=1 APROF_OPTIONS=profile:$profiles,dir:$work/out LC_ALL=C.UTF-8
unset APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1
mkdir out
gcc=$(gcc_of "${majors##* }")

# compiled NAME FLAG...
compiled() {
  local name=$1
  shift
  check "$name is compiled" "$gcc" -g "$@" "-fplugin=$plugin" -D_GNU_SOURCE -I"$src/rt/include" \
    "-fmacro-prefix-map=$src/tests/cli/=" "$src/tests/cli/cpu.c" -o "$name" -pthread
}

# share PATTERN FILE: of the processor time in stacks that fit, in per cent
share() {
  awk -v pattern="$1" '{ all += $NF } $0 ~ pattern { fit += $NF } END { print all ? int(100 * fit / all) : 0 }' "$2"
}

# most NAME PATTERN FILE: at least 95 % of it
most() {
  local found
  found=$(share "$2" "$3")
  if [ "$found" -ge 95 ]; then ok "$1: $found %"; else not_ok "$1: $found %" "$3"; fi
}

# recorded NAME OPTION COMMAND...: and exported to NAME.folded
recorded() {
  local name=$1 option=$2
  shift 2
  timeout 120 "$aprof" record "$option" -o "$name.trace" -- "$@" >"$name.out" 2>"$name.err"
  equal "$name: recorded" 0 $?
  check "$name: exported" "$aprof" export --to folded --measure cpu -o "$name.folded" "$name.trace"
}

compiled frames -O1 -fno-omit-frame-pointer
compiled none -O2 -fomit-frame-pointer

# -- what may be watched here ----------------------------------------------------------

recorded frames --cpu=499 ./frames burn 100
if grep -q 'recorded without samples' frames.err; then
  skip "samples" "$(cat frames.err)"
  finish
fi

# -- by frame pointers -------------------------------------------------------------------

contains "how many there were is said" "samples" frames.err
most "burn lies beneath its async function" '^serve;handle;(middle;)?burn' frames.folded
total=$(awk '{ all += $NF } END { print int(all / 1000000) }' frames.folded)
check "a second of processor time is about that: $total ms" [ "$total" -gt 700 -a "$total" -lt 1500 ]
equal "main is above the future, and left out" 0 "$(grep -c 'handle.*;main' frames.folded)"

# -- the picture, and other formats --------------------------------------------------------

check "flame --cpu" "$aprof" flame --cpu -o cpu.svg frames.trace
contains "it has the native function" ">burn<" cpu.svg
contains "and says how many samples" "samples, each of" cpu.svg
contains "and how many frames have no name" "frames without a name" cpu.svg
check "flame of what futures ran has none" "$aprof" flame --exec -o exec.svg frames.trace
refuse "really none" grep -q ">burn<" exec.svg
check "speedscope" "$aprof" export --to speedscope -o speedscope.json frames.trace
contains "has a profile of processor time" ": cpu" speedscope.json
"$aprof" record -q -o plain.trace -- ./frames burn 1 >plain.txt 2>&1
"$aprof" flame --cpu -o none.svg plain.trace 2>err.txt
equal "a recording without samples: status" 1 $?
contains "and what makes some" "aprof record --cpu" err.txt
"$aprof" export --to folded --measure cpu "$profiles"/none.json 2>err.txt
equal "totals have no samples: status" 2 $?

# -- names on another machine: by build-id ------------------------------------------------

mv frames moved
"$aprof" export --to folded --measure cpu -o moved.folded frames.trace
equal "without the file there are no names" 0 "$(grep -c burn moved.folded)"
"$gcc" -O1 -x c - -o frames <<<'int main(void) { return 0; }'
"$aprof" export --to folded --measure cpu -o moved.folded frames.trace
equal "another build names nothing" 0 "$(grep -c 'burn\|;main' moved.folded)"
mkdir elsewhere && cp moved elsewhere/frames
"$aprof" export --to folded --measure cpu --debug elsewhere -o moved.folded frames.trace
most "the file lies elsewhere" '^serve;handle;(middle;)?burn' moved.folded
id=$(readelf -n moved | sed -n 's/.*Build ID: //p')
rm elsewhere/frames && mkdir -p "elsewhere/.build-id/${id::2}" && cp moved "elsewhere/.build-id/${id::2}/${id:2}.debug"
"$aprof" flame --cpu --debug elsewhere -o moved.svg frames.trace
contains "it lies there by its build-id" ">burn<" moved.svg
mv moved frames

recorded shared.cpu --cpu=199 ./frames burn 40

# -- by unwind tables ----------------------------------------------------------------------

recorded none --cpu=499,dwarf ./none burn 100
most "callers by unwind tables" '^serve;handle;middle;burn' none.folded

# -- code that is generated ------------------------------------------------------------------

if [ "$(uname -m)" = x86_64 ]; then
  recorded generated --cpu=499 ./frames generated 50
  most "generated code has its name" '^serve;handle.*LazyCompile:count_down' generated.folded
  rm -f "/tmp/perf-$(cat generated.out).map"
fi

# -- on a processor, preempted, blocked ------------------------------------------------------

# split NAME MODE TIMES: what pieces of requests had that ran, in ms: on, preempted, blocked, unknown, all
split() {
  timeout 120 "$aprof" record --switches -q -o "$1.trace" -- ./frames "$2" "$3" >"$1.out" 2>"$1.err"
  equal "$1: recorded" 0 $?
  "$aprof" slow --paths --top 0 --json -o "$1.json" "$1.trace"
  read -r on preempted blocked unknown all < <(python3 - "$1.json" <<'END'
import json, sys
pieces = [p for r in json.load(open(sys.argv[1], encoding="utf-8"))["slowest"] for p in r["path"] if p["what"] == "running"]
print(*(sum(p[k] for p in pieces) // 1000000
        for k in ("on_cpu_ns", "preempted_ns", "blocked_ns", "unknown_ns", "time_ns")))
END
  )
  echo "$1: $on ms on, $preempted preempted, $blocked blocked, $unknown unknown, of $all" >split.txt
}

# is NAME CONDITION: of the last split
is() {
  if (($2)); then ok "$1 ($(cat split.txt))"; else not_ok "$1" split.txt; fi
}

# What ran before the recorder was there is not known.
split busy burn 50
is "busy: on a processor for what it took, which is 500 ms" "on >= 400 && on < 600"
is "busy: parts add up" "all - on - preempted - blocked - unknown <= 4 && unknown * 5 <= all"
split asleep sleep 50
is "asleep: blocked, for 5 ms each time" "blocked >= 200 && blocked * 10 >= (all - preempted - unknown) * 9"
is "asleep: hardly on a processor" "on * 10 <= all"
split shared hog 50
is "shared: on a processor for what it took" "on >= 400 && on < 600"
is "shared: preempted by what runs beside it" "preempted * 4 >= on && blocked * 10 <= preempted"
"$aprof" slow --paths --top 0 shared.trace >slow.txt
check "slow: a piece says how long it was preempted" grep -q "of that .* preempted" slow.txt
"$aprof" blame --json -o blame.json shared.trace
check "JSON of both: as their schemas say" conforms blame.json shared.json
"$aprof" slow --paths --top 1 --json -o none.json plain.trace
equal "without switches nothing is known of them" None \
  "$(python3 -c 'import json; print(json.load(open("none.json"))["slowest"][0]["path"][0]["on_cpu_ns"])')"

# -- options -----------------------------------------------------------------------------------

for wrong in 0 2000 fast '99,' dwarf,99 -1; do
  "$aprof" record "--cpu=$wrong" -o wrong.trace -- ./frames burn 1 >err.txt 2>&1
  equal "--cpu=$wrong is wrong usage" 2 $?
done
"$aprof" flame --cpu --kind turn -o kind.svg frames.trace
contains "of a kind of requests" ">burn<" kind.svg
"$aprof" record --last --cpu 1 >err.txt 2>&1
equal "--last has no samples" 2 $?
"$aprof" flame --cpu --diff a.json b.json >err.txt 2>&1
equal "--cpu compares no totals" 2 $?
check "but the slow requests of a recording with the rest" \
  "$aprof" flame --cpu --diff --slowest 20% -o diff.svg shared.cpu.trace
contains "native functions among them" ">burn " diff.svg

# -- as a plain user --------------------------------------------------------------------------

# plain COMMAND...: as nobody, in a directory of his
plain() {
  (cd nobody && APROF_OPTIONS=profile:$work/nobody timeout 120 setpriv --reuid=65534 --regid=65534 --clear-groups "$@")
}
level=$(cat /proc/sys/kernel/perf_event_paranoid)
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && [ "$level" -lt 3 ]; then
  chmod 755 . frames && mkdir nobody && chown 65534:65534 nobody
  plain "$aprof" record --cpu=499 --switches -o plain.trace -- ../frames burn 50 >out.txt 2>err.txt
  equal "a plain user: recorded" 0 $?
  contains "a plain user: sampled" " samples, " err.txt
  if [ "$level" -eq 2 ]; then contains "a plain user: of user space" "of user space" err.txt; fi
  "$aprof" export --to folded --measure cpu -o plain.folded nobody/plain.trace
  most "a plain user: burn lies beneath its async function" '^serve;handle;(middle;)?burn' plain.folded
  plain "$aprof" record --cpu -o closed.trace -- ../frames closed 5 >out.txt 2>err.txt
  equal "a process that is not dumpable: recorded all the same" 0 $?
  contains "a process that is not dumpable: why without samples" "not dumpable" err.txt
  check "a process that is not dumpable: its events are there" "$aprof" slow --paths nobody/closed.trace
else
  skip "samples of a plain user" "this is none, or the kernel allows them none"
fi

# -- a clock that is not the kernel's, and a refusal ----------------------------------------------

APROF_OPTIONS=$APROF_OPTIONS,clock:virtual "$aprof" record --cpu -o virtual.trace -- ./frames burn 1 >out.txt 2>err.txt
equal "a virtual clock: recorded all the same" 0 $?
contains "a virtual clock: without samples" "recorded without samples: its clock" err.txt
finish
