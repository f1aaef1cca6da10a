#!/bin/bash
# SPDX-License-Identifier: MIT
# The first future, and the start of the command that makes totals, where programs are unusual:
# on small stacks, under the loader's lock, beside fork, as the first process of a container.
. "$(dirname "$0")/../lib.sh"

cat >"$work/program.c" <<'C'
/*  fork       children are forked while a thread asks for totals
    stack N    the first future is on a stack of N bytes, above a guard page
    signal N   SIGUSR1 comes on such a stack, where there is an alternate one for handlers
    reaper     as who gets orphans: what it is told of its children, after SIGUSR1
    namespace  SIGUSR1 between unshare(CLONE_NEWPID) and the fork that it is for
    crooked    the first future is on a stack that is 8 bytes off what the processor's ABI says
    quick      futures in a handler of quick_exit, registered before the first */
#define _GNU_SOURCE
#include <aprof.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

APROF_ASYNC static __attribute__((noinline)) int work(int n) { return n + 1; }

static void *asks(void *nothing) {
  for (;;)
    aprof_snapshot();
  return nothing;
}

static int in_fork(void) {
  pthread_t thread;
  work(0);
  pthread_create(&thread, NULL, asks, NULL);
  for (int i = 0; i < 30; i++) {
    int status;
    pid_t child = fork();
    if (child == 0) {
      work(1);
      exit(17);
    }
    waitpid(child, &status, 0);
    if (status != 17 << 8)
      return 1;
  }
  return 0;
}

static ucontext_t back, there;
static volatile int raises;
static void on_stack(void) {
  work(1);
  if (raises)
    raise(SIGUSR1);
  work(2);
}

/* The stack's last bytes are those of glibc's own context. */
static int on_stack_of(size_t size) {
  char *memory = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory, 4096, PROT_NONE);
  getcontext(&there);
  there.uc_stack.ss_sp = memory + 4096;
  there.uc_stack.ss_size = size;
  there.uc_link = &back;
  makecontext(&there, on_stack, 0);
  swapcontext(&back, &there);
  return 0;
}

static int in_signal(size_t size) {
  stack_t other = {.ss_sp = malloc(65536), .ss_size = 65536};
  sigaltstack(&other, NULL);
  work(0);
  raises = 1;
  return on_stack_of(size);
}

static volatile int told;
static void on_child(int number) { told += number == SIGCHLD; }

static int as_reaper(void) {
  int seen = 0;
  struct sigaction action = {.sa_handler = on_child};
  sigaction(SIGCHLD, &action, NULL);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  work(0);
  for (int i = 0; i < 3; i++)
    raise(SIGUSR1);
  while (access("out", F_OK) != 0) /* until the totals are there */
    usleep(1000);
  while (waitpid(-1, NULL, WNOHANG) > 0)
    seen++;
  printf("%d %d\n", told, seen);
  return 0;
}

static int in_namespace(void) {
  int status;
  work(0);
  if (unshare(CLONE_NEWPID) != 0)
    return 77;
  raise(SIGUSR1);
  pid_t child = fork();
  if (child < 0)
    return 1;
  if (child == 0)
    exit(getpid() == 1 ? work(2) : 4);
  waitpid(child, &status, 0);
  return WEXITSTATUS(status) != 3;
}

static void late(void) {
  for (int i = 0; i < 100; i++)
    work(i);
}

