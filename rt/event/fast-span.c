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

ALWAYS const struct aprof_psite *fast_place_of(const struct aprof_site *site) {
  return (const struct aprof_psite *)(uintptr_t)site->reserved;
}

/* Odd: a tier is opened, or one is open. There `site` may have none but its tier, which goes around
   a wait. */
ALWAYS void fast_span_begin(struct thread *t, struct aprof_block *b, struct aprof_site *site,
                            struct aprof_token *token, uint32_t clock, span_begin_event *other,
                            bool tiers) {
  struct aprof_future *f = t->cur;
  if (!tiers &&
      (unlikely(b->state != APROF_THREAD_RUNNING) || clock == CLOCK_SHED || !site_known(site)))
    goto undo;
  const struct aprof_psite *p = fast_place_of(site);
  if (!tiers && (has_share(f) || unlikely((p->detail | p->tier) != 0))) {
    other(site, token);
    return;
  }
  bool span = !tiers || site->kind == APROF_SITE_SPAN;
  uint32_t before = f->node;
  struct node_entry *e = span ? fast_node_of(t, before, site, false, tiers) : NULL;
  if ((span && unlikely(e == NULL)) || (tiers && unlikely(p->detail != 0)))
    goto undo;
  uint64_t now = fast_clock(clock), ran = now - b->last, bracket = 0;
  if (backwards(ran))
    goto undo;
  t->counters->function.exec += ran;
  f->last = now;
  b->last = now;
  if (tiers)
    bracket = tier_opens(t, f, p->tier % APROF_TIERS, NOTES, now);
  if (e != NULL) {
    bracket |= e->node;
    f->node = e->node;
    t->counters = e->counters;
    t->counters->function.done++;
  }
  if (!tiers || likely(bracket & (SPAN_NODE | SPAN_TIERED))) {
    token->word[0] = f->id | SPAN_TOKEN;
    token->word[1] = (uint64_t)before << 32 | index_of(f) * 2 | BRACKET_INDEXED;
    token->word[2] = bracket;
  }
  if (e != NULL)
    note(t, APROF_TRACE_NODE, f, e->node, now);
  finish(b);
  return;
undo:
  span_begin_undone(t, site, token);
}

ALWAYS void fast_span_end(struct thread *t, struct aprof_block *b, struct aprof_token *token,
                          uint32_t clock, span_end_event *other, bool tiers) {
  uint32_t before = (uint32_t)(token->word[1] >> 32);
  struct aprof_future *f = t->cur;
  struct aprof_counters *c;
  if (!tiers && (unlikely(b->state != APROF_THREAD_RUNNING) ||
                 unlikely((f->id | SPAN_TOKEN) != token->word[0])))
    goto undo;
  if (!tiers && has_share(f)) {
    other(token);
    return;
  }
  uint64_t node = !tiers ? token->word[2] : (uint32_t)token->word[2] & SPAN_NODE;
  if (unlikely((!tiers || node != 0 ? node : before) != f->node) ||
      unlikely(before > rt.header->nodes) || unlikely((c = fast_counters(t, before)) == NULL))
    goto undo;
  uint64_t now = fast_clock(clock), ran = now - b->last;
  if (backwards(ran))
    goto undo;
  t->counters->function.exec += ran;
  if (!tiers || node != 0) {
    t->counters = c;
    f->node = before;
  }
  f->last = now;
  b->last = now;
  note(t, APROF_TRACE_NODE, f, f->node, now);
  if (tiers)
    tier_closes(t, f, token, NOTES, now);
  finish(b);
  return;
undo:
  span_end_undone(t, token);
}

/* -- one set per clock --------------------------------------------------------- */
#define SET(name, clock) APROF_GATE_span_begin(BOTH, name) APROF_GATE_span_end(BOTH, name)
#define GOVERNED(clock) APROF_GATE_span_begin(CHOOSE, clock) APROF_GATE_span_end(CHOOSE, clock)

#include "fast-sets.h"

void fast_spans(struct aprof_gate *gate, uint32_t clock) {
  gate->span_begin = FOR_CLOCK(clock, span_begin);
  gate->span_end = FOR_CLOCK(clock, span_end);
}
