/* SPDX-License-Identifier: MIT */
/* What a future has had of its request, and when that is booked; see share.c. Inside an event. */
#ifndef APROF_RT_SHARE_H
#define APROF_RT_SHARE_H

#include "tier.h"

#pragma GCC visibility push(hidden)

/* f's own, made where it has none. NULL: there is no room, which is counted. */
struct aprof_share *share_new(struct aprof_future *f);
static inline struct aprof_share *share_own(struct aprof_future *f) {
  struct aprof_share *s = share_of(f);
  return s != NULL ? s : share_new(f);
}
void share_give(struct aprof_future *f,
                struct aprof_share *s);       /* f has none, or no request, from here on */
void share_drop_idle(struct aprof_future *f); /* ... if it has nothing to tell any more */

/* What f has had until now; `open`: with the segment that it is in. */
struct had share_had(const struct aprof_future *f, uint64_t now, bool open);
static inline struct had share_had_closed(const struct aprof_future *f, uint64_t now) {
  return (struct had){f->queued, f->waiting, now};
}

/* All that f has had since it was booked last is booked, in that request (0: in none) and its tier.
   `runs`: it does until now. */
void share_book(struct aprof_future *f, struct aprof_share *s, uint32_t number, uint64_t now,
                bool open, bool runs);
/* ... is, from now on. */
void share_goes_on(struct aprof_share *s, const struct had *h, uint64_t now);
/* Its wait at its create ends then, or is booked: that is the create's tier's. */
void share_book_create(struct aprof_future *f, uint64_t end);
/* f's wait at this await ends then, but for what it was queued behind it. */
void share_waited(struct aprof_future *f, uint32_t await, uint64_t end);
/* When f stopped running last, if it has run as a part of its request. 0: it has not. */
static inline uint64_t share_last_ran(const struct aprof_future *f, const struct aprof_share *s,
                                      bool runs, uint64_t now) {
  if (runs)
    return now;
  bool ran = f->flags & (APROF_F_STARTED | APROF_F_BODY) && (s == NULL || f->last >= s->joined);
  return ran ? f->last : 0;
}
/* Does f wait at its create? */
bool share_at_create(const struct aprof_future *f, uint32_t await);

#pragma GCC visibility pop

#endif
