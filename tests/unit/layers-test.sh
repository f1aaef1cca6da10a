#!/bin/bash
# SPDX-License-Identifier: MIT
# The layers of the sources, by what they include and what they export:
# lang/ includes no compiler and nothing of ours, plugin/ lang/ beside abi.h, the command
# its C header only;
# plugin/ and rt/ share aprof/abi.h only, rt/ and the readers (read/ record/ ask/ show/ cli/)
# aprof/profile.h and trace.h only, these go in that order, rt/
# needs libc only, and nothing but aprof_* and __aprof_* leaves libaprof.
. "${0%/*}/../lib.sh"

# includes FOLDER SUFFIX...: what its files include, one per line, without < > "
includes() {
  local folder=$1 suffix
  shift
  for suffix; do
    find "$src/$folder" -name "*.$suffix" -exec cat {} +
  done | sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]\([^>"]*\)[>"].*/\1/p' | sort -u
}

# headers FOLDER: its headers, below all of its folders
headers() {
  (cd "$src" && find "$1" -name '*.h' | xargs)
}

# only NAME ALLOWED FOUND: each of the words found is one of those allowed
only() {
  local name=$1 allowed=" $2 " word
  : >"$work/odd"
  for word in $3; do
    case $allowed in *" $word "*) ;; *) echo "$word" >>"$work/odd" ;; esac
  done
  if [ -s "$work/odd" ]; then not_ok "$name" "$work/odd"; else ok "$name"; fi
}

ours='^(\.\./|rt/|lang/|read/|ask/|show/|probe/|cli/|plugin/|aprof\.h|aprof/)'

