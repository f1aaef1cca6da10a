/* SPDX-License-Identifier: MIT */
/*
 * What events write into the tokens of brackets, and find there again.
 */
#ifndef APROF_RT_TOKENS_H
#define APROF_RT_TOKENS_H

#include "rt/rt.h"

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
 *   word[2]  of a run around a body: the site of its function; else 0
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
#define BRACKET_BODY (1ull << 31) /* around a body, not a call */
#define BRACKET_POLL                                                                               \
  (1ull << 30) /* of a wait that may go on: of the slices only the                                 \
                  lower 12 bits, and above them the await */
#define BRACKET_INDEX (BRACKET_POLL - 1)

#endif
