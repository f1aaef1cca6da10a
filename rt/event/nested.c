/* SPDX-License-Identifier: MIT */
/*
 * Events inside events: signal handlers that run futures, and handlers that never
 * return to what they interrupted.
 *
 * A handler's events are dropped while the event it interrupted is half done. But
 * siglongjmp, or the end of a thread, may leave that event for good; its sequence
 * would stay odd and everything after it be dropped. So an event that finds the
 * sequence odd looks whether it is inside a handler: on an alternate stack, or
 * with a signal frame that interrupted this library above it on its stack. If not,
 * the event was left, and its thread's records are made sound again: what it was
 * about to book is lost, and counted as a missed event.
 *
 * Slow paths block signals while they hold the lock, so no other thread waits for a
 * lock whose holder was jumped out of.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "nested.h"

#include "rt/count/miss.h"
#include "rt/future/grace.h"
#include "rt/future/record.h"
#include "rt/sys/confine.h"
#include "rt/sys/lock.h"
#include "rt/sys/vdso.h"
#include "transitions.h"

/* -- is this a handler? --------------------------------------------------------- */

#if defined __x86_64__

#define FAR (1u << 20)   /* bytes of a known stack that are searched */
#define NEAR (64u << 10) /* ... and of another */

extern const char __ehdr_start[], etext[];

/* ThreadSanitizer runs handlers itself, later, wherever the program calls libc. */
static bool handlers_put_off(void) {
  extern void __tsan_init(void) __attribute__((weak, visibility("default")));
  return &__tsan_init != NULL;
}

/* The address that the program's handlers return to, the first word of a signal frame; all have the
   same. Our own handler makes no events. 0: no handler was ever installed. */
static uint64_t find_restorer(void) {
  static uint64_t known;
  struct kernel_action action;
  for (int n = 1; n < 65 && known == 0; n++)
    if (sys_call(SYS_rt_sigaction, n, NULL, &action, sizeof action.mask) == 0 &&
        (action.flags & KERNEL_RESTORER) && action.restorer != (uintptr_t)sys_restorer)
      known = action.restorer;
  return known;
}

/* Reads memory that may not be mapped. Returns how many bytes were. */
static size_t peek(uintptr_t from, void *to, size_t size) {
  struct iovec here = {to, size}, there = {(void *)from, size};
  ssize_t got = sys_process_vm_readv(rt.pid, &here, 1, &there, 1, 0);
  return got > 0 ? (size_t)got : 0;
}

/* Is there a signal frame at `frame`, and did it interrupt code of this library, or something that
   this library may have called? */
static bool interrupted_event(uintptr_t frame, uint64_t restorer) {
  struct {
    uint64_t restorer;
    ucontext_t context;
  } seen;
  _Static_assert(offsetof(__typeof__(seen), context) == 8, "they lie side by side");
  size_t wanted =
      offsetof(__typeof__(seen), context.uc_mcontext) + sizeof seen.context.uc_mcontext.gregs;
  if (peek(frame, &seen, wanted) != wanted || seen.restorer != restorer)
    return false;
  uintptr_t at = (uintptr_t)seen.context.uc_mcontext.gregs[REG_RIP];
  bool ours = at >= (uintptr_t)__ehdr_start && at < (uintptr_t)etext;
  return ours || vdso_is_at(at) || signals_in_libc || rt.callback != NULL;
}

/* Piece by piece, each within one page; coroutines have little room. 0: none. */
static uintptr_t find_frame(uintptr_t from, uintptr_t until, uint64_t restorer) {
  uint64_t words[128];
  for (from &= ~(uintptr_t)7; from < until;) {
    size_t size = sizeof words - from % sizeof words;
    size_t got = peek(from, words, size);
    for (size_t i = 0; i < got / 8; i++)
      if (words[i] == restorer && interrupted_event(from + i * 8, restorer))
        return from + i * 8;
    if (got < size)
      break;
    from += size;
  }
  return 0;
}

static bool in_signal_handler(struct thread *t) {
  stack_t alternate;
  if (was_confined_lately() || handlers_put_off())
    return true; /* it cannot be told: what was interrupted is taken to go on */
  if (sys_sigaltstack(NULL, &alternate) == 0 && (alternate.ss_flags & SS_ONSTACK))
    return true;
  uint64_t restorer = find_restorer();
  if (restorer == 0)
    return false;
  uintptr_t here = (uintptr_t)__builtin_frame_address(0), until = here + NEAR;
  bool known = here >= t->stack_low + NEAR && here < t->stack_high;
  if (known)
    until = t->stack_high - here < FAR ? t->stack_high : here + FAR;
  /* The frame that the last event has found: a handler that makes many events may otherwise take
     longer than until it is called again, and what it interrupts never goes on. */
  if (t->handler_frame <= here || t->handler_frame >= until ||
      !interrupted_event(t->handler_frame, restorer))
    t->handler_frame = find_frame(here, until, restorer);
  return t->handler_frame != 0;
}

#else

