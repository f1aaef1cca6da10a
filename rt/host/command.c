/* SPDX-License-Identifier: MIT */
/*
 * How the `aprof` command is started: by a bare clone and exec, so that it works in a signal
 * handler, takes no lock of the program, and the program's wait() never sees it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"

#include "rt/file/profile.h"
#include "rt/sys/say.h"
#include "rt/sys/vdso.h"
#include "rt/sys/wait.h"

#ifndef APROF_BINDIR
#define APROF_BINDIR "/usr/bin"
#endif

static char *const no_environment[] = {(char *)"PATH=/usr/local/bin:/usr/bin:/bin", NULL};

static bool try_command(const char *library, size_t up, const char *rest) {
  size_t n = strlen(library);
  for (; up > 0 && n > 0; up--)
    while (n > 0 && library[--n] != '/')
      ;
  memcpy(rt.command, library, n);
  return text_join(rt.command + n, sizeof rt.command - n, rest, NULL) &&
         sys_access(rt.command, X_OK) == 0;
}

/* The file that this code lies in; "" where that is not known, or not to be believed: the
   loader knows a program by the name that its caller gave it. */
static char own_file[400];

/* While the loader calls the constructors of this library or the program: later, a thread may
   hold its lock and wait for this one's first future. */
void command_find_library(void) {
  Dl_info info;
  struct link_map *module = NULL;
  if (!dladdr1((void *)command_find_library, &info, (void **)&module, RTLD_DL_LINKMAP) ||
      module == NULL)
    return;
  if (module->l_name[0] == '/') {
    if (strlen(module->l_name) < sizeof own_file)
      strcpy(own_file, module->l_name);
  } else if (!getauxval(AT_SECURE)) {
    ssize_t n = sys_readlink("/proc/self/exe", own_file, sizeof own_file - 1);
    own_file[n > 0 ? n : 0] = '\0';
  }
}

/* Beside this library: in the build tree, or in the prefix it is installed in. */
void command_find(void) {
  const char *named = getauxval(AT_SECURE) ? NULL : sys_getenv("APROF_COMMAND");
  if (named != NULL && try_command("", 0, named))
    return;
  if (own_file[0] == '/' &&
      (try_command(own_file, 3, "/aprof") || try_command(own_file, 2, "/bin/aprof") ||
       try_command(own_file, 3, "/bin/aprof")))
    return;
  if (!try_command("", 0, APROF_BINDIR "/aprof"))
    rt.command[0] = '\0';
}

/* No descriptor is above it. Not the highest of all numbers: valgrind looks at each. */
static unsigned last_descriptor(void) {
  static const char name[] = "FDSize:";
  char text[512];
  sys_read_file("/proc/self/status", text, sizeof text);
  const char *found = strstr(text, name);
  unsigned size = found != NULL ? (unsigned)sys_strtoul(found + sizeof name - 1, NULL, 10) : 0;
  return size != 0 ? size : ~0u;
}

/* The command has the profile, and nothing else of the program's: no socket or pipe stays open on
   its account. Not by the C library's calls: a sanitizer or a preloaded library that has others in
   their place would believe that the program, in whose memory this runs, closes its files. False:
   the profile cannot be had. */
static bool take_descriptors(const struct request *r) {
  bool ours = profile_fd_ok(), talk = rt_say_heard();
  if (ours && rt.fd != PROFILE_FD && sys_call(SYS_dup3, rt.fd, PROFILE_FD, 0) < 0)
    return false;
  unsigned from = ours ? PROFILE_FD + 1 : PROFILE_FD;
  if (r->told != NULL) {
    if (sys_call(SYS_dup3, r->teller, TELL_FD, 0) < 0)
      return false;
    if (!ours)
      sys_call(SYS_close, PROFILE_FD);
    from = TELL_FD + 1;
  }
  if (sys_call(SYS_close_range, from, last_descriptor(), 0) != 0)
    for (int fd = (int)from; fd < 1024; fd++)
      sys_call(SYS_close, fd);
  for (int fd = 0; fd < PROFILE_FD; fd++) {
    if (fd == STDERR_FILENO && talk)
      continue;
    sys_call(SYS_close, fd);
    if (sys_call(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR) < 0 &&
        sys_call(SYS_memfd_create, "aprof-null", 0) < 0)
      return false;
  }
  if (!ours && profile_reopen() != PROFILE_FD)
    return false;
  return sys_call(SYS_fcntl, PROFILE_FD, F_SETFD, 0) == 0;
}

