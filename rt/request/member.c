/* SPDX-License-Identifier: MIT */
/*
 * Futures as parts of requests: who joins, moves and leaves, and when a request is over.
 */
#include "member.h"

#include "kind.h"
#include "request.h"
#include "rt/count/node.h"
#include "rt/file/clock.h"
#include "rt/future/owner.h"
#include "rt/future/stack.h"
#include "rt/trace/kept.h"
#include "rt/trace/moved.h"
#include "share.h"
#include "tier.h"

/* -- what a future is ---------------------------------------------------------------- */

/* A body that a future called, and no root. */
static bool is_called(const struct aprof_future *f) {
  return f->ns == NS_FRAME && f->caller != 0 &&
         !(site_record(aprof_create_site(f))->flags & APROF_ROOT);
}

/* What f lies on; NULL: it is at the bottom. */
static struct aprof_future *below(const struct aprof_future *f) {
  struct aprof_future *caller = f->caller != 0 ? future_at(f->caller) : NULL;
  return caller != NULL && is_aside(caller, index_of(f)) ? caller : NULL;
}

static struct aprof_future *below_called(const struct aprof_future *f) {
  return is_called(f) ? below(f) : NULL;
}

static bool is_root(const struct aprof_future *f, uint32_t number) {
  return number != 0 && request_at(number)->root == index_of(f) &&
         request_lives(request_at(number));
}

/* -- coming and going --------------------------------------------------------------------- */

/* f is all that request's, from its birth. */
static void born_into(struct aprof_future *f, uint32_t number) {
  if (number == 0)
    return;
  request_join(number);
  f->request = number;
  f->flags |= APROF_F_MEMBER;
}

static void begin_root(struct thread *t, struct aprof_future *f, uint64_t now) {
  if (unlikely(__atomic_load_n(&rt.header->roots, __ATOMIC_RELAXED) == 0))
    __atomic_store_n(&rt.header->roots, 1, __ATOMIC_RELAXED);
  const struct aprof_future *runs = running(t);
  uint32_t parent = runs != NULL && runs != f ? request_of(runs) : 0;
  born_into(f, request_begin(t, f, parent, 0, true, now));
}

/* f, which is created, is going to wait for new work: that is no part of an implicit request. */
static bool is_for_new_work(const struct aprof_future *f, uint32_t number, uint32_t site_flags) {
  return request_is_implicit(number) && ((site_flags & APROF_BACKGROUND) ||
                                         (site_waits(site_flags) && node_in_background(f->await)));
}

void member_created(struct thread *t, struct aprof_future *f, uint32_t site_flags, uint64_t now) {
  const struct aprof_future *creator = running(t);
  if (unlikely(site_flags & APROF_ROOT)) {
    begin_root(t, f, now);
  } else if (creator != NULL && unlikely(creator->flags & APROF_F_MEMBER)) {
    uint32_t number = request_of(creator);
    if (!is_for_new_work(f, number, site_flags))
      born_into(f, number);
  }
}

void member_entered(struct thread *t, struct aprof_future *f, struct aprof_future *caller,
                    bool root, uint64_t now) {
  if (unlikely(root)) {
    begin_root(t, f, now);
    return;
  }
  if (caller == NULL || likely(!(caller->flags & APROF_F_MEMBER)))
    return;
  const struct aprof_share *over = share_of(caller);
  f->request = request_of(caller);
  if (f->request != 0)
    f->flags |= APROF_F_MEMBER;
  if (over != NULL && over->open != 0) {
    struct aprof_share *s = share_own(f);
    if (s != NULL)
      bracket_base(s, over->tier, over->open, now);
  }
}

static void pend(struct thread *t, uint32_t number, uint64_t now);

