/* SPDX-License-Identifier: MIT */
/*
 * What the fast events have in common; see fast.c.
 *
 * Purpose: the steps of transitions.h for when it is known beforehand that nothing is missing:
 * no call, no lock, no test that an event has made already. What both write, segments.h writes.
 * Cost: inline. Locking: only inside an event.
 */
#ifndef APROF_FAST_H
#define APROF_FAST_H

/* Packing two stores into one costs more instructions than it saves here. What begins with a line
   of the cache touches none of its neighbour's. */
#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("no-tree-slp-vectorize", "align-functions=64")
#endif

#include "end.h"
#include "fast-notes.h"
#include "gates.h"
#include "rt/future/key.h"
#include "rt/future/record.h"
#include "rt/request/member.h"
#include "timed.h"
#include "tokens.h"
#include "transitions.h"

/* GCC saves a register at each event rather than keep on the stack what only the way to the
   general event needs. Those that it may not use at all are not saved either. (But in the large
   model, where a call takes r15 all the same, and GCC would not save that either.) */
#if defined __x86_64__ && defined __OPTIMIZE__ && defined __GNUC__ && !defined __clang__ &&        \
    !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__ && !defined __code_model_large__
register uint64_t unused_r13 __asm__("r13");
register uint64_t unused_r14 __asm__("r14");
register uint64_t unused_r15 __asm__("r15");
#ifdef FAST_SAVES_NOTHING
register uint64_t unused_rbx __asm__("rbx");
register uint64_t unused_r12 __asm__("r12");
#endif
#endif

/* What files have of each other: in fast-traced.c they are one, in which the way to it stays a tail
   call. */
#define APART static __attribute__((noinline)) /* a rarer part, in registers of its own */
#ifdef FAST_TRACED
#define BETWEEN APART
#define GENERAL(name) slow_##name /* what they go on in */
#else
#define BETWEEN
#define GENERAL(name) timed_##name
#endif

ALWAYS bool usual(const struct thread *t) {
  return thread_usual(t, NOTES ? APROF_TRACED : 0);
}

/* Before `now` that the thread or the future knows, time runs in general events. */
ALWAYS uint64_t fast_clock(uint32_t clock) {
  if (clock == CLOCK_SHED) {
    const struct thread *t = aprof_self;
    if (t->shed >= APROF_STEP_COARSE)
      return t->stood;
    clock = rt.clock;
  }
#if defined __x86_64__ || defined __i386__
  if (clock == APROF_CLOCK_TSC)
    return __builtin_ia32_rdtsc();
#endif
  return __atomic_load_n(&rt.header->virtual_now, __ATOMIC_RELAXED);
}

/* One instruction where there is one, so that no register is held for it. */
ALWAYS void sequence_add(struct aprof_block *b, int64_t amount) {
#if defined __x86_64__
  __asm__ volatile("addq %1, %0" : "+m"(b->sequence) : "er"(amount) : "memory", "cc");
#else
  b->sequence += (uint64_t)amount;
#endif
}

/* The event NAME of the set for this clock; the general one where there is none. Of some requests
   there are none for what is shed, which is half of the code. */