# In lang/ each header in quotes is its own, and each other one of the standard library.
language=$(cd "$src" && echo lang/*.h)
only "plugin/ knows the event ABI and the language only" "aprof/abi.h $language $(headers plugin)" \
  "$(includes plugin c h cc | grep -E "$ours")"
# strangers FOLDER: what its files include and is neither its own nor the standard library's
strangers() {
  local header
  for header in $(includes "$1" h cc); do
    [ -e "$1/$header" ] || echo "#include <$header>" | g++ -std=gnu++14 -fsyntax-only -x c++ - 2>/dev/null ||
      echo "$header"
  done
}
(cd "$src" && src=. && strangers lang) >"$work/odd"
equal "lang/ knows no compiler, and nothing of the plugin" "" "$(cat "$work/odd")"
mkdir "$work/lang" && printf '#include <string>\n#include "own.h"\n' >"$work/lang/a.cc" && : >"$work/lang/own.h"
printf '#include "gcc.h"\n#include <tree.h>\n#include "plugin/match/match.h"\n' >"$work/lang/b.cc"
equal "a planted include is found" "gcc.h plugin/match/match.h tree.h" \
  "$(cd "$work" && src=. && strangers lang | sort | xargs)"
# The profile holds kinds, models and flags of sites as abi.h numbers them.
# What is read is asked, what is answered is shown: each folder knows those before it only.
profile="aprof/profile.h aprof/trace.h aprof/abi.h" before=
for folder in read record ask show cli; do
  [ $folder != show ] || before+=" probe/probe.h"
  [ $folder != cli ] || before+=" lang/lang.h check/check.h check/select.h check/suggest.h $(headers probe)"
  only "$folder/ knows the profile layout and${before:-" nothing"} only" "$profile $before" \
    "$(includes $folder c h | grep -E "$ours")"
  before+=" $(cd "$src" && echo $folder/*.h)"
done
only "check/ knows the language, and what files are read with, only" \
  "lang/lang.h read/arena.h read/json.h read/util.h" "$(includes check c h | grep -E "$ours")"
only "probe/ knows what the command is made of, and no profile" \
  "$(headers probe) read/arena.h read/demangle.h read/histogram.h read/util.h" \
  "$(includes probe c h | grep -E "$ours")"
equal "libclang is known in check/ only" "" "$(cd "$src" && grep -rl 'include <clang-c/' lang read record ask show cli plugin rt)"
# fractions FOLDER...: conversions of numbers that are rounded, as they are for people only. What is
# found in numbers is told with them whole: ask/sentence.h.
# (What a program's own variables hold is text that probe/ reads: strfromd, strfroml.)
fractions() {
  grep -rnE --include='*.c' --include='*.h' --include='*.cc' '"[^"]*%[-+#0-9.*]*[fFgGeE]' "$@" | grep -v "strfrom[dl]"
}
equal "show/ alone writes numbers for people" "" "$(cd "$src" && fractions lang read record ask check probe cli)"
printf 'printf("%%*.1f ms", width, ms);\n' >"$work/planted.c"
check "another that does so is found" fractions "$work/planted.c"
# needs FOLDER...: pairs of files of which one includes the other: the header of a source is one file
# with it, as who calls a function includes the header that declares it
needs() {
  find "$@" -name '*.[ch]' -o -name '*.cc' | while read -r file; do
    sed -n 's/^#include "\([^"]*\)".*/\1/p' "$file" | while read -r header; do
      [ -e "$header" ] || header=${file%/*}/$header
      [ ! -e "$header" ] || echo "${file%.*} ${header%.*}"
    done
  done
}
# objects FOLDER...: what their sources are compiled to, by the first compiler that has a plugin
objects() {
  local source name
  find "$@" -name '*.c' -o -name '*.cc' | while read -r source; do
    name=${source##*/} source=${source%/*}
    [[ $source != plugin* ]] || source=$(cd "$build" && echo plugin/gcc*/ | cut -d/ -f1-2)${source#plugin}
    find "$build/$source" -maxdepth 1 -name "${name%.*}.o" -o -maxdepth 1 -name "*_la-${name%.*}.o"
  done
}
# calls OBJECT...: the same by what they call, whose headers may declare what several sources have
calls() {
  nm -A "$@" | awk -v build="$build/" '{ symbol = $NF; kind = $(NF - 1); sub(/:.*/, "", $1)
    sub(build, "", $1) }
    kind == "U" { wanted[$1 " " symbol] } kind ~ /[TDBR]/ { where[symbol] = $1 }
    END { for (w in wanted) { split(w, a, " "); if (a[2] in where) print a[1], where[a[2]] } }'
}
# circles: files that need each other in a circle, of such pairs
circles() {
  tsort 2>&1 >/dev/null | sed 's/^tsort: //'
}
# planted FOLDER: the header of a file that a header needs, with that included there; prints both
planted() {
  needs "$1" | sort -u | while read -r from to; do
    [ "$from" = "$to" ] || [ ! -e "$from.h" ] || [ ! -e "$to.h" ] || {
      echo "#include \"$from.h\"" >>"$to.h"
      printf '%s\n' "$from" "$to"
      break
    }
  done
}
for folder in lang plugin rt read record ask show check probe cli; do
  equal "no circle of files in $folder/" "" "$(cd "$src" && needs $folder | circles)"
  mkdir "$work/planted-$folder" && cp -r "$src/$folder" "$work/planted-$folder"
  (cd "$work/planted-$folder" && planted $folder | sort >../pair && needs $folder | circles | grep / | sort) >"$work/found"
  equal "an include planted there is found" 2 "$(sort -u "$work/found" | comm -12 - "$work/pair" | grep -c .)"
done
# In check/ expressions hold calls, and calls expressions.
for folders in lang plugin rt probe "read record ask show cli"; do
  mapfile -t objects < <(cd "$src" && objects $folders)
  calls "${objects[@]}" >"$work/calls"
  check "functions of $folders call others" [ -s "$work/calls" ]
  equal "and in no circle of files" "" "$(circles <"$work/calls")"
done
# A test links both, and the linker takes whichever it meets.
globals() {
  nm --defined-only "$@" 2>/dev/null | awk 'NF == 3 && $2 ~ /[TDBR]/ { print $3 }' | sort -u
}
if [ -e "$build/cli/.libs/libcli.a" ]; then
  mapfile -t objects < <(find "$build/rt" -path '*/.libs/*.o')
  globals "${objects[@]}" >"$work/runtime" && globals "$build/cli/.libs/libcli.a" >"$work/readers"
  check "the runtime has functions" grep -qx general_suspend "$work/runtime"
  equal "no function of the runtime has a reader's name" "" "$(comm -12 "$work/runtime" "$work/readers")"
fi
only "rt/ includes its own contracts only" "aprof/abi.h aprof/event-table.h aprof/profile.h aprof/trace.h aprof.h $(headers rt)" \
  "$(includes rt c h | grep -E "$ours")"
# (exception: aprof.h takes it in C++, where exceptions are.)
includes rt c h | grep -vE "$ours|^exception$" | while read -r header; do
  [ -n "$(find "$src/rt" -path "*/$header")" ] || echo "$header"
