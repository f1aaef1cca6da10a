/* SPDX-License-Identifier: MIT */
/*
 * Spans: bodies and calls whose time is told apart, and no futures; and tiers.
 *
 *     span_begin (site, tok);  ...  span_end (tok);
 *
 * On a running future a span is the future's node from then on: what runs, waits and is called lies
 * beneath it, and it goes to rest with the future. The token says which node was there before.
 * Where no future runs, spans are a stack of the thread: its time outside futures, as it grows, is
 * given to the innermost. Either way closing one closes what was left open inside. Each counts
 * where it begins, so that one that is left by a jump is a call like others.
 */
#include "span.h"

#include "begin.h"
#include "gates.h"
#include "rt/count/miss.h"
#include "rt/request/member.h"
#include "rt/trace/ring.h"

static bool is_span(uint32_t node) {
  return node != 0 && node <= rt.header->nodes && node_at(node)->is_await == APROF_NODE_SPAN;
}

static uint32_t node_before(const struct aprof_token *token) {
  return (uint32_t)(token->word[1] >> 32);
}

/* -- outside futures ------------------------------------------------------------------ */

static inline void trace_outside(struct thread *t) {
  if (traces(t))
    trace_put(t, APROF_TRACE_OUTSIDE, 0, t->block->span_node, t->block->last);
}

/* From here on the thread is in that span, outside futures; 0: in none. Behind an await of this
   stack that may turn out to lie around another one: see span_outside_undo. */
static void outside_goes(struct thread *t, uint32_t node, uint64_t now) {
  struct aprof_block *b = t->block;
  uint64_t before = b->other;
  close_rest(b, now);
  b->last = now;
  if (t->suspended != NULL) {
    if (t->given_id != t->suspended_id)
      t->given = 0;
    t->given_id = t->suspended_id;
    if (b->other != before && t->given < GIVEN)
      t->given_to[t->given++] = (struct given){now, b->other - before, b->span_node};
  }
  span_outside_close(t);
  b->span_node = node;
  trace_outside(t);
}

/* ... where a future may run, in which the bracket does not lie. */
static void outside_is(struct thread *t, uint32_t node) {
  if (t->cur == NULL) {
    outside_goes(t, node, event_time(t));
  } else {
    span_outside_close(t);
    t->block->span_node = node;
    trace_outside(t);
  }
}

void span_outside_undo(struct thread *t, uint64_t since) {
  struct aprof_block *b = t->block;
  if (b->last <= since)
    return;
  if (b->state == APROF_THREAD_IDLE) { /* in which spans have no part */
    b->idle -= b->last - since;
    return;
  }
  b->other -= b->last - since;
  b->span_other -= b->last - since;
  for (uint32_t i = 0; i < t->given && t->given_id == t->suspended_id; i++)
    if (t->given_to[i].tick > since && t->given_to[i].node != 0)
      counters_of(t, t->given_to[i].node)->function.exec -= t->given_to[i].ticks;
  t->given = 0;
}

static void begin_outside(struct thread *t, struct aprof_site *site, struct aprof_token *token,
                          uint32_t detail) {
  uint32_t before = t->block->span_node;
  const struct node_entry *e = span_find(t, before, site);
  if (e == NULL)
    return;
  counters_of(t, e->node)->function.done++;
  if (detail != APROF_DETAIL_TIME)
    return;
  outside_goes(t, e->node, event_time(t));
  token->word[0] = (uint64_t)t->epoch << 48 | SPAN_OUTSIDE;
  token->word[1] = (uint64_t)before << 32 | t->index * 2 | BRACKET_INDEXED;
  token->word[2] = e->node;
}

/* Is that span open, outside futures, on this thread? */
static bool open_outside(const struct thread *t, const struct aprof_token *token, uint32_t node) {
  uint32_t n = t->block->span_node;
  if (bracket_indexes(token) != t->index || !is_span(node))
    return false;
  while (n != 0 && n != node)
    n = node_parent(n);
  return n != 0;
}

static void end_outside(struct thread *t, const struct aprof_token *token) {
  uint32_t node = token->word[2] & SPAN_NODE, before = node_before(token);
  if (!open_outside(t, token, node)) {
    event_missed(t, APROF_MISS_LEAVE, is_span(node) ? node_site(node) : 0);
    return;
  }
  if (before == 0 || is_span(before))
    outside_is(t, before);
}

void span_outside_back(struct thread *t, const struct aprof_token *token) {
  uint32_t node = token->word[2] & SPAN_NODE;
  if (open_outside(t, token, node))
    outside_is(t, node);
}

/* -- on a future ------------------------------------------------------------------------ */

