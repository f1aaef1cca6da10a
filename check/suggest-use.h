/* SPDX-License-Identifier: MIT */
/*
 * How a program uses a library: what it passes to its functions, and what becomes of their results.
 *
 * In: the program's units. Out: uses, by the library's function. Cost: the parser's, for each unit.
 * Locking: none.
 */
#ifndef APROF_CHECK_SUGGEST_USE_H
#define APROF_CHECK_SUGGEST_USE_H

#include "program.h"

enum use_what {
  USE_CALL,   /* it is called */
  USE_PASSED, /* a callback is its argument `at` */
  USE_RESULT  /* it is given, as argument `at`, what `other` has returned */
};

struct use {
  enum use_what what;
  const char *function, *other; /* other: the callback, or the function */
  int at;
  const char *file;
  unsigned line;
};

/* A callback that the program puts into a member of a struct. */
struct member_use {
  const char *type, *member, *header, *callback;
};

struct uses {
  struct use *use;
  size_t uses;
  struct member_use *member;
  size_t members;
};

/* False after a message. */
bool uses_read(struct uses *, const struct check_request *);
/* The first of that kind; NULL: there is none. */
const struct use *use_of(const struct uses *, enum use_what, const char *function, int at);

#endif
