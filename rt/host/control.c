/* SPDX-License-Identifier: MIT */
/* Start, epochs and fork: when there is a profile, and whose. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control.h"

#include "dump.h"
#include "options.h"
#include "rt/count/histogram.h"
#include "rt/count/node.h"
#include "rt/count/site.h"
#include "rt/event/gates.h"
#include "rt/event/thread.h"
#include "rt/file/arena.h"
#include "rt/file/clock.h"
#include "rt/file/directory.h"
#include "rt/file/profile.h"
#include "rt/future/key.h"
#include "rt/future/record.h"
#include "rt/request/request.h"
#include "rt/sys/confine.h"
#include "rt/sys/lock.h"
#include "rt/sys/process.h"
#include "rt/sys/say.h"
#include "rt/sys/wait.h"
#include "rt/trace/ring.h"
#include "totals.h"

static SLOW bool give_up(const char *why) {
  rt_say("this process is not profiled: ", why);
  __atomic_store_n(&rt.state, RT_DEAD, __ATOMIC_RELEASE);
  profile_none();
  return false;
}

/* -- fork ------------------------------------------------------------------------ */

/* A signal handler, or the user's callback, may fork in the middle of an event, and the
   child goes on with it. It does so in a copy that nobody will read, made before the parent
   can go on with it, too. */
static __thread bool forked_inside __attribute__((tls_model("initial-exec")));
static __thread struct profile_copy copy __attribute__((tls_model("initial-exec")));

static void before_fork(void) {
  forked_inside = rt.state == RT_ON && thread_keep(true);
  if (forked_inside)
    profile_copy(&copy);
}

static void in_parent(void) {
  if (!forked_inside)
    return;
  thread_keep(false);
  profile_copy_release(&copy);
}

/* The child has none of the parent's futures: their records lie in memory that it
   did not inherit. Its first future opens a profile of its own. */
static void in_child(void) {
  rt.child = true;
  rt.lock = rt.opening = 0; /* of threads that are not here */
  dump_forget();
  totals_forget();
  if (!is_confined())
    process_mark(rt.state == RT_ON ? PROCESS_FORKED : PROCESS_OURS);
  if (rt.state != RT_ON)
    return;
  if (forked_inside)
    thread_keep(false);
  if (profile_keep_range() && forked_inside && profile_copy_use(&copy)) {
    aprof_trace_switch(rt.header, false);
    aprof_epoch_begins(rt.header, rt.header->epoch + 1); /* the next event opens the child's own */
    return;
  }
  rt.child_now = rt.header->virtual_now;
  profile_abandon();
  thread_wipe();
}

static void start_over(void) {
  profile_abandon();
  thread_wipe();
  arena_reset();
  directory_reset();
  site_reset();
  node_reset();
  histogram_reset();
  key_reset();
  future_reset();
  request_reset();
  dump_forget();
  totals_forget();
  confine_forget();
  rt.instance++;
  rt.lock = 0;
}

/* -- start ----------------------------------------------------------------------- */

/* In a handler that asks for totals: is there a profile, made now if need be? A process without a
   future has totals of none. Not in a child that was forked in the middle of an event: its next
   event opens the profile. */
static bool asked(void) {
  const struct thread *t = aprof_self;
  uint64_t before = 0;
  if (is_confined() || (rt.state == RT_ON && process_ours()))
    return rt.state == RT_ON;
  if (process_vforked() || rt_locked_here() || (t->block != NULL && (t->block->sequence & 1)))
    return false;
  signals_block(&before);
  bool started = control_start();
  signals_restore(&before);
  return started;
}

static void on_signal(int number) {
  (void)number;
  int saved = errno;
  if (!dump_over() && asked())
    totals_request();
  errno = saved;
}

void control_attach(void) {
  if (rt.state != RT_NEW)
    return;
  rt.instance = 1;
  rt.start = control_start;
  rt_say_start();
  rt.confined = confine_foreign(); /* until it is known to be trusted: no messages by more calls */
  options_read();
  if (rt.confined && !rt.options.trusted) {
    rt_say("this process is not profiled: it was started behind a seccomp filter, which may kill "
           "it for a call of ours; seccomp:trusted in APROF_OPTIONS says that it does not, see "
           "aprof-options(7)",
           "");
    rt.state = RT_DEAD;
    return;
  }
  rt.confined = false;
  options_resolve();
  request_reset();
  rt.histograms = rt.options.histograms;
  rt.nodes_cap = rt.options.nodes;
  if (!profile_reserve()) {
    rt_say("this process is not profiled: it may not take the address space of a profile, 1 MB "
           "at least; raise its limit (ulimit -v)",
           "");
    rt.state = RT_DEAD;
    return;
  }
  process_mark(PROCESS_OURS);
  thread_start();
  dump_attach(on_signal);
  pthread_atfork(before_fork, in_parent, in_child);
  rt.state = RT_ATTACHED;
  if (!rt.options.enabled)
    control_start(); /* so that `aprof on` finds something to switch */
}

