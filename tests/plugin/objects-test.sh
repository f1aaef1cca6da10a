#!/bin/bash
# SPDX-License-Identifier: MIT
# What the plugin leaves in objects and programs: nothing where nothing is
# annotated, records that go with their code, one gate per module, programs that
# run as ever without a runtime.
. "$(dirname "$0")/../lib.sh"

objects=$src/tests/plugin/objects
plugin=${APROF_PLUGIN:-$plugin}
includes="-I$src/rt/include"
warnings="-Wall -Wextra -Werror"

# c MAJOR OPTIONS..., cxx MAJOR OPTIONS...: the compiler with the plugin
c() {
  local compiler
  compiler=$(gcc_of "$1")
  shift
  # shellcheck disable=SC2086
  $compiler $warnings $includes -fplugin="$plugin" -fplugin-arg-aprof-autoload=no "$@"
}
cxx() {
  local compiler
  compiler=$(gcc_of "$1" | sed 's/gcc/g++/')
  shift
  # shellcheck disable=SC2086
  $compiler $warnings $includes -fplugin="$plugin" -fplugin-arg-aprof-autoload=no "$@"
}

# records FILE: how many site records a linked file has
records() {
  local size
  size=$(readelf -SW "$1" | sed -n 's/.* aprof_sites *PROGBITS *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\) .*/\1/p')
  echo $((0x${size:-0} / 64))
}

# without_notes FILE.s: but for the notes, which no program loads. A unit has some where it keeps
# callbacks in tables, as the runtime that prints does.
without_notes() {
  sed '/^\t\.pushsection\t\.aprof\.coverage,"",/,/^\t\.popsection/d' "$1"
}

cd "$work" || exit 1
first=${majors##* }
check "the printing runtime" "$(gcc_of "$first")" $includes -O2 -fPIC -c \
  "$src/tests/plugin/trace-runtime.c" -o trace.o

for major in $majors; do
  gcc="gcc-$major"
  plain=$(gcc_of "$major")

  # -- nothing annotated, nothing changed
  for options in -O0 -O2 "-O3 -g -gno-record-gcc-switches" "-Os -fPIC" "-O2 -fexceptions"; do
    for file in "$objects/plain.c" "$src/tests/plugin/trace-runtime.c"; do
      # shellcheck disable=SC2086
      $plain $includes $options -S "$file" -o without.s && c "$major" $options -S "$file" -o with.s
      check "$gcc $options: same assembly of ${file##*/}" cmp without.s <(without_notes with.s)
    done
  done

  # -- records
  for options in "-O0" "-O2" "-O2 -flto" "-O2 -fdata-sections"; do
    # shellcheck disable=SC2086
    cxx "$major" $options -ffunction-sections -Wl,--gc-sections "$objects/sections.cc" -o sections
    equal "$gcc $options: records of code that is there" 5 "$(records sections)"
    check "$gcc $options: it runs" ./sections
  done
  cxx "$major" -O2 -c "$objects/sections.cc" -o sections.o
  equal "$gcc: records have sections of their own" 7 \
    "$(readelf -SW sections.o | grep -c ' aprof_sites .* 000040 00  WA ')"
  equal "$gcc: no symbols of records" "" "$(nm sections.o | grep -i laprof)"
  equal "$gcc: the gate is hidden, one of many" "1" \
    "$(readelf -sW sections.o | grep -c 'OBJECT  WEAK   HIDDEN .* __aprof_gate_[0-9_]*$')"
  equal "$gcc: no reference that has to be met" "" \
    "$(nm sections.o | grep ' U ' | grep -v -e _GLOBAL_OFFSET_TABLE_)"

  # -- the public header
  for options in "-O0" "-O2" "-O2 -flto" "-O2 -fPIC" "-O2 -static" "-O2 -static-pie -fPIE"; do
    for events in "" "-DEVENTS"; do
      # shellcheck disable=SC2086
      check "$gcc $options $events: aprof.h, two units" \
        c "$major" $options $events "$objects/api.c" "$objects/other.c" -o api
      equal "$gcc $options $events: nothing there, nothing done" "-1 -1 -1 1" "$(./api)"
      equal "$gcc $options $events: one gate" 1 "$(nm api | grep -c ' __aprof_gate_[0-9_]*$')"
    done
    # shellcheck disable=SC2086
    check "$gcc $options: aprof.h in C++" \
      cxx "$major" $options -DEVENTS -x c++ "$objects/api.c" "$objects/other.c" -o api
    equal "$gcc $options: as in C" "-1 -1 -1 1" "$(./api)"
  done

  # -- without a runtime
  for options in "-O0" "-O2" "-O2 -flto" "-O2 -static" "-O1 -static-pie -fPIE" "-O2 -no-pie"; do
    for program in ways-out keys; do
      source=$src/tests/plugin/cases/$program.c
      # shellcheck disable=SC2086
      $plain -w $options "$source" trace.o -o plain-program
      # shellcheck disable=SC2086
      c "$major" -w $options "$source" trace.o -o program
      TRACE_OFF=1 ./program >with.out 2>&1
      TRACE_OFF=1 ./plain-program >without.out 2>&1
      check "$gcc $options: $program is what it was" cmp with.out without.out
    done
    # The program's own dlopen and dlsym are not made weak by ours.
    case $options in
    *static*) continue ;;
    esac
    # shellcheck disable=SC2086
    check "$gcc $options: a program that calls dlsym" \
      c "$major" $options "$objects/plugin-user.c" -o user
    check "$gcc $options: still can" ./user
  done
  $plain -w -O2 -static "$objects/plugin-user.c" -o plain-user 2>/dev/null
  c "$major" -w -O2 -static "$objects/plugin-user.c" -o user 2>/dev/null
  ./plain-user
  equal "gcc-$major: a static program's dlopen is its own" $? "$(./user; echo $?)"

  # -- found at run time
  check "$gcc: a library" c "$major" -O2 -fPIC -shared "$objects/library.c" -o library.so
  check "$gcc: its loader, which is not instrumented" \
    "$plain" -O2 -rdynamic "$objects/loader.c" trace.o -o loader -ldl
  equal "$gcc: its events arrive" "  enter serve:4   suspend puts:5 in the library   resume puts   leave serve DONE " \
    "$(./loader ./library.so | tr '\n' ' ')"
  check "$gcc: a library without a runtime" "$plain" -O2 "$objects/loader.c" -o loader -ldl
  equal "$gcc: runs as ever" "in the library" "$(./loader ./library.so)"
  $plain -shared -fPIC $includes -O2 "$src/tests/plugin/trace-runtime.c" -o runtime.so
  $(gcc_of "$major") -fplugin="$plugin" -O2 -fPIC -shared "$objects/library.c" -o library.so
  equal "$gcc: APROF_RUNTIME names another runtime" "  enter serve:4" \
    "$(APROF_RUNTIME=$work/runtime.so ./loader ./library.so | head -n 1)"
  equal "$gcc: which is preloaded just as well" "  enter serve:4" \
    "$(LD_PRELOAD=$work/runtime.so ./loader ./library.so | head -n 1)"

  # -- coverage
  echo 'await call:nothing' >some.aprof
  echo 'idle call:go' >>some.aprof
  cp "$objects/coverage.c" .
  for options in "-O2 -fPIC" "-O2 -fPIC -flto" "-O0 -fPIC -Wl,--gc-sections"; do
    # shellcheck disable=SC2086
    c "$major" $options -fplugin-arg-aprof-bindings=./some.aprof -shared coverage.c -o coverage.so
    objcopy -O binary --only-section=.aprof.coverage \
      --set-section-flags .aprof.coverage=alloc coverage.so coverage.txt
    equal "$gcc $options: what was seen" "unit coverage.c VERSION
