/* SPDX-License-Identifier: MIT */
/* Totals at exit and on a signal: the `aprof` command makes them from the profile. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "dump.h"

#include "command.h"
#include "rt/file/clock.h"
#include "rt/file/profile.h"
#include "rt/sys/confine.h"
#include "rt/sys/lock.h"
#include "rt/sys/process.h"
#include "rt/sys/quiet.h"
#include "rt/sys/say.h"

static int complain(const char *why) {
  rt_say("no totals, the command ", why);
  if (rt.path[0] != '\0')
    rt_say("the profile stays, read it with: aprof dump ", rt.path);
  return -1;
}

static const char *why_not(void) {
  if (is_confined())
    return "may not be started: the program has given up the system calls for it";
  if (rt.command[0] == '\0')
    return "`aprof` is not installed beside the runtime, or not in this chroot "
           "(APROF_COMMAND names another)";
  if (children_are_elsewhere())
    return "cannot be started: the program has a new PID namespace for its children, "
           "and none in it yet";
  return NULL;
}

/* What the command is called with, which points into the request. */
static void ask_for(struct request *r, const char *reason, uint64_t sequence, uint64_t tick) {
  *r = (struct request){.argv = {rt.command, (char *)"dump", (char *)"--fd", r->fd,
                                 (char *)"--reason", (char *)reason, (char *)"--sequence",
                                 r->sequence, (char *)"--at", r->tick}};
  text_number(r->fd, PROFILE_FD);
  text_number(r->sequence, sequence);
  text_number(r->tick, tick);
}

/* Starts a dump; async-signal-safe. At exit waits for it. */
static int request_dump(const char *reason, uint64_t tick) {
  struct request r;
  const char *why = why_not();
  if (why != NULL)
    return complain(why);
  ask_for(&r, reason, rt.header->signals, tick);
  r.wait = strcmp(reason, "exit") == 0;
  int result = command_start(&r);
  return r.failed != NULL ? complain(r.failed) : result;
}

int dump_tell(uint64_t sequence, uint64_t tick, char path[DUMP_PATH]) {
  static char stack[32768] __attribute__((aligned(16))); /* of one thread, which waits */
  struct request r;
  uint64_t before = 0;
  const char *why = why_not();
  if (why != NULL)
    return complain(why);
  ask_for(&r, "signal", sequence, tick);
  r.argv[10] = (char *)"--tell";
  r.argv[11] = text_number(r.tell, TELL_FD);
  r.told = path;
  r.room = DUMP_PATH;
  signals_block(&before);
  command_follow(&r, stack + sizeof stack);
  signals_restore(&before);
  if (r.failed != NULL)
    return complain(r.failed);
  return path[0] != '\0' ? 0 : -1;
}

int dump_request(const char *reason, uint64_t tick) {
  uint64_t before = 0;
  signals_block(&before); /* no handler, and no cancellation, may see this half done */
  int result = request_dump(reason, tick);
  signals_restore(&before);
  return result;
}

/* The program is over but for its totals. Without us a signal that comes now would have found no
   process, and its handler would find the program taken down: it is not let in any more. Real-time
   signals still come in; glibc's threads talk by two of them. */
static void last_request(uint64_t tick) {
  uint64_t before = 0;
  bool confined = is_confined(); /* then nothing is waited for */
  signals_block(&before);
  uint64_t pending = confined ? 0 : signals_pending();
  request_dump("exit", tick);
  if (!confined)
    before |= signals_pending() & ~pending & 0x7fffffff;
  signals_restore(&before);
}

/* -- when ------------------------------------------------------------------------ */

static void (*handler)(int);
static uint32_t over; /* the last totals were asked for */

/* From the start on, since its sender cannot know whether there was a future yet. */
static void take_signal(int number) {
  struct sigaction old, mine = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK};
  if (number == 0 || sys_sigaction(number, NULL, &old) != 0)
    return;
  if ((old.sa_flags & SA_SIGINFO) || old.sa_handler != SIG_DFL)
    return; /* the program's own */
  sys_sigfillset(&mine.sa_mask);
  sys_sigaction(number, &mine, NULL);
}

static void at_end(uint32_t kind) {
  if (rt.state != RT_ON || !process_ours() || __atomic_exchange_n(&over, 1, __ATOMIC_RELAXED))
    return;
  int saved = errno;
  if (!rt.options.exit) { /* nobody asked for it: it would fill the memory of the machine */
    if (!is_confined())
      profile_remove();
    errno = saved;
    return;
  }
  uint64_t now = clock_read();
  rt.header->exit_kind = kind;
  __atomic_store_n(&rt.header->exit_tick, now ? now : 1, __ATOMIC_RELEASE);
  last_request(now);
  errno = saved;
}

static void at_quick_end(void) {
  at_end(2);
}
__attribute__((destructor)) static void at_usual_end(void) {
  at_end(1);
}

void dump_attach(void (*on_signal)(int)) {
  handler = on_signal;
  command_find_library();
  at_quick_exit(at_quick_end); /* what the program registers later comes before it */
  take_signal(rt.options.signal);
}

void dump_start(void) {
  command_find();
  take_signal(rt.options.signal);
}

bool dump_over(void) {
  return __atomic_load_n(&over, __ATOMIC_RELAXED);
}

void dump_forget(void) {
  over = 0;
  command_forget();
}
