/* SPDX-License-Identifier: MIT */
/*
 * Start, epochs and fork: when there is a profile, and whose.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rt/future/key.h"
#include "rt/sys/call.h"

struct rt rt = {.fd = -1, .usual_epoch = &clock_never};

static struct stat first_stderr; /* zero: it was closed */

/* The program may have closed it since, and have a file of its own there. */
bool control_stderr(void) {
  struct stat now;
  int saved = errno;
  bool same = first_stderr.st_ino != 0 && plain_fstat(STDERR_FILENO, &now) == 0 &&
              now.st_dev == first_stderr.st_dev && now.st_ino == first_stderr.st_ino &&
              now.st_rdev == first_stderr.st_rdev;
  errno = saved;
  return same;
}

void control_say(const char *what, const char *detail) {
  if (!control_stderr())
    return;
  char line[600];
  size_t n = 0;
  const char *const parts[] = {"aprof: ", what, detail, "\n"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    for (size_t k = 0; k < 290 && parts[i][k] != '\0'; k++)
      line[n++] = parts[i][k];
  struct quiet quiet;
  quiet_begin(&quiet);
  ssize_t ignored = write(STDERR_FILENO, line, n);
  (void)ignored;
  quiet_end(&quiet);
}

static SLOW bool give_up(const char *why) {
  control_say("this process is not profiled: ", why);
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

/* A word that is not 0 in the process that set it, and whatever runs in its memory: a number
   can come again, in another namespace or when all have been used, and getpid() differs in
   a child made by vfork. */
#define MARK_OURS 1u   /* the profile is this process's, or will be */
#define MARK_FORKED 2u /* there is that of its parent, until its first future */
static uint32_t not_forked = MARK_OURS, *process_mark = &not_forked;

static void mark_process(uint32_t mark) {
  if (process_mark == &not_forked) {
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED && madvise(page, 4096, MADV_WIPEONFORK) == 0)
      process_mark = page;
    else if (page != MAP_FAILED)
      munmap(page, 4096);
  }
  *process_mark = mark;
  __atomic_store_n(&rt.pid, getpid(), __ATOMIC_RELAXED);
}

/* The child has none of the parent's futures: their records lie in memory that it
   did not inherit. Its first future opens a profile of its own. */
static void in_child(void) {
  rt.child = true;
  rt.lock = rt.opening = 0; /* of threads that are not here */
  dump_forget();
  if (!profile_confined())
    mark_process(rt.state == RT_ON ? MARK_FORKED : MARK_OURS);
  if (rt.state != RT_ON)
    return;
  if (forked_inside)
    thread_keep(false);
  if (profile_keep_range() && forked_inside && profile_copy_use(&copy)) {
    rt.header->epoch++; /* the next event is of the child's own profile */
    return;
  }
  rt.child_now = rt.header->virtual_now;
  profile_abandon();
  thread_wipe();
}

bool profile_ours(void) {
  return profile_confined() || (*process_mark == MARK_OURS && rt.pid == getpid());
}

/* A child made by vfork, in its parent's memory: until it is another program it has no
   profile of its own, and no thread of it is one of the parent's. */
static bool in_vforked(void) {
  return process_mark != &not_forked && *process_mark && rt.pid != getpid();
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
  dump_forget();
  confine_forget();
  rt.instance++;
  rt.lock = 0;
}

/* -- start ----------------------------------------------------------------------- */

void control_attach(void) {
  if (rt.state != RT_NEW)
    return;
  rt.instance = 1;
  if (plain_fstat(STDERR_FILENO, &first_stderr) != 0)
    first_stderr.st_ino = 0;
  rt.confined = confine_foreign(); /* until it is known to be trusted: no messages by more calls */
  options_read();
  if (rt.confined && !rt.options.trusted) {
    control_say(
        "this process is not profiled: it was started behind a seccomp filter, which may kill "
        "it for a call of ours; seccomp:trusted in APROF_OPTIONS says that it does not, see "
        "aprof-options(7)",
        "");
    rt.state = RT_DEAD;
    return;
  }
  rt.confined = false;
  options_resolve();
  rt.histograms = rt.options.histograms;
  rt.nodes_cap = rt.options.nodes;
  if (!profile_reserve()) {
    control_say("this process is not profiled: it may not take the address space of a profile, 1 MB "
                "at least; raise its limit (ulimit -v)",
                "");
    rt.state = RT_DEAD;
    return;
  }
  mark_process(MARK_OURS);
  thread_start();
  dump_attach();
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
    usleep(100);
  if (rt.state == RT_ON && profile_ours()) {
    ok = true;
    goto out;
  }
  if (rt.state == RT_DEAD)
    goto out;
  if (in_vforked()) {
    if (rt.state == RT_ON)
      __atomic_fetch_add(&rt.header->lost_events, 1, __ATOMIC_RELAXED);
    goto out;
  }
  if (rt.state == RT_ON)
    start_over();
  mark_process(MARK_OURS);
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
  __atomic_store_n(&rt.state, RT_ON, __ATOMIC_RELEASE);
  cost_measure();
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
  if (likely(state == RT_ON && profile_ours()))
    return true;
  return state != RT_NEW && state != RT_DEAD && control_open();
}

/* In a handler that asks for totals: those of a process without a future are of none. Not where the
   next event is to open the profile, of a child that was forked in the middle of one. */
bool control_asked(void) {
  const struct thread *t = aprof_self;
  uint64_t before = 0;
  if (profile_confined() || (rt.state == RT_ON && profile_ours()))
    return rt.state == RT_ON;
  if (in_vforked() || rt_locked_here() || (t->block != NULL && (t->block->sequence & 1)))
    return false;
  signals_block(&before);
  bool started = control_start();
  signals_restore(&before);
  return started;
}

/* -- epochs ---------------------------------------------------------------------- */

static void control_lock(struct aprof_header *h) {
  uint32_t none = 0;
  for (int tries = 0; tries < 100000; tries++) {
    none = 0;
    if (__atomic_compare_exchange_n(&h->control_lock, &none, (uint32_t)rt.pid, false,
                                    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return;
  }
}

/* The current epoch ends now, unless it is one of being off, which has no length. */
static void next_epoch(struct aprof_header *h, uint64_t now, bool on) {
  uint32_t epoch = h->epoch;
  if (h->enabled)
    h->epochs[epoch % APROF_EPOCHS].end_tick = now;
  h->epochs[(epoch + 1) % APROF_EPOCHS] = (struct aprof_epoch){now, on ? 0 : now};
  __atomic_store_n(&h->epoch, epoch + 1, __ATOMIC_RELEASE);
}

int control_enable(int on) {
  if (!control_start())
    return -1;
  struct aprof_header *h = rt.header;
  control_lock(h);
  uint64_t now = clock_read();
  int before = (int)h->enabled;
  if (on && !before) {
    next_epoch(h, now, true);
    __atomic_store_n(&h->enabled, 1, __ATOMIC_RELEASE);
  } else if (!on && before) {
    next_epoch(h, now, false);
    __atomic_store_n(&h->enabled, 0, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&h->control_lock, 0, __ATOMIC_RELEASE);
  return before;
}

int control_reset(void) {
  if (!control_start())
    return -1;
  struct aprof_header *h = rt.header;
  control_lock(h);
  h->reset_epoch = h->epoch + 1;
  next_epoch(h, clock_read(), h->enabled);
  __atomic_store_n(&h->control_lock, 0, __ATOMIC_RELEASE);
  return 0;
}