/* f, a member that is booked, leaves it. */
static void part(struct thread *t, struct aprof_future *f, const struct aprof_share *s,
                 uint32_t number, int how, bool runs, uint64_t now) {
  struct aprof_request *r = request_at(number);
  if (is_called(f))
    return;
  if (!request_lives(r)) {
    if (r->stopped != UINT64_MAX)
      kind_after(r->kind, runs || (share_last_ran(f, s, false, now) > r->stopped), 0);
    request_part(t, number, now);
    return;
  }
  bool root = r->root == index_of(f);
  if (r->first == index_of(f)) {
    r->function = function_site(f);
    r->first = 0; /* its record may be another part's soon */
  }
  if (how == APROF_FAILED && (root || (r->root == 0 && !(r->flags & APROF_REQUEST_ENDING))))
    __atomic_fetch_or(&r->flags, APROF_REQUEST_FAILED, __ATOMIC_RELAXED);
  if (root)
    pend(t, number, now); /* it is a member until then */
  else
    request_part(t, number, now);
}

/* ... of which it was all its life, and which lives: what a share would be booked as, in one go. */
static inline void over_whole(struct thread *t, struct aprof_future *f, uint32_t number, int how,
                              bool runs, uint64_t now) {
  struct aprof_request *r = request_at(number);
  uint64_t queued = f->queued, waited = f->waiting;
  uint64_t exec = elapsed(queued + waited, elapsed(f->created_tick, now));
  request_add(&r->exec, exec);
  request_add(&r->queued, queued);
  request_add(&r->total, exec + queued + waited);
  request_stopped(r, share_last_ran(f, NULL, runs, now));
  uint32_t index = index_of(f);
  if (unlikely(how == APROF_FAILED) || r->root == index || r->first == index)
    part(t, f, NULL, number, how, runs, now);
  else if (!is_called(f))
    request_part(t, number, now);
  __atomic_store_n(&f->request, 0, __ATOMIC_RELEASE);
}

void member_over(struct thread *t, struct aprof_future *f, int how, bool runs, uint64_t now) {
  uint32_t number = __atomic_load_n(&f->request, __ATOMIC_RELAXED);
  if (likely(number != 0) && !(number & APROF_SHARE) && likely(request_lives(request_at(number)))) {
    over_whole(t, f, number, how, runs, now);
    return;
  }
  struct aprof_share *s = share_of(f);
  number = request_of(f);
  if (s != NULL && s->brackets != 0) {
    struct had h = share_had_closed(f, now);
    tier_book(s, &h, 0, now);
    bracket_pop_all(s, now);
  }
  share_book(f, s, number, now, false, runs);
  if (number != 0)
    part(t, f, s, number, how, runs, now);
  share_give(f, s);
}

void member_undone(struct thread *t, struct aprof_future *f) {
  uint32_t number = request_of(f);
  bool root = is_root(f, number);
  member_forget(f);
  if (root)
    request_undo(t, number);
  else if (number != 0)
    request_part(t, number, 0);
}

void member_forget(struct aprof_future *f) {
  struct aprof_share *s = share_of(f);
  if (s != NULL) {
    s->request = 0;
    bracket_pop_all(s, 0);
  }
  share_give(f, s);
}

void member_told(struct thread *t, const struct aprof_future *f, uint64_t since) {
  uint32_t number = request_of(f), how = is_called(f) ? APROF_TRACE_CALLED : 0;
  const struct aprof_share *s = share_of(f);
  if (is_root(f, number))
    how |= APROF_TRACE_ROOT;
  trace_put(t, APROF_TRACE_JOIN, index_of(f), 0, since);
  trace_more(t, aprof_trace_request(number, number != 0 ? request_at(number)->id : 0), how);
  if (s != NULL && s->tier != 0)
    trace_put(t, APROF_TRACE_TIER, index_of(f), s->tier, since);
}

/* ... that it is another's since then. `had`: it was in the trace before. What is queued behind a
   wait, as its event has not told yet, is so in both. */
static void tell_move(struct thread *t, const struct aprof_future *f, bool had, uint64_t since) {
  bool has = trace_has(t, f);
  if (had)
    trace_ready(t, f, since);
  else if (has)
    trace_birth(t, f, since);
  if (has)
    member_told(t, f, since);
  else if (had)
    trace_leaves(t, f, since);
  if (!had && has) {
    trace_does(t, f, since);
    trace_ready(t, f, since);
  }
}

/* From its request to another one, or to none (0). `ran`: f, or a body that it called, until now.
 */
