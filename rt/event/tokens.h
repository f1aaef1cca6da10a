/* SPDX-License-Identifier: MIT */
/* What events write into the tokens of brackets, and find there again. */
#ifndef APROF_RT_TOKENS_H
#define APROF_RT_TOKENS_H

#include "rt/future/stack.h"
#include "segments.h"

/* What an await's token is. Almost all are AWAIT_OUTER, whose word[0] is the future's id;
   of the others it is the complement, and word[2] tells. */
#define AWAIT_OUTER 1u
#define AWAIT_NAMES 2u
#define AWAIT_WORKER 4u  /* what goes on behind it holds no loop */
#define HERE_NOTHING 2u  /* word[0] of `here`, where nothing runs */
#define HERE UINT64_MAX  /* word[2] */
#define AWAIT_OUTSIDE 1u /* word[0] of a helper's, while no future runs */

/* word[2] of a body's token: slices so far * 2, and from fast.c: key1 of its future
   is where its call is counted. */
#define BODY_CALLED 1u

/*
 * Tokens of create and run. Where nobody waits for the bracket to close:
 *   word[0]  id of the bracket's future
 *   word[1]  its address
 *   word[2]  of a run around a body: the site of its function; of a create BRACKET_PUBLISHED, or 0
 * They may remember two futures, and find both of them gone:
 *   word[1]  index of the first, twice, and 1; upper half: serial of the one put aside below it
 *   word[2]  index of that one, and BRACKET_*; upper half: slices so far
 */
#define BRACKET_INDEXED 1u /* in word[1] */
static inline bool bracket_indexed(const struct aprof_token *token) {
  return token->word[1] & BRACKET_INDEXED;
}
/* Both words of a bracket on whose closing nobody waits, but for what is added to them. */
static inline void bracket_index(struct aprof_token *token, uint32_t index, uint64_t word2) {
  token->word[1] = (uint64_t)index * 2 + BRACKET_INDEXED;
  token->word[2] = word2;
}
static inline uint32_t bracket_indexes(const struct aprof_token *token) {
  return (uint32_t)token->word[1] >> 1;
}
static inline struct aprof_future *bracket_future(const struct aprof_token *token) {
  return bracket_indexed(token) ? record_at(bracket_indexes(token)) : record_of(token->word[1]);
}

/* word[2] of an indexed one. */
#define BRACKET_BODY (1ull << 31)      /* around a body, not a call */
#define BRACKET_PUBLISHED BRACKET_BODY /* of a create, indexed or not: the future had its key */
#define BRACKET_POLL                                                                               \
  (1ull << 30) /* of a wait that may go on: of the slices only the                                 \
                  lower 12 bits, and above them the await */
#define BRACKET_INDEX (BRACKET_POLL - 1)

static inline void token_set(struct aprof_token *token, struct aprof_future *f, uint64_t word2) {
  token->word[0] = f->id;
  token->word[1] = (uintptr_t)f;
  token->word[2] = word2;
}

/* Is the token of an epoch that is over? Then what it closes is over, too. Without an epoch it is
   no token. */
static inline bool token_old(const struct thread *t, uint64_t id) {
  return (id >> 48 != 0 || id == 0) && !token_current(t, id);
}

static inline void token_await(struct aprof_token *token, struct aprof_future *f, uint64_t kind) {
  token_set(token, f, kind);
  if (kind != AWAIT_OUTER)
    token->word[0] = ~f->id;
}

/* The words of a create or run of f, whose index is `index`, by `below`, whose index is `at`. */
static inline void bracket_open_at(const struct thread *t, struct aprof_token *token,
                                   struct aprof_future *f, uint32_t index, uint64_t id,
                                   const struct aprof_future *below, uint32_t at,
                                   const struct aprof_site *function) {
  token->word[0] = id;
  if (below == NULL) {
    token->word[1] = (uintptr_t)f;
    token->word[2] = (uintptr_t)function;
    return;
  }
  bracket_index(token, index, t->slice_count << 32 | at | (function != NULL ? BRACKET_BODY : 0));
  token->word[1] |= below->id << 32;
}
static inline void bracket_open(const struct thread *t, struct aprof_token *token,
                                struct aprof_future *f, uint64_t id,
                                const struct aprof_future *below,
                                const struct aprof_site *function) {
  bracket_open_at(t, token, f, index_of(f), id, below, below != NULL ? index_of(below) : 0,
                  function);
}

static inline bool bracket_body(const struct aprof_token *token) {
  return bracket_indexed(token) ? token->word[2] & BRACKET_BODY : token->word[2] != 0;
}

static inline bool bracket_polls(const struct aprof_token *token) {
  return unlikely(bracket_indexed(token)) && unlikely(token->word[2] & BRACKET_POLL);
}

/* The future that waits for the bracket to close; NULL: none does, or it runs again already, or is
   over. */
static inline struct aprof_future *bracket_below(const struct aprof_token *token, uint32_t callee) {
  uint32_t index = (uint32_t)(token->word[2] & BRACKET_INDEX);
  if (likely(!bracket_indexed(token)))
    return NULL;
  struct aprof_future *f = record_at(index);
  if (index == 0 || (uint32_t)f->id != (uint32_t)(token->word[1] >> 32) || !is_aside(f, callee))
    return NULL;
  return f;
}

static inline bool bracket_immediate(const struct thread *t, const struct aprof_token *token) {
  uint32_t mask = token->word[2] & BRACKET_POLL ? 0xfff : UINT32_MAX;
  return (((uint32_t)(token->word[2] >> 32) ^ (uint32_t)t->slice_count) & mask) == 0;
}

#endif
