/*
 * Totals at exit and on a signal: the `aprof` command makes them from the
 * profile. Started by a bare clone and exec, so that it works in a signal
 * handler, takes no lock of the program, and the program's wait() never sees it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt.h"

#ifndef APROF_BINDIR
#define APROF_BINDIR "/usr/bin"
#endif

static char *const no_environment[] = {(char *)"PATH=/usr/local/bin:/usr/bin:/bin", NULL};

static bool try_command(const char *library, size_t up, const char *rest) {
  size_t n = strlen(library);
  for (; up > 0 && n > 0; up--)
    while (n > 0 && library[--n] != '/')
      ;
  if (snprintf(rt.command, sizeof rt.command, "%.*s%s", (int)n, library, rest) >=
      (int)sizeof rt.command)
    return false;
  return access(rt.command, X_OK) == 0;
}

/* Beside this library: in the build tree, or in the prefix it is installed in. */
static void find_command(void) {
  const char *named = getauxval(AT_SECURE) ? NULL : getenv("APROF_COMMAND");
  if (named != NULL && try_command("", 0, named))
    return;
  Dl_info info;
  char library[400];
  if (dladdr((void *)dump_start, &info) && info.dli_fname != NULL &&
      info.dli_fname[0] == '/' && strlen(info.dli_fname) < sizeof library) {
    strcpy(library, info.dli_fname);
    if (try_command(library, 3, "/aprof") || try_command(library, 2, "/bin/aprof") ||
        try_command(library, 3, "/bin/aprof"))
      return;
  }
  if (!try_command("", 0, APROF_BINDIR "/aprof"))
    rt.command[0] = '\0';
}

struct request {
  char *argv[16];
  char fd[12], sequence[24], tick[24];
  const char *failed;
};

/* Runs in the parent's memory, its thread stopped until the exec: touches
   nothing but the request. */
static int become_command(void *argument) {
  struct request *r = argument;
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  fcntl(rt.fd, F_SETFD, 0);
  execve(rt.command, r->argv, no_environment);
  r->failed = "cannot be run";
  _exit(127);
}

/* The one in between: so that nobody has to wait for the command. */
static int start_command(void *argument) {
  char stack[8192] __attribute__((aligned(16)));
  if (clone(become_command, stack + sizeof stack, CLONE_VM | CLONE_VFORK, argument) < 0)
    ((struct request *)argument)->failed = "cannot be started";
  _exit(0);
}

static void number_text(char *to, uint64_t value) {
  char digits[24];
  int n = 0;
  do
    digits[n++] = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  while (n > 0)
    *to++ = digits[--n];
  *to = '\0';
}

static int complain(const char *why) {
  control_say("no totals, the command ", why);
  if (rt.path[0] != '\0')
    control_say("the profile stays, read it with: aprof dump ", rt.path);
  return -1;
}

/* Starts a dump; async-signal-safe. At exit waits for it. */
int dump_request(const char *reason, uint64_t tick) {
  if (rt.command[0] == '\0')
    return complain("`aprof` is not installed beside the runtime (APROF_COMMAND names another)");
  if (!profile_fd_ok())
    return complain("cannot see the profile, whose descriptor the program closed");
  static char stack[32768] __attribute__((aligned(16)));
  static uint32_t busy;
  if (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
    return -1; /* a dump is being started by another thread: it will show the same */
  struct request r = {.argv = {rt.command, (char *)"dump", (char *)"--fd", r.fd,
                               (char *)"--reason", (char *)reason, (char *)"--sequence",
                               r.sequence, (char *)"--at", r.tick, NULL}};
  number_text(r.fd, (uint64_t)rt.fd);
  number_text(r.sequence, rt.header->signals);
  number_text(r.tick, tick);
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before); /* no handler may run in borrowed memory */
  bool at_exit = strcmp(reason, "exit") == 0;
  pid_t child = clone(at_exit ? become_command : start_command, stack + sizeof stack,
                      CLONE_VM | CLONE_VFORK, &r);
  int status = 0;
  if (child > 0)
    while (waitpid(child, &status, __WALL) < 0 && errno == EINTR)
      ;
  else
    r.failed = "cannot be started (no more processes allowed?)";
  sigprocmask(SIG_SETMASK, &before, NULL);
  __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
  return r.failed != NULL ? complain(r.failed) : 0;
}

/* -- when ------------------------------------------------------------------------ */

static void on_signal(int number) {
  (void)number;
  int saved = errno;
  if (rt.state == RT_ON && rt.pid == getpid()) {
    __atomic_fetch_add(&rt.header->signals, 1, __ATOMIC_RELAXED);
    dump_request("signal", clock_read());
  }
  errno = saved;
}

static void take_signal(int number) {
  struct sigaction old, mine = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  if (number == 0 || sigaction(number, NULL, &old) != 0)
    return;
  if ((old.sa_flags & SA_SIGINFO) || old.sa_handler != SIG_DFL)
    return; /* the program's own */
  sigfillset(&mine.sa_mask);
  sigaction(number, &mine, NULL);
}

static void at_end(uint32_t kind) {
  static uint32_t done;
  if (rt.state != RT_ON || rt.pid != getpid() || !rt.options.exit ||
      __atomic_exchange_n(&done, 1, __ATOMIC_RELAXED))
    return;
  int saved = errno;
  uint64_t now = clock_read();
  rt.header->exit_kind = kind;
  __atomic_store_n(&rt.header->exit_tick, now ? now : 1, __ATOMIC_RELEASE);
  dump_request("exit", now);
  errno = saved;
}

static void at_quick_end(void) { at_end(2); }
__attribute__((destructor)) static void at_usual_end(void) { at_end(1); }

void dump_start(void) {
  static bool registered;
  find_command();
  take_signal(rt.options.signal);
  if (!registered) {
    registered = true;
    at_quick_exit(at_quick_end);
  }
}
