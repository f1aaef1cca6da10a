/* SPDX-License-Identifier: MIT */
/*
 * The events that programs make most, when all is as usual: the thread known,
 * nothing odd about the future, every record found before. Bodies and awaits are
 * here, what goes by key is in fast-create.c and fast-run.c.
 *
 * Why twice: general events may register, allocate and unwind anywhere, so their functions
 * save six registers and test as they go. Here every condition is tested before
 * anything is written, nothing is called, and whatever is out of the ordinary goes
 * on, as a tail call, in body.c or await.c. Both do the same to the ledger; the random
 * programs run through both. Each is compiled once per clock that needs no call, and once
 * for threads that shed detail (govern.h).
 *
 * To debug: make `usual` false, and the profiler is the same without this file.
 */
#define FAST_SAVES_NOTHING
#include "fast.h"

/* -- awaits ---------------------------------------------------------------- */

/* Odd: its path may have the second of its places in the thread's cache. */
ALWAYS void fast_suspend(struct thread *t, struct aprof_block *b, struct aprof_site *site,
                         struct aprof_token *token, uint32_t clock, suspend_event *other,
                         bool odd) {
  struct aprof_future *f = t->cur;
  struct aprof_counters *c = t->counters, *sliced = t->slice_counters;
  if (unlikely(b->state != APROF_THREAD_RUNNING) || unlikely(nonzero(&f->await)) ||
      !fast_waits_at(t, c, f, site, odd))
    goto undo;
  uint64_t now = fast_clock(clock), ran = now - b->last, length = now - b->slice_tick;
  if (backwards(ran) || fast_slice_long(sliced, length, clock)) {
    site = (struct aprof_site *)(uintptr_t)c->function.last_site; /* no register was kept for it */
    goto undo;
  }
  c->function.exec += ran;
  struct aprof_counters *a = fast_await(c);
  f->await = a->await.node;
  finish_waits(t, b, f, a, token, AWAIT_OUTER, sliced, length, now, clock);
  return;
undo:
  odd ? suspend_undone(t, site, token) : other(site, token);
}

/* Odd, in fast-names.c: of an await that names, or inside of one. */
ALWAYS void fast_resume(struct thread *t, struct aprof_block *b, struct aprof_token *token,
                        uint32_t clock, resume_event *other, bool odd) {
  (void)odd;
  uint64_t id = token->word[0]; /* of AWAIT_OUTER; others are no future's */
  struct aprof_future *f = (struct aprof_future *)(uintptr_t)token->word[1];
  if (!in_profile((uintptr_t)f))
    goto undo;
  if (likely(f->id == id) && fast_resumes(t, b, f, true, clock))
    return;
  if (t->cur == f && likely(f->id == token->word[0]) && b->state == APROF_THREAD_RUNNING) {
    f->await = 0; /* the bracket that runs it came first */
    finish(b);
    return;
  }
undo:
  other(token);
}

/* -- bodies ---------------------------------------------------------------- */

/* A body that no future called: the loop, or a new coroutine's first function. */
ALWAYS void fast_enter_root(struct thread *t, struct aprof_site *site, struct aprof_token *token,
                            const void *self, uint32_t clock, enter_event *other, bool odd) {
  struct aprof_block *b = t->block;
  struct node_entry *e = fast_node_of(t, 0, site, false, odd);
  if (unlikely(e == NULL) || unlikely(b->state != APROF_THREAD_OTHER) ||
      unlikely(t->free_list == 0))
    goto undo;
  uint64_t now = fast_clock(clock), rested = now - b->last;
  if (backwards(rested))
    goto undo;
  fast_begins(t, b, token, future_at(t->free_list), e, APROF_F_BODY, NS_FRAME, (uintptr_t)token,
              site->id, t->slice_count << 1, rested, now);
  finish(b);
  return;
undo:
  odd ? enter_undone(t, site, token, self) : other(site, token, self);
}

/* It is no body, or part of a request, in an await, or woken: one test for four. */
ALWAYS bool fast_calls_oddly(const struct aprof_future *caller, bool runs, bool member) {
  uint32_t odd = (runs ? 0 : APROF_F_BODY) | (member ? 0 : APROF_F_MEMBER);
  uint32_t flags = (caller->flags ^ APROF_F_BODY) & odd;
  return unlikely((flags | caller->await | caller->wake_tick) != 0);
}

/* Is it the body that the create around waits for? */
static SLOW bool fast_awaited(const struct thread *t, struct aprof_site *site, const void *self) {
  const struct aprof_future *f = t->tentative;
  return f->id == t->tentative_id && f->state == APROF_FUTURE_TENTATIVE && adopts(f, site, self);
}

