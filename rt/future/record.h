/* SPDX-License-Identifier: MIT */
/* Records of futures: made, given back; see record.c. Inside an event. */
#ifndef APROF_RT_RECORD_H
#define APROF_RT_RECORD_H

#include "rt/rt.h"

_Static_assert(offsetof(struct thread, lease) == offsetof(struct thread, serial) + 4 &&
                   offsetof(struct thread, serial) % 8 == 0,
               "both are read at once");
static inline uint64_t next_id(struct thread *t) {
  uint64_t id = (uint64_t)t->lease << 32 | t->serial;
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(&id, &t->serial, sizeof id);
#endif
  t->serial++; /* behind the reading, which would have to wait for it */
  return id;
}
/* A run's bracket closes, behind all else that is written of f: of equal ones another thread may
   have it from here on. One that was closed before, as by a token that is used twice, stays so. */
static inline __attribute__((always_inline)) void record_closes(struct aprof_future *f) {
  if (unlikely(byte_less(&f->open)))
    f->open = 0;
}

/* From the thread's list, which is not empty: all but how it begins, its place on a stack, its key
   and its id, which this returns, to be written behind a fence. In each free record callee, ending
   and request are zero; wake_site means nothing without a wake_tick, nor `polled` without a key.
   `c` counts it, where that is known. What runs, has no id and is older than its thread's last
   event is over to a reader (aprof_future), so all this is written before its state. */
static inline __attribute__((always_inline)) uint64_t
record_unlink(struct thread *t, struct aprof_future *f, uint64_t now,
              const struct aprof_counters *c) {
  t->free_list = f->parent;
  t->free_count--;
  f->waiting = f->queued = 0;
  f->last = f->created_tick = now;
  f->counters = (uintptr_t)c;
  f->wake_tick = 0;
  uint64_t id = next_id(t);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return id;
}

/* ... and begins so, but for its place in the tree. */
static inline __attribute__((always_inline)) uint64_t
record_take(struct thread *t, struct aprof_future *f, uint64_t now, uint8_t state, uint8_t flags,
            uint8_t open, const struct aprof_counters *c) {
  uint64_t id = record_unlink(t, f, now, c);
  f->state = state;
  f->flags = flags;
  f->open = open;
  f->ending = 0;
  f->lease = t->lease;
  return id;
}

/* Word for word: GCC would align the stack for a value. */
static inline __attribute__((always_inline)) void begins_so(struct begins *as, uint32_t node,
                                                            uint8_t state, uint8_t flags,
                                                            uint8_t open, uint32_t lease,
                                                            uint32_t ns, uint32_t origin) {
  as->node = node;
  as->await = 0;
  as->state = state;
  as->flags = flags;
  as->open = open;
  as->ending = 0;
  as->lease = lease;
  as->ns = ns;
  as->origin = origin;
}
/* ... as what began there last. Two stores for eight words. */
#define BEGINS_AT(member, first)                                                                   \
  (offsetof(struct begins, member) - offsetof(struct begins, first) ==                             \
   offsetof(struct aprof_future, member) - offsetof(struct aprof_future, first))
_Static_assert(BEGINS_AT(await, node) && BEGINS_AT(state, node) && BEGINS_AT(flags, node) &&
                   BEGINS_AT(open, node) && BEGINS_AT(ending, node) && BEGINS_AT(lease, node) &&
                   BEGINS_AT(origin, ns) && offsetof(struct begins, ns) == 16,
               "they lie as in a record");
static inline __attribute__((always_inline)) uint64_t
record_begin(struct thread *t, struct aprof_future *f, uint64_t now, const struct begins *as,
             const struct aprof_counters *c) {
  uint64_t id = record_unlink(t, f, now, c);
  copy_sixteen((char *)f + offsetof(struct aprof_future, node), &as->node);
  memcpy((char *)f + offsetof(struct aprof_future, ns), &as->ns, 2 * sizeof as->ns);
  return id;
}

/* A record comes nearer, which another thread has written last: both of its lines. */
static inline __attribute__((always_inline)) void record_nears(const struct aprof_future *f) {
  nears_written(&f->id);
  nears_written(&f->created_tick);
}
_Static_assert(offsetof(struct aprof_future, id) / 64 !=
                       offsetof(struct aprof_future, created_tick) / 64 &&
                   sizeof(struct aprof_future) == 128,
               "both lines");

/* In the thread's own list: where there are more, a general event puts them aside. */
#define FREE_ENOUGH 256u
/* ... of a thread that ends what others create, and creates nothing: what its list keeps from who
   does leaves the caches meanwhile, and there may be many such threads. */
#define FREE_FOR_OTHERS 16u

/* Back to it. */
static inline __attribute__((always_inline)) void
record_give(struct thread *t, struct aprof_future *f, uint32_t index) {
  publish_fence(); /* it is counted */
  _Static_assert(APROF_FUTURE_FREE == 0 && offsetof(struct aprof_future, state) % 4 == 0 &&
                     offsetof(struct aprof_future, ending) ==
                         offsetof(struct aprof_future, state) + 3,
                 "all four at once");
  memset(&f->state, 0, 4); /* and flags, open, ending, as record_take relies upon */
  f->parent = t->free_list;
  t->free_list = index;
  t->free_count++;
}

/* In no place of the tree yet, tentative. NULL: counted as lost. */
struct aprof_future *future_new(struct thread *t, uint64_t now);
/*
 * Takes a future's id away. The thread that does may end it, and no other: of two that want to,
 * because the program does not order them, one does. False: it is over, or was.
 */
static inline bool future_claim(struct aprof_future *f, uint64_t id) {
  return id != 0 && swapped(&f->id, &id, 0, ACQ_REL);
}
void future_free(struct thread *t, struct aprof_future *f); /* claimed */
/* A thread that creates nothing gives what it has to those who do. */
SLOW void records_go_back(struct thread *t);
/* Calls `each` with all records that are there, living or not. */
void records_each(struct thread *t,
                  void (*each)(struct thread *t, struct aprof_future *f, uint64_t id,
                               uint64_t with),
                  uint64_t with);
void future_reset(void);
/* This thread begins an epoch, outside events: before the ring of epochs comes round, what was
   open in those that are over is booked, and no id is one of 65536 epochs ago. */
void future_epoch(struct thread *t);

#endif