#ifdef FAST_SOME
#define UNLESS_SOME(...)
#else
#define UNLESS_SOME(...) __VA_ARGS__
#endif
#if defined __x86_64__ || defined __i386__
#define FOR_CLOCK(clock, name)                                                                     \
  ((clock) == APROF_CLOCK_TSC ? name##_tsc                                                         \
   UNLESS_SOME(: (clock) == (APROF_CLOCK_TSC | CLOCK_GOVERNED) ? name##_tsc_governed)              \
                              : FOR_VIRTUAL(clock, name))
#define SETS(SET, GOVERNED)                                                                        \
  SET(tsc, APROF_CLOCK_TSC)                                                                        \
  SETS_ANYWHERE(SET, GOVERNED)                                                                     \
  UNLESS_SOME(GOVERNED(tsc))
#else
#define FOR_CLOCK FOR_VIRTUAL
#define SETS SETS_ANYWHERE
#endif
#define FOR_VIRTUAL(clock, name)                                                                   \
  ((clock) == APROF_CLOCK_VIRTUAL ? name##_virtual                                                 \
   UNLESS_SOME(: (clock) == (APROF_CLOCK_VIRTUAL | CLOCK_GOVERNED) ? name##_virtual_governed)      \
                                  : GENERAL(name))
/* One set per clock, one for what is shed, and those that choose between the two. */
#define SETS_ANYWHERE(SET, GOVERNED)                                                               \
  SET(virtual, APROF_CLOCK_VIRTUAL)                                                                \
  UNLESS_SOME(SET(shed, CLOCK_SHED))                                                               \
  UNLESS_SOME(GOVERNED(virtual))

/* The event of a governed thread: of which set? The general one where the governor is to look.
   A ROW of the table of events (aprof/event-table.h). */
#define CHOOSE(clock, role, name, parameters, arguments)                                           \
  static void name##_##clock##_governed parameters {                                               \
    struct thread *t = aprof_self;                                                                 \
    if (!usual(t) || unlikely(t->block->sequence + 1 >= t->check_at))                              \
      GENERAL(name) arguments;                                                                     \
    else if (likely(t->shed == APROF_STEP_NONE))                                                   \
      name##_##clock arguments;                                                                    \
    else {                                                                                         \
      if (t->shed == APROF_STEP_COARSE)                                                            \
        govern_time(t);                                                                            \
      name##_shed arguments;                                                                       \
    }                                                                                              \
  }

/* Of each row that goes on in a second try, as fast_NAME(thread, block, arguments, clock, other,
   odd) does the event, which has begun. In the first one (`odd` false) it is as it most often is;
   whatever is not goes on in NAME_odd, and what is too odd for that in the general event. */
#define ARGUMENTS(...) __VA_ARGS__
#define FIRST(set, role, name, parameters, arguments)                                              \
  static void name##_##set parameters {                                                            \
    struct thread *t = aprof_self;                                                                 \
    struct aprof_block *b = block_here();                                                          \
    if (begin(t, b))                                                                               \
      fast_##name(t, b, ARGUMENTS arguments, CLOCK_##set, name##_odd_##set, false);                \
    else                                                                                           \
      GENERAL(name) arguments;                                                                     \
  }
#define SECOND(set, role, name, parameters, arguments)                                             \
  APART void name##_odd_##set parameters {                                                         \
    struct thread *t = aprof_self;                                                                 \
    fast_##name(t, block_here(), ARGUMENTS arguments, CLOCK_##set, NULL, true);                    \
  }
#define BOTH(set, role, name, parameters, arguments)                                               \
  SECOND(set, role, name, parameters, arguments) FIRST(set, role, name, parameters, arguments)
#define CLOCK_tsc APROF_CLOCK_TSC
#define CLOCK_virtual APROF_CLOCK_VIRTUAL
#define CLOCK_shed CLOCK_SHED

/* Makes it odd: was it already? */
ALWAYS bool sequence_odd(struct aprof_block *b) {
#if defined __x86_64__
  bool odd;
  __asm__ volatile("btsq $0, %0" : "+m"(b->sequence), "=@ccc"(odd) : : "memory");
  return odd;
#else
  bool odd = b->sequence & 1;
  b->sequence |= 1;
  return odd;
#endif
}

/* It did not happen: the general one begins anew. */
ALWAYS void unbegin(const struct thread *t) {
  publish_fence();
  sequence_add(t->block, -1);
}

/* The event begins, before anything is read that a signal handler's events could
   change. False inside another one, and where nothing is as usual. */
ALWAYS bool begin(const struct thread *t, struct aprof_block *b) {
  if (!usual(t) || unlikely(sequence_odd(b)))
    return false;
  publish_fence();
  if (!NOTES || noted(t, b))
    return true;
  unbegin(t);
  return false;
}

#define UNDONE(with, role, name, parameters, arguments)                                            \
  ALWAYS void name##_undone(const struct thread *t, ARGUMENTS parameters) {                        \
    unbegin(t);                                                                                    \
    GENERAL(name) arguments;                                                                       \
  }
