#!/bin/bash
# SPDX-License-Identifier: MIT
# The shipped bindings on the real libraries: each program of this folder prints what
# it counted itself (count.h), the same with and without the plugin, and the totals
# say the same. A library that is not here is skipped with a line.
. "$(dirname "$0")/../lib.sh"

here=$src/tests/bindings
cc=$(gcc_of "${majors##* }")
flags="-std=gnu11 -O2 -g -Wall -Wextra -Werror"

# counts TOTALS: the lines that the program printed, made of the totals
counts() {
  value "$1" '*(("count", name, *(total(of, member) for member in ("created", "done", "cancelled", "live")),
    sum(total(g.awaits, "count") for g in of)) for name, of in sorted(f.items()))'
}

# packaged NAME PACKAGE [PLUGIN FLAGS...]: a library that pkg-config knows
packaged() {
  local name=$1 package=$2
  shift 2
  if pkg-config --exists "$package"; then
    program "$name" "$name" "$(pkg-config --cflags "$package")" \
      "$(pkg-config --libs "$package")" "$@"
  else
    skip "$name" "pkg-config knows no $package"
  fi
}

# plain_library LABEL NAME HEADER CFLAGS LIBS [PLUGIN FLAGS...]: one that it does not
plain_library() {
  local label=$1 name=$2 header=$3 cflags=$4 libs=$5
  shift 5
  # shellcheck disable=SC2086 # a list of words
  if echo "#include <$header>" | $cc $cflags -E - >/dev/null 2>&1; then
    program "$label" "$name" "$cflags" "$libs" "$@"
  else
    skip "$label" "there is no <$header>"
  fi
}

