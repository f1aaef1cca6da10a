/* SPDX-License-Identifier: MIT */
/*
 * The fast events of spans on a running future, whose time is told and no tier's. See fast.c for
 * why, and span.c for what they do.
 */
#include "fast.h"
#include "rt/request/member.h"
#include "span.h"

/* Only then may a tier be open, which the token would have to tell, or which was left open inside.
 */
ALWAYS bool has_share(const struct aprof_future *f) {
  return unlikely(f->request & APROF_SHARE);
}

ALWAYS const struct aprof_psite *fast_place_of(const struct aprof_site *site) {
  return (const struct aprof_psite *)(uintptr_t)site->reserved;
}

typedef void opens(struct aprof_site *site, struct aprof_token *token);
typedef void closes(struct aprof_token *token);

/* The same where there are tiers, inside the event; `site` may have none but its tier, which goes
   around a wait. */
ALWAYS void fast_tier_begin(struct aprof_site *site, struct aprof_token *token, uint32_t clock) {
  struct thread *t = aprof_self;
  struct aprof_block *b = block_here();
  struct aprof_future *f = t->cur;
  bool span = site->kind == APROF_SITE_SPAN;
  uint32_t before = f->node, tier = fast_place_of(site)->tier;
  struct node_entry *e = span ? fast_node_of(t, before, site, false, true) : NULL;
  if ((span && unlikely(e == NULL)) || unlikely(fast_place_of(site)->detail != 0) ||
      unlikely(tier >= APROF_TIERS))
    goto undo;
  uint64_t now = fast_clock(clock), ran = now - b->last;
  if (backwards(ran))
    goto undo;
  t->counters->function.exec += ran;
  f->last = now;
  b->last = now;
  uint32_t before_tier = NOTES ? tier_of(f) : 0;
  uint64_t bracket = tier != 0 ? member_tier_begin(f, tier, now) : 0;
  if (NOTES)
    tier_told(t, f, before_tier, now);
  if (likely(bracket != 0))
    bracket = bracket << 32 | SPAN_TIERED;
  else
    bracket = (uint64_t)member_bracket(f) << 32; /* those outside stay open */
  if (span) {
    f->node = e->node;
    t->counters = e->counters;
    t->counters->function.done++;
    bracket |= e->node;
    note(t, APROF_TRACE_NODE, f, e->node, now);
  }
  if (likely(bracket & (SPAN_NODE | SPAN_TIERED))) {
    token->word[0] = f->id | SPAN_TOKEN;
    token->word[1] = (uint64_t)before << 32 | index_of(f) * 2 | BRACKET_INDEXED;
    token->word[2] = bracket;
  }
  finish(b);
  return;
undo:
  unbegin(t);
  timed_span_begin(site, token);
}

ALWAYS void fast_tier_end(struct aprof_token *token, uint32_t clock) {
  struct thread *t = aprof_self;
  struct aprof_block *b = block_here();
  struct aprof_future *f = t->cur;
  uint32_t before = (uint32_t)(token->word[1] >> 32), node = token->word[2] & SPAN_NODE;
  uint32_t bracket = (uint32_t)(token->word[2] >> 32);
  struct aprof_counters *c;
  if (unlikely((node != 0 ? node : before) != f->node) || unlikely(before > rt.header->nodes) ||
      unlikely((c = fast_counters(t, before)) == NULL))
    goto undo;
  uint64_t now = fast_clock(clock), ran = now - b->last;
  if (backwards(ran))
    goto undo;
  t->counters->function.exec += ran;
  if (node != 0) {
    t->counters = c;
    f->node = before;
  }
  f->last = now;
  b->last = now;
  note(t, APROF_TRACE_NODE, f, f->node, now);
  uint32_t before_tier = NOTES ? tier_of(f) : 0;
  if (token->word[2] & SPAN_TIERED)
    member_tier_end(f, bracket, now);
  else
    member_tier_back(f, bracket, now);
  if (NOTES)
    tier_told(t, f, before_tier, now);
  finish(b);
  return;
undo:
  unbegin(t);
  timed_span_end(token);
}

/* Where a tier is opened, or one is open, `tiers` goes on. */
ALWAYS void fast_span_begin(struct aprof_site *site, struct aprof_token *token, uint32_t clock,
                            opens *tiers) {
  struct thread *t = aprof_self;
  struct aprof_block *b = block_here();
  if (!begin(t, b))
    goto slow;
  struct aprof_future *f = t->cur;
  if (unlikely(b->state != APROF_THREAD_RUNNING) || clock == CLOCK_SHED || !site_known(site))
    goto undo;
  const struct aprof_psite *p = fast_place_of(site);
  if (has_share(f) || unlikely((p->detail | p->tier) != 0)) {
    tiers(site, token);
    return;
  }
  uint32_t before = f->node;
  struct node_entry *e = fast_node(t, before, site, false);
  if (unlikely(e == NULL))
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
  t->counters->function.done++;
  b->last = now;
  note(t, APROF_TRACE_NODE, f, e->node, now);
  finish(b);
  return;
undo:
  unbegin(t);
slow:
  timed_span_begin(site, token);
}

ALWAYS void fast_span_end(struct aprof_token *token, uint32_t clock, closes *tiers) {
  struct thread *t = aprof_self;
  struct aprof_block *b = block_here();
  uint32_t before = (uint32_t)(token->word[1] >> 32);
  if (!begin(t, b))
    goto slow;
  struct aprof_future *f = t->cur;
  struct aprof_counters *c;
  if (unlikely(b->state != APROF_THREAD_RUNNING) ||
      unlikely((f->id | SPAN_TOKEN) != token->word[0]))
    goto undo;
  if (has_share(f)) {
    tiers(token);
    return;
  }
  if (unlikely(token->word[2] != f->node) || unlikely(before > rt.header->nodes) ||
      unlikely((c = fast_counters(t, before)) == NULL))
    goto undo;
  uint64_t now = fast_clock(clock), ran = now - b->last;
  if (backwards(ran))
    goto undo;
  t->counters->function.exec += ran;
  t->counters = c;
  f->node = before;
  f->last = now;
  b->last = now;
  note(t, APROF_TRACE_NODE, f, before, now);
  finish(b);
  return;
undo:
  unbegin(t);
slow:
  timed_span_end(token);
}

/* -- one set per clock --------------------------------------------------------- */
#define SET(name, clock)                                                                           \
  APART void tier_begin_##name(struct aprof_site *site, struct aprof_token *token) {               \
    fast_tier_begin(site, token, clock);                                                           \
  }                                                                                                \
  APART void tier_end_##name(struct aprof_token *token) {                                          \
    fast_tier_end(token, clock);                                                                   \
  }                                                                                                \
  static void span_begin_##name(struct aprof_site *site, struct aprof_token *token) {              \
    fast_span_begin(site, token, clock, tier_begin_##name);                                        \
  }                                                                                                \
  static void span_end_##name(struct aprof_token *token) {                                         \
    fast_span_end(token, clock, tier_end_##name);                                                  \
  }

#define GOVERNED(clock) APROF_GATE_span_begin(CHOOSE, clock) APROF_GATE_span_end(CHOOSE, clock)

#include "fast-sets.h"

void fast_spans(struct aprof_gate *gate, uint32_t clock) {
  gate->span_begin = FOR_CLOCK(clock, span_begin);
  gate->span_end = FOR_CLOCK(clock, span_end);
}