/* A run of no body calls it: is it that one's own body? */
static SLOW bool fast_adopts(struct aprof_site *site, const void *self) {
  return running_adopts(aprof_self->cur, site, self);
}

/* ... whose name is known already: nothing is told but that it has begun. */
static SLOW bool fast_adopted(struct thread *t, struct aprof_token *token, const void *self) {
  struct aprof_future *f = t->cur;
  const struct aprof_psite *p = site_record(node_function(f->node));
  if ((f->flags & (APROF_F_NAMELESS | APROF_F_NAMED)) != APROF_F_NAMED ||
      (self != NULL && p->address == (uintptr_t)self && p->alias == 0))
    return false;
  f->flags |= APROF_F_BODY;
  f->open++;
  token_set(token, f, t->slice_count << 1);
  return true;
}

/* How a body that was called begins. */
ALWAYS void fast_body(const struct thread *t, struct begins *as, uint32_t node,
                      const struct aprof_site *site) {
  begins_so(as, node, APROF_FUTURE_RUNNING, APROF_F_BODY | APROF_F_STARTED, 1, t->lease, NS_FRAME,
            site->id);
}

#define MEMBER 2 /* odd, of a part of a request */
/* A call of an async function: its caller runs on this stack, and waits at the call
   announced, else at what it calls. */
ALWAYS void fast_enter(struct thread *t, struct aprof_block *b, struct aprof_site *site,
                       struct aprof_token *token, const void *self, uint32_t clock,
                       enter_event *other, int odd) {
  bool member = odd == MEMBER;
  if (unlikely(t->tentative != NULL) && (!odd || fast_awaited(t, site, self)))
    goto undo;
  struct aprof_future *caller = t->cur;
  if (__builtin_expect_with_probability(b->state != APROF_THREAD_RUNNING, 0, 0.6)) {
    fast_enter_root(t, site, token, self, clock, other, odd);
    return;
  }
  if (odd && unlikely(!(caller->flags & APROF_F_BODY)) && site_known(site) &&
      fast_adopts(site, self)) {
    if (!fast_adopted(t, token, self))
      goto undo;
    finish(b);
    return;
  }
  struct aprof_site *at = likely(call_announced(t, b)) ? t->at : site;
  struct node_entry *called = fast_node_of(t, caller->node, at, true, odd);
  if (unlikely(called == NULL) || unlikely(!nonzero(&t->free_list)) ||
      fast_calls_oddly(caller, odd, member))
    goto undo;
  struct node_entry *shed = NULL;
  struct begins shed_as;
  if (clock == CLOCK_SHED || unlikely(called->callee != site)) {
    uint32_t above = fast_above(t, anew(&caller->node), clock);
    struct node_entry *e = fast_node_of(t, above, site, false, odd);
    if (unlikely(e == NULL) || unlikely(site->flags & APROF_ROOT))
      goto undo;
    if (clock == CLOCK_SHED) {
      shed = e;
      fast_body(t, &shed_as, e->node, site);
    } else {
      called->callee = site;
      called->callee_counters = e->counters;
      fast_body(t, &called->begins, e->node, site);
    }
  }
  uint64_t now = fast_clock(clock), ran = now - b->last;
  if (backwards(ran)) {
    if (clock != CLOCK_SHED)
      site = called->callee; /* it is: no register was kept for it */
    goto undo;
  }
  t->counters->function.exec += ran;
  struct aprof_future *f = future_at(t->free_list);
  fast_put_aside(caller, called, t->free_list, now);
  struct aprof_counters *c = clock == CLOCK_SHED ? shed->counters : called->callee_counters;
  t->counters = c;
  uint64_t id = record_begin(t, f, now, clock == CLOCK_SHED ? &shed_as : &called->begins, c);
  f->outer = caller->outer;
  f->key0 = (uintptr_t)token;
  f->parent = f->caller = index_of(caller);
  f->key1 = (uintptr_t)called->counters;
  if (member)
    member_entered(t, f, caller, false, now);
  publish_fence();
  f->id = id;
  token->word[0] = id;
  token->word[1] = (uintptr_t)f;
  token->word[2] = t->slice_count << 1 | BODY_CALLED;
  t->cur = f;
  b->last = now;
  note(t, APROF_TRACE_ASIDE, caller, caller->await, now);
  note_born(t, f, true, member, now);
  note(t, APROF_TRACE_RUNNING, f, f->node, now);
  finish(b);
  return;
undo:
  odd ? enter_undone(t, site, token, self) : other(site, token, self);
}