/* The program's own soft limits are not meant for the command. False: even the hard
   one leaves too few descriptors to load its libraries. */
static bool lift_limits(void) {
  static const __rlimit_resource_t all[] = {
      RLIMIT_AS,  RLIMIT_DATA,  RLIMIT_FSIZE,
      RLIMIT_CPU, RLIMIT_STACK, RLIMIT_NOFILE}; /* last: its value is looked at */
  struct rlimit64 limit = {0, 0};
  long known = -1;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    known = sys_call(SYS_prlimit64, 0, all[i], NULL, &limit);
    if (known != 0 || limit.rlim_cur == limit.rlim_max)
      continue;
    limit.rlim_cur = limit.rlim_max;
    sys_call(SYS_prlimit64, 0, all[i], &limit, NULL);
  }
  return known != 0 || limit.rlim_cur >= 16;
}

/* Not by the C library's _exit(): a sanitizer takes that for the end of the program, whose
   threads it still sees, and reports those that are over and not joined yet as leaks. */
static _Noreturn void leave(int status) {
  for (;;)
    sys_call(SYS_exit_group, status);
}

/* A process in this one's memory, on that stack; with CLONE_VFORK this thread stops until it
   has ended or become another program. Not by the C library's clone(): ThreadSanitizer has one
   of its own, which takes it for a fork of the program and starts a thread there. */
static pid_t start_process(int flags, int (*run)(void *), char *stack_end, void *argument) {
#if defined __x86_64__
  long result;
  register long none __asm__("r10") = 0;
  void **stack = (void **)(void *)stack_end;
  *--stack = argument;
  *--stack = (void *)(uintptr_t)run;
  __asm__ volatile("syscall\n\t"
                   "test %%rax, %%rax\n\t"
                   "jnz 1f\n\t"
                   "xor %%ebp, %%ebp\n\t"
                   "pop %%rax\n\t"
                   "pop %%rdi\n\t"
                   "call *%%rax\n\t" /* never returns */
                   "hlt\n"
                   "1:"
                   : "=a"(result)
                   : "0"((long)SYS_clone), "D"((long)(CLONE_VM | flags)), "S"(stack), "d"(0l),
                     "r"(none)
                   : "rcx", "r11", "memory");
  return (pid_t)(result < 0 ? -1 : result);
#else
  return clone(run, stack_end, CLONE_VM | flags, argument);
#endif
}

/* A program that has more rights than the user who started it (setuid) does not lend them: the
   command writes where that user says, by the directory it is in, and cannot write to the profile,
   which the program trusts. False: it has others than either. */
static bool take_rights(void) {
  if (!getauxval(AT_SECURE))
    return true;
  long fd = sys_call(SYS_openat, AT_FDCWD, "/proc/self/fd/3", O_RDONLY | O_CLOEXEC);
  if (fd < 0 || sys_call(SYS_dup3, fd, PROFILE_FD, 0) < 0 || sys_call(SYS_close, fd) < 0)
    return false;
  long uid = (long)getauxval(AT_UID), gid = (long)getauxval(AT_GID);
  return sys_call(SYS_setresgid, gid, gid, gid) == 0 && sys_call(SYS_setresuid, uid, uid, uid) == 0;
}

#define NOT_RUN 127 /* also of the loader, which finds no room for libraries */

/* Runs in the parent's memory, its thread stopped until the exec: touches
   nothing but the request. */
static int become_command(void *argument) {
  struct request *r = argument;
  if (!lift_limits()) {
    r->failed = "cannot run with so few descriptors (ulimit -n)";
  } else if (!take_descriptors(r)) {
    r->failed = "cannot see the profile, whose descriptor the program closed";
  } else if (!take_rights()) {
    r->failed = "may not be run with the rights of who started the program";
  } else {
    static const uint64_t none;
    /* Not signals_restore: cancellation is the thread's that waits. */
    sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
    sys_call(SYS_execve, rt.command, r->argv, no_environment);
    r->failed = "cannot be run";
  }
  leave(NOT_RUN);
}

