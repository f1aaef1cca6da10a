/* SPDX-License-Identifier: MIT */
/*
 * What spans write into their tokens, and what others do to spans; see span.c. Inside an event.
 *
 *   word[0]  id of the future, or of the epoch alone where no future ran; SPAN_TOKEN
 *   word[1]  index of that future (of the thread's block), twice, and 1; upper half: the node
 * before word[2]  the span's node, SPAN_*; upper half: the bracket of its tier, or that which it
 * lies in
 */
#ifndef APROF_RT_SPAN_H
#define APROF_RT_SPAN_H

#include "rt/request/member.h"
#include "rt/trace/ring.h"
#include "tokens.h"

#define SPAN_TOKEN (1ull << 47) /* higher than any block's number in an id */
#define SPAN_OUTSIDE (SPAN_TOKEN | 1)
#define SPAN_TIERED (1u << 30)     /* it has a tier */
#define SPAN_NODE ((1u << 24) - 1) /* 0: it has none */

static inline bool is_span_token(const struct thread *t, const struct aprof_token *token) {
  return token_current(t, token->word[0]) && (token->word[0] & SPAN_TOKEN);
}
static inline bool is_outside(const struct aprof_token *token) {
  return (token->word[0] & (SPAN_TOKEN | 0xffffull << 32 | UINT32_MAX)) == SPAN_OUTSIDE;
}
static inline uint64_t span_future_id(const struct aprof_token *token) {
  return token->word[0] & ~SPAN_TOKEN;
}

/* Of the tier that f is in the trace is told where it changes. */
static inline uint32_t tier_of(const struct aprof_future *f) {
  const struct aprof_share *s = share_of(f);
  return s != NULL ? s->tier : 0;
}
static inline void tier_told(struct thread *t, const struct aprof_future *f, uint32_t before,
                             uint64_t now) {
  if (traces(t) && tier_of(f) != before)
    trace_put(t, APROF_TRACE_TIER, index_of(f), tier_of(f), now);
}

/* What a bracket's token says of f's tiers, of which `tier`, if any, opens in it; it closes.
   `tells`: they are told where somebody traces. */
static inline __attribute__((always_inline)) uint64_t
tier_opens(struct thread *t, struct aprof_future *f, uint32_t tier, bool tells, uint64_t now) {
  uint32_t before = tells ? tier_of(f) : 0;
  uint64_t bracket = tier != 0 ? member_tier_begin(f, tier, now) : 0;
  if (tells)
    tier_told(t, f, before, now);
  return likely(bracket != 0) ? bracket << 32 | SPAN_TIERED
                              : (uint64_t)member_bracket(f) << 32; /* those outside stay open */
}
static inline __attribute__((always_inline)) void tier_closes(struct thread *t,
                                                              struct aprof_future *f,
                                                              const struct aprof_token *token,
                                                              bool tells, uint64_t now) {
  uint32_t before = tells ? tier_of(f) : 0, bracket = (uint32_t)(token->word[2] >> 32);
  if (token->word[2] & SPAN_TIERED)
    member_tier_end(f, bracket, now);
  else
    member_tier_back(f, bracket, now);
  if (tells)
    tier_told(t, f, before, now);
}

/* f runs here, and whatever was open above the bracket of this token, on f alone, was jumped
   over. */
void span_back(struct thread *t, struct aprof_future *f, const struct aprof_token *token,
               uint64_t now);
void span_outside_back(struct thread *t, const struct aprof_token *token);
/* All that f has open is left: its body is. Its exec is closed. */
void spans_left(struct thread *t, struct aprof_future *f, uint64_t now);
/* The thread was in an await since then, not outside: takes back what spans have had. */
void span_outside_undo(struct thread *t, uint64_t since);

#endif