/* Nobody knows how to tell here: what was interrupted is taken to go on. */
static bool in_signal_handler(struct thread *t) {
  (void)t;
  return true;
}

#endif

/* The user's callback runs inside an event, too. */
static bool in_callback(const struct thread *t) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  return t->callback_at > here && t->callback_at - here < 1u << 20;
}

/* -- making sound ----------------------------------------------------------------- */

static bool is_record(uint32_t index) {
  uint64_t at = (uint64_t)index << 7;
  return at >= APROF_HEADER_SIZE && at + sizeof(struct aprof_future) <= rt.header->used;
}

/* Cuts the free list off at the first record that is not free. */
static void mend_free_list(struct thread *t) {
  uint32_t *link = &t->free_list, n = 0, room = t->free_count + 1;
  struct aprof_future *last = NULL;
  uint32_t index = *link;
  while (index != 0 && n < room && is_record(index) && future_at(index)->id == 0) {
    last = future_at(index);
    index = last->parent;
    n++;
  }
  if (last != NULL)
    last->parent = 0;
  else
    *link = 0;
  t->free_count = (uint16_t)n;
}

/* Is f the future of a create bracket that is open here? */
static bool is_tentative(const struct thread *t, const struct aprof_future *f) {
  const struct aprof_future *open = t->tentative;
  for (int steps = 0; open != NULL && steps < 1000; steps++) {
    if (open == f)
      return true;
    open = tentative_around(open);
  }
  return false;
}

/* Is what f was put aside for still on its stack? */
static bool aside_rightly(const struct thread *t, struct aprof_future *f) {
  uint32_t callee = f->callee & ~CALLEE_MINE;
  if (callee >= CALLEE_NO_FUTURE)
    return callee != CALLEE_IDLE || t->idler == f;
  return innermost(f) != f;
}

static void goes_on(struct thread *t, struct aprof_future *f) {
  goes_on_by_itself(f);
  trace(t, APROF_TRACE_WAITING, f, f->await, f->last);
}

/* Gives up what this thread was creating. What is marked as running here, and is not what the
   thread runs, waits for its next event. What waits may have been about to run, and have lost its
   await or have another's counters. */
static void mend_future(struct thread *t, struct aprof_future *f, uint64_t id, uint64_t now) {
  if (id == 0 || f->lease != t->lease || f == t->cur)
    return;
  if (f->state == APROF_FUTURE_WAITING) {
    f->counters = (uintptr_t)nowhere;
    f->await = left_at(f);
  }
  if (f->state == APROF_FUTURE_ASIDE && !aside_rightly(t, f))
    goes_on(t, f);
  if (f->state == APROF_FUTURE_TENTATIVE && !is_tentative(t, f)) {
    if (future_claim(f, id))
      future_free(t, f);
  } else if (f->state == APROF_FUTURE_RUNNING) {
    set_left(t, f, not_before(now, f));
    f->callee = 0;
  }
}

/* The event that this thread was in is over: nothing that the next one relies on
   may be half done. */
void event_left(struct thread *t) {
  struct aprof_block *b = t->block;
  struct aprof_future *f = t->cur;
  uint64_t now = event_time(t);
  signals_in_libc = false;
  confine_left();
  t->filters = FILTERS_OUTSIDE;
  node_cache_clear(t);
  mend_free_list(t);
  t->spare_records = 0;
  t->suspended = t->polled = NULL;
  t->callback_at = 0;
  if (t->tentative != NULL &&
      (t->tentative->id != t->tentative_id || t->tentative->state != APROF_FUTURE_TENTATIVE))
    t->tentative = NULL;
  if (t->tentative == NULL)
    t->tentative_id = 0;
  poller_left(t);
  if (f != NULL && (f->id == 0 || f->state != APROF_FUTURE_RUNNING || f->lease != t->lease))
    f = NULL;
  trace_stolen(t, now);
  t->cur = NULL;
  if (f != NULL) {
    now = not_before(now, f);
    set_running(t, f, now);
    slice_open(t, f, now, node_function(f->node));
  } else {
    set_resting(t, now);
  }
  thread_waits(t, false);
  future_unhold(t);
  records_each(t, mend_future, now);
  event_missed(t, APROF_MISS_BROKEN, f != NULL ? node_function(f->node) : 0);
  publish_fence();
  b->sequence++;
}

/* Between events, or in one; also where the thread had only just looked. */
bool event_interrupted(struct thread *t) {
  return (t->block->sequence & 1) || in_signal_handler(t);
}

bool event_recover(struct thread *t) {
  if (rt_locked_here() || in_callback(t)) {
    t->block->nested_events++;
    return false;
  }
  uint64_t before = 0;
  t->filters = FILTERS_OUTSIDE; /* the event that asked may have been left long ago */
  signals_block_confined(&before,
                         was_confined_lately()); /* handlers may come faster than we can ask */
  bool left = !in_signal_handler(t);
  if (left)
    event_left(t);
  else
    t->block->nested_events++;
  signals_restore(&before);
  return left;
}