TIMED_EVENTS(UNDONE, 0)
#undef UNDONE

ALWAYS void finish(struct aprof_block *b) {
  if (NOTES)
    b->traced++;
  publish_fence();
  sequence_add(b, 1);
}

/* Is it not 0? Compared in memory: GCC would load it first. */
ALWAYS bool nonzero(const uint32_t *word) {
#if defined __x86_64__ && !defined __SANITIZE_THREAD__
  bool is;
  __asm__("cmpl $0, %1" : "=@ccne"(is) : "m"(*word));
  return is;
#else
  return *word != 0;
#endif
}

/* Is this amount of time negative, because another core's clock is behind? For two amounts ask
   about `a | b`. */
ALWAYS bool backwards(uint64_t passed) {
  return unlikely((int64_t)passed < 0);
}

/* ... one of two, each tested by the subtraction that it comes from: GCC would test both at once,
   for an instruction and a register more. */
ALWAYS bool either_backwards(uint64_t a, uint64_t b) {
  if (backwards(a))
    return true;
  __asm__ volatile("");
  return backwards(b);
}

/* The counters of f's await, or of its function. Threads that race for a future may find one for
   the other; then its limit is 0, which is looked at first. */
#define SAME_WORD(a, b) (offsetof(struct aprof_counters, a) == offsetof(struct aprof_counters, b))
_Static_assert(SAME_WORD(await.limit, function.none) &&
                   SAME_WORD(await.no_slices, function.slice_limit) &&
                   SAME_WORD(await.no_queued, function.queued_limit),
               "the words of one kind where the other has limits stay 0");
ALWAYS struct aprof_counters *fast_known(const struct aprof_future *f) {
  return (struct aprof_counters *)(uintptr_t)__atomic_load_n(&f->counters, __ATOMIC_RELAXED);
}

/* Is that the site of the bodies of what `c` counts, function or await? One compare of number
   and instance; false also where that site is known by its address alone: see fast_own. */
_Static_assert(offsetof(struct aprof_counters, function.own) ==
                       offsetof(struct aprof_counters, await.own) &&
                   offsetof(struct aprof_site, instance) == offsetof(struct aprof_site, id) + 4 &&
                   offsetof(struct aprof_site, id) % 8 == 0,
               "one word says whose bodies");
ALWAYS bool fast_is_own(const struct aprof_counters *c, const struct aprof_site *function) {
#if defined __SANITIZE_THREAD__ || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
  return site_known(function) && c->function.own == own_site(function->id);
#else
  uint64_t both;
  memcpy(&both, &function->id, sizeof both);
  return c->function.own == both;
#endif
}

/* What node_find would answer, if the thread's cache knows it at the first place; `beside`: or at
   the second, for which an event has too few registers that it need not save. */
ALWAYS struct node_entry *fast_node_of(struct thread *t, uint32_t parent, struct aprof_site *site,
                                       bool is_await, bool beside) {
  uint32_t place = parent << 1 | is_await;
  struct node_entry *e = node_entry_for(t, place, site);
  if (likely(e->site == site) && likely(e->place == place))
    return e;
  if (!beside)
    return NULL;
  e = node_entry_beside(e);
  return e->site == site && e->place == place ? e : NULL;
}
ALWAYS struct node_entry *fast_node(struct thread *t, uint32_t parent, struct aprof_site *site,
                                    bool is_await) {
  return fast_node_of(t, parent, site, is_await, false);
}

/* What a function's node is looked for under. */
ALWAYS uint32_t fast_above(const struct thread *t, uint32_t above, uint32_t clock) {
  return clock == CLOCK_SHED ? tree_parent(t, above) : above;
}

/* NULL: nothing was counted there by this thread. */
ALWAYS struct aprof_counters *fast_counters(struct thread *t, uint32_t node) {
  struct aprof_counters *segment = t->segments[node / NODE_SEGMENT];
  return likely(segment != NULL) ? segment + node % NODE_SEGMENT : NULL;
}

