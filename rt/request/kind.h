/* SPDX-License-Identifier: MIT */
/* Kinds of requests: one for each label and function; see kind.c. Inside an event. */
#ifndef APROF_RT_KIND_H
#define APROF_RT_KIND_H

#include "pool.h"

#pragma GCC visibility push(hidden)

/* Counts the request, which is over on this thread, under its kind. Returns the number of that. */
uint32_t kind_book(struct thread *t, const struct aprof_request *r, uint64_t now);
/* A future of a request of that kind, which was over, has ended: it ran for so long since; `ran`:
   at all. */
void kind_after(uint32_t kind, bool ran, uint64_t exec);
/* The kind of this label, made for r if there is none. 0: "(other)". `from`: where the program has
   it, to be remembered; or NULL. */
uint32_t kind_labelled(const struct aprof_request *r, const char *label, const char *from);
/* ... if it is what was at this address the last time: of `most` characters at most, where no NUL
   need come behind them. 0: it has to be looked for. */
uint32_t kind_remembered(const struct aprof_request *r, const char *label, size_t most);
struct aprof_kind *kind_at(uint32_t number); /* NULL: there is no room */
void kind_reset(void);

#pragma GCC visibility pop

#endif
