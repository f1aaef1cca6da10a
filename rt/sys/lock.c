/* SPDX-License-Identifier: MIT */
/* The lock of all slow paths; see lock.h. */
#include "lock.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#include "confine.h"
#include "kernel.h"
#include "wait.h"

/* In line: a handler that comes as soon as signals are let through finds this library
   interrupted, as in the rest of an event. */
static inline __attribute__((always_inline)) void change_mask(int how, const uint64_t *set,
                                                              uint64_t *before) {
  sys_call(SYS_rt_sigprocmask, how, set, before, sizeof *set);
}

/* A pending cancellation must not act in here either: a slow path that ended in the
   middle would keep its lock, and the C library waits for a signal that is blocked.
   The state before travels in the bit of a signal that no program can block; and in that
   of SIGKILL, that the mask was left alone: the kernel may not be asked any more. In that of
   SIGSTOP, that signals were held back already by who had asked. */
#define CANCEL_BIT (1ull << 31)
#define ALONE_BIT (1ull << (SIGKILL - 1))
#define HELD_BIT (1ull << (SIGSTOP - 1))

__thread bool signals_in_libc __attribute__((tls_model("initial-exec")));

static void block(uint64_t *before, bool confined, bool asked) {
  static const uint64_t all = UINT64_MAX;
  int state;
  if (unlikely(confined))
    *before = ALONE_BIT;
  else
    change_mask(SIG_BLOCK, &all, before);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  *before = (*before & ~CANCEL_BIT) | (state == PTHREAD_CANCEL_DISABLE ? CANCEL_BIT : 0) |
            (confine_holds(asked) ? HELD_BIT : 0);
}

void signals_block_confined(uint64_t *before, bool confined) {
  block(before, confined, false);
}

void signals_block(uint64_t *before) {
  bool confined = is_confined();
  block(before, confined, !confined);
}

void signals_restore(const uint64_t *before) {
  uint64_t mask = *before & ~(CANCEL_BIT | HELD_BIT);
  int disabled;
  confine_holds(*before & HELD_BIT);
  bool around = signals_in_libc; /* of what a handler interrupted that comes here itself */
  signals_in_libc = true;
  if (likely(!(mask & ALONE_BIT)))
    change_mask(SIG_SETMASK, &mask, NULL);
  if (!(*before & CANCEL_BIT))
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &disabled);
  signals_in_libc = around;
}

/* Where the mask was left alone, and under ThreadSanitizer, which calls handlers whenever
   the program calls libc, a handler may run while its own thread has the lock. */
static __thread bool locked_here __attribute__((tls_model("initial-exec")));

bool rt_locked_here(void) {
  return locked_here;
}

void rt_lock(void) {
  uint64_t before = 0;
  signals_block(&before);
  locked_here = true;
  for (unsigned tries = 0; __atomic_exchange_n(&rt.lock, 1, __ATOMIC_ACQUIRE);)
    while (__atomic_load_n(&rt.lock, __ATOMIC_RELAXED))
      wait_for_other(tries++, before & ALONE_BIT);
  rt.signals = before;
}

void rt_unlock(void) {
  uint64_t before = rt.signals;
  __atomic_store_n(&rt.lock, 0, __ATOMIC_RELEASE);
  locked_here = false;
  signals_restore(&before);
}