/* Is this amount one that is counted by an addition? Not where there is no histogram, nor a bucket
   in it, nor where it is a new maximum, or negative. */
ALWAYS bool fast_within(const uint64_t *limit, uint64_t value, uint32_t clock) {
  return likely(value < *limit) ||
         (clock == CLOCK_SHED && *limit != 0 && !backwards(value) && !keeps_maxima(aprof_self));
}

/* The value's bucket, from APROF_BUCKET_BASE on. */
ALWAYS uint64_t fast_bucket(uint64_t value) {
#if defined __x86_64__
  /* The conversion alone: the register is not cleared first for what may be late in it. */
  double number;
  uint64_t upper; /* the number's last 16 bits */
  __asm__("cvtsi2sdq %1, %0" : "=x"(number) : "r"(value));
  number += 0.5;
  __asm__("pextrw $3, %1, %k0" : "=r"(upper) : "x"(number));
  return upper;
#else
  union {
    double number;
    uint64_t bits;
  } as = {.number = (double)(int64_t)value + 0.5};
  return as.bits >> 48;
#endif
}

/* Another one in bucket `at` of those: of the values of which `each` are counted in turn, the one
   of that number. Once in 65536 times it carries, by a call that keeps all registers; GCC would
   save some for it each time. That lies where GCC puts nothing: what is cold would run into it. */
ALWAYS void fast_count_in(uint64_t buckets, uint64_t at, int each, int number) {
#if defined BUCKETS_CARRIES_KEPT
  __asm__ volatile("addw $1, %c3(%0,%1,%c2)\n\t"
                   "jc 1f\n"
                   "2:\n\t"
                   ".pushsection .text.unlikely.carries, \"ax\", @progbits\n"
                   "1:\n\t"
                   "leaq -128(%%rsp), %%rsp\n\t" /* GCC may use what lies below */
                   "pushq %1\n\t"
                   "leaq %c3(%0,%1,%c2), %1\n\t"
                   "pushq %1\n\t"
                   "leaq %c4(%0), %1\n\t"
                   "pushq %1\n\t"
                   "call buckets_carries_kept\n\t"
                   "leaq 16(%%rsp), %%rsp\n\t"
                   "popq %1\n\t"
                   "leaq 128(%%rsp), %%rsp\n\t"
                   "jmp 2b\n\t"
                   ".popsection"
                   :
                   : "r"(buckets), "r"(at), "i"(2 * each), "i"(2 * number),
                     "i"(APROF_BUCKETS_BEFORE(each - 1))
                   : "memory", "cc");
#else
  uint16_t *count = (uint16_t *)(uintptr_t)(buckets + 2 * (at * (uint64_t)each + (uint64_t)number));
  if (unlikely(++*count == 0))
    buckets_carries((uint16_t *)(uintptr_t)(buckets + APROF_BUCKETS_BEFORE(each - 1)), count);
#endif
}

ALWAYS void fast_count(uint64_t buckets, uint64_t value, uint32_t clock) {
  if (clock != CLOCK_SHED)
    fast_count_in(buckets, fast_bucket(value), 1, 0);
}

/* A maximum of something that was measured. */
ALWAYS bool fast_max(uint64_t *maximum, uint64_t value, uint32_t clock) {
  if (likely(value <= *maximum) || (clock == CLOCK_SHED && !keeps_maxima(aprof_self)))
    return false;
  *maximum = value;
  return true;
}

/* Is the await of the function that `c` counts, at `site`, the one it was in last, or
   known to the cache? It is fast_await(c) then. */
ALWAYS bool fast_waits_at(struct thread *t, struct aprof_counters *c, const struct aprof_future *f,
                          struct aprof_site *site, bool beside) {
  if (likely(c->function.last_site == (uintptr_t)site))
    return true;
  if (site->flags & (APROF_NAMES | APROF_WORKER))
    return false;
  struct node_entry *e = fast_node_of(t, f->node, site, true, beside);
  if (e == NULL || e->counters->await.function != (uintptr_t)c || e->counters->await.apart)
    return false;
  c->function.last_site = (uintptr_t)site;
  c->function.last_await = (uintptr_t)e->counters;
  return true;
}

