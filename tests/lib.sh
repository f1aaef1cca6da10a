# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the test scripts share: source it first, end with `finish`.
#
#   . "${0%/*}/../lib.sh"
#   check "two and two" test $((2 + 2)) -eq 4
#   finish
#
# Every result is a line "ok NAME" or "not ok NAME"; the last line of a script
# is "N passed, N failed", and its exit status is 1 if anything failed.
# Sets: src, build (absolute), work (a scratch directory that goes at the end;
# KEEP=1 keeps it), majors (the GCCs there are plugins for), plugin, aprof.

set -u
unset MAKEFLAGS MFLAGS MAKELEVEL # of the make check that runs this
export CCACHE_DISABLE=1          # it knows nothing of bindings, which the plugin reads
tests_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
src=$(cd "${top_srcdir:-$tests_dir/..}" && pwd)
build=$(cd "${top_builddir:-${APROF_BUILD:-$PWD}}" && pwd)
plugin=$build/plugin/aprof.so
aprof=$build/aprof
if [ -z "${GCC_MAJORS:-}" ]; then
  GCC_MAJORS=$(sed -n 's/^GCC_MAJORS = //p' "$build/Makefile" 2>/dev/null)
fi
majors=$GCC_MAJORS
passed=0
failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/aprof-test.XXXXXX")
trap '[ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT

# ok NAME
ok() {
  passed=$((passed + 1))
  echo "ok $*"
}

# not_ok NAME [FILE...]: the files are shown, indented
not_ok() {
  local file
  failed=$((failed + 1))
  echo "not ok $1"
  shift
  for file in "$@"; do
    sed 's/^/    /' "$file" 2>/dev/null | head -n 40
  done
}

# skip NAME WHY: neither passed nor failed
skip() {
  echo "skip $1: $2"
}

# check NAME COMMAND...: passes if the command does; else shows what it printed
check() {
  local name=$1
  shift
  if "$@" >"$work/check.out" 2>&1; then
    ok "$name"
  else
    not_ok "$name" "$work/check.out"
  fi
}

# refuse NAME COMMAND...: passes if the command fails
refuse() {
  local name=$1
  shift
  if "$@" >"$work/check.out" 2>&1; then
    not_ok "$name" "$work/check.out"
  else
    ok "$name"
  fi
}

# equal NAME EXPECTED ACTUAL
equal() {
  if [ "$2" = "$3" ]; then
    ok "$1"
  else
    printf 'expected: %s\nfound:    %s\n' "$2" "$3" >"$work/check.out"
    not_ok "$1" "$work/check.out"
  fi
}

# contains NAME TEXT FILE: a fixed string
contains() {
  if grep -qF -e "$2" "$3"; then
    ok "$1"
  else
    { echo "not found: $2"; cat "$3"; } >"$work/check.out"
    not_ok "$1" "$work/check.out"
  fi
}

# ask_totals FORM ARGUMENT...: lib/totals.py, of which one process does all that this script asks
ask_totals() {
  [ -S "$work/.totals" ] || LD_PRELOAD="" "$tests_dir/lib/totals.py" serve "$work/.totals" $$
  LD_PRELOAD="" "$build/tests/lib/ask" "$work/.totals" "$@"
}

# value FILE... EXPRESSION: its values in each of these totals, or other JSON: lib/totals.py
value() {
  ask_totals value "$@"
}

# edit FILE STATEMENTS: the JSON that they make of the file
edit() {
  ask_totals edit "$@"
}

# totals_close FILE...: the schema holds for them, and so do the ledger's equations
totals_close() {
  ask_totals close "$@"
}

# conforms FILE...: each is as the schema says that it names, with no other members
conforms() {
  ask_totals conform "$@"
}

# until_true COMMAND...: waits until it is, for five minutes at most, as on a busy machine; the
# status says whether it was
until_true() {
  local end=$((SECONDS + 300))
  until "$@" 2>/dev/null; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.02
  done
}

# served NAME ARGUMENT...: aprof serve, which prints to NAME.out and NAME.err and holds no file of the
# script open; sets server, its PID, and url, once it listens. False: it does not. The script kills
# `started`.
served() {
  local name=$1
  shift
  rm -f "$name.out" # what the one before said is not this one's, which begins when it comes to it
  (
    for fd in /proc/self/fd/*; do
      [ "${fd##*/}" -le 2 ] || [ "${fd##*/}" = 255 ] || eval "exec ${fd##*/}>&-"
    done
    exec "$aprof" serve "$@"
  ) >"$name.out" 2>"$name.err" &
  server=$!
  started+=("$server")
  until_true eval "grep -q '^serving ' '$name.out' || ! kill -0 $server"
  url=$(sed -n 's/^serving //p' "$name.out")
  [ -n "$url" ]
}

# gcc_of MAJOR: the compiler's command
gcc_of() {
  local pair
  for pair in ${GCC_COMPILERS:-}; do
    [ "${pair%%:*}" != "$1" ] || { echo "${pair#*:}"; return; }
  done
  echo "gcc-$1"
}

# finish: the summary; the last thing a script does
finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
  exit
}
