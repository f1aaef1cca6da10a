#!/bin/bash
# What the plugin takes of compile time, and adds to the code: on the amalgamation of SQLite
# (8.6 MB of C in one unit; from Debian's source), with nothing annotated and with much, and
# on whole programs. Prints the text of bench/COMPILE.md.
#
# The sources come with `apt-get source` into the build directory and stay there; SQLITE_C
# names a sqlite3.c that is there already. Times are CPU seconds (user) of the compiler, which
# each variant runs in turn, again and again: medians. Instructions are counted by callgrind,
# once and at -O0, where the plugin's share is greatest; noise does not reach them.
. "$(dirname "$0")/lib.sh"
rounds=5 level=-O2
[ -z "$quick" ] || { rounds=1 level=-O0; }

# The amalgamation is made by SQLite's own makefile, which wants tclsh.
sqlite=${SQLITE_C:-$build/bench-sqlite/sqlite3.c}
if [ ! -e "$sqlite" ]; then
  if ! fetch_source sqlite3 "$build/bench-sqlite" ||
    ! (cd "$tree" && ./configure && make sqlite3.c && cp sqlite3.c "$sqlite") >"$work/log" 2>&1; then
    say "compile: no sqlite3.c; SQLITE_C=FILE names one. $(tail -n 1 "$work/log" 2>/dev/null)"
    exit 1
  fi
fi

# Every function of the API is async, and every call through a table of the virtual file
# system an await: what somebody would write who asks where SQLite waits.
echo 'async def:/^sqlite3_[a-z0-9_]*$/' >"$work/api.aprof"
for method in Read Write Truncate Sync FileSize Lock Unlock; do
  echo "await icall:sqlite3_io_methods.x$method" >>"$work/api.aprof"
done

# compile VARIANT FLAG...: one sample of time, and the size of the code
compile() {
  local variant=$1 took
  shift
  TIMEFORMAT=%U
  took=$({ time "$cc" "$level" -g -w -c "$sqlite" -o "$work/$variant.o" "$@" 2>>"$work/errors" >&2; } 2>&1) || {
    cat "$work/errors" >&2
    exit 1
  }
  printf '%s\ttime\t%s\n' "$variant" "$took" >>"$work/samples"
  size -A "$work/$variant.o" | awk -v OFS='\t' -v v="$variant" '
    /^\.text/ { text += $2 } /^\.(text|rodata|data|eh_frame)|^aprof_/ { loaded += $2 }
    END { print v, "text", text; print v, "loaded", loaded }' >>"$work/samples"
}

for round in $(seq "$rounds"); do
  say "compile: round $round of $rounds"
  compile plain
  compile unused -fplugin="$plugin"
  compile api -fplugin="$plugin" -fplugin-arg-aprof-bindings="$work/api.aprof"
done

# count VARIANT FLAG...: instructions of the compiler proper, in millions
count() {
  local variant=$1
  shift
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$("$cc" -print-prog-name=cc1)" -quiet \
    -imultiarch "$("$cc" -print-multiarch)" -O0 -w "$sqlite" -o /dev/null "$@" 2>&1 |
    awk -v OFS='\t' -v v="$variant" '/Collected :/ { print v, "instructions", $4 / 1e6 }' \
      >>"$work/samples.$variant"
}
if [ -z "$quick" ] && command -v valgrind >/dev/null; then
  say "compile: instructions"
  count plain &
  count unused -fplugin="$plugin" &
  count api -fplugin="$plugin" -fplugin-arg-aprof-bindings="$work/api.aprof" &
  wait
  cat "$work"/samples.* >>"$work/samples"
fi

change() { changes "$1" "unused api" <"$work/samples"; }

functions=$("$build/aprof" coverage "$work/api.o" 2>/dev/null | head -n 1)
echo "# Compile time and code size, measured"
echo
echo "Made by \`scripts/bench --keep compile\`: sqlite3.c, $(wc -l <"$sqlite") lines, $level -g, $rounds rounds."
echo
machine
echo
matrix '%.2f' $'\t
time\tCPU seconds (user)
instructions\tinstructions of cc1 -O0, millions
text\tcode, bytes
loaded\tcode, constants, data, unwinding and sites, bytes' \
  $'plain\twithout the plugin\nunused\twith it, nothing annotated\napi\tthe API async, file system calls awaits' \
  <"$work/samples" | sed 's/\([0-9]\{3,\}\)\.[0-9]*/\1/g'
echo
echo "Against the same round without the plugin, median (unused: nothing annotated): time $(change time),"
[ -n "$quick" ] || echo "instructions $(change instructions),"
echo "code $(change text), all that is loaded $(change loaded)."
echo "Annotated: ${functions%%,*}, and seven calls of the file system wherever they are."
if cmp -s <(objdump -d "$work/plain.o" | tail -n +4) <(objdump -d "$work/unused.o" | tail -n +4); then
  echo "The code with nothing annotated is the code without the plugin, byte for byte."
else
  say "compile: with nothing annotated the code is another"
  exit 1
fi