/* Read where it is used, for the same reason as a histogram. */
ALWAYS struct aprof_counters *fast_await(const struct aprof_counters *c) {
  return (struct aprof_counters *)(uintptr_t)__atomic_load_n(&c->function.last_await,
                                                             __ATOMIC_RELAXED);
}

/* Those of the function that waits at `a`; as fast_await. */
ALWAYS struct aprof_counters *fast_function(const struct aprof_counters *a) {
  return (struct aprof_counters *)(uintptr_t)__atomic_load_n(&a->await.function, __ATOMIC_RELAXED);
}

/* State, flags, open and ending at once, from the lowest byte up. */
_Static_assert(offsetof(struct aprof_future, flags) == offsetof(struct aprof_future, state) + 1 &&
                   offsetof(struct aprof_future, open) ==
                       offsetof(struct aprof_future, state) + 2 &&
                   offsetof(struct aprof_future, ending) ==
                       offsetof(struct aprof_future, state) + 3,
               "they are read at once");
ALWAYS uint32_t fast_word(const struct aprof_future *f) {
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  uint32_t word;
  memcpy(&word, &f->state, sizeof word);
  return word;
#else
  return f->state | (uint32_t)f->flags << 8 | (uint32_t)f->open << 16 | (uint32_t)f->ending << 24;
#endif
}

/* caller_stack(), or a few words below it: no register is held for it. */
ALWAYS void fast_note_stack(uintptr_t *stack) {
#if defined __x86_64__ && defined __LP64__
  __asm__("movq %%rsp, %0" : "=m"(*stack));
#else
  *stack = caller_stack();
#endif
}

/* Running, it waits from now on: APROF_FUTURE_RUNNING | 1 is APROF_FUTURE_WAITING, and its
   flags are the next byte. No more than these two: another thread may write `ending` meanwhile. */
_Static_assert((APROF_FUTURE_RUNNING | 1) == APROF_FUTURE_WAITING &&
                   offsetof(struct aprof_future, flags) == offsetof(struct aprof_future, state) + 1,
               "both are set at once");
ALWAYS void fast_stops_running(struct aprof_future *f, uint8_t flags) {
  publish_fence(); /* a jump out of here must find what waits with the records of its await */
#if defined __x86_64__
  __asm__("orw %1, %0"
          : "+m"(*(uint16_t *)(void *)&f->state)
          : "ir"((uint16_t)(1 | (APROF_F_WAITED | flags) << 8))
          : "cc");
#else
  f->state = APROF_FUTURE_WAITING;
  f->flags |= APROF_F_WAITED | flags;
#endif
}

/* ... and back: whatever made it wait, it does not any more. */
ALWAYS void fast_starts_running(struct aprof_future *f) {
#if defined __x86_64__
  __asm__("andw %1, %0"
          : "+m"(*(uint16_t *)(void *)&f->state)
          : "i"((uint16_t) ~(1 | APROF_F_IMPLICIT << 8))
          : "cc");
#else
  f->state = APROF_FUTURE_RUNNING;
  f->flags &= (uint8_t)~APROF_F_IMPLICIT;
#endif
}

ALWAYS void fast_slice_close(struct thread *t, struct aprof_counters *c, uint64_t length,
                             uint32_t clock);

/* The end of an event: f, whose exec is closed, waits at `a` until its await, whose token that is,
   ends; its slice, which `sliced` counts, was so long. */
ALWAYS void finish_waits(struct thread *t, struct aprof_block *b, struct aprof_future *f,
                         const struct aprof_counters *a, struct aprof_token *token, uint64_t kind,
                         struct aprof_counters *sliced, uint64_t length, uint64_t now,
                         uint32_t clock) {
  f->counters = (uintptr_t)a;
  f->last = now;
  fast_stops_running(f, 0);
  uint64_t id = f->id;
  token->word[0] = kind == AWAIT_OUTER ? id : ~id;
  token->word[1] = (uintptr_t)f;
  token->word[2] = kind;
  t->suspended_id = id;
  t->suspended_at = (uintptr_t)token;
  fast_note_stack(&t->suspended_stack);
  b->state = t->rest;
  b->last = now;
  fast_slice_close(t, sliced, length, clock);
  note(t, APROF_TRACE_WAITING, f, a->await.node, now);
  note_rests(t, now);
  finish(b);
}

