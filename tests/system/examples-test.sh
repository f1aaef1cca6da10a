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
finish
