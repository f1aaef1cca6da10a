#!/bin/bash
# SPDX-License-Identifier: MIT
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

# What it left tells that nothing new had room.
profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
trap 'rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
APROF_OPTIONS=dir:$work,profile:$profiles ./prctl-with >/dev/null 2>&1
if [ $? -ne 77 ]; then
  "$aprof" dump -o left.json "$profiles"/*.aprof
  equal "totals say that it was confined" true "$(value left.json t.health.confined)"
fi

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

# Behind a filter that whoever started the program has put there, as systemd's
# SystemCallFilter= does: it may kill for what only the runtime calls.
cat >jail.c <<'C'
/* jail kill|allow PROGRAM...: what a program with one thread and no children does not call */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define KILL(name)                                                                                 \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1),                                           \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
int main(int count, char **arguments) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      KILL(clone), KILL(clone3), KILL(fcntl), KILL(fallocate), KILL(flock), KILL(ftruncate),
      KILL(getcwd), KILL(geteuid), KILL(getpid), KILL(getppid), KILL(lseek), KILL(madvise),
      KILL(membarrier), KILL(memfd_create), KILL(mkdir), KILL(pwrite64), KILL(readlink), KILL(rt_sigaction),
      KILL(rt_sigprocmask), KILL(statfs), KILL(uname), KILL(unlink), KILL(wait4),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_filter nothing[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter}, none = {1, nothing};
  if (count < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, strcmp(arguments[1], "kill") ? &none : &program))
    return 77;
  execv(arguments[2], arguments + 2);
  return 78;
}
C
cat >jailed.c <<'C'
#include <aprof.h>
#include <unistd.h>
APROF_ASYNC static __attribute__((noinline)) int work(int n) { return n + 1; }
int main(void) {
  int sum = 0;
  for (int i = 0; i < 1000; i++)
    sum += work(i);
  return write(1, "done\n", 5) == 5 && sum == 500500 ? 7 : 1;
}
C
check "who starts behind a filter" "$cc" -O2 -Wall jail.c -o jail
check "what it starts" "$cc" -O2 "-fplugin=$plugin" -I"$src/rt/include" jailed.c -o jailed

# jailed HOW OPTIONS: what it printed, its status, how many totals
jailed() {
  rm -rf totals && mkdir totals
  APROF_OPTIONS=dir:$PWD/totals,profile:memfd$2 ./jail "$1" ./jailed 2>log
  echo "$? $(find totals -name '*.json' | wc -l)"
}
if [ "$(jailed allow "")" = "77 0" ]; then
  skip "behind a filter" "no filters here"
else
  equal "behind a filter that kills" $'done\n7 0' "$(jailed kill "")"
  contains "... which is said" "behind a seccomp filter" log
  equal "behind one that may" $'done\n7 0' "$(jailed allow "")"
  equal "behind one that is trusted" $'done\n7 1' "$(jailed allow ,seccomp:trusted)"
  equal "... of which nothing is said" "" "$(cat log)"
fi
finish