/* What was queued goes on, or is over. */
ALWAYS void fast_queued(struct aprof_future *f, struct aprof_counters *c, uint64_t passed,
                        uint32_t clock) {
  was_queued(f, c, passed);
  fast_count(c->function.queued_buckets, passed, clock);
}

/* A wait that is over, and was no call that returned at once; it is within the await's limit. */
ALWAYS void fast_rested(struct aprof_future *f, struct aprof_counters *a, uint64_t waited,
                        uint32_t clock) {
  has_waited(f, a, waited);
  fast_count(a->await.buckets, waited, clock);
}

/* The caller, whose exec is closed, waits at `called` until what it called closes. */
ALWAYS void fast_put_aside(struct aprof_future *caller, const struct node_entry *called,
                           uint32_t index, uint64_t now) {
  caller->await = called->node;
  stands_aside(caller, index | CALLEE_MINE, now);
}

/* Can fast_restore end the caller's wait? It is aside, since it has a callee. */
ALWAYS bool fast_restorable(const struct thread *t, const struct aprof_future *caller,
                            uint32_t index, bool member) {
  uint8_t odd = APROF_F_IMPLICIT | (member ? 0 : APROF_F_MEMBER);
  return likely(caller->callee == (index | CALLEE_MINE)) && likely(caller->lease == t->lease) &&
         likely(!(caller->flags & odd));
}

/* ... by now? */
ALWAYS bool fast_restores(const struct aprof_future *caller, const struct aprof_counters *a,
                          bool immediate, uint64_t now, uint32_t clock) {
  return likely(immediate) || fast_within(&a->await.limit, now - caller->last, clock);
}

/* It runs again. */
ALWAYS void fast_restore(struct thread *t, struct aprof_future *caller, struct aprof_counters *a,
                         bool immediate, uint64_t now, uint32_t clock) {
  uint64_t waited = now - caller->last;
  caller->await = 0;
  caller->callee = 0;
  caller->state = APROF_FUTURE_RUNNING;
  caller->last = now;
  t->cur = caller;
  t->counters = (struct aprof_counters *)(uintptr_t)a->await.function;
  has_waited(caller, a, waited);
  if (likely(immediate)) {
    a->await.immediate++;
    fast_max(&a->await.max, waited, clock);
  } else {
    caller->flags |= APROF_F_WAITED;
    fast_count(a->await.buckets, waited, clock);
  }
}

/* Who waited for a bracket that closes, or for a body that is over, runs again; with `member` also
   as part of a request. */
ALWAYS void fast_caller_runs(struct thread *t, struct aprof_block *b, struct aprof_future *caller,
                             struct aprof_counters *a, bool immediate, bool member, uint64_t now,
                             uint32_t clock) {
  if (member && (caller->flags & APROF_F_MEMBER))
    share_waited(caller, caller->await, now);
  fast_restore(t, caller, a, immediate, now, clock);
  b->last = now;
  note(t, APROF_TRACE_RUNNING, caller, caller->node, now);
}

/* Finds where f's slices are counted; `c` counts f itself. False: not known here yet. No slice is
   open, so the thread's own record of that may be written before all is tested. */
ALWAYS bool fast_outer(struct thread *t, const struct aprof_future *f, struct aprof_counters *c) {
  if (unlikely(f->outer != f->node) && (f->outer == 0 || (c = fast_counters(t, f->outer)) == NULL))
    return false;
  t->slice_counters = c;
  return true;
}

/* Is the slice that ends now one to be looked at: the longest, or long, or without a histogram? */
ALWAYS bool fast_slice_long(const struct aprof_counters *c, uint64_t length, uint32_t clock) {
  return unlikely(length >= c->function.slice_limit) &&
         (clock != CLOCK_SHED || keeps_maxima(aprof_self));
}

