#!/bin/bash
# SPDX-License-Identifier: MIT
# A profile lies where the program's own shared memory may lie, too, 64 MB in a container:
# how much of that it takes, and what many leave there.
. "$(dirname "$0")/../lib.sh"

cat >"$work/program.c" <<'C'
/* children N   that leave by _exit, as children of a fork should: their profiles stay
   live N       futures at once */
#include <aprof.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

APROF_ASYNC static __attribute__((noinline)) int work(int n) { return n + 1; }

static int children(int n) {
  for (int i = 0; i < n; i++) {
    pid_t child = fork();
    if (child == 0)
      _exit(work(i) != i + 1);
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
      return 1;
  }
  return 0;
}

__attribute__((noinline)) static void job(char *key) { __asm__ volatile("" ::"r"(key)); }
__attribute__((noinline)) static void start(char *key, void (*run)(char *)) {
  __asm__ volatile("" ::"r"(key), "r"(run));
}

static int live(int n) {
  static char keys[400000];
  for (int i = 0; i < n; i++)
    start(&keys[i], job);
  return 0;
}

int main(int count, char **arguments) {
  int n = atoi(arguments[count - 1]);
  return strcmp(arguments[1], "children") == 0 ? children(n) : live(n);
}
C
echo 'create call:start key=k:a0 fn=a1 | run key=k:a0 once' >"$work/start.aprof"
cc=$(gcc_of "${majors##* }")
check "the program" "$cc" -O2 -fplugin="$plugin" -fplugin-arg-aprof-bindings="$work/start.aprof" \
  -I"$src/rt/include" "$work/program.c" -o "$work/program"
export APROF_RUNTIME=$build/rt/.libs/libaprof.so.0 APROF_COMMAND=$aprof

# in_room COMMAND...: with $size for profiles, of which $work/used says how many KB were taken; and,
# where $group is set, as if the control group of the process, or one around it, might have so many
# bytes of memory
export size=8m group= more=
in_room() {
  # shellcheck disable=SC2016 # another shell's
  unshare -rm sh -c '[ -z "$group" ] || {
      mount -t tmpfs none /sys/fs/cgroup || exit 77
      own=$(sed -n "s/^0:://p" /proc/self/cgroup)
      mkdir -p "/sys/fs/cgroup$own" "/sys/fs/cgroup/memory$(sed -n "s/^.*:memory://p" /proc/self/cgroup)"
      echo max >"/sys/fs/cgroup$own/memory.max"
      echo "$group" >/sys/fs/cgroup/memory.max
      echo "$group" >/sys/fs/cgroup/memory/memory.limit_in_bytes
    }
    mount -t tmpfs -o "size=$size,mode=700" none "$0/room" || exit 77
    APROF_OPTIONS=dir:$0/totals,profile:$0/room$more "$@" 2>"$0/log"
    status=$?
    df -k --output=used "$0/room" | tail -n 1 | tr -d " " >"$0/used"
    ls "$0/room" | wc -l >"$0/files"
    exit $status' "$work" "$@"
}
mkdir "$work/room" "$work/totals"
if ! in_room true 2>/dev/null; then
  skip "small rooms" "no name space of mounts to be had"
  finish
fi

in_room "$work/program" children 60
equal "children that leave by _exit" 0 $?
check "... leave half of the room" test "$(cat "$work/used")" -le $((4096 + 400))
check "... and profiles before that" test "$(cat "$work/files")" -gt 5
equal "... of which nothing more is said" "" "$(cat "$work/log")"
in_room "$work/program" live 100000
equal "more futures than there is room for" 0 $?
check "... take a quarter of it" test "$(cat "$work/used")" -le 2048
equal "... and the others are counted" 100000 \
  "$(value "$work/totals"/program.*.json 't.health.lost_futures + total(where(t.functions, name="job"), "created")' | tail -n 1)"

# in_group BYTES: the status of 100000 futures there, and how many of them were lost
in_group() {
  rm -f "$work/totals"/*
  group=$1 size=512m in_room "$work/program" live 100000
  echo "$? $(value "$work/totals"/program.*.json t.health.lost_futures)"
}
if group=16777216 in_room true; then
  read -r status lost <<<"$(in_group 16777216)"
  equal "a control group of 16 MB" 0 "$status"
  check "... has a quarter for the profile" test "$lost" -gt 60000
  equal "one of 1 GB has as much as is wanted" "0 0" "$(in_group 1073741824)"
  equal "... and so has who says how much" "0 0" "$(more=,memory:32M in_group 16777216)"
else
  skip "control groups" "theirs cannot be put elsewhere"
fi

# A directory that a program's umask spoiled is everybody's who comes later.
own=$(mktemp -d /dev/shm/aprof-room.XXXXXX)
trap 'rm -rf "$own"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
(umask 0777 && APROF_OPTIONS=dir:$work/totals,profile:$own/new exec "$work/program" children 1)
equal "a umask that takes all" "0 700" "$? $(stat -c %a "$own/new")"
equal "... leaves its profiles readable" 600 "$(stat -c %a "$own/new"/* | sort -u)"
finish
