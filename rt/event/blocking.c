/* SPDX-License-Identifier: MIT */
/* Calls that block the loop. */
#include "begin.h"
#include "general.h"
#include "rt/count/beneath.h"

void general_blocking_begin(struct aprof_site *site, struct aprof_token *token) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  if (t->cur != NULL && t->slice_counters != &t->no_slices) { /* a worker may block */
    token->word[0] = t->cur->id;
    token->word[1] = event_time(t);
    token->word[2] = (uint64_t)t->cur->node << 32 | site_id(site);
  }
  event_end(t);
}

void general_blocking_end(struct aprof_token *token) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  uint64_t now = event_time(t);
  /* Only where the same future held the thread all the time. */
  if (token_current(t, token->word[0]) && t->cur != NULL && t->cur->id == token->word[0] &&
      now >= token->word[1])
    count_beneath(t, (uint32_t)(token->word[2] >> 32), (uint32_t)token->word[2],
                  APROF_NODE_BLOCKING, now - token->word[1]);
  event_end(t);
}