/* ... it is not. */
ALWAYS void fast_slice_close(struct thread *t, struct aprof_counters *c, uint64_t length,
                             uint32_t clock) {
  t->slice_count++;
  c->function.slices++;
  fast_count(c->function.slice_buckets, length, clock);
}

/* Its lease tells that f was suspended here, so no earlier than the thread's last event. */
ALWAYS bool fast_resumable(const struct thread *t, const struct aprof_block *b,
                           const struct aprof_future *f) {
  return likely(f->lease == t->lease) && likely(f->state == APROF_FUTURE_WAITING) &&
         likely(f->wake_tick == 0) && likely(b->state == APROF_THREAD_OTHER);
}

/* The end of an event: f goes on behind its wait, in the `outermost` of its awaits. False: it does
   not, or is odd. */
ALWAYS bool fast_resumes(struct thread *t, struct aprof_block *b, struct aprof_future *f,
                         bool outermost, uint32_t clock) {
  struct aprof_counters *a = fast_known(f);
  if (!fast_resumable(t, b, f))
    return false;
  if (!fast_outer(t, f, fast_function(a)))
    return false;
  uint64_t now = fast_clock(clock), rested = now - b->last, waited = now - f->last;
  if (backwards(rested) || !fast_within(&a->await.limit, waited, clock))
    return false;
  if (outermost)
    f->await = 0;
  b->other += rested;
  fast_starts_running(f);
  f->last = now;
  thread_runs(t, b, f, fast_function(a), now);
  slice_starts(b, f->outer, now, a->await.site);
  fast_rested(f, a, waited, clock);
  note(t, APROF_TRACE_RUNNING, f, f->node, now);
  finish(b);
  return true;
}

/* f is over: what future_end counts. The time since it was born is within its function's limit. */
ALWAYS void fast_done(struct aprof_counters *c, const struct aprof_future *f, int how,
                      uint64_t wall, uint32_t clock) {
  uint64_t exec = wall - f->waiting - f->queued;
  has_ended(f, c, how);
  if (backwards(exec)) {
    exec = 0;                 /* another thread wrote there without an order between the two */
    __asm__("" : "+r"(exec)); /* GCC would look for a zero that it has, and keep it in memory */
  }
  fast_max(&c->function.exec_max, exec, clock);
  if (clock == CLOCK_SHED)
    return;
  uint64_t buckets = c->function.ended_buckets;
  fast_count_in(buckets, fast_bucket(exec), 2, 0);
  fast_count_in(buckets, fast_bucket(wall), 2, 1);
}

/* future_claim by the token's id. fast_disown does without: there only a program that destroys a
   stack while it runs could come in between. */
ALWAYS bool fast_claim(struct aprof_future *f, const struct aprof_token *token) {
  uint64_t id = token->word[0];
  return likely(swapped(&f->id, &id, 0, ACQ_REL));
}

ALWAYS bool fast_claim_running(struct aprof_future *f, const struct aprof_token *token,
                               struct aprof_block *b, const struct aprof_counters *c, int how) {
  future_ends(b, c, how);
  return fast_claim(f, token);
}

ALWAYS void fast_disown(struct aprof_future *f) {
  f->id = 0;
  publish_fence();
}

/* f, which is counted, and whose record is given back next, was a part of a request, perhaps the
   last. */
ALWAYS void fast_parts(struct thread *t, struct aprof_future *f, int how, bool runs, uint64_t now) {
  if (f->flags & APROF_F_MEMBER)
    member_over(t, f, how, runs, now);
}

