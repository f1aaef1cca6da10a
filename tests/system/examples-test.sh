#!/bin/bash
# SPDX-License-Identifier: MIT
# The examples print the same with and without the plugin, with the runtime and
# without it, and their totals say what they do.
. "$(dirname "$0")/../lib.sh"

examples=$src/examples

# compile NAME CC FLAGS...: warnings are errors
compile() {
  local name=$1 cc=$2
  shift 2
  "$cc" -std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror \
    -I"$src/rt/include" "$@" "$examples/$name.c" -o "$work/$name"
}

counts() {
  value "$1" "f.$2.created, f.$2.done, total(f.$2.awaits, 'count')"
}

cd "$work" || exit
for major in $majors; do
  cc=$(gcc_of "$major")
  for name in stackful stackless; do
    check "$name: $cc, no plugin, no warning" compile "$name" "$cc" -O2
    "./$name" >plain.txt 2>&1
    for level in -O0 -O2; do
      check "$name: $cc $level, plugin, no warning" compile "$name" "$cc" "$level" \
        "-fplugin=$plugin"
      APROF_RUNTIME=/nonexistent "./$name" >absent.txt 2>&1
      equal "$name: $cc $level, same output without the runtime" "$(cat plain.txt)" \
        "$(cat absent.txt)"
      rm -rf out && mkdir out
      APROF_OPTIONS=dir:out "./$name" >profiled.txt 2>&1
      equal "$name: $cc $level, same output profiled" "$(cat plain.txt)" "$(cat profiled.txt)"
      check "$name: $cc $level, totals" test -n "$(find out -name "$name.*.json")"
    done
    cp "$(find out -name "$name.*.json" | head -n 1)" "$name.$major.json" 2>/dev/null
  done

  # created, done, awaits
  equal "stackful: $cc, cooks" "3 3 18" "$(counts "stackful.$major.json" cook)"
  equal "stackful: $cc, boiled" "9 9 9" "$(counts "stackful.$major.json" boil)"
  equal "stackful: $cc, fried" "9 9 9" "$(counts "stackful.$major.json" fry)"
  for thread in blink finger watch; do
    equal "stackless: $cc, $thread" "1 1" "$(counts "stackless.$major.json" $thread | cut -d' ' -f1,2)"
  done
done

server=$build/examples/http-server/http-server
check "http-server: --help" "$server" --help
refuse "http-server: unknown route to burn" "$server" --burn=nothing:5

# ask PORT METHOD PATH: one request over a connection of its own
ask() {
  exec 3<>"/dev/tcp/127.0.0.1/$1"
  printf '%s %s HTTP/1.0\r\nContent-Length: 0\r\n\r\n' "$2" "$3" >&3
  cat <&3 >answer.txt
  exec 3>&-
}

# Two processes: the second answers what the first one asks, and knows by the token for whom.
mkdir front behind near far files && echo page >files/page.txt
exec 4< <(APROF_OPTIONS=dir:behind exec "$server" --serve-backend)
behind=$!
read -r line <&4
exec 5< <(APROF_OPTIONS=dir:front exec "$server" --root=files "--backend=${line##* }")
front=$!
read -r line <&5
port=${line##*:}
for _ in 1 2 3; do
  ask "$port" GET /quota
  contains "http-server: the backend answers" "quota " answer.txt
  ask "$port" GET /file/page.txt
  ask "$port" GET '/delay?ms=1'
done
ask "$port" GET /hello
ask "$port" POST /upload
ask "$port" GET /nowhere
kill -INT "$front" && cat <&5 >front.txt
kill -INT "$behind" && cat <&4 >behind.txt
contains "http-server: it ends" "served 12 requests" front.txt
equal "http-server: requests by kind, none lost or alive" \
  "delay 3 0 error 1 0 file 3 0 hello 1 0 quota 3 0 upload 1 0" \
  "$(value front/*.json '*((r.kind, r.count, r.live) for r in sorted(t.requests, key=lambda r: r.kind))' | xargs)"
equal "http-server: their tiers" \
  "delay:compute,reply,sleep error:reply file:compute,disk,reply hello:compute,reply quota:backend,compute,reply upload:compute,disk,reply" \
  "$(value front/*.json '*((r.kind + ":" + ",".join(sorted(x.tier for x in r.tiers)),)
    for r in sorted(t.requests, key=lambda r: r.kind))' | xargs)"
equal "http-server: the backend's are requests of its own" "3 0" \
  "$(value behind/*.json '*((r.count, r.live) for r in t.requests)')"
equal "http-server: nothing is missed, lost or reused" "[0,0,0,0]" \
  "$(value front/*.json 'pick(t.health, "missed_events lost_futures reused_keys lost_requests")')"
value front/*.json '*((s.trace,) for r in where(t.requests, kind="quota") for s in r.slowest)' | sort >asked.txt
value behind/*.json '*((s.trace,) for r in t.requests for s in r.slowest)' | sort >answered.txt
equal "http-server: three questions" 3 "$(grep -cE '^[0-9a-f]{32}$' asked.txt)"
equal "http-server: both know each by one token" "$(cat asked.txt)" "$(cat answered.txt)"

# They meet, the one that asks first; and the same in totals that were merged before.
"$aprof" merge --traces --json front/*.json behind/*.json >traces.json
conforms traces.json
equal "http-server: merge --traces joins them" "quota think quota think quota think" \
  "$(value traces.json '*((r.kind,) for x in t.traces for r in sorted(x.requests, key=lambda r: r.kind))' | xargs)"
equal "http-server: ... by their tokens" "$(cat asked.txt)" "$(value traces.json '*((x.trace,) for x in t.traces)' | sort)"
"$aprof" merge -o both.json front/*.json behind/*.json
"$aprof" merge --traces --json both.json >again.json
equal "http-server: ... of merged totals, too" "$(cat traces.json)" "$(cat again.json)"
"$aprof" merge --traces --top 1 both.json >traces.txt
contains "http-server: --traces as text" "3 requests of several processes" traces.txt
contains "http-server: ... and how many more" "and 2 more: --top 0" traces.txt
equal "http-server: ... in 80 columns" "" "$(awk 'length > 80' traces.txt)"
"$aprof" slow both.json >slow.txt
contains "http-server: slow shows them" "$(sed -n 2p asked.txt | sed 's/^/trace /')" slow.txt

# A client and a process in between, of another language, that only hand the header on.
exec 4< <(APROF_OPTIONS=dir:far exec "$server" --serve-backend)
behind=$!
read -r line <&4
exec 6< <(exec python3 "$src/tests/system/hop.py" "${line##* }")
hop=$!
read -r line <&6
exec 5< <(APROF_OPTIONS=dir:near exec "$server" --root=files "--backend=$line")
front=$!
read -r line <&5
port=${line##*:}
: >sent.txt
for i in 1 2 3; do
  trace=$(printf '%032x' $((i * 0x1234567)))
  echo "$trace" >>sent.txt
  python3 "$src/tests/system/hop.py" --ask "$port" "00-$trace-00000000000000aa-01" >answer.txt
  contains "http-server: asked with a header" "quota " answer.txt
done
kill -INT "$front" && cat <&5 >/dev/null
kill "$hop" && cat <&6 >/dev/null
kill -INT "$behind" && cat <&4 >/dev/null
"$aprof" merge --traces --json near/*.json far/*.json >traces.json
equal "http-server: the client's traces, by way of a process that is not profiled" "$(sort sent.txt)" \
  "$(value traces.json '*((x.trace,) for x in t.traces)' | sort)"
finish
