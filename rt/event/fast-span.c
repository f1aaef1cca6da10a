/* SPDX-License-Identifier: MIT */
/*
 * The fast events of spans on a running future, whose time is told and no tier's. See fast.c for
 * why, and span.c for what they do.
 */
#include "fast.h"
#include "span.h"

/* Only then may a tier be open, which the token would have to tell, or which was left open inside.
 */
ALWAYS bool has_share(const struct aprof_future *f) {
  return unlikely(f->request & APROF_SHARE);
}

ALWAYS void fast_span_begin(struct aprof_site *site, struct aprof_token *token, uint32_t clock) {
  struct thread *t = aprof_self;
  struct aprof_block *b = t->block;
  if (!begin(t, b))
    goto slow;
  struct aprof_future *f = t->cur;
  if (unlikely(f == NULL) || clock == CLOCK_SHED || has_share(f) || !site_known(site))
    goto undo;
  const struct aprof_psite *p = (const struct aprof_psite *)(uintptr_t)site->reserved;
  uint32_t before = f->node;
  struct node_entry *e = fast_node(t, before, site, false);
  if (unlikely(e == NULL) || unlikely((p->detail | p->tier) != 0))
    goto undo;
  uint64_t now = fast_clock(clock), ran = now - b->last;
  if (backwards(ran))
    goto undo;
  t->counters->function.exec += ran;
  token->word[0] = f->id | SPAN_TOKEN;
  token->word[1] = (uint64_t)before << 32 | index_of(f) * 2 | BRACKET_INDEXED;
  token->word[2] = e->node;
  f->node = e->node;
  f->last = now;
  t->counters = e->counters;
  b->last = now;
  finish(b);
  return;
undo:
  unbegin(t);
slow:
  timed_span_begin(site, token);
}

ALWAYS void fast_span_end(struct aprof_token *token, uint32_t clock) {
  struct thread *t = aprof_self;
  struct aprof_block *b = t->block;
  uint32_t before = (uint32_t)(token->word[1] >> 32);
  if (!begin(t, b))
    goto slow;
  struct aprof_future *f = t->cur;
  struct aprof_counters *c;
  if (unlikely(f == NULL) || unlikely((f->id | SPAN_TOKEN) != token->word[0]) || has_share(f) ||
      unlikely(token->word[2] != f->node) || unlikely(before > rt.header->nodes) ||
      unlikely((c = fast_counters(t, before)) == NULL))
    goto undo;
  uint64_t now = fast_clock(clock), ran = now - b->last;
  if (backwards(ran))
    goto undo;
  t->counters->function.exec += ran;
  t->counters->function.done++;
  t->counters = c;
  f->node = before;
  f->last = now;
  b->last = now;
  finish(b);
  return;
undo:
  unbegin(t);
slow:
  timed_span_end(token);
}

/* -- one set per clock --------------------------------------------------------- */
#define SET(name, clock)                                                                           \
  static void span_begin_##name(struct aprof_site *site, struct aprof_token *token) {              \
    fast_span_begin(site, token, clock);                                                           \
  }                                                                                                \
  static void span_end_##name(struct aprof_token *token) {                                         \
    fast_span_end(token, clock);                                                                   \
  }

#define GOVERNED(clock) APROF_GATE_span_begin(CHOOSE, clock) APROF_GATE_span_end(CHOOSE, clock)

SETS(SET, GOVERNED)

void fast_spans(struct aprof_gate *gate, uint32_t clock) {
  gate->span_begin = FOR_CLOCK(clock, span_begin);
  gate->span_end = FOR_CLOCK(clock, span_end);
}
