/* SPDX-License-Identifier: MIT */
/*
 * The fast events inside an await that only names what is waited for: it begins and ends while its
 * future runs, and the awaits inside of it are counted as that one. They go on with one that has
 * begun. See fast.c for why, and await.c for what they do.
 */
#define FAST_SAVES_NOTHING
#include "fast.h"

/* The named await begins; inside another one it is none. */
ALWAYS bool fast_names(struct thread *t, struct aprof_block *b, struct aprof_future *f,
                       const struct aprof_counters *c, struct aprof_site *site,
                       struct aprof_token *token) {
  if (f->await == 0) {
    struct node_entry *e = fast_node_of(t, f->node, site, true, true);
    if (unlikely(e == NULL) || unlikely(e->counters->await.function != (uintptr_t)c))
      return false;
    f->await = e->node;
    token_await(token, f, AWAIT_OUTER | AWAIT_NAMES);
  }
  finish(b);
  return true;
}

ALWAYS void fast_suspend_named(struct aprof_site *site, struct aprof_token *token, uint32_t clock) {
  struct thread *t = aprof_self;
  struct aprof_block *b = block_here();
  struct aprof_future *f = t->cur;
  struct aprof_counters *c = t->counters, *sliced = t->slice_counters, *a;
  if (unlikely(b->state != APROF_THREAD_RUNNING))
    goto undo;
  if (site->flags & APROF_NAMES) {
    if (fast_names(t, b, f, c, site, token))
      return;
    goto undo;
  }
  if (unlikely(f->await == 0) || unlikely(site->flags & APROF_WORKER) ||
      unlikely((a = fast_counters(t, f->await)) == NULL) ||
      unlikely(a->await.function != (uintptr_t)c) || unlikely(a->await.apart))
    goto undo;
  uint64_t now = fast_clock(clock), ran = now - b->last, length = now - b->slice_tick;
  if (backwards(ran) || fast_slice_long(sliced, length, clock))
    goto undo;
  c->function.exec += ran;
  finish_waits(t, b, f, a, token, 0, sliced, length, now, clock);
  return;
undo:
  suspend_undone(t, site, token);
}

ALWAYS void fast_resume_named(struct aprof_token *token, uint32_t clock) {
  struct thread *t = aprof_self;
  struct aprof_block *b = block_here();
  if (token->word[0] == 0) { /* a named one inside another one */
    finish(b);
    return;
  }
  struct aprof_future *f = (struct aprof_future *)(uintptr_t)token->word[1];
  uint64_t id = ~token->word[0], kind = token->word[2];
  if (unlikely(!in_profile((uintptr_t)f)) || unlikely(f->id != id) || unlikely(kind & AWAIT_WORKER))
    goto undo;
  if (likely(t->cur == f) && b->state == APROF_THREAD_RUNNING) {
    if (kind & AWAIT_OUTER)
      f->await = 0;
    finish(b);
    return;
  }
  if (likely(!(kind & AWAIT_OUTER)) && likely(!(f->flags & APROF_F_IMPLICIT)) &&
      fast_resumes(t, b, f, false, clock))
    return;
undo:
  resume_undone(t, token);
}

/* -- one set per clock --------------------------------------------------------- */
#define SET(name, clock)                                                                           \
  void suspend_named_##name(struct aprof_site *site, struct aprof_token *token) {                  \
    fast_suspend_named(site, token, clock);                                                        \
  }                                                                                                \
  void resume_odd_##name(struct aprof_token *token) {                                              \
    fast_resume_named(token, clock);                                                               \
  }

#include "fast-sets.h"
