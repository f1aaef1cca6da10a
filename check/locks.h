/* SPDX-License-Identifier: MIT */
/*
 * Which calls take a mutex of threads, and which free one: those of libraries, and the program's
 * own functions and guards around them.
 *
 * Cost: of each function that is asked for, once, some walks through its blocks. Locking: none.
 */
#ifndef APROF_CHECK_LOCKS_H
#define APROF_CHECK_LOCKS_H

#include "facts.h"
#include "program.h"

struct lock {
  const char *mutex;  /* as the caller names it; "?": not known */
  const char *unlock; /* the call that frees it; NULL: what frees it is not known by name */
  bool guard;         /* a variable holds it to the end of its scope: the call's result ... */
  bool again;         /* ... or the call's object, which has held it before */
  bool told;          /* the call only says that it is held */
  bool asks;          /* it may fail: its result is 0 where it is held, or is not */
  enum fact_kind held;
};

/* The call takes one, for certain. */
bool lock_at(const struct ir_body *, const struct ir_step *, struct lock *);
/* The call frees this mutex, or may. */
bool lock_frees(const struct ir_body *, const struct ir_step *, const char *mutex,
                const char *unlock);

#endif
