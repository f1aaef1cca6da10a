/*
 * Signals that the kernel sends for what this library does itself: beyond the program's
 * RLIMIT_FSIZE, into a pipe that nobody reads, to a terminal that is not its. Each would
 * be the end of a program that did nothing.
 *
 * All of them are sent to the thread that made the call, so they are held back there and
 * taken off again. What was pending before is the program's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rt.h"

#define BIT(number) (1ull << ((number)-1))
static const uint64_t ours = BIT(SIGXFSZ) | BIT(SIGPIPE) | BIT(SIGTTOU);

static uint64_t pending(void) {
  uint64_t set = 0;
  syscall(SYS_rt_sigpending, &set, sizeof set);
  return set & ours;
}

void quiet_begin(struct quiet *q) {
  int saved = errno;
  q->on = !__atomic_load_n(&rt.confined, __ATOMIC_ACQUIRE) &&
          syscall(SYS_rt_sigprocmask, SIG_BLOCK, &ours, &q->mask, sizeof ours) == 0;
  q->pending = q->on ? pending() : 0;
  errno = saved;
}

void quiet_end(const struct quiet *q) {
  static const struct timespec now = {0, 0};
  int saved = errno;
  uint64_t came;
  while (q->on && (came = pending() & ~q->pending) != 0)
    if (syscall(SYS_rt_sigtimedwait, &came, NULL, &now, sizeof came) < 0 && errno != EINTR)
      break;
  if (q->on)
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &q->mask, NULL, sizeof q->mask);
  errno = saved;
}
