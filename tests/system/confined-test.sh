#!/bin/bash
# Programs that give up system calls in ways that cannot be seen in the program: in a
# module that it loads, or in a library that lies where those of the system do. None may be
# killed for a call that only the runtime makes. The hazards "confined-..." are about
# programs that do it themselves.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit
cc=$(gcc_of "${majors##* }")
export APROF_RUNTIME APROF_COMMAND=$aprof APROF_OPTIONS=dir:$work,profile:memfd
system=/usr/lib/tmpfiles.d # a folder of the system's, in which only this test has files

# build HOW FLAGS...: modules, and programs with the plugin and without
build() {
  local how=$1 kind
  shift
  "$cc" -O2 -Wall -Wextra -Werror -shared -fPIC "$@" "$src/tests/system/confiner.c" -o "$how.so"
  for kind in absent with; do
    set -- -std=gnu11 -O2 -Wall -Wextra -Werror -I"$src/rt/include" "$src/tests/system/confined.c"
    [ "$kind" = absent ] || set -- "-fplugin=$plugin" "$@"
    "$cc" "$@" -o "loads-$kind" -ldl &&
      "$cc" -DLINKED "$@" -o "$how-$kind" "./$how.so" &&
      "$cc" -DLINKED "$@" -o "$how-system-$kind" -L. -Wl,-rpath,"$system" "-l:$how.so" || return
  done
}
check "programs by prctl" build prctl
check "programs by syscall" build syscall -DBY_SYSCALL=1

# same NAME PROGRAM ARGUMENT...: status and output are those without the plugin
same() {
  local name=$1 program=$2 want got
  shift 2
  want=$("./$program-absent" "$@" 2>&1; echo "status $?")
  case $want in *"status 77") skip "$name" "no filters here"; return ;; esac
  got=$("./$program-with" "$@" 2>log; echo "status $?")
  equal "$name" "$want" "$got"
}

for APROF_RUNTIME in "$(echo "$build"/rt/.libs/libaprof.so.0)" /nonexistent; do
  [ "$APROF_RUNTIME" != /nonexistent ] || export LD_PRELOAD=$build/rt/.libs/libaprof.so.0
  how=${LD_PRELOAD:+preloaded}
  how=${how:-loaded}
  for by in prctl syscall; do
    same "runtime $how: a module, by $by" loads "$PWD/$by.so"
    same "runtime $how: a module, by $by, before the first future" loads "$PWD/$by.so" late
    same "runtime $how: a library, by $by" "$by"
    same "runtime $how: a library, by $by, before the first future" "$by" "" late
  done
done
unset LD_PRELOAD
APROF_RUNTIME=$(echo "$build"/rt/.libs/libaprof.so.0)

# Where the system's libraries lie nothing else is to be put: in a name space of its own.
in_system() {
  # shellcheck disable=SC2016 # another shell's
  unshare -rm sh -c 'mount -t tmpfs none "$0" && cp ./*.so "$0" && exec "$@"' "$system" "$@"
}
if [ -d "$system" ] && in_system true 2>/dev/null; then
  for by in prctl syscall; do
    for late in "" late; do
      equal "a library of the system, by $by${late:+, before the first future}" \
        "$(in_system "./$by-system-absent" "" $late 2>&1; echo "status $?")" \
        "$(in_system "./$by-system-with" "" $late 2>log; echo "status $?")"
    done
  done
else
  skip "a library of the system" "no name space of mounts to be had"
fi
finish