ALWAYS void fast_leave_root(struct aprof_token *token, int how, struct thread *t,
                            struct aprof_block *b, struct aprof_future *f, uint32_t clock) {
  struct aprof_counters *c = t->counters, *sliced = t->slice_counters;
  uint64_t now = fast_clock(clock), ran = now - b->last, length = now - b->slice_tick;
  uint64_t wall = now - f->created_tick;
  if (backwards(ran) || fast_slice_long(sliced, length, clock) ||
      !fast_within(&c->function.ended_limit, wall, clock))
    goto undo;
  c->function.exec += ran;
  fast_slice_close(t, sliced, length, clock);
  future_ends(b, c, APROF_DONE);
  fast_disown(f);
  fast_done(c, f, APROF_DONE, wall, clock);
  note(t, APROF_TRACE_DONE, f, f->node, now);
  record_give(t, f, index_of(f));
  finish_resting(t, b, now);
  return;
undo:
  leave_undone(t, token, how);
}

/* ... one that another future waits for: `a` counts that wait. */
ALWAYS void fast_leave_called(struct aprof_token *token, int how, struct thread *t,
                              struct aprof_block *b, struct aprof_future *f,
                              struct aprof_counters *a, bool immediate, uint32_t clock,
                              leave_event *other, bool odd) {
  uint32_t index = index_of(f);
  struct aprof_future *caller = future_at(f->caller);
  struct aprof_counters *c = t->counters;
  if (!fast_restorable(t, caller, index, odd) || unlikely(caller->await != a->await.node) ||
      unlikely(f->wake_tick != 0))
    goto undo;
  uint64_t now = fast_clock(clock), wall = now - f->created_tick;
  if (!fast_within(&c->function.ended_limit, wall, clock))
    goto undo;
  uint64_t ran = now - b->last;
  if (backwards(ran) || !fast_restores(caller, a, immediate, now, clock))
    goto undo;
  c->function.exec += ran;
  future_ends(b, c, APROF_DONE);
  fast_disown(f);
  c = t->counters; /* no register was kept for it */
  fast_done(c, f, APROF_DONE, wall, clock);
  note_index(t, APROF_TRACE_DONE, index, f->node, now);
  if (odd)
    fast_parts(t, f, APROF_DONE, true, now);
  record_give(t, f, index);
  fast_caller_runs(t, b, caller, a, immediate, odd, now, clock);
  if (odd)
    finish_member(t, b);
  else
    finish(b);
  return;
undo:
  odd ? leave_undone(t, token, how) : other(token, how);
}

/* Odd: a part of a request, or what one called. */
_Static_assert(APROF_DONE == 0, "what is not done is odd");
ALWAYS void fast_leave(struct thread *t, struct aprof_block *b, struct aprof_token *token, int how,
                       uint32_t clock, leave_event *other, bool odd) {
  uint64_t id = token->word[0];
  struct aprof_future *f = (struct aprof_future *)(uintptr_t)token->word[1];
  /* One test for two: what was suspended here last may run on another thread by now. */
  if (unlikely(((b->state ^ APROF_THREAD_RUNNING) | (unsigned)how) != 0) || unlikely(t->cur != f) ||
      unlikely(f->id != id) || /* or asked to end */
      unlikely(fast_word(f) & (0xffu << 24 | (APROF_F_KEYED | (odd ? 0 : APROF_F_MEMBER)) << 8)) ||
      unlikely(t->free_count >= FREE_ENOUGH))
    goto undo;
  /* GCC lays out the rest in line then. */
  if (__builtin_expect_with_probability(f->caller == 0, 1, 0.4)) {
    if (odd)
      goto undo;
    fast_leave_root(token, how, t, b, f, clock);
    return;
  }
  uint64_t called = token->word[2];
  struct aprof_counters *a = (struct aprof_counters *)(uintptr_t)f->key1;
  if (unlikely(!(called & BODY_CALLED)))
    goto undo;
  if (likely(called >> 1 == t->slice_count))
    fast_leave_called(token, how, t, b, f, a, true, clock, other, odd);
  else
    fast_leave_called(token, how, t, b, f, a, false, clock, other, odd);
  return;
undo:
  odd ? leave_undone(t, token, how) : other(token, how);
}

/* Inside the event: the body of a run, which ends the future that the run's key means. Who waits
   for the run goes on. */