#define NO_MORE_PROCESSES "cannot be started (no more processes allowed?)"

/* The command; this process goes on when that runs. */
static void start_as_child(struct request *r) {
  char stack[8192] __attribute__((aligned(16)));
  r->command = start_process(CLONE_VFORK, become_command, stack + sizeof stack, r);
  if (r->command < 0)
    r->failed = NO_MORE_PROCESSES;
}

/* Waits for the end of that process; its status. */
static int end_of(pid_t process) {
  int status = 0;
  while (sys_call(SYS_wait4, process, &status, __WALL, NULL) == -EINTR)
    ;
  return status;
}

/* What the command itself could not say. */
static const char *wrong_with(int status) {
  if (WIFSIGNALED(status))
    return "was killed by a signal";
  return WEXITSTATUS(status) == NOT_RUN ? "could not be loaded" : NULL;
}

/* What the program closes meanwhile is closed: its sockets are not kept open for this. */
static void close_all_but(long kept) {
  bool above = sys_call(SYS_close_range, kept + 1, -1, 0) == 0;
  if (above && (kept <= 0 || sys_call(SYS_close_range, 0, kept - 1, 0) == 0))
    return;
  for (long fd = 0; fd < 1024; fd++)
    if (fd != kept)
      sys_call(SYS_close, fd);
}

/* The pipe is this process's alone, whose descriptors are its own. */
static void start_and_listen(struct request *r) {
  int ends[2];
  size_t length = 0;
  r->told[0] = '\0';
  if (sys_call(SYS_pipe2, ends, O_CLOEXEC) < 0 ||
      (r->teller = (int)sys_call(SYS_fcntl, ends[1], F_DUPFD_CLOEXEC, TELL_FD + 1)) < 0) {
    r->failed = "cannot be asked where they are with so few descriptors (ulimit -n)";
    return;
  }
  start_as_child(r);
  sys_call(SYS_close, ends[1]);
  sys_call(SYS_close, r->teller);
  close_all_but(ends[0]);
  for (long got = 1; r->command > 0 && got != 0 && length < r->room - 1;) {
    got = sys_call(SYS_read, ends[0], r->told + length, r->room - 1 - length);
    if (got < 0 && got != -EINTR)
      break;
    length += got > 0 ? (size_t)got : 0;
  }
  r->told[length] = '\0';
}

/* The one in between: the command is its child, never the program's, which would be
   told of its end and could wait for it. This one itself has no signal to send. */
static int start_command(void *argument) {
  struct request *r = argument;
  if (r->told != NULL)
    start_and_listen(r);
  else
    start_as_child(r);
  if (r->command > 0 && r->wait) {
    const char *wrong = wrong_with(end_of(r->command));
    r->failed = r->failed != NULL ? r->failed : wrong;
  }
  profile_cover();
  leave(0);
}

/* -- not too many at once -------------------------------------------------------- */
#define AT_ONCE 4
#define STUCK_NS 60000000000u

static struct place {
  pid_t pid;      /* 0: never used */
  bool kept;      /* pid is who keeps the command */
  uint64_t since; /* CLOCK_MONOTONIC, ns */
  uint32_t ready; /* of who keeps it: the command is started, or will not be */
  struct request *request;
  char stack[12288] __attribute__((aligned(16)));
} started[AT_ONCE];

/* Its parent, which is the machine's first process or a container's, may be slow to ask for its
   end, or never do. */
static bool has_ended(pid_t command) {
  int asked = sys_kill(command, 0);
  if (asked < 0)
    return asked == -ESRCH;
  long fd = sys_call(SYS_pidfd_open, command, 0);
  struct pollfd end = {.fd = (int)fd, .events = POLLIN};
  static const struct timespec now = {0, 0};
  bool ended = fd >= 0 && sys_call(SYS_ppoll, &end, 1, &now, NULL, 0) == 1;
  if (fd >= 0)
    sys_close((int)fd);
  return ended;
}

static bool is_free(const struct place *p, uint64_t now) {
  if (p->pid == 0)
    return true;
  if (p->kept) /* its end, which nobody else waits for */
    return sys_call(SYS_wait4, p->pid, NULL, __WALL | WNOHANG, NULL) != 0;
  return now - p->since > STUCK_NS || has_ended(p->pid);
}