# program LABEL SOURCE CFLAGS LIBS [PLUGIN FLAGS...]
program() {
  local label=$1 source=$here/$2.c cflags=$3 libs=$4
  shift 4
  # shellcheck disable=SC2086 # lists of words
  check "$label: compiles without the plugin" $cc $flags $cflags "$source" -o plain $libs
  # shellcheck disable=SC2086
  check "$label: compiles with it, no warning" $cc $flags "-fplugin=$plugin" $cflags "$@" \
    "$source" -o "profiled-$label" $libs
  ./plain "$source" >plain.txt 2>&1
  if [ $? -eq 77 ]; then
    skip "$label" "$(cat plain.txt)"
    return
  fi
  APROF_RUNTIME=/nonexistent "./profiled-$label" "$source" >absent.txt 2>&1
  equal "$label: same output without the runtime" "$(cat plain.txt)" "$(cat absent.txt)"
  rm -rf out && mkdir out
  APROF_OPTIONS=dir:out "./profiled-$label" "$source" >profiled.txt 2>&1
  equal "$label: same output profiled" "$(cat plain.txt)" "$(cat profiled.txt)"
  cat out/*.json >"$label.json" 2>/dev/null
  counts "$label.json" >found.txt
  while read -r line; do
    # shellcheck disable=SC2086
    set -- $line
    equal "$label: $2" "$line" "$(grep "^count $2 " found.txt)"
  done < <(grep '^count ' profiled.txt)
  equal "$label: nothing missed, lost or reused" "[0,0,0]" \
    "$(value "$label.json" 'pick(t.health, "missed_events lost_futures reused_keys")')"
}

cd "$work" || exit
named=-fplugin-arg-aprof-bindings=

packaged libevent libevent
if [ -e libevent.json ]; then # one call, two lines: only the one on what is persistent says so
  equal "libevent: a repeated event waits for new work, as its line says" '["on_tick",true]' \
    "$(value libevent.json '[f.on_tick.name, *(a.background for a in f.on_tick.awaits)]')"
fi
plain_library libev libev ev.h "" -lev "${named}libev"
packaged libuev libuev
packaged glib gio-2.0
if [ -e glib.json ]; then
  equal "glib: what sleeps in a callback is named" "on_child g_usleep 1" \
    "$(value glib.json '*((g.name, b.callee, b.count) for g in t.functions for b in g.blocking)')"
  equal "glib: a message over a stream is new work, its other lines are not" "false 1 true 3" \
    "$(value glib.json '*sorted((a.background, a.count) for a in f.on_line.awaits if a.count)' | tr -d '[]' | tr ',' ' ' | xargs)"
fi
plain_library pth pth pth.h "" -lpth
packaged openssl-async libcrypto
packaged liburing liburing
plain_library libh2o libh2o h2o.h -DH2O_USE_LIBUV=0 "-lh2o-evloop -lssl -lcrypto -lpthread"
packaged c-ares libcares
packaged libcurl libcurl
packaged sd-event libsystemd
plain_library st st st.h "" -lst
packaged tevent "tevent talloc"
packaged libmicrohttpd libmicrohttpd
packaged avahi avahi-client
packaged libdbus dbus-1
program alloc alloc "-I$src/rt/include -fno-builtin" "" "${named}alloc"
equal "alloc: calls and requests of the tier" "$(sed -n 's/^allocator \(.*\)/\1 100/p' profiled.txt)" \
  "$(value alloc.json '*((x.calls, x.count) for r in t.requests for x in where(r.tiers, tier="alloc"))')"
equal "alloc: its time is a part of theirs" true \
  "$(value alloc.json 'all(0 < x.exec_ns <= r.exec_ns for r in t.requests for x in r.tiers)')"
program redis-commands redis-commands "" "" "${named}redis-commands"
program nginx-core nginx-core "-I$here/nginx" "" "${named}nginx-core"

# labelled LIBRARY KIND=COUNT...: the requests that its file gives a label
labelled() {
  local library=$1
  shift
  [ ! -e "$library.json" ] || equal "$library: requests by their labels" "$*" \
    "$(value "$library.json" '*(("%s=%d" % (r.kind, r.count),) for r in sorted(
      (r for r in t.requests if r.labelled), key=lambda r: (r.kind, r.function)))' | xargs)"
}
labelled libmicrohttpd GET=21 POST=10
labelled libdbus Ask=20 No=10
labelled glib Ask=6
labelled libevent EVHTTP_REQ_GET=3
labelled redis-commands 'config|get=10' eval=10 exec=5 set=35
labelled nginx-core GET=15 POST=5
labelled libh2o GET=4 GET=4 GET=4

# spins LIBRARY HEADER LIBS FLAG...: is found; on a busy machine its loop may be made to rest
spins() {
  local library=$1 header=$2 libs=$3 found=
  shift 3
  if ! echo "#include <$header>" | $cc -E - >/dev/null 2>&1; then
    skip "$library: a loop that never rests" "there is no <$header>"
    return
  fi
  # shellcheck disable=SC2086
  check "$library: a loop that never rests compiles" $cc $flags "-fplugin=$plugin" "$@" \
    "$here/spins.c" -o spins $libs
  for _ in 1 2 3 4 5; do
    [ -z "$found" ] || break
    rm -rf out && mkdir out
    APROF_OPTIONS=dir:out ./spins
    found=$(value out/*.json '*(x.function for x in where(t.findings, kind="spinning"))')
  done
  equal "$library: a loop that never rests is found" on_idle "$found"
}
spins libuv uv.h -luv -DSPINS=UV
spins libev ev.h -lev -DSPINS=EV "${named}libev"
spins libevent event2/event.h -levent -DSPINS=EVENT
if [ -x spins ]; then
  check "libevent: a loop that reads compiles" $cc $flags "-fplugin=$plugin" -DSPINS=EVENT \
    -DREADS "$here/spins.c" -o reads -levent
  rm -rf out && mkdir out
  APROF_OPTIONS=dir:out ./reads
  equal "libevent: a loop that reads is no finding" "" \
    "$(value out/*.json '*(x.kind for x in where(t.findings, kind="spinning"))')"
fi
finish
