/* SPDX-License-Identifier: MIT */
/*
 * Who is told of totals: a thread that aprof_on_totals starts, which has them made one after the
 * other, and calls the program when they are whole.
 *
 * Not the thread that asks: it may be a handler, and is not to wait for a file. So a snapshot
 * leaves a wish, and goes on. Wishes are a ring: `asked` counts those that were claimed, each is
 * there once its slot says so, and the thread sleeps on `moved`.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "totals.h"

#include "dump.h"
#include "rt/file/clock.h"
#include "rt/sys/confine.h"
#include "rt/sys/kernel.h"
#include "rt/sys/lock.h"
#include "rt/sys/say.h"
#include "rt/sys/wait.h"

#define WISHES 4u

static struct {
  aprof_totals_callback callback;
  void *arg;
  pthread_t thread;
  uint32_t told;  /* wishes are taken */
  uint32_t ends;  /* the thread has to leave once none are left */
  uint32_t moved; /* futex: a wish, or the end */
  uint32_t asked, done;
  struct wish {
    uint32_t there; /* number of the wish, from 1 on, that is whole here */
    uint64_t sequence, tick;
  } wish[WISHES];
} totals;

static void wake_thread(void) {
  __atomic_fetch_add(&totals.moved, 1, __ATOMIC_RELEASE);
  sys_call(SYS_futex, &totals.moved, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* -- who asks ------------------------------------------------------------------------ */

static bool is_told(void) {
  return __atomic_load_n(&totals.told, __ATOMIC_ACQUIRE) != 0;
}

/* -1: too many are asked for already. */
static int leave_wish(uint64_t sequence, uint64_t tick) {
  uint32_t number = __atomic_load_n(&totals.asked, __ATOMIC_RELAXED);
  do {
    if (number - __atomic_load_n(&totals.done, __ATOMIC_ACQUIRE) >= WISHES)
      return -1;
  } while (!swapped(&totals.asked, &number, number + 1, RELAXED));
  struct wish *w = &totals.wish[number % WISHES];
  w->sequence = sequence;
  w->tick = tick;
  __atomic_store_n(&w->there, number + 1, __ATOMIC_RELEASE);
  wake_thread();
  return 0;
}

int totals_request(void) {
  uint64_t sequence = __atomic_add_fetch(&rt.header->signals, 1, __ATOMIC_RELAXED);
  uint64_t now = clock_read();
  return is_told() ? leave_wish(sequence, now) : dump_request("signal", now);
}

/* -- the thread ---------------------------------------------------------------------- */

static bool next_wish(struct wish *copy) {
  uint32_t number = totals.done;
  if (__atomic_load_n(&totals.asked, __ATOMIC_RELAXED) == number)
    return false;
  const struct wish *w = &totals.wish[number % WISHES];
  for (unsigned tries = 0; __atomic_load_n(&w->there, __ATOMIC_ACQUIRE) != number + 1;)
    wait_for_other(tries++, false); /* its thread is about to write it */
  *copy = *w;
  __atomic_store_n(&totals.done, number + 1, __ATOMIC_RELEASE);
  return true;
}

/* The program's callback may end, or change, who is told. */
static void make_wishes(void) {
  struct wish wish;
  while (next_wish(&wish)) {
    char path[DUMP_PATH];
    if (dump_tell(wish.sequence, wish.tick, path) == 0 && totals.callback != NULL)
      totals.callback(path, totals.arg);
  }
}

static void *thread_main(void *none) {
  for (;;) {
    uint32_t moved = __atomic_load_n(&totals.moved, __ATOMIC_ACQUIRE);
    make_wishes();
    if (__atomic_load_n(&totals.ends, __ATOMIC_ACQUIRE))
      return none;
    sys_call(SYS_futex, &totals.moved, FUTEX_WAIT_PRIVATE, moved, NULL, NULL, 0);
  }
}

/* No signal of the program's is handled there. */
static bool start_thread(void) {
  uint64_t before = 0;
  totals.ends = 0;
  signals_block(&before);
  bool started = pthread_create(&totals.thread, NULL, thread_main, NULL) == 0;
  signals_restore(&before);
  if (started)
    __atomic_store_n(&totals.told, 1, __ATOMIC_RELEASE);
  else
    rt_say("nobody is told of totals: no thread can be started for that", "");
  return started;
}

static bool is_here(void) {
  return is_told() && pthread_equal(totals.thread, pthread_self());
}

static void end_thread(void) {
  __atomic_store_n(&totals.told, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&totals.ends, 1, __ATOMIC_RELEASE);
  wake_thread();
  pthread_join(totals.thread, NULL);
  totals.callback = NULL;
  make_wishes(); /* of who found it there until now */
}

/* A callback cannot wait for the thread that it runs on: that one stays, and tells nobody. */
int api_totals(aprof_totals_callback callback, void *arg) {
  if (rt.state == RT_DEAD || rt.state == RT_NEW || is_confined())
    return -1;
  bool here = is_here();
  if (is_told() && !here)
    end_thread();
  totals.arg = arg;
  totals.callback = callback;
  return callback == NULL || here || start_thread() ? 0 : -1;
}

void totals_forget(void) {
  totals.told = totals.asked = totals.done = 0;
  totals.callback = NULL;
  for (uint32_t i = 0; i < WISHES; i++)
    totals.wish[i].there = 0;
}
