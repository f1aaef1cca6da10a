#!/bin/bash
# SPDX-License-Identifier: MIT
# A program may have functions of its own under any name that ISO C leaves to it, and libc's
# own code never calls them. Nor do events: what libc offers by those names, rt/sys/kernel.h has.
. "$(dirname "$0")/../lib.sh"
export APROF_COMMAND=$aprof

names="access close fallocate fcntl flock ftruncate getcwd getenv geteuid gethostname getpid getppid
  getrlimit kill madvise memfd_create mkdir mmap mprotect mremap munmap nanosleep open openat
  posix_fallocate process_vm_readv prctl pread pthread_self pwrite read readlink sched_yield sigaction
  sigaltstack sigemptyset sigfillset sigprocmask stat statfs syscall sysconf unlink usleep wait4 write"

cat >"$work/program.c" <<'C'
#include <aprof.h>
#include <stdio.h>

static int calls;
#define X(name)                                                                                    \
  int name(long a, long b) {                                                                       \
    (void)a, (void)b;                                                                              \
    calls++;                                                                                       \
    return RESULT;                                                                                 \
  }
#include "names.h"

APROF_AWAIT __attribute__((noinline)) void nap(void) { __asm__ volatile(""); }
APROF_ASYNC __attribute__((noinline)) int work(int n) {
  nap();
  return n * 2;
}

int main(void) {
  long sum = 0;
  for (int i = 0; i < 1000; i++)
    sum += work(i);
  printf("%ld, %d calls\n", sum, calls);
  return 7;
}
C
for name in $names; do echo "X($name)"; done >"$work/names.h"

# of PROGRAM: its output and status, and whether its totals are whole
of() {
  rm -rf "$work/out" && mkdir "$work/out"
  APROF_OPTIONS="dir:$work/out,profile:memfd" timeout 20 "$@" 2>&1
  echo "$?, $(grep -c '"name": *"work"' "$work/out"/*.json)"
}

for major in $majors; do
  for result in 0 -1 1; do
    flags="-std=c11 -O1 -w -fno-builtin -DRESULT=$result -I$work -I$src/rt/include"
    # shellcheck disable=SC2086 # lists of words
    "$(gcc_of "$major")" $flags -fplugin="$plugin" "$work/program.c" -o "$work/program" &&
      "$(gcc_of "$major")" $flags -fplugin="$plugin" "$work/program.c" -o "$work/archived" -Wl,-u,__aprof_attach \
        "$build/rt/.libs/libaprof.a"
    for program in program archived; do
      of "$work/$program" >"$work/said"
      check "gcc-$major, $program, functions that return $result" \
        diff "$work/said" <(printf '999000, 0 calls\n7, 1\n')
    done
  done
done

# What is still asked of libc: its threads (aprof_on_totals starts one), its loader, its lists of what is done at the end.
allowed='__cxa_|__environ$|_?environ$|__errno_location|__gmon_start__|__libc_stack_end|__register_atfork|__tsan_init|_ITM_|dl_iterate_phdr|dladdr1|getauxval|pthread_(create|join|key_create|key_delete|self|setcancelstate|setspecific)$'
nm -D --undefined-only "$build/rt/.libs/libaprof.so" | awk '{ sub(/@.*/, "", $2); print $2 }' |
  grep -vE "^($allowed)" >"$work/others"
check "nothing else is asked of libc" diff /dev/null "$work/others"

finish