static void move_one(struct thread *t, struct aprof_future *f, uint32_t to, bool ran,
                     uint64_t now) {
  struct aprof_share *s = share_of(f);
  uint32_t from = request_of(f);
  bool runs = f == running(t), called = is_called(f), had = traces(t) && trace_has(t, f);
  if (from == to)
    return;
  if (to != 0 && (s = share_own(f)) == NULL)
    to = 0;
  if (to != 0 && !called)
    request_join(to);
  if (from != 0) {
    if (share_at_create(f, f->await) && now > f->last) { /* else it only begins to wait */
      share_book_create(f, share_had(f, now, true).end);
      s = share_of(f);
    }
    if (s != NULL)
      brackets_part(s, now);
    share_book(f, s, from, now, true, runs);
    part(t, f, s, from, APROF_DONE, ran, now);
  }
  if (to != 0) {
    struct had h = share_had(f, now, true);
    s->joined = now;
    share_goes_on(s, &h, now);
    __atomic_store_n(&s->request, to, __ATOMIC_RELEASE);
  } else if (s != NULL) {
    __atomic_store_n(&s->request, 0, __ATOMIC_RELEASE);
    share_drop_idle(f);
  } else {
    f->request = 0;
    f->flags &= (uint8_t)~APROF_F_MEMBER;
  }
  if (traces(t))
    tell_move(t, f, had, now);
}

/* Is there room for them to have a share each? */
static bool may_move(struct aprof_future *f, uint32_t to) {
  for (unsigned i = 0; f != NULL && i < 1u << 20; i++, f = below_called(f))
    if (request_of(f) != to && share_own(f) == NULL)
      return false;
  return true;
}

/* The bodies on top of one that was not called, and that; to none where there is no room for all of
   them: bodies hold no request, so none may be in one that the others are not. */
static void move_stack(struct thread *t, struct aprof_future *f, uint32_t to, uint64_t now) {
  struct aprof_future *next;
  if (to != 0 && !may_move(f, to))
    to = 0;
  bool ran = f == running(t); /* what called a body that did, too */
  for (unsigned i = 0; f != NULL && i <= 1u << 20; i++, f = next, ran = true) {
    next = below_called(f);
    move_one(t, f, to, ran, now);
  }
}

static struct aprof_future *bottom(struct aprof_future *f) {
  struct aprof_future *next;
  for (unsigned i = 0; (next = below_called(f)) != NULL && i < 1u << 20; i++)
    f = next;
  return f;
}

void member_goes_on(struct thread *t, struct aprof_future *f, uint64_t now) {
  struct aprof_future *first = bottom(f);
  if (__atomic_load_n(&rt.header->roots, __ATOMIC_RELAXED) != 0 || request_of(first) != 0)
    return;
  uint32_t number = request_begin(t, first, 0, APROF_REQUEST_IMPLICIT, false, now);
  if (number == 0)
    return;
  request_join(number); /* while it has no member */
  move_stack(t, f, number, now);
  if (likely(request_of(first) == number))
    request_part(t, number, now);
  else
    request_undo(t, number);
}

void member_rests(struct thread *t, struct aprof_future *f, uint64_t now) {
  if (request_is_implicit(request_of(f)))
    move_stack(t, f, 0, now);
}

void member_moves(struct thread *t, struct aprof_future *f, uint32_t to, uint64_t now) {
  struct aprof_future *first = bottom(f);
  if (is_root(first, request_of(first)))
    return;
  /* Another thread's may end at any moment: held until f is part of it. */
  if (to != 0 && !request_hold(to))
    return;
  move_stack(t, f, to, now);
  if (to != 0)
    request_part(t, to, now);
}

/* What waits for new work begins its own request when it goes on. */
static bool may_be_handed(const struct aprof_future *f) {
  if (is_root(f, request_of(f)))
    return false;
  return f->state == APROF_FUTURE_QUEUED ||
         (f->state == APROF_FUTURE_WAITING &&
          (__atomic_load_n(&rt.header->roots, __ATOMIC_RELAXED) != 0 ||
           !node_in_background(f->await)));
}

