/* SPDX-License-Identifier: MIT */
/* Births of futures, and what they are called. Only inside an event. */
#ifndef APROF_RT_BIRTH_H
#define APROF_RT_BIRTH_H

#include "rt/trace/ring.h"

#pragma GCC visibility push(hidden)

/* The outermost open helper that no future called, also before there is a profile: the first
   creates of a program lie in its helpers, too. `at` is its token's address, in the caller's frame;
   0: none. */
struct helper {
  struct aprof_site *site;
  uintptr_t at;
};
extern __thread struct helper events_helper __attribute__((tls_model("initial-exec")));

/* The helper's site, if the bracket with this token lies in the helper's call: further down the
   stack, or in the same frame where the helper was inlined. Otherwise a jump has left the
   helper. */
static inline struct aprof_site *helper_around(const struct aprof_token *create) {
  uintptr_t here = (uintptr_t)create, at = events_helper.at;
  bool inside = at != 0 && here - at + (1u << 20) < (1u << 20) + 4096;
  return unlikely(inside) ? events_helper.site : NULL;
}

/* A new record under the running future (under nothing if `root`): no state, no
   key yet; function NULL: no node yet. NULL: lost, and counted. */
struct aprof_future *future_born(struct thread *t, struct aprof_site *function, bool root,
                                 uint64_t now);
/* f, which was born then, is counted from now on. */
SLOW void born_told(struct thread *t, const struct aprof_future *f, uint64_t born);
static inline void trace_born(struct thread *t, const struct aprof_future *f, uint64_t born) {
  if (traces(t))
    born_told(t, f, born);
}
/* Nobody has seen f's body: it has the name of what is at that address. */
void name_by_address(struct thread *t, struct aprof_future *f, const void *fn, uint8_t model,
                     bool root);
/* f turned out to be the future of this body, whose address is `self` if known. */
void future_named(struct thread *t, struct aprof_future *f, struct aprof_site *body,
                  const void *self);
/* A body may be the one that a create bracket waits for; or the run bracket of f, which runs and
   has none yet. */
bool adopts(const struct aprof_future *f, struct aprof_site *site, const void *self);
bool running_adopts(const struct aprof_future *f, struct aprof_site *site, const void *self);

#pragma GCC visibility pop

#endif
