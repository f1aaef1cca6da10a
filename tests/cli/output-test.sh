#!/bin/bash
# SPDX-License-Identifier: MIT
# What lies where totals go: a program that ends, or is asked by a signal, waits for no pipe,
# writes to no device and follows no link that somebody has put there. Only what the user
# gives (-o) may be one.
. "${0%/*}/../lib.sh"

profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
trap 'exec 9>&-; rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export NO_COLOR=1
unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1
mkdir out

"${CC:-gcc}" -g -I"$src/rt/include" "$src/tests/cli/hand.c" -o hand || exit 1

# start: `pid` lives, and waits for two lines
start() {
  rm -rf in pid.txt
  mkfifo in
  APROF_OPTIONS="profile:$profiles,dir:$work/out" APROF_COMMAND=$aprof \
    timeout 60 env LD_PRELOAD="$build/rt/.libs/libaprof.so.0" ./hand live 5 <in >pid.txt 2>said.txt &
  runner=$!
  exec 9>in
  until [ -s pid.txt ]; do sleep 0.02; done
  pid=$(head -n 1 pid.txt)
}

# whole FILE: totals, and a file itself
whole() {
  [ -f "$1" ] && [ ! -L "$1" ] && totals_close "$1"
}

# in_the_way WHAT COMMAND...: COMMAND puts it there
in_the_way() {
  local what=$1
  shift
  echo precious >victim
  start
  "$@" "out/hand.$pid.1.json"
  "$@" "out/hand.$pid.json"
  kill -USR1 "$pid"
  for _ in $(seq 500); do
    { [ -f "out/hand.$pid.1.json" ] && [ ! -L "out/hand.$pid.1.json" ]; } && break
    sleep 0.02
  done
  check "$what: a signal's totals take its place" whole "out/hand.$pid.1.json"
  printf '\n\n' >&9
  exec 9>&-
  wait "$runner"
  equal "$what: the program ends as ever" 0 $?
  check "$what: totals at exit take its place" whole "out/hand.$pid.json"
  equal "$what: nothing else was written to" precious "$(cat victim)"
}
in_the_way "a pipe" mkfifo
in_the_way "a link to a file" ln -s "$work/victim"
in_the_way "a link to a pipe" ln -s "$work/in"
in_the_way "a link to nothing" ln -s "$work/nothing"
equal "a link to nothing: still leads nowhere" "" "$(ls nothing 2>/dev/null)"
if mknod null c 1 3 2>/dev/null; then
  in_the_way "a device" cp -a null
else
  skip "a device" "only root can make one"
fi

start
mkdir "out/hand.$pid.json"
printf '\n\n' >&9
exec 9>&-
wait "$runner"
equal "a directory: the program ends as ever" 0 $?
contains "a directory: it is said" "cannot write $work/out/hand.$pid.json: Is a directory" said.txt
copy=$(echo "$profiles"/*)
check "a directory: the profile is kept" test -f "$copy"

# -- a name that another process has -------------------------------------------------------

# as_anothers FILE: totals of a process that had this PID at another time
as_anothers() {
  sed 's/"started_at":"[^"]*"/"started_at":"2001-02-03T04:05:06.000000007Z"/' "$1"
}
copied=$pid
rmdir "out/hand.$pid.json"
APROF_OPTIONS="profile:$profiles" check "totals to put in the way" "$aprof" dump -o plain.json "$copy"
start
as_anothers plain.json | tee another.json "out/hand.$pid.1.json" >"out/hand.$pid.json"
kill -USR1 "$pid"
for _ in $(seq 500); do
  [ -z "$(find out -name "hand.$pid.1-*.json")" ] || break
  sleep 0.02
done
printf '\n\n' >&9
exec 9>&-
wait "$runner"
apart=$(find out -name "hand.$pid-*.json")
check "another process: totals at exit are put beside its" whole "$apart"
check "another process: a signal's, too" whole "$(find out -name "hand.$pid.1-*.json")"
check "another process: its own stay" cmp another.json "out/hand.$pid.json"
check "another process: at a signal, too" cmp another.json "out/hand.$pid.1.json"
equal "another process: the name has the time of the start" "$(value "$apart" t.process.started_at | tr -d :Z-)" \
  "$(sed 's/.*-\(.*\).json/\1/' <<<"$apart")"

mkdir apart
(cd apart && as_anothers ../plain.json >"hand.$copied.json" && "$aprof" dump "$copy" && "$aprof" dump "$copy") >said.txt 2>&1
equal "another process: a dump says where it put them, the same place twice" "2 1" \
  "$(wc -l <said.txt) $(sort -u said.txt | grep -c "hand.$copied-.*json")"
equal "another process: two files" 2 "$(find apart -name '*.json' | wc -l)"
check "another process: -o takes its place" "$aprof" dump -o "apart/hand.$copied.json" "$copy"
equal "another process: as it was given" "$(value plain.json t.process.started_at)" \
  "$(value "apart/hand.$copied.json" t.process.started_at)"

# Each is the second process of a namespace of its own, all of them at once.
mkdir spaces
spaces="unshare -pf --mount-proc"
if $spaces true 2>/dev/null; then
  for _ in 1 2 3 4; do
    (echo; echo) | APROF_OPTIONS="dir:$work/spaces,profile:$profiles" APROF_COMMAND=$aprof timeout 60 \
      $spaces env LD_PRELOAD="$build/rt/.libs/libaprof.so.0" ./hand live 5 >>said.txt 2>&1 &
    jobs="${jobs:-} $!"
  done
  # shellcheck disable=SC2086
  wait $jobs
  equal "PID namespaces: each has its totals" "4 1" \
    "$(find spaces -name '*.json' | wc -l) $(value spaces/*.json t.process.pid | sort -u | wc -l)"
  check "PID namespaces: all of them whole" totals_close spaces/*.json
else
  skip "PID namespaces" "only root can make one"
fi

# -- without a name, and given one -----------------------------------------------------

mkdir here
echo precious >victim
ln -s ../victim "here/hand.$copied.json"
check "dump: here" sh -c "cd here && $aprof dump '$copy'"
check "dump: takes the place of a link" whole "here/hand.$copied.json"
equal "dump: which is not followed" precious "$(cat victim)"

mkfifo pipe
cat pipe >from-pipe.json &
check "-o: a pipe is written to" "$aprof" dump -o pipe "$copy"
wait $!
check "-o: the whole of it" totals_close from-pipe.json
ln -s target.json link.json
check "-o: a link is followed" "$aprof" dump -o link.json "$copy"
check "-o: and stays" test -L link.json
check "-o: to what it leads to" whole target.json
ln -s /proc/self/fd/1 standard # as /dev/stdout is
"$aprof" dump -o standard "$copy" >stdout.json
check "-o: standard output by a name, which is a file" totals_close stdout.json
check "-o: and a link ever after" test -L standard
ln -s /dev/null nothing-at-all
check "-o: a device is written to" "$aprof" dump -o nothing-at-all "$copy"
check "-o: and stays one" test -c nothing-at-all

finish
