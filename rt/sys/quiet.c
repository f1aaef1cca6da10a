/* SPDX-License-Identifier: MIT */
/*
 * Signals that the kernel sends for what this library does itself: beyond the program's
 * RLIMIT_FSIZE, into a pipe that nobody reads, to a terminal that is not its. Each would
 * be the end of a program that did nothing.
 *
 * All of them are sent to the thread that made the call, so they are held back there and
 * taken off again. One that somebody else sends meanwhile is the program's: the kernel says
 * who sent it. (A terminal sends nothing to a process that holds its signal back.)
 */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "quiet.h"
#include "rt/rt.h"

#define BIT(number) (1ull << ((number)-1))
static const uint64_t ours = BIT(SIGXFSZ) | BIT(SIGPIPE) | BIT(SIGTTOU);

uint64_t signals_pending(void) {
  uint64_t set = 0;
  sys_call(SYS_rt_sigpending, &set, sizeof set);
  return set;
}

static uint64_t pending(void) {
  return signals_pending() & ours;
}

void quiet_begin(struct quiet *q) {
  q->on = !__atomic_load_n(&rt.confined, __ATOMIC_ACQUIRE) &&
          sys_call(SYS_rt_sigprocmask, SIG_BLOCK, &ours, &q->mask, sizeof ours) == 0;
  q->pending = q->on ? pending() : 0;
}

/* As the kernel sends it to the caller of write(2) or ftruncate(2): from itself. */
static bool sent_by_our_call(const siginfo_t *info) {
  return info->si_signo != SIGTTOU && info->si_code == SI_USER &&
         info->si_pid == (pid_t)sys_call(SYS_getpid);
}

/* Only to this thread: nobody can know any more whether the sender meant another. */
static void put_back(siginfo_t *info) {
  sys_call(SYS_rt_tgsigqueueinfo, sys_call(SYS_getpid), sys_call(SYS_gettid), info->si_signo, info);
}

void quiet_end(const struct quiet *q) {
  static const struct timespec now = {0, 0};
  uint64_t left = ~q->pending, came;
  while (q->on && (came = pending() & left) != 0) {
    siginfo_t info;
    long got = sys_call(SYS_rt_sigtimedwait, &came, &info, &now, sizeof came);
    if (got < 0) {
      if (got != -EINTR)
        break;
    } else if (!sent_by_our_call(&info)) {
      put_back(&info);
      left &= ~BIT(info.si_signo);
    }
  }
  if (q->on)
    sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &q->mask, NULL, sizeof q->mask);
}