function coverage.c:11 here
await coverage.c:13 get here
outside coverage.c:15 get out
declared coverage.c:4 elsewhere
declared coverage.c:5 thread
binding ./some.aprof:1 0 await call:nothing
binding ./some.aprof:2 1 idle call:go" "$(tr '\t' ' ' <coverage.txt |
      sed 's/^\(unit [^ ]*\) .*/\1 VERSION/')"
  done
  c "$major" -fplugin-arg-aprof-bindings=./some.aprof -c "$objects/plain.c" -o plain.o
  equal "$gcc: nothing where nothing was" 0 "$(readelf -SW plain.o | grep -c coverage)"

  # -- dependencies
  echo 'await call:nothing' >some.aprof
  c "$major" -fplugin-arg-aprof-bindings=./some.aprof -O0 -MD -MF deps -c "$objects/plain.c" -o plain.o
  check "$gcc: a bindings file is in -MD" grep -q 'some\.aprof' deps
  c "$major" -fplugin-arg-aprof-bindings=./some.aprof -M "$objects/plain.c" >deps
  check "$gcc: a bindings file is in -M" grep -q 'some\.aprof' deps
  echo 'await call:@some.names' >listing.aprof
  echo nothing >some.names
  c "$major" -fplugin-arg-aprof-bindings=./listing.aprof -O0 -MD -MF deps -c "$objects/plain.c" -o plain.o
  check "$gcc: a file of names is in -MD" grep -q 'some\.names' deps
  c "$major" -fplugin-arg-aprof-bindings=./listing.aprof -M "$objects/plain.c" >deps
  check "$gcc: a file of names is in -M" grep -q 'some\.names' deps
  echo 'awiat call:nothing' >wrong.aprof
  check "$gcc: what is wrong is no matter of -M" c "$major" -fplugin-arg-aprof-bindings=./wrong.aprof -M "$objects/plain.c"

  # -- precompiled headers
  echo '#include "files.h"' >pre.h
  cp "$src/tests/plugin/cases/files.h" .
  lines="-fplugin-arg-aprof-bindings=$src/tests/plugin/cases/files.aprof"
  check "$gcc: a precompiled header" c "$major" "$lines" -O2 -x c-header pre.h -o pre.h.gch
  sed 's/#include "files.h"/#include "pre.h"/' "$src/tests/plugin/cases/files.c" >user.c
  check "$gcc: is used" c "$major" -w "$lines" -Winvalid-pch -H -O2 -c user.c -o user.o
  equal "$gcc: and has the same records" "$(c "$major" -w "$lines" -O2 -c \
    "$src/tests/plugin/cases/files.c" -o direct.o && readelf -SW direct.o | grep -c ' aprof_sites ')" \
    "$(readelf -SW user.o | grep -c ' aprof_sites ')"
  cat >pre.h <<'C'
#include <aprof.h>
APROF_ASYNC int of_the_header(int n);
C
  printf '#include "pre.h"\nint of_the_header(int n) { return n; }\n' >user.c
  check "$gcc: annotations in one" c "$major" -O2 -x c-header pre.h -o pre.h.gch
  check "$gcc: are used" c "$major" -Winvalid-pch -Werror -O2 -c user.c -o user.o
  check "$gcc: and have records" sh -c "readelf -SW user.o | grep -q ' aprof_sites '"
  rm -f pre.h.gch
done
finish
