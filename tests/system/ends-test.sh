#!/bin/bash
# SPDX-License-Identifier: MIT
# How a program ends under what a preloaded library does, and what is said when the command that
# makes its totals does not come through.
. "$(dirname "$0")/../lib.sh"

cat >"$work/program.c" <<'C'
#include <aprof.h>
#include <stdio.h>
APROF_ASYNC static __attribute__((noinline)) int work(int n) { return n + 1; }
int main(void) { printf("%d\n", work(1)); return 0; }
C
# In the place of the C library's calls until its destructor, which runs before the runtime's;
# from then on it crashes, as libfaketime does.
cat >"$work/over.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
static int over;
__attribute__((destructor)) static void end(void) { over = 1; }
#define INSTEAD(name, parameters, ...)                          \
  int name parameters {                                         \
    if (over) abort();                                          \
    return ((int (*) parameters)dlsym(RTLD_NEXT, #name))(__VA_ARGS__); \
  }
INSTEAD(stat, (const char *path, struct stat *st), path, st)
INSTEAD(lstat, (const char *path, struct stat *st), path, st)
INSTEAD(fstat, (int fd, struct stat *st), fd, st)
INSTEAD(clock_gettime, (clockid_t clock, struct timespec *now), clock, now)
INSTEAD(unlink, (const char *path), path)
INSTEAD(kill, (int pid, int number), pid, number)
C
cc=$(gcc_of "$(gcc -dumpversion | cut -d. -f1)")
check "the program" "$cc" -O2 -fplugin="$plugin" -I"$src/rt/include" "$work/program.c" -o "$work/program"
check "what is preloaded" "$cc" -O2 -shared -fPIC "$work/over.c" -o "$work/over.so" -ldl
export APROF_RUNTIME=$build/rt/.libs/libaprof.so.0
mkdir "$work/out"
profiles=$(mktemp -d /dev/shm/aprof-ends.XXXXXX)
trap 'rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
totals() { find "$work/out" -name '*.json' | wc -l; }

for how in yes no; do
  rm -f "$work/out"/*
  APROF_OPTIONS="dir:$work/out,profile:$profiles,exit:$how" LD_PRELOAD=$work/over.so \
    "$work/program" >"$work/said" 2>"$work/why"
  equal "exit status, exit:$how" 0 $?
  equal "output, exit:$how" "2" "$(cat "$work/said" "$work/why")"
  equal "totals, exit:$how" "$([ $how = yes ] && echo 1 || echo 0)" "$(totals)"
  equal "profiles that stay, exit:$how" 0 "$(find "$profiles" -type f | wc -l)"
done

# Whoever gets at a memfd cannot take away what the program has mapped.
cat >"$work/truncates.c" <<'C'
#define _GNU_SOURCE
#include <aprof.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
APROF_ASYNC static __attribute__((noinline)) int work(int n) { return n + 1; }
int main(void) {
  int sum = work(0), tried = 0;
  for (int i = 3; i < 1024; i++) {
    char name[64], file[256] = "";
    snprintf(name, sizeof name, "/proc/self/fd/%d", i);
    if (readlink(name, file, sizeof file - 1) > 0 && strstr(file, "memfd:aprof"))
      tried += ftruncate(open(name, O_RDWR), 0) != 0;
  }
  for (int i = 0; i < 1000; i++)
    sum += work(i);
  printf("%d %d\n", tried, sum);
  return 0;
}
C
check "one that truncates" "$cc" -O2 -fplugin="$plugin" -I"$src/rt/include" "$work/truncates.c" -o "$work/truncates"
rm -f "$work/out"/*
APROF_OPTIONS="dir:$work/out,profile:memfd" "$work/truncates" >"$work/said" 2>&1
equal "a memfd cannot be truncated" "1 500501" "$(cat "$work/said")"
equal "and is whole" 1001 "$(value "$work/out"/*.json '*(x.done for x in t.functions)')"

printf '#!/bin/sh\nkill -KILL $$\n' >"$work/killed" && chmod +x "$work/killed"
APROF_COMMAND=$work/killed APROF_OPTIONS="dir:$work/out,profile:$profiles" "$work/program" \
  >"$work/said" 2>"$work/why"
equal "exit status, the command was killed" 0 $?
equal "what is said then" "aprof: no totals, the command was killed by a signal" \
  "$(head -n 1 "$work/why")"
profile=$(find "$profiles" -type f)
check "the profile is there" "$aprof" dump -o "$work/out/again.json" "$profile"
equal "and whole" 1 "$(value "$work/out/again.json" f.work.done)"

# Until its totals are made a program that is over gets no signal, which without them would have
# found it gone; from its handlers, too, it is safe.
cat >"$work/handles.c" <<'C'
#include <aprof.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static char *memory = "memory of the program";
APROF_ASYNC static __attribute__((noinline)) int work(int n) { return n + 1; }
static void on_signal(int number) {
  (void)number;
  write(1, memory, 6);
}
__attribute__((destructor)) static void down(void) { memory = NULL; }
int main(void) {
  FILE *pid = fopen("pid", "w");
  fprintf(pid, "%d", (int)getpid());
  fclose(pid);
  signal(SIGHUP, on_signal);
  return work(6);
}
C
check "one with a handler" "$cc" -O2 -fplugin="$plugin" -I"$src/rt/include" "$work/handles.c" -o "$work/handles"
printf '#!/bin/sh\nkill -TERM $(cat "%s/pid"); kill -HUP $(cat "%s/pid"); exec "%s" "$@"\n' "$work" "$work" "$aprof" \
  >"$work/signals" && chmod +x "$work/signals"
rm -f "$work/out"/*
(cd "$work" && APROF_COMMAND=$work/signals APROF_OPTIONS="dir:$work/out,profile:$profiles" ./handles) \
  >"$work/said" 2>&1
equal "exit status, signals while totals are made" 7 $?
equal "and nothing else" "" "$(cat "$work/said")"
equal "nor are totals lost" 1 "$(totals)"

# What runs when its program is killed has run until then, where somebody saw it end.
cat >"$work/hangs.c" <<'C'
#include <aprof.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
APROF_ASYNC static __attribute__((noinline)) void hang(char **argv) {
  puts(argv[1]);
  fflush(stdout);
  if (!strcmp(argv[1], "exec"))
    execlp("sleep", "sleep", "60", (char *)NULL);
  for (;;)
    pause();
}
int main(int argc, char **argv) { return argc == 2 ? hang(argv), 0 : 1; }
C
check "one that hangs" "$cc" -O2 -g -fplugin="$plugin" -I"$src/rt/include" "$work/hangs.c" -o "$work/hangs"
# hangs HOW COMMAND...: once it has begun it hangs for 400 ms, then it is killed
hangs() {
  local how=$1 pid
  shift
  rm -f "$work/out"/* "$work/said"
  APROF_OPTIONS="dir:$work/out,profile:$profiles" "$@" "$work/hangs" "$how" >"$work/said" 2>"$work/why" &
  runner=$!
  until [ -s "$work/said" ]; do sleep 0.02; done
  sleep 0.4
  pid=$(cat "/proc/$runner/task/$runner/children")
  kill -KILL ${pid:-$runner}
  { wait "$runner"; } 2>/dev/null
}
held() {
  local ns
  ns=$(value "$1" 'total(t.loop, "hold_open_ns")')
  if [ "$ns" -ge 400000000 ]; then echo long; elif [ "$ns" -gt 0 ]; then echo short; else echo unknown; fi
}
texts() { value "$1" '*(x.text for x in where(t.findings, kind="held"))'; }
hangs "in a call" "$aprof" run --
left=$(echo "$work"/out/hangs.*.json)
equal "killed while it hangs: the hold lasts to its end" long "$(held "$left")"
check "killed while it hangs: totals close" totals_close "$left"
texts "$left" >"$work/texts"
contains "killed while it hangs: the finding" "without a pause, to the end of the process" "$work/texts"
hangs exec "$aprof" run --
left=$(echo "$work"/out/hangs.*.json)
refuse "killed as another program: the hold was over" test "$(held "$left")" = long
hangs alone env
left=$(find "$profiles" -name 'hangs-*')
check "killed alone: totals of what it left" "$aprof" dump -o "$work/left.json" "$left"
rm -f "$left"
equal "killed alone: nobody knows for how long" unknown "$(held "$work/left.json")"
texts "$work/left.json" >"$work/texts"
contains "killed alone: the finding" \
  "\`hang\` was running when its process ended, since the last event: for how long is not known" "$work/texts"
finish