/* A place for another command; NULL: signals come faster than totals can be made. */
static struct place *free_place(uint64_t now) {
  struct place *found = NULL;
  for (int i = AT_ONCE - 1; i >= 0; i--)
    if (is_free(&started[i], now)) {
      started[i].pid = 0;
      found = &started[i];
    }
  return found;
}

/* -- where the program gets the children of others ------------------------------- */

/* Does this process get the children of others, as the first of a container or because it asked for
   them? Then it also gets a command whose parent has ended. */
static bool is_reaper(void) {
  int reaper = 0;
  return sys_call(SYS_getpid) == 1 ||
         (sys_call(SYS_prctl, PR_GET_CHILD_SUBREAPER, &reaper, 0, 0, 0) == 0 && reaper);
}

/* In the program's memory beside its threads, until the command has ended; as a child that
   sends no signal it is waited for by whoever asks for it alone. From where its request is done
   it has no thread's errno, which no call of ours sets. */
static __attribute__((noreturn)) int keep_command(void *argument) {
  struct place *p = argument;
  struct request *r = p->request;
  start_as_child(r);
  pid_t command = r->command; /* the request is its thread's again from here on */
  __atomic_store_n(&p->ready, 1, __ATOMIC_RELEASE);
  close_all_but(-1);
  if (command > 0)
    sys_call(SYS_wait4, command, 0, __WALL, 0);
  for (;;)
    sys_call(SYS_exit_group, 0);
}

/* False: there can be none such. */
static bool start_kept(struct request *r, struct place *p) {
  p->request = r;
  p->ready = 0;
  p->pid = start_process(0, keep_command, p->stack + sizeof p->stack, p);
  if (p->pid < 0)
    return false;
  p->kept = true;
  for (unsigned tries = 0; !__atomic_load_n(&p->ready, __ATOMIC_ACQUIRE);) {
    if (sys_call(SYS_wait4, p->pid, NULL, __WALL | WNOHANG, NULL) != 0) {
      r->failed = "could not be started: a signal killed who was to start it";
      break;
    }
    wait_for_other(tries++, false);
  }
  return true;
}

/* Has the program left its PID namespace, with no process in its new one yet? The first that it
   starts there must not be our command: at that one's end no more could be started. */
bool children_are_elsewhere(void) {
  static const char *const names[] = {"/proc/thread-self/ns/pid",
                                      "/proc/thread-self/ns/pid_for_children"};
  char text[2][64];
  for (int i = 0; i < 2; i++) {
    long n = sys_call(SYS_readlinkat, AT_FDCWD, names[i], text[i], sizeof text[i] - 1);
    if (n < 0) /* no /proc; or, of a namespace that is yet to begin, no such link */
      return i == 1 && n == -ENOENT;
    text[i][n] = '\0';
  }
  return strcmp(text[0], text[1]) != 0;
}

/* -- in turn ----------------------------------------------------------------------- */

/* Two processes, one after the other, in this one's memory. Signals are blocked: no
   handler may run there. */
void command_follow(struct request *r, char *stack_end) {
  pid_t between = start_process(CLONE_VFORK, start_command, stack_end, r);
  if (between < 0)
    r->failed = NO_MORE_PROCESSES;
  else if (WIFSIGNALED(end_of(between)))
    r->failed = "could not be started: a signal killed who was to start it";
}

static void start(struct request *r) {
  static char stack[32768] __attribute__((aligned(16)));
  command_follow(r, stack + sizeof stack);
}

static uint32_t busy; /* a thread starts a command */

int command_start(struct request *r) {
  uint64_t now = vdso_clock(CLOCK_MONOTONIC);
  struct place *place = NULL;
  for (unsigned tries = 0; __atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE);)
    wait_for_other(tries++, false); /* another thread starts one, which takes a millisecond */
  if (r->wait) {
    start(r);
  } else if ((place = free_place(now)) != NULL) {
    if (!is_reaper() || !start_kept(r, place)) {
      start(r);
      place->kept = false;
      place->pid = r->failed == NULL ? r->command : 0;
    }
    place->since = now;
  }
  __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
  return r->wait || place != NULL ? 0 : -1;
}

void command_forget(void) {
  busy = 0;
  for (int i = 0; i < AT_ONCE; i++)
    started[i].pid = 0;
}
