#!/bin/bash
# SPDX-License-Identifier: MIT
# aprof ps: what lives in a process that runs, is stopped, or hangs; in totals; in the profile that a
# crash left, and by its core. In 80 columns, whatever names say.
. "${0%/*}/../lib.sh"

schema=$src/doc/aprof-ps.1
profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
started=()
trap 'kill -9 "${started[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export NO_COLOR=1 APROF_OPTIONS=profile:$profiles,dir:$work/out LC_ALL=C.UTF-8
unset APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1
mkdir out
name=hung$$ # no other process is called so

# rows FILE: those of the tree, a space between columns
rows() {
  sed -n '/^future /,$p' "$1" | sed '1d; s/  */ /g'
}

narrow() {
  equal "$1: fits 80 columns" "" "$(awk 'length > 80' "$2")"
}

# -- one that hangs, on the virtual clock ---------------------------------------------

check "the program is compiled" "$(gcc_of "${majors##* }")" -O1 -g "-fplugin=$plugin" \
  -I"$src/rt/include" "-fmacro-prefix-map=$src/tests/cli/=" "$src/tests/cli/ps.c" -o "$name"
part="ps.c:$(grep -n 'at part' "$src/tests/cli/ps.c" | cut -d: -f1)"

# start [ARG]: sets pid; the program hangs until a line comes from descriptor 9
start() {
  rm -f in pid.txt
  mkfifo in
  APROF_OPTIONS=$APROF_OPTIONS,clock:virtual "./$name" "$@" <in >pid.txt 2>/dev/null &
  started+=($!)
  exec 9>in
  until_true test -s pid.txt
  pid=$(cat pid.txt)
}

start
"$aprof" ps "$pid" >ps.txt 2>err.txt
equal "hung: exit status, and nothing to complain about" "0 0" "$? $(wc -c <err.txt)"
contains "hung: what lives" "$name $pid: 4 requests, 7 live futures (1 running, 3 queued, 3 waiting)" ps.txt
contains "hung: whose requests" "handle x3, oldest 14.0 ms" ps.txt
contains "hung: who holds the loop" "loop $pid is held for 7.00 ms now by \`hang\`" ps.txt
rows ps.txt >rows.txt
equal "hung: the holder is the first row" "hang running 7.00 ms 7.00 ms HOLDS loop $pid" \
  "$(head -n 1 rows.txt)"
equal "hung: equal ones are one row, the oldest's age" "handle x3 waiting 12.0 ms 14.0 ms" \
  "$(sed -n 2p rows.txt | cut -d' ' -f1-7)"
contains "hung: and so are their children, which never ran, under them" \
  "└ part_new x3 queued 12.0 ms 12.0 ms" rows.txt
refuse "hung: no more" test "$(wc -l <rows.txt)" -ne 3
narrow "hung" ps.txt
"$aprof" ps "$name" >name.txt 2>&1
equal "hung: by its name" "$(cat ps.txt)" "$(cat name.txt)"
"$aprof" ps --top 1 "$pid" >top.txt
contains "--top: says what is left out" "and 6 futures in 2 rows more: --all" top.txt
equal "--all: all" "$(cat ps.txt)" "$("$aprof" ps --all "$pid")"
"$aprof" ps --loop "$pid" "$pid" >loop.txt
equal "--loop: of the only one" "$(cat rows.txt)" "$(rows loop.txt)"
refuse "--loop: of none" "$aprof" ps --loop 1 "$pid"
"$aprof" ps --json "$pid" >ps.json
equal "--json: the groups" '["hang",1,null,"running",7000000] ["handle",3,null,"waiting",12000000] ["part_new",3,2,"queued",12000000]' \
  "$(value ps.json '*(pick(g, "function count parent state since_ns") for g in t.groups)')"
equal "--json: the holder" "[$pid,7000000] aprof.ps/1" \
  "$(value ps.json 'pick(t.groups[0], "holds_loop held_ns"), t.schema')"
for member in $(value ps.json '*t, *t.process, *{name for g in t.groups + t.listeners for name in g}'); do
  check "--json: the page has '$member'" grep -qw -- "$member" "$schema"
done

kill -STOP "$pid"
stopped() { "$aprof" ps "$pid" >stopped.txt && grep -q stopped stopped.txt; }
check "stopped: it is said" until_true stopped
contains "stopped: so is what lives" "$name $pid, stopped: 4 requests, 7 live futures" stopped.txt
equal "stopped: the same rows" "$(cat rows.txt)" "$(rows stopped.txt)"
kill -CONT "$pid"

"$aprof" dump -o live.json "$pid" >/dev/null
"$aprof" ps live.json >totals.txt
equal "totals: the same rows" "$(cat rows.txt)" "$(rows totals.txt)"
contains "totals: as of when" ", as of 20" totals.txt

if command -v gcore >/dev/null && timeout 60 gcore -o core "$pid" >gcore.txt 2>&1; then
  "$aprof" ps "core.$pid" >core.txt
  equal "core: of a process that lives on" "$(cat ps.txt)" "$(cat core.txt)"
else
  skip "core" "gcore makes none"
fi

# -- killed ------------------------------------------------------------------------------

kill -9 "$pid"
wait "$pid" 2>/dev/null
exec 9>&-
left=$(echo "$profiles/$name-$pid"-*.aprof)
"$aprof" ps "$left" >left.txt
contains "killed: what it left says so" "$name $pid, ended without a word, as of its last event:" \
  <(tr -s '\n ' ' ' <left.txt)
contains "killed: who held the loop" "HELD loop $pid" left.txt
equal "killed: the same tree" "$(sed 's/ [0-9].*//' rows.txt)" "$(rows left.txt | sed 's/ [0-9-].*//')"
narrow "killed" left.txt
if [ -f "core.$pid" ]; then
  for how in "core.$pid" "--core core.$pid"; do
    # shellcheck disable=SC2086
    equal "killed: ps $how leads to it" "$(cat left.txt)" "$("$aprof" ps $how 2>&1)"
  done
  check "core: a report of it, too" "$aprof" report "core.$pid"
  mkdir hidden
  mv "$left" hidden/
  "$aprof" ps "core.$pid" >none.txt 2>&1
  equal "core: of which nothing is left" 1 $?
  contains "core: and that is said" "is of process $pid ($name), of which no profile is left" none.txt
  head -c 3000 "core.$pid" >core.short
  refuse "core: cut" "$aprof" ps core.short
  "$aprof" ps --core live.json 2>none.txt
  contains "--core: of what is none" "live.json is no core" none.txt
fi

# The PID comes back: a profile that is younger than the core is another process's.
start abort
echo >&9
wait "${started[-1]}" 2>/dev/null
exec 9>&-
"$aprof" ps "$profiles/$name-$pid"-*.aprof >left.txt
contains "aborted: what it left" "HELD loop $pid" left.txt
if [ -f core."${started[0]}" ]; then
  python3 - "$profiles/$name-$pid"-*.aprof "${started[0]}" "$src/rt/include/aprof/profile.h" "$name" <<'PY'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
struct.pack_into("<i", data, 32, int(sys.argv[2])) # header.pid, and a start of tomorrow
start = struct.unpack_from("<q", data, 48)[0]
struct.pack_into("<q", data, 48, start + 86400 * 10**9)
open(sys.argv[1].replace(sys.argv[4] + "-", "other-"), "wb").write(data)
PY
  refuse "core: a later process of that number is another" \
    env XDG_RUNTIME_DIR="$work" "$aprof" ps core."${started[0]}"
fi

# -- no target -----------------------------------------------------------------------------

spaces="unshare -pf --mount-proc"
if $spaces true 2>/dev/null; then
  mkfifo hold
  exec 8<>hold
  # shellcheck disable=SC2016
  lone='for i in $(seq "$1"); do ./'"$name"' <hold >pid$i.txt 2>/dev/null & done
    for i in $(seq "$1"); do until [ -s pid$i.txt ]; do sleep 0.02; done; done; '"$aprof"' "$2" >lone.txt 2>lone.err; echo $?'
  # What the others do with a target is in their own tests.
  for command in ps report flame dump; do
    equal "no target, one lives: $command means it" 0 "$($spaces sh -c "$lone" sh 1 $command)"
    refuse "no target: $command shows it" test ! -s lone.txt
    rm -f pid[0-9].txt
  done
  equal "no target, one lives: it is meant" 0 "$($spaces sh -c "$lone" sh 1 ps)"
  contains "no target: its futures" "7 live futures" lone.txt
  rm -f pid[0-9].txt
  for command in ps report flame dump; do
    equal "no target, two live: $command cannot tell" "2 0" \
      "$($spaces sh -c "$lone" sh 2 $command) $(wc -c <lone.txt)"
    equal "no target, two live: they are listed" 2 "$(grep -cE '^ *[0-9]+ +live ' lone.err)"
    contains "no target, two live: it is asked which" "which of these processes?" lone.err
    rm -f pid[0-9].txt
  done
  equal "no target, none lives: exit status" 2 "$($spaces sh -c "$lone" sh 0 ps)"
  contains "no target, none lives: it is said" "no live process is profiled" lone.err
  exec 8>&-
else
  skip "no target" "only root can make a PID namespace"
fi

# -- names, limits -----------------------------------------------------------------------------

edit live.json '
name = "evil\x1b[31m\n\r" + "n" * 300
for f in t["functions"]:
    if f["name"] == "handle":
        f["name"] = name
for x in t["live"]:
    if x["function"] == "handle":
        x.update(function=name, callee=name)
        x["await"] = "/very/long/" + "d" * 200 + "/file.c:12"
a, b = [x for x in t["live"] if x["function"] == name][:2]
a["parent"], b["parent"] = b["id"], a["id"]  # a ring
' >hostile.json
"$aprof" ps hostile.json >hostile.txt
equal "hostile: exit status" 0 $?
refuse "hostile: nothing for the terminal" grep -qP '[\x00-\x09\x0b-\x1f\x7f]' hostile.txt
narrow "hostile" hostile.txt
contains "hostile: both ends of a name" "evil?" hostile.txt

edit live.json '
parts = [x for x in t["live"] if x["function"] == "part_new"]
t["live"] = [x for x in t["live"] if x not in parts] + [dict(parts[0], id=None, parent=None, count=3)]
' >cut.json
"$aprof" ps cut.json >cut.txt
contains "totals whose list is cut: a group" "part_new x3" cut.txt
contains "totals whose list is cut: said" "3 young futures, of which only groups are listed" cut.txt

# -- the examples --------------------------------------------------------------------------------

if [ -x "$build/examples/stackful" ]; then
  # What it is stopped at is chance: some time in its life a cook waits for a dish.
  seen() {
    "$build/examples/stackful" >/dev/null &
    started+=($!)
    sleep 0.05
    kill -STOP $!
    "$aprof" ps $! >stackful.txt 2>&1
    kill -CONT $!
    wait $!
    grep -qE '^└ (boil|fry) .*stackful.c:[0-9]+|^└ fry .*HOLDS loop' stackful.txt &&
      grep -q '^cook ' stackful.txt
  }
  if until_true seen; then ok "stackful: dishes under their cooks"; else
    not_ok "stackful: dishes under their cooks" stackful.txt
  fi
  narrow "stackful" stackful.txt
else
  skip "stackful" "not built"
fi

server=$build/examples/http-server/http-server
if [ -x "$server" ]; then
  "$server" --burn=hello:2000 >server.txt &
  started+=($!)
  pid=$!
  until_true grep -q '[0-9]' server.txt
  port=$(grep -o '[0-9]*' server.txt | tail -n 1)
  listens() { "$aprof" ps "$pid" >server-ps.txt && grep -q 'on_connection (http.c:' server-ps.txt; }
  check "http-server: who waits for new work stands apart" until_true listens
  contains "http-server: and is no live future" "0 live futures" server-ps.txt
  # get PATH: asks for it, and leaves the answer
  get() {
    { exec 3<>"/dev/tcp/127.0.0.1/$port" && printf 'GET %s HTTP/1.1\r\nHost: a\r\n\r\n' "$1" >&3 && read -r -t 60 <&3; } &
    started+=($!)
  }
  get "/delay?ms=30000"
  waits() { "$aprof" ps "$pid" >server-ps.txt && grep -q 'due in ' server-ps.txt; }
  check "http-server: a request waits for a timer, which is due some day" until_true waits
  contains "http-server: the timer under the request" "└ on_delay" server-ps.txt
  get /hello
  holds() { "$aprof" ps "$pid" >server-ps.txt && grep -q "HOLDS loop $pid" server-ps.txt; }
  check "http-server: a handler holds the loop" until_true holds
  contains "http-server: which one" "by \`handle_hello\`" <(tr -s '\n ' ' ' <server-ps.txt)
  narrow "http-server" server-ps.txt
else
  skip "http-server" "not built"
fi

finish
