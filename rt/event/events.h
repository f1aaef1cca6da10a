/* SPDX-License-Identifier: MIT */
/*
 * What the files of events share: the functions that fill a gate, and the steps
 * that bodies and brackets have in common.
 * Locking: the steps only inside an event.
 */
#ifndef APROF_EVENTS_H
#define APROF_EVENTS_H

#include "rt/rt.h"

/* fast.c: what gates hold; each goes on in the general one of events.c where
   anything is out of the ordinary. */
void fast_bodies(struct aprof_gate *gate, uint32_t clock);
void fast_brackets(struct aprof_gate *gate, uint32_t clock);
void fast_rest(struct aprof_gate *gate, uint32_t clock);
static inline void fast_all(struct aprof_gate *gate, uint32_t clock) {
  fast_bodies(gate, clock);
  fast_brackets(gate, clock);
  fast_rest(gate, clock);
}

/* The general events, general_enter and so on. */
#define DECLARE(with, role, name, parameters, arguments) void general_##name parameters;
APROF_GATE_EVENTS(DECLARE, 0)
#undef DECLARE

/* cost.c: the same, for fast events to go on in. Where the thread's events are timed just now, the
   fast one is made once more between two looks at the clock. Polling has no fast ones, and has
   these. */
#define TIMED_EVENTS(row, with)                                                                    \
  APROF_GATE_enter(row, with) APROF_GATE_leave(row, with) APROF_GATE_suspend(row, with)            \
      APROF_GATE_resume(row, with) APROF_GATE_create_begin(row, with)                              \
          APROF_GATE_create_key(row, with) APROF_GATE_create_end(row, with)                        \
              APROF_GATE_run_begin(row, with) APROF_GATE_run_end(row, with)                        \
                  APROF_GATE_wake(row, with) APROF_GATE_end(row, with)                             \
                      APROF_GATE_idle_begin(row, with) APROF_GATE_idle_end(row, with)
#define DECLARE(with, role, name, parameters, arguments) void timed_##name parameters;
TIMED_EVENTS(DECLARE, 0)
#undef DECLARE

/* What an await's token is. Almost all are AWAIT_OUTER, whose word[0] is the future's id;
   of the others it is the complement, and word[2] tells. */
#define AWAIT_OUTER 1u
#define AWAIT_NAMES 2u
#define AWAIT_WORKER 4u  /* what goes on behind it holds no loop */
#define HERE_NOTHING 2u  /* word[0] of `here`, where nothing runs */
#define HERE UINT64_MAX  /* word[2] */
#define AWAIT_OUTSIDE 1u /* word[0] of a helper's, while no future runs */

/* The outermost open helper that no future called, also before there is a profile: the
   first creates of a program lie in its helpers, too. `at` is its token's address, in the
   frame of who called it; 0: none. */
struct helper {
  struct aprof_site *site;
  uintptr_t at;
};
extern __thread struct helper events_helper __attribute__((tls_model("initial-exec")));

/* Its site, as seen from a bracket with this token, if that lies in the call: further down
   the stack, or in the same frame where the helper was inlined. Else it was jumped out of. */
static inline struct aprof_site *helper_around(const struct aprof_token *create) {
  uintptr_t here = (uintptr_t)create, at = events_helper.at;
  bool inside = at != 0 && here - at + (1u << 20) < (1u << 20) + 4096;
  return unlikely(inside) ? events_helper.site : NULL;
}

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

/* A new record under the running future (under nothing if `root`): no state, no
   key yet. NULL: lost, and counted. */
struct aprof_future *future_born(struct thread *t, struct aprof_site *function, bool root,
                                 uint64_t now);
/* f turned out to be the future of this body, whose address is `self` if known. */
void future_named(struct thread *t, struct aprof_future *f, struct aprof_site *body,
                  const void *self);
/* The announced call site of the running future, else `callee`. */
struct aprof_site *take_call_site(struct thread *t, struct aprof_site *callee);

#endif