ALWAYS void fast_leave_own(struct aprof_token *token, int how, uint32_t clock) {
  struct thread *t = aprof_self;
  struct aprof_future *f = (struct aprof_future *)(uintptr_t)token->word[1], *caller = NULL;
  struct aprof_block *b = block_here();
  if (unlikely(b->state != APROF_THREAD_RUNNING) || unlikely(how != APROF_DONE) ||
      unlikely(t->cur != f) || unlikely(f->id != token->word[0]) ||
      unlikely(fast_word(f) & 0xffu << 24) || unlikely(t->free_count >= FREE_ENOUGH))
    goto undo;
  uint32_t index = index_of(f);
  struct aprof_counters *c = t->counters, *sliced = t->slice_counters, *a = NULL;
  if (f->caller != 0) {
    caller = future_at(f->caller);
    if (!fast_restorable(t, caller, index, true) ||
        unlikely((a = fast_counters(t, caller->await)) == NULL) || unlikely(a->await.function == 0))
      goto undo;
  }
  bool immediate = token->word[2] >> 1 == t->slice_count;
  uint64_t now = fast_clock(clock), wall = now - f->created_tick;
  uint64_t ran = now - b->last, length = now - b->slice_tick;
  if (backwards(ran) ||
      (a != NULL ? !fast_restores(caller, a, immediate, now, clock)
                 : fast_slice_long(sliced, length, clock)) ||
      !fast_within(&c->function.ended_limit, wall, clock) ||
      !fast_claim_running(f, token, b, c, APROF_DONE))
    goto undo;
  c->function.exec += ran;
  b->last = now;
  if (a == NULL)
    fast_slice_close(t, sliced, length, clock);
  fast_ends(t, f, index, c, APROF_DONE, true, wall, now, clock);
  if (a == NULL) {
    thread_rests(t, b, now);
    note_rests(t, now);
  } else {
    fast_caller_runs(t, b, caller, a, immediate, true, now, clock);
  }
  finish_member(t, b);
  return;
undo:
  leave_undone(t, token, how);
}

static SLOW void leave_slow(struct aprof_token *token, int how) {
  leave_undone(aprof_self, token, how);
}

/* -- one set per clock ------------------------------------------------------ */
#define SET(name, clock)                                                                           \
  APART void suspend_odd_##name(struct aprof_site *site, struct aprof_token *token) {              \
    struct thread *t = aprof_self;                                                                 \
    if ((site->flags & APROF_NAMES) || runs_in_await())                                            \
      suspend_named_##name(site, token);                                                           \
    else                                                                                           \
      fast_suspend(t, block_here(), site, token, clock, NULL, true);                               \
  }                                                                                                \
  APART void enter_member_##name(struct aprof_site *site, struct aprof_token *token,               \
                                 const void *self) {                                               \
    struct thread *t = aprof_self;                                                                 \
    fast_enter(t, block_here(), site, token, self, clock, NULL, MEMBER);                           \
  }                                                                                                \
  APART void enter_odd_##name(struct aprof_site *site, struct aprof_token *token,                  \
                              const void *self) {                                                  \
    struct thread *t = aprof_self;                                                                 \
    if (runs_member())                                                                             \
      enter_member_##name(site, token, self);                                                      \
    else                                                                                           \
      fast_enter(t, block_here(), site, token, self, clock, NULL, true);                           \
  }                                                                                                \
  APART void leave_own_##name(struct aprof_token *token, int how) {                                \
    fast_leave_own(token, how, clock);                                                             \
  }                                                                                                \
  APART void leave_odd_##name(struct aprof_token *token, int how) {                                \
    struct thread *t = aprof_self;                                                                 \
    if (likely(!runs_as(APROF_F_KEYED | APROF_F_MEMBER)))                                          \
      leave_slow(token, how);                                                                      \
    else if (runs_as(APROF_F_KEYED))                                                               \
      leave_own_##name(token, how);                                                                \
    else                                                                                           \
      fast_leave(t, block_here(), token, how, clock, NULL, true);                                  \
  }                                                                                                \
  APROF_GATE_suspend(FIRST, name) APROF_GATE_resume(FIRST, name) APROF_GATE_enter(FIRST, name)     \
      APROF_GATE_leave(FIRST, name)

#define GOVERNED(clock)                                                                            \
  APROF_GATE_enter(CHOOSE, clock) APROF_GATE_leave(CHOOSE, clock)                                  \
      APROF_GATE_suspend(CHOOSE, clock) APROF_GATE_resume(CHOOSE, clock)

#include "fast-sets.h"

void fast_bodies(struct aprof_gate *gate, uint32_t clock) {
  gate->enter = FOR_CLOCK(clock, enter);
  gate->leave = FOR_CLOCK(clock, leave);
  gate->suspend = FOR_CLOCK(clock, suspend);
  gate->resume = FOR_CLOCK(clock, resume);
}