static void tier_back(struct thread *t, struct aprof_future *f, uint32_t bracket, uint64_t now) {
  uint32_t before = tier_of(f);
  member_tier_back(f, bracket, now);
  tier_told(t, f, before, now);
}

static void begin_inside(struct thread *t, struct aprof_site *site, struct aprof_token *token,
                         uint32_t detail, uint32_t tier) {
  event_unusual(t);
  struct aprof_future *f = t->cur;
  const struct node_entry *e = site->kind == APROF_SITE_SPAN ? span_find(t, f->node, site) : NULL;
  uint64_t word = e != NULL ? e->node : 0;
  uint32_t before = f->node;
  if (e != NULL)
    counters_of(t, e->node)->function.done++;
  if (detail != APROF_DETAIL_TIME || (e == NULL && tier == 0))
    return;
  uint64_t now = event_time(t);
  close_here(t, now);
  word |= tier_opens(t, f, tier, true, now);
  if (e != NULL) {
    f->node = e->node;
    t->counters = e->counters;
    trace(t, APROF_TRACE_NODE, f, f->node, now);
  }
  if (!(word & (SPAN_NODE | SPAN_TIERED)))
    return;
  token->word[0] = f->id | SPAN_TOKEN;
  token->word[1] = (uint64_t)before << 32 | index_of(f) * 2 | BRACKET_INDEXED;
  token->word[2] = word;
}

/* f runs here, at that node. */
static void node_again(struct thread *t, struct aprof_future *f, uint32_t node, uint64_t now) {
  uint32_t function = function_node(f->node);
  f->node = node <= rt.header->nodes && function_node(node) == function ? node : function;
  t->counters = known_counters(t, f); /* a body has given it another name meanwhile */
  trace(t, APROF_TRACE_NODE, f, f->node, now);
}

void span_back(struct thread *t, struct aprof_future *f, const struct aprof_token *token,
               uint64_t now) {
  uint32_t node = token->word[2] & SPAN_NODE;
  close_here(t, now);
  node_again(t, f, node != 0 ? node : node_before(token), now);
  tier_back(t, f, (uint32_t)(token->word[2] >> 32), now);
}

void spans_left(struct thread *t, struct aprof_future *f, uint64_t now) {
  f->node = function_node(f->node);
  if (unlikely(f->flags & APROF_F_MEMBER))
    tier_back(t, f, 0, now);
}

/* What lies above was jumped over, or nobody saw f come back. True: it runs here. */
static SLOW bool end_unwinds(struct thread *t, struct aprof_future *f) {
  struct aprof_future *top = active_top(t);
  bool waited = f->state == APROF_FUTURE_WAITING;
  if (top != NULL && unwind_to(t, top, f, not_before(event_time(t), f))) {
    if (waited)
      f->await = 0; /* which was jumped out of */
    return true;
  }
  event_missed(t, APROF_MISS_LEAVE, node_site(f->node));
  return false;
}

static void end_inside(struct thread *t, const struct aprof_token *token) {
  event_unusual(t);
  struct aprof_future *f = bracket_future(token);
  uint32_t node = token->word[2] & SPAN_NODE;
  if (f->id != span_future_id(token) || (node != 0 && !is_span(node)))
    return; /* it is over */
  if (unlikely(f != t->cur) && !end_unwinds(t, f))
    return;
  uint64_t now = event_time(t);
  close_here(t, now);
  node_again(t, f, node_before(token),
             now); /* also of a tier alone: spans inside may have been left */
  tier_closes(t, f, token, true, now);
}

/* -- events --------------------------------------------------------------------------- */

void general_span_begin(struct aprof_site *site, struct aprof_token *token) {
  bool span = site->kind == APROF_SITE_SPAN;
  struct thread *t = event_begin_light_as(span);
  if (unlikely(t == NULL))
    return;
  uint32_t id = site_id(site);
  if (unlikely(id == 0))
    goto out;
  const struct aprof_psite *p = site_record(id);
  uint32_t detail = __atomic_load_n(&p->detail, __ATOMIC_RELAXED);
  uint32_t tier = __atomic_load_n(&p->tier, __ATOMIC_RELAXED) % APROF_TIERS;
  if (detail >= APROF_DETAIL_OFF || (!span && detail != APROF_DETAIL_TIME) ||
      (span && unlikely(t->shed != APROF_STEP_NONE)))
    goto out;
  if (t->cur != NULL)
    begin_inside(t, site, token, detail, tier);
  else if (span)
    begin_outside(t, site, token, detail);
out:
  event_end(t);
}

void general_span_end(struct aprof_token *token) {
  struct thread *t = event_begin_light();
  if (unlikely(t == NULL))
    return;
  if (likely(is_span_token(t, token))) {
    if (is_outside(token))
      end_outside(t, token);
    else
      end_inside(t, token);
  }
  event_end(t);
}