ALWAYS uint64_t relaxed(const uint64_t *word) {
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* The first place of f's key, if f stands there, and its segment is not being filled from another
   one; else NULL. */
ALWAYS uint64_t *fast_place(const struct aprof_future *f, uint32_t index) {
  uint32_t hash = key_hash(f->key0, f->key1);
  struct key_segment *segment = directory_at(&key_directory, hash);
  if (unlikely(pointer_read((void *const *)&segment->older) != NULL))
    return NULL;
  uint64_t *place = &segment->word[hash % KEY_WORDS];
  return likely(lower_read(place) == index) && likely(upper_is(place, hash)) ? place : NULL;
}

ALWAYS void fast_forget_key(uint64_t *place) {
#if defined __x86_64__ && !defined __SANITIZE_THREAD__
  __atomic_store_n((uint32_t *)(void *)place, KEY_TOMB, __ATOMIC_RELEASE); /* the hash stays */
#else
  __atomic_store_n(place, (relaxed(place) >> 32) << 32 | KEY_TOMB, __ATOMIC_RELEASE);
#endif
}

/* Nobody finds f by its key any more, wherever that is: in a word, in a ring or in none of both. */
ALWAYS void fast_leaves_key(struct aprof_future *f, uint32_t index) {
  uint64_t *place = fast_place(f, index);
  if (likely(place != NULL))
    fast_forget_key(place);
  else
    key_remove(f);
}

/* f, which is claimed, is over, whatever it is a part of, and wherever its key stands. `runs`:
   here, until now. */
ALWAYS void fast_ends(struct thread *t, struct aprof_future *f, uint32_t index,
                      struct aprof_counters *c, int how, bool runs, uint64_t wall, uint64_t now,
                      uint32_t clock) {
  fast_done(c, f, how, wall, clock);
  f->polled = 0; /* of a wait that its run might have gone on with, or its creator's flags */
  if (f->flags & APROF_F_KEYED)
    fast_leaves_key(f, index);
  note_index(t, APROF_TRACE_DONE + (unsigned)how, index, f->node, now);
  fast_parts(t, f, how, runs, now);
  record_give(t, f, index);
}

/* Has what runs here one of these flags? Read anew: no register was kept for it. Also true of what
   was suspended last, which the event that goes on finds out. */
ALWAYS bool runs_as(uint8_t flags) {
  const struct aprof_future *f = aprof_self->cur;
  return f != NULL && unlikely(f->flags & flags);
}
ALWAYS bool runs_member(void) {
  return runs_as(APROF_F_MEMBER);
}

ALWAYS bool runs_in_await(void) {
  const struct aprof_future *f = aprof_self->cur;
  return f != NULL && f->await != 0;
}

/* The end of an event in which a root may have come to its end. */
ALWAYS void finish_member(struct thread *t, struct aprof_block *b) {
  if (unlikely(t->finishing != 0))
    request_settle(t);
  finish(b);
}

/* The end of an event after which no future runs here. */
ALWAYS void finish_resting(struct thread *t, struct aprof_block *b, uint64_t now) {
  thread_rests(t, b, now);
  note_rests(t, now);
  finish(b);
}

/* What no future created begins to run where none did; its event is to be finished. */
ALWAYS void fast_begins(struct thread *t, struct aprof_block *b, struct aprof_token *token,
                        struct aprof_future *f, const struct node_entry *e, uint8_t flags,
                        uint32_t ns, uint64_t key0, uint32_t origin, uint64_t word2,
                        uint64_t rested, uint64_t now) {
  b->other += rested;
  uint64_t id =
      record_take(t, f, now, APROF_FUTURE_RUNNING, flags | APROF_F_STARTED, 1, e->counters);
  f->node = f->outer = e->node;
  f->await = 0;
  f->ns = ns;
  f->key0 = key0;
  f->origin = origin;
  f->parent = f->caller = 0;
  publish_fence();
  f->id = id;
  token->word[0] = id;
  token->word[1] = (uintptr_t)f;
  token->word[2] = word2;
  t->slice_counters = e->counters;
  thread_runs(t, b, f, e->counters, now);
  slice_starts(b, e->node, now, origin);
  note_born(t, f, false, false, now);
  note(t, APROF_TRACE_RUNNING, f, f->node, now);
}

/* fast-names.c: of awaits that name, and inside of those. */
#define NAMED(name)                                                                                \
  BETWEEN suspend_event suspend_named_##name;                                                      \
  BETWEEN resume_event resume_odd_##name;
NAMED(tsc)
NAMED(virtual)
UNLESS_SOME(NAMED(shed))
#undef NAMED

#endif
