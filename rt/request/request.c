/* SPDX-License-Identifier: MIT */
/*
 * Records of requests.
 *
 *     FREE --- request_begin ---> LIVE --- request_finish ---> OVER --- its last member left --->
 * FREE
 *
 * Who makes it the last member's leaving, or its root's, counts it under its kind. Nothing else
 * takes it off the living, so the sums that it then reads are whole but for what another thread
 * adds at that very moment.
 */
#include "request.h"

#include "kind.h"
#include "rt/count/node.h"
#include "rt/future/grace.h"
#include "rt/trace/kept.h"
#include "rt/trace/moved.h"
#include "rt/trace/ring.h"
#include "tier.h"

static uint32_t sweeping, swept; /* a thread does; the epoch of the last time */

#define SHARES_MOST (POOL_CHUNK * POOL_CHUNKS - 1)

void request_reset(void) {
  pool_reset(&requests, rt.options.requests);
  pool_reset(&shares, SHARES_MOST);
  tier_reset();
  kind_reset();
  sweeping = swept = 0;
}

static void request_free(uint32_t number) {
  struct aprof_request *r = request_at(number);
  uint64_t id = __atomic_load_n(&r->id, __ATOMIC_RELAXED);
  if (id == 0 || !swapped(&r->id, &id, 0, ACQ_REL))
    return;
  cells_give(r);
  __atomic_store_n(&r->state, APROF_REQUEST_FREE, __ATOMIC_RELEASE);
  request_give(number);
}

/* -- those of epochs that are over ------------------------------------------------ */

static bool any_lags(void) {
  uint32_t blocks = __atomic_load_n(&rt.header->blocks, __ATOMIC_ACQUIRE);
  for (uint32_t n = 1; n <= blocks && n < BLOCKS; n++)
    if (thread_lags(n))
      return true;
  return false;
}

/* Once an epoch, when there is no other left; not while a thread may still be in an event of the
   one before. */
static SLOW void sweep(void) {
  uint32_t epoch = rt.header->epoch;
  if (epoch == __atomic_load_n(&swept, __ATOMIC_RELAXED) || any_lags() ||
      __atomic_exchange_n(&sweeping, 1, __ATOMIC_ACQUIRE))
    return;
  __atomic_store_n(&swept, epoch, __ATOMIC_RELAXED);
  uint32_t made = __atomic_load_n(&requests.made, __ATOMIC_RELAXED);
  for (uint32_t n = 1; n <= made; n++) {
    uint64_t id = __atomic_load_n(&request_at(n)->id, __ATOMIC_ACQUIRE);
    if (id != 0 && (uint16_t)(id >> 48) != (uint16_t)epoch)
      request_free(n);
  }
  __atomic_store_n(&sweeping, 0, __ATOMIC_RELEASE);
}

/* -- a request's life ---------------------------------------------------------------- */

uint32_t request_begin(struct thread *t, const struct aprof_future *first, uint32_t parent,
                       uint8_t flags, bool root, uint64_t now) {
  struct aprof_header *h = rt.header;
  if (rt.options.requests == 0)
    return 0;
  uint32_t number = request_take();
  if (unlikely(number == 0)) {
    sweep();
    number = request_take();
  }
  if (unlikely(number == 0)) {
    __atomic_fetch_add(&h->lost_requests, 1, __ATOMIC_RELAXED);
    return 0;
  }
  struct aprof_request *r = request_at(number);
  uint32_t index = index_of(first);
  *r = (struct aprof_request){.begin_tick = now,
                              .function = function_site(first),
                              .root = root ? index : 0,
                              .first = index,
                              .parent = parent,
                              .state = APROF_REQUEST_LIVE,
                              .flags = flags,
                              .no_label = 1};
  uint64_t count = __atomic_add_fetch(&h->begun_requests, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&r->id, (uint64_t)(uint16_t)h->epoch << 48 | (uint32_t)count, __ATOMIC_RELEASE);
  if (traces(t) && (r->kept = trace_takes(t, count, parent)) != 0) {
    trace_put(t, APROF_TRACE_REQUEST_BEGIN, index, function_node(first->node), now);
    trace_more(t, aprof_trace_request(number, r->id), parent | (uint64_t)flags << 20);
  }
  return number;
}

bool request_hold(uint32_t number) {
  uint32_t *members = &request_at(number)->members,
           seen = __atomic_load_n(members, __ATOMIC_RELAXED);
  while (seen != 0 && !swapped(members, &seen, seen + 1, ACQ_REL))
    ;
  return seen != 0;
}

/* By all of its members. */
void request_left(struct thread *t, uint32_t number, uint64_t now) {
  if (request_lives(request_at(number))) {
    request_join(number);
    request_finish(t, number, now);
  } else {
    request_free(number);
  }
}

/* It is over, under that kind. */
static void tell_end(struct thread *t, uint32_t number, uint32_t kind, uint32_t undone) {
  const struct aprof_request *r = request_at(number);
  uint64_t ab[4], tick = r->stopped > r->begin_tick ? r->stopped : r->begin_tick;
  uint32_t first = r->root != 0 ? r->root : r->first;
  if ((r->trace[0] | r->trace[1]) != 0) {
    trace_put(t, APROF_TRACE_TOKEN, first, 0, tick);
    aprof_trace_token(r->trace, r->span, ab);
    trace_more(t, ab[0], ab[1]);
    trace_more(t, ab[2], ab[3]);
    aprof_trace_parent(r->parent_span, ab);
    if (r->parent_span != 0)
      trace_more(t, ab[0], ab[1]);
  }
  trace_put(t, APROF_TRACE_REQUEST_END, first, 0, tick);
  trace_more(t, aprof_trace_request(number, r->id), kind | (uint64_t)r->flags << 16 | undone);
}

void request_finish(struct thread *t, uint32_t number, uint64_t now) {
  struct aprof_request *r = request_at(number);
  if (!request_lives(r))
    return;
  uint32_t kind = kind_book(t, r, now);
  if (traces(t) && trace_keeps(t, number))
    tell_end(t, number, kind, 0);
  r->kind = (uint16_t)kind; /* for what comes after */
  r->stopped = now;         /* ... it */
  r->root = 0;
  __atomic_store_n(&r->state, APROF_REQUEST_OVER, __ATOMIC_RELEASE);
  request_part(t, number, now);
}

void request_undo(struct thread *t, uint32_t number) {
  struct aprof_request *r = request_at(number);
  if (traces(t) && trace_keeps(t, number))
    tell_end(t, number, 0, APROF_TRACE_UNDONE);
  r->root = 0;
  __atomic_store_n(&r->state, APROF_REQUEST_OVER, __ATOMIC_RELEASE);
  r->stopped = UINT64_MAX; /* nothing is after what never was */
  request_part(t, number, 0);
}

/* What has been told of it so far is undone. One that has no member yet but a create that is open
   has told nothing of that. */
void request_leave_out(struct thread *t, const struct aprof_future *root) {
  uint32_t number = request_of(root);
  struct aprof_request *r = request_at(number);
  if (number == 0 || !traces(t) || !t->partly || r->root != index_of(root) || !request_lives(r) ||
      !trace_keeps(t, number))
    return;
  tell_end(t, number, 0, APROF_TRACE_UNDONE);
  r->kept = 0;
  __atomic_fetch_sub(&rt.header->kept_requests, 1, __ATOMIC_RELAXED);
  if (root->state != APROF_FUTURE_TENTATIVE)
    trace_leaves(t, root, t->block->last);
}