done >"$work/system"
for header in $(cat "$work/system"); do
  printf '#include <%s>\n' "$header"
done >"$work/system.c"
check "rt/ needs no headers but those of libc and the kernel" \
  gcc -D_GNU_SOURCE -fsyntax-only "$work/system.c"
grep -E '^(uv|glib|cjson|elfutils|libdw|gelf|check)' "$work/system" >"$work/odd"
equal "rt/ includes no library" "" "$(cat "$work/odd")"

# Public headers compile alone, as C and as C++.
for header in aprof.h aprof/abi.h aprof/profile.h aprof/trace.h; do
  printf '#include <%s>\nint main(void) { return 0; }\n' "$header" >"$work/alone.c"
  check "$header alone, C" gcc -std=c11 -Wall -Wextra -Werror -I"$src/rt/include" \
    -fsyntax-only "$work/alone.c"
  [ "$header" = aprof/profile.h ] || check "$header alone, C++" g++ -std=c++11 -Wall -Wextra \
    -Werror -I"$src/rt/include" -fsyntax-only -x c++ "$work/alone.c"
done

library=$build/rt/.libs/libaprof.so
if [ -e "$library" ]; then
  nm -D --defined-only "$library" | awk '{ print $NF }' | grep -vE '^(__)?aprof_' >"$work/odd"
  equal "libaprof.so exports aprof_* and __aprof_* only" "" "$(cat "$work/odd")"
  nm -D --undefined-only "$library" |
    grep -wE 'mem(cpy|move|set|cmp|chr)|str(len|n?cmp|r?chr|str|n?cpy|n?cat)' >"$work/odd"
  equal "libaprof.so has its own functions of memory and strings" "" "$(cat "$work/odd")"
  if [ "$(uname -m)" = x86_64 ]; then
    sed -n 's/.*OWN(\([a-z_]*\)).*/\1/p; s/^ *ROW([^,]*, \([a-z_]*\),.*/\1/p' "$src/rt/sys/kernel.h" >"$work/own"
    nm -D --undefined-only "$library" | grep -wFf "$work/own" >"$work/odd"
    equal "and of the kernel" "" "$(cat "$work/odd")"
  fi
  # An event without a body would be called where there is nothing.
  nm -D --undefined-only "$library" | awk '$1 == "U" && $2 !~ /@|^__(asan|ubsan|tsan|sanitizer)/ { print $2 }' >"$work/odd"
  equal "libaprof.so lacks nothing of its own" "" "$(cat "$work/odd")"
  contains "libaprof.so exports __aprof_attach" __aprof_attach \
    <(nm -D --defined-only "$library")
  only "libaprof.so needs libc only" "libc.so.6 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1" \
    "$(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')"
  readelf -lW "$library" | grep -E 'GNU_STACK' | grep -q 'E  *0x' &&
    echo "executable" >"$work/stack"
  equal "libaprof.so asks for no executable stack" "" "$(cat "$work/stack" 2>/dev/null)"
else
  skip "what libaprof.so exports" "it is not built in $build"
fi
# -- tests that wait ---------------------------------------------------------------

# Valgrind and a machine of one processor run one thread at a time.
spins=$(cd "$src" && grep -rnE -A1 'while \(.*__atomic_load' tests --include='*.c' --include='*.h' |
  grep -E -- '-[0-9]+-[[:space:]]*;$')
equal "no test spins without yielding" "" "$spins"

printf '# one second\nslow* 1\n* 60\n' >"$work/bounds"
printf '#!/bin/bash\nsleep 60\n' >"$work/slow-test.sh"
printf '#!/bin/bash\nexit 3\n' >"$work/other-test.sh"
chmod +x "$work"/*-test.sh
BOUND_FACTOR=1 BOUNDS=$work/bounds "$tests_dir/within" "$work/slow-test.sh" >"$work/slow.out" 2>&1
equal "a test that passes its bound is ended" 124 $?
contains "and named" "not ok slow-test.sh ends within 1 s" "$work/slow.out"
BOUND_FACTOR=1 BOUNDS=$work/bounds "$tests_dir/within" "$work/other-test.sh" >"$work/other.out" 2>&1
equal "any other keeps its status" 3 $?
check "and has its time said" grep -qE "^took [0-9]+ s of 60, computing for [0-9]+ s$" "$work/other.out"

finish