/* As code that switches stacks by its own instructions may leave it. */
static int on_crooked(void) {
#if defined __x86_64__
  static char stack[65536] __attribute__((aligned(16)));
  char *top = stack + sizeof stack - 8;
  int result, (*function)(int) = work;
  __asm__ volatile("mov %%rsp, %%rbx\n\tmov %2, %%rsp\n\tcall *%1\n\tmov %%rbx, %%rsp"
                   : "=a"(result), "+r"(function), "+r"(top)
                   : "D"(1)
                   : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
  return result != 2;
#else
  return work(1) != 2;
#endif
}

int main(int count, char **arguments) {
  const char *what = arguments[1];
  size_t size = count > 2 ? strtoul(arguments[2], NULL, 10) : 0;
  if (strcmp(what, "fork") == 0)
    _exit(in_fork());
  if (strcmp(what, "stack") == 0)
    return on_stack_of(size);
  if (strcmp(what, "signal") == 0)
    return in_signal(size);
  if (strcmp(what, "crooked") == 0)
    return on_crooked();
  if (strcmp(what, "reaper") == 0)
    return as_reaper();
  if (strcmp(what, "namespace") == 0)
    return in_namespace();
  at_quick_exit(late);
  work(0);
  quick_exit(0);
}
C
cat >"$work/host.c" <<'C'
/* Loads a module: the loader has its lock while that starts. */
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **arguments) {
  void *module = dlopen(arguments[count - 1], RTLD_NOW);
  int (*run)(void) = module ? (int (*)(void))dlsym(module, "run") : NULL;
  printf("%d\n", run ? run() : -1);
  return 0;
}
C
cat >"$work/module.c" <<'C'
/* A thread of this module's makes the first future while who loads it waits for that. */
#include <aprof.h>
#include <pthread.h>
APROF_ASYNC static __attribute__((noinline)) int work(int n) { return n + 1; }
static void *first(void *nothing) { return work(1) ? nothing : NULL; }
__attribute__((constructor)) static void begins(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, first, NULL);
  pthread_join(thread, NULL);
}
int run(void) { return work(2); }
C
cc=$(gcc_of "$(gcc -dumpversion | cut -d. -f1)")
with="-O2 -fplugin=$plugin -I$src/rt/include"
# shellcheck disable=SC2086 # a list of options
{
  check "the program" "$cc" $with -pthread "$work/program.c" -o "$work/program"
  check "a module" "$cc" $with -shared -fPIC -pthread "$work/module.c" -o "$work/module.so"
  check "who loads it" "$cc" $with "$work/host.c" -pthread -ldl -o "$work/host"
}
export APROF_RUNTIME=$build/rt/.libs/libaprof.so.0
profiles=$(mktemp -d /dev/shm/aprof-starts.XXXXXX)
trap 'rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
cd "$work" || exit 1
runs=0

# profiled COMMAND...: $status, $work/said, and totals in $work/totals, which is another directory
# each time: those of a child, or of a dump, may come when the program is over
profiled() {
  runs=$((runs + 1))
  mkdir "$work/totals.$runs" && ln -sfn "totals.$runs" "$work/totals"
  APROF_OPTIONS="dir:$work/totals.$runs,profile:$profiles" timeout 60 "$@" >"$work/said" 2>&1
  status=$?
}
done_of() { value "$work/totals"/*.json '*(x.done for x in where(t.functions, name="work"))'; }

profiled ./program fork
equal "children forked beside a dump end" 0 "$status"
profiled ./host ./module.so
equal "the first future under the loader's lock" "0 3" "$status $(cat said)"
equal "... and what was counted" 2 "$(done_of)"
profiled ./program quick
equal "quick_exit" 0 "$status"
equal "futures of its handlers" 101 "$(done_of)"

# What the machine takes of a stack by itself is for it to say: a signal frame is 3 KB with
# some vector registers, and 11 KB with others.
profiled ./program stack 4096
equal "the first future on a stack of 4 KiB" "0 2" "$status $(done_of)"
profiled ./program crooked
equal "the first future on a stack that is 8 bytes off" "0 1" "$status $(done_of)"
LD_BIND_NOW=1 profiled ./program signal 4096
equal "SIGUSR1 on such a stack, with an alternate one" 0 "$status"
equal "... and all its totals" "3" "$(done_of | sort -n | tail -n 1)"

profiled ./program namespace
if [ "$status" -eq 77 ]; then
  skip "SIGUSR1 before the first process of a namespace" "no new PID namespace here"
else
  equal "exit status, SIGUSR1 before the first process of a namespace" 0 "$status"
  check "that there are no totals then is said" grep -q "no totals.*PID namespace" said
fi

# A reaper is told of nothing; `out` appears with the first totals.
reaper() {
  rm -f out
  { while [ -z "$(find totals/ -name '*.json' 2>/dev/null)" ]; do sleep 0.01; done; touch out; } &
  local waits=$!
  profiled "$@"
  wait "$waits"
}
reaper ./program reaper
equal "what a reaper is told of its children" "0 0 0" "$status $(cat said)"
check "totals of SIGUSR1 and of the end" test "$(find totals/ -name '*.json' | wc -l)" -ge 2
if unshare -pf --mount-proc true 2>/dev/null; then
  reaper unshare -pf --mount-proc ./program reaper
  equal "... and the first process of a namespace" "0 0 0" "$status $(cat said)"
else
  skip "the first process of a namespace" "no new PID namespace here"
fi
finish
