/* SPDX-License-Identifier: MIT */
/*
 * What a future has had of its request.
 *
 * A future's word (`request`) is 0, or the number of its request, where all of it is that one's; or
 * it names a share: then it came in mid-life, or has been in a tier. What it had is booked when it
 * ends, moves or changes its tier, as the difference of what it has had so far and had then:
 *
 *     total    since the last booking
 *     queued   ... of that
 *     waiting  ... of that, in awaits of its own and put aside for others
 *     exec     the rest
 *
 * Who is put aside for another future waits for nothing of its own: that is in its share, and is no
 * member time. So each future books what is its own, in whatever order they come; a body that was
 * called does as its caller, but that it is no member.
 */
#include "share.h"

#include "kind.h"
#include "request.h"
#include "rt/count/node.h"
#include "rt/file/clock.h"
#include "rt/future/stack.h"

/* Is f put aside for another future, whose time that is? */
static bool aside_for_other(const struct aprof_future *f) {
  return f->state == APROF_FUTURE_ASIDE && (f->callee & ~CALLEE_MINE) != CALLEE_IDLE;
}

/* -- shares ----------------------------------------------------------------------------- */

struct aprof_share *share_new(struct aprof_future *f) {
  uint32_t number = spare_take(&shares, &aprof_self->spare_shares), request = f->request;
  if (unlikely(number == 0))
    return NULL;
  struct aprof_share *s = POOL_AT(&shares, struct aprof_share, number);
  *s = (struct aprof_share){.joined = f->created_tick, .since = f->created_tick};
  __atomic_store_n(&s->request, request, __ATOMIC_RELEASE);
  f->request = APROF_SHARE | number;
  f->flags |= APROF_F_MEMBER;
  return s;
}

void share_give(struct aprof_future *f, struct aprof_share *s) {
  uint32_t word = __atomic_exchange_n(&f->request, 0, __ATOMIC_ACQ_REL);
  uint32_t number = word & ~APROF_SHARE;
  if (s == NULL || !(word & APROF_SHARE) || pool_at(&shares, number) != s)
    return; /* or another thread, which raced for f, has given it */
  cells_book(s, NULL);
  __atomic_store_n(&s->request, 0, __ATOMIC_RELEASE);
  spare_give(&shares, &aprof_self->spare_shares, number);
}

void share_drop_idle(struct aprof_future *f) {
  struct aprof_share *s = share_of(f);
  if (s != NULL && (s->request != 0 || s->brackets != 0 || s->open != 0))
    return;
  if (s != NULL || f->request == 0) {
    share_give(f, s);
    f->flags &= (uint8_t)~APROF_F_MEMBER;
  }
}

/* -- booking ------------------------------------------------------------------------------ */

struct had share_had(const struct aprof_future *f, uint64_t now, bool open) {
  struct had h = {f->queued, f->waiting, now};
  if (!open)
    return h;
  uint64_t passed = elapsed(f->last, now), wake;
  switch (f->state) {
  case APROF_FUTURE_QUEUED:
    h.queued += passed;
    break;
  case APROF_FUTURE_WAITING:
    wake = __atomic_load_n(&f->wake_tick, __ATOMIC_RELAXED);
    if (wake != 0 && wake <= now)
      h.end = wake > f->last ? wake : f->last; /* a mark is less than any tick */
    h.waiting += elapsed(f->last, h.end);
    h.queued += elapsed(h.end, now);
    break;
  case APROF_FUTURE_ASIDE:
    h.waiting += passed;
    break;
  }
  return h;
}

/* `aside`: since when it is put aside for another future; 0: it is not. */
static void book_live(const struct aprof_share *then, struct aprof_request *r, const struct had *h,
                      uint64_t total, uint64_t aside) {
  uint64_t queued = h->queued - then->queued, waited = h->waiting - then->waiting;
  uint64_t exec = elapsed(queued + waited, total), own = elapsed(aside, waited);
  request_add(&r->exec, exec);
  request_add(&r->queued, queued);
  request_add(&r->total, exec + queued + own);
}

void share_book(struct aprof_future *f, struct aprof_share *s, uint32_t number, uint64_t now,
                bool open, bool runs) {
  static const struct aprof_share none;
  const struct aprof_share *then = s != NULL ? s : &none;
  struct had h = share_had(f, now, open);
  uint64_t since = s != NULL ? s->since : f->created_tick, total = elapsed(since, now);
  uint64_t from = open && aside_for_other(f) ? f->last : 0, aside = then->aside;
  struct aprof_request *r = number != 0 ? request_at(number) : NULL;
  if (from != 0)
    aside += elapsed(from > since ? from : since, now);
  if (s != NULL)
    tier_book(s, &h, from, now);
  if (r != NULL && request_lives(r)) {
    book_live(then, r, &h, total, aside);
    request_stopped(r, share_last_ran(f, s, runs, now));
  } else {
    if (r != NULL && r->stopped != UINT64_MAX)
      kind_after(r->kind, false,
                 elapsed(h.queued - then->queued + h.waiting - then->waiting, total));
    r = NULL;
  }
  if (s != NULL) {
    cells_book(s, r);
    share_goes_on(s, &h, now);
  }
}

void share_goes_on(struct aprof_share *s, const struct had *h, uint64_t now) {
  s->since = now;
  s->queued = h->queued;
  s->waiting = h->waiting;
  s->aside = 0;
  tier_goes_on(s, h, now);
}

/* f has waited at its create, until then: that is the create's tier's. */
void share_book_create(struct aprof_future *f, uint64_t end) {
  uint32_t tier = site_record(aprof_create_site(f))->tier % APROF_TIERS;
  struct aprof_share *s = tier != 0 ? share_own(f) : NULL;
  if (s != NULL)
    create_waited(s, tier, elapsed(s->since > f->last ? s->since : f->last, end));
}

bool share_at_create(const struct aprof_future *f, uint32_t await) {
  return f->state == APROF_FUTURE_WAITING && (f->flags & APROF_F_IMPLICIT) &&
         node_site(await) == aprof_create_site(f);
}

void share_waited(struct aprof_future *f, uint32_t await, uint64_t end) {
  struct aprof_share *s = share_of(f);
  if (aside_for_other(f)) {
    if ((s = share_own(f)) != NULL)
      s->aside += elapsed(f->last > s->since ? f->last : s->since, end);
    return;
  }
  if (share_at_create(f, await))
    share_book_create(f, end);
}