void member_handed(struct thread *t, struct aprof_future *f, uint64_t id, uint64_t now) {
  const struct aprof_future *by = running(t);
  if (by == NULL || !((by->flags | f->flags) & APROF_F_MEMBER) || !future_hold(t, f, id))
    return;
  if (may_be_handed(f))
    move_one(t, f, request_of(by), false, not_before(now, f));
  if (threads_share())
    future_unhold(t);
}

/* -- tiers ------------------------------------------------------------------------------- */

uint32_t member_tier_begin(struct aprof_future *f, uint32_t tier, uint64_t now) {
  struct aprof_share *s = share_own(f);
  struct had h = share_had_closed(f, now);
  f->origin |= APROF_ORIGIN_TIER;
  return s != NULL ? bracket_push(s, tier, &h, now) : 0;
}

uint32_t member_bracket(const struct aprof_future *f) {
  const struct aprof_share *s = share_of(f);
  return s != NULL ? s->brackets : 0;
}

void member_tier_end(struct aprof_future *f, uint32_t bracket, uint64_t now) {
  struct aprof_share *s = share_of(f);
  struct had h = share_had_closed(f, now);
  if (s == NULL)
    return;
  bracket_end(s, bracket, &h, now);
  if (s->brackets == 0)
    f->origin &= APROF_ORIGIN_SITE;
  if (s->request == 0)
    share_drop_idle(f);
}

void member_tier_back(struct aprof_future *f, uint32_t bracket, uint64_t now) {
  struct aprof_share *s = share_of(f);
  struct had h = share_had_closed(f, now);
  if (s != NULL)
    bracket_pop(s, bracket, &h, now);
  if (s != NULL && s->brackets == 0)
    f->origin &= APROF_ORIGIN_SITE;
}

/* -- requests whose root is over ------------------------------------------------------------ */

void member_thread_ends(struct thread *t) {
  spare_return(&shares, &t->spare_shares);
  spare_return(&brackets, &t->spare_brackets);
  spare_return(&cells, &t->spare_cells);
}

/* What the members on this stack, of which `cur` lies on top, have had is a part of it, until its
   root was over, also where nothing began or ended to run here then. */
static void finish_one(struct thread *t, const struct finishing *p) {
  uint64_t now = t->block->last > p->over ? t->block->last : p->over;
  struct aprof_future *f = p->cur != NULL && p->cur->id == p->id ? p->cur : NULL; /* or booked */
  for (unsigned i = 0; f != NULL && i < 1u << 20; i++, f = below(f)) {
    struct aprof_share *s = request_of(f) == p->number ? share_own(f) : NULL;
    if (s == NULL)
      continue;
    brackets_part(s, now);
    share_book(f, s, p->number, not_before(now, f), true, f == running(t));
  }
  request_finish(t, p->number, now);
}

static void finish_pending(struct thread *t) {
  t->finishing = 0;
  if (t->to_time == 0)
    t->usual = t->epoch;
  finish_one(t, &t->pending);
}

/* Its root is over. Until what runs here is none of its members, no event is a fast one. Others
   that are pending are finished at the end of this event: parts of them may be over with it, too.
 */
static void pend(struct thread *t, uint32_t number, uint64_t now) {
  struct aprof_request *r = request_at(number);
  if (unlikely(t->finishing != 0) && t->also_finishing_count == FINISHING)
    finish_pending(t);
  if (unlikely(t->finishing != 0))
    t->also_finishing[t->also_finishing_count++] = t->pending;
  __atomic_fetch_or(&r->flags, APROF_REQUEST_ENDING, __ATOMIC_RELAXED);
  r->root = 0;
  t->finishing = number;
  t->pending = (struct finishing){.number = number, .over = now};
  t->usual = 0;
  t->to_time = 0;
}

void request_settle(struct thread *t) {
  struct aprof_future *f = running(t);
  while (unlikely(t->also_finishing_count != 0))
    finish_one(t, &t->also_finishing[--t->also_finishing_count]);
  if (f != NULL && request_of(f) == t->finishing) {
    t->pending.cur = f;
    t->pending.id = f->id;
  } else {
    finish_pending(t);
  }
}
