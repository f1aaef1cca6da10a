/* SPDX-License-Identifier: MIT */
/*
 * Programs that give up system calls: a seccomp filter that comes while they run may
 * kill them for any call that only we make.
 *
 * Whether there is a filter can only be asked of the kernel, and the question must be
 * one that a filter lets through: /proc/self/status, opened when the runtime is
 * loaded, takes a read and an fstat, without which little of libc works. Programs
 * that have no way to a filter (confine-ways.c) do not pay for the answer.
 *
 * From then on (rt.confined) nothing here enters the kernel: what is in memory goes on
 * being counted, new memory, threads and totals are refused. Before the first future
 * it means that there is no profile at all.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confine.h"

#include "rt/rt.h"
#include "say.h"
#include "wait.h"

#define LATELY 2000000u /* ticks: about a millisecond */
#define MOVES 64        /* bytes by which the lines come nearer as numbers before them get shorter */

static int status_fd = -1; /* of /proc/self/status; -1: it cannot be told */
static struct stat status_file;
static uint32_t confined_before; /* filters this process began with */
static bool orphan;              /* a child that has no profile of its own yet */

/* -- is there a filter? ------------------------------------------------------------ */

static void rewind_status(void) {
  sys_call(SYS_lseek, status_fd, 0, SEEK_SET);
}

static uint32_t number_after(const char *text, const char *name) {
  const char *at = text != NULL ? strstr(text, name) : NULL;
  uint32_t number = 0;
  for (at += at != NULL ? strlen(name) : 0; at != NULL && *at >= '0' && *at <= '9'; at++)
    number = number * 10 + (uint32_t)(*at - '0');
  return number;
}

/* Mode and number, from where the file is read; false: that is its end. One call gives all of it,
   of a user of a thousand groups, too; who asks is the only one. */
static bool filters_from(int fd, uint32_t *filters) {
  static char text[32768]; /* stacks may be small */
  static long before;      /* what of it lay before these lines the last time */
  long n = sys_read(fd, text, sizeof text - 1), from = before - MOVES;
  text[n > 0 ? n : 0] = '\0';
  const char *lines = from > 0 && from < n ? strstr(text + from, "\nSeccomp") : NULL;
  if (lines == NULL)
    lines = strstr(text, "\nSeccomp");
  before = lines != NULL ? lines - text : 0;
  *filters = number_after(lines, "\nSeccomp:\t") + number_after(lines, "\nSeccomp_filters:\t") * 4;
  return n > 0;
}

/* Read with as few kinds of calls as can be. */
static uint32_t filters(void) {
  uint32_t found;
  if (!filters_from(status_fd, &found)) { /* a handler jumped away before it was rewound */
    rewind_status();
    filters_from(status_fd, &found);
  }
  return found;
}

static uint32_t filters_of(const char *status) {
  uint32_t found = 0;
  int fd = sys_open(status, O_RDONLY | O_CLOEXEC, 0);
  if (fd >= 0) {
    filters_from(fd, &found);
    sys_close(fd);
  }
  return found;
}

/* Makes only calls that the loader has made before. */
bool confine_foreign(void) {
  uint32_t own = filters_of("/proc/self/status");
  return own != 0 && own != filters_of("/proc/1/status");
}

/* The program may have closed our file descriptor, and have a file of its own under that number. */
static bool still_ours(void) {
  struct stat st;
  return status_fd >= 0 && sys_fstat(status_fd, &st) == 0 && st.st_dev == status_file.st_dev &&
         st.st_ino == status_file.st_ino;
}

/* There is no profile, and will be none. The header may be that of a parent: its switch
   is not ours. */
static void refuse(void) {
  int32_t without = orphan ? RT_ON : RT_ATTACHED;
  if (!swapped(&rt.state, &without, RT_DEAD, ACQ_REL) || orphan)
    return;
  rt.header->enabled = 0;
  __atomic_store_n(&rt.confined, true, __ATOMIC_RELEASE); /* nor for the message */
  rt_say("this process is not profiled: it gave up system calls before its first future; "
         "an aprof_enable(1) before that makes the profile",
         "");
}