/* A function of the C library that the program has in its place may be async itself, and
   is called in here. */
static __thread bool opening_here __attribute__((tls_model("initial-exec")));

static SLOW bool control_open(void) {
  int saved = errno;
  bool ok = false;
  if (opening_here)
    return false;
  opening_here = true;
  while (__atomic_exchange_n(&rt.opening, 1, __ATOMIC_ACQUIRE)) /* another thread's first future */
    sys_usleep(100);
  if (rt.state == RT_ON && process_ours()) {
    ok = true;
    goto out;
  }
  if (rt.state == RT_DEAD)
    goto out;
  if (process_vforked()) {
    if (rt.state == RT_ON)
      __atomic_fetch_add(&rt.header->lost_events, 1, __ATOMIC_RELAXED);
    goto out;
  }
  if (rt.state == RT_ON)
    start_over();
  process_mark(PROCESS_OURS);
  if (!profile_keep_range()) { /* forked past the C library, so nobody kept it at once */
    give_up("it was not forked by fork(), and has other memory now where its profile must lie");
    goto out;
  }
  if (!profile_open()) {
    give_up("there is no room for a profile where profile: says, in $XDG_RUNTIME_DIR, /dev/shm or "
            "memory (full, or limited by ulimit); see aprof-options(7)");
    goto out;
  }
  if (!node_start()) {
    give_up("too little memory for a profile; raise memory: in APROF_OPTIONS");
    goto out;
  }
  cost_measure(); /* before another thread asks what an event costs */
  trace_flight(); /* ... or is traced */
  __atomic_store_n(&rt.state, RT_ON, __ATOMIC_RELEASE);
  dump_start();
  ok = true;
out:
  __atomic_store_n(&rt.opening, 0, __ATOMIC_RELEASE);
  opening_here = false;
  errno = saved;
  return ok;
}

bool control_start(void) {
  int32_t state = __atomic_load_n(&rt.state, __ATOMIC_ACQUIRE);
  if (likely(state == RT_ON && process_ours()))
    return true;
  return state != RT_NEW && state != RT_DEAD && control_open();
}

/* -- epochs ---------------------------------------------------------------------- */

enum { LOCK_TRIES = 30000 }; /* see wait_for_other: some 50 yields, then 5 ms of sleep */

static int is_dead(uint32_t pid) {
  return pid != (uint32_t)rt.pid && !was_confined_lately() &&
         ((int32_t)pid <= 0 || sys_kill((pid_t)pid, 0) == -ESRCH);
}

/* Inode number of the process's PID namespace; 0: it cannot be told. */
static uint64_t own_space(void) {
  char text[64];
  uint64_t number = 0;
  ssize_t length = was_confined_lately() ? 0 : sys_readlink("/proc/self/ns/pid", text, sizeof text);
  for (ssize_t i = 0; i < length; i++)
    if (text[i] >= '0' && text[i] <= '9')
      number = number * 10 + (uint64_t)(text[i] - '0');
  return number;
}

/* False: somebody keeps it who lives, and may be halted, or of whom that cannot be told; or it is a
   signal handler that asks, and what it interrupted has it. Nobody waits for long in the program.
 */
static bool control_lock(struct aprof_header *h) {
  uint32_t holder, me = aprof_control_word((uint32_t)rt.pid, own_space());
  for (unsigned tries = 0; tries < LOCK_TRIES; tries++) {
    if (aprof_control_take(h, me, &holder, is_dead))
      return true;
    wait_for_other(tries, was_confined_lately());
  }
  return false;
}

static void control_unlock(struct aprof_header *h) {
  __atomic_store_n(&h->control_lock, 0, __ATOMIC_RELEASE);
}

int control_enable(int on) {
  if (!control_start() || !control_lock(rt.header))
    return -1;
  int before = aprof_switch(rt.header, on, clock_read());
  control_unlock(rt.header);
  return before;
}

int control_reset(void) {
  if (!control_start() || !control_lock(rt.header))
    return -1;
  aprof_start_again(rt.header, clock_read());
  control_unlock(rt.header);
  return 0;
}