static void open_status(void) {
  int fd = sys_open("/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
  status_fd = fd >= 0 ? sys_fcntl(fd, F_DUPFD_CLOEXEC, 100) : -1;
  if (fd >= 0)
    sys_close(fd);
  if (status_fd >= 0 && sys_fstat(status_fd, &status_file) != 0)
    status_file.st_ino = 0;
}

static __thread bool looking_here __attribute__((tls_model("initial-exec")));
static const bool *looking; /* that of the thread that has the descriptor and the buffer */
static uint64_t looked_at; /* ticks */
/* The thread has asked, and holds signals back since then. */
static __thread bool asked_here __attribute__((tls_model("initial-exec")));

void confine_forget(void) {
  looking = NULL;
  looking_here = asked_here = false;
  looked_at = 0;
}

/* What the child inherited tells of its parent. */
static void in_child(void) {
  confine_forget();
  orphan = rt.state == RT_ON;
  if (rt.confined) {
    refuse();
    return;
  }
  if (still_ours())
    sys_close(status_fd);
  open_status();
}

void confine_watch(void) {
  struct rlimit limit;
  if (sys_getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < 256)
    return; /* too few descriptors to keep one */
  int saved = errno;
  find_ways();
  open_status();
  confined_before = filters();
  rewind_status();
  pthread_atfork(NULL, NULL, in_child);
  errno = saved;
}

/* In an order in which a handler never waits for its own thread. */
void confine_left(void) {
  const bool *mine = &looking_here;
  if (!looking_here)
    return;
  __atomic_compare_exchange_n(&looking, &mine, NULL, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  looking_here = false;
}

static uint64_t ticks(void) {
#if defined __x86_64__ || defined __i386__
  return __builtin_ia32_rdtsc();
#else
  return looked_at + LATELY; /* never lately */
#endif
}

static SLOW bool look(void) {
  if (looking_here)
    return false; /* a handler, while its thread is about to know */
  looking_here = true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  /* Another thread is about to know; or was, when it ended behind a jump. */
  for (int tries = 0;; tries++) {
    const bool *whose = NULL;
    if (__atomic_compare_exchange_n(&looking, &whose, &looking_here, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED) ||
        whose == &looking_here)
      break;
    if (tries == 2000) {
      looking_here = false;
      return __atomic_load_n(&rt.confined, __ATOMIC_ACQUIRE);
    }
    wait_for_other((unsigned)tries, true);
  }
  bool confined = false;
  if (still_ours() && !(confined = filters() != confined_before))
    rewind_status();
  if (confined) {
    refuse();
    if (rt.state == RT_ON) /* for the reader */
      rt.header->confined = 1;
    __atomic_store_n(&rt.confined, true, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&looked_at, ticks(), __ATOMIC_RELAXED);
  confine_left();
  return confined;
}

bool confine_holds(bool asked) {
  bool before = asked_here;
  asked_here = asked;
  return before;
}

static bool is_lately(void) {
  return ticks() - __atomic_load_n(&looked_at, __ATOMIC_RELAXED) < LATELY;
}

/* Who holds signals back asks once, as a thread's first event and its end do: no handler can come
   there. But not for longer than a moment, since files may be made there, or processes waited for.
   The event for which a thread got its block goes on from that answer. */
static bool asked_before(const struct thread *t) {
  bool follows = t->filters == FILTERS_UNASKED && t->asked == t->block->sequence;
  return (asked_here || follows) && is_lately();
}

/* One event may take the lock ten times over, and asks once: a filter that came in between is
   another thread's, or a handler's, and might as well come right behind the answer. */
bool is_confined(void) {
  if (__atomic_load_n(&rt.confined, __ATOMIC_ACQUIRE))
    return true;
  struct thread *t = aprof_self;
  if (status_fd < 0 || t->filters == FILTERS_ASKED || !may_be_confined() || asked_before(t))
    return false;
  bool confined = look();
  if (t->filters == FILTERS_UNASKED)
    t->filters = FILTERS_ASKED;
  return confined;
}

bool confine_never(void) {
  return status_fd >= 0 && confined_before == 0 && !may_be_confined();
}

bool was_confined_lately(void) {
  return is_lately() ? __atomic_load_n(&rt.confined, __ATOMIC_ACQUIRE) : is_confined();
}

void confine_opened(void) {
  orphan = false;
}
