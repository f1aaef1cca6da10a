/* SPDX-License-Identifier: MIT */
/*
 * Options as rows of a table: what is told of them, and where their values go.
 *
 * Purpose: findings, outputs and commands say which options they have; one reader (cli/) makes
 * help, errors and values of all of them. Cost, locking: none; data.
 */
#ifndef APROF_ASK_OPTION_H
#define APROF_ASK_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_type {
  OPTION_FLAG,   /* bool: given */
  OPTION_SET,    /* int: `value`, where it is given */
  OPTION_COUNT,  /* uint64_t, at most `value` unless that is 0; "10k" is one, too */
  OPTION_MS,     /* uint64_t, ns: "50ms", "10s"; a plain number is of milliseconds */
  OPTION_S,      /* the same; a plain number is of seconds */
  OPTION_THREAD, /* int64_t: the number of a thread */
  OPTION_WORD,   /* int: which of `words` */
  OPTION_TEXT,   /* const char *: what was given, borrowed */
  OPTION_OWN,    /* whatever `take` makes of it */
};

struct option_row {
  const char *name; /* NULL ends a table */
  char letter;      /* "-o"; 0: none */
  enum option_type type;
  size_t at;            /* of the member, in the struct that goes with the table */
  const char *argument; /* as help calls it; NULL: it takes none */
  const char *text;     /* help, without a full stop */
  int value;
  const char *const *words; /* NULL ends them */
  /* NULL, or what is wrong with the argument (NULL: it has none), as a text to be freed. */
  char *(*take)(void *options, const char *argument);
  const char *(*offer)(size_t);   /* beside `words`: what a shell may complete it to; or NULL */
  bool (*also)(const char *word); /* words without an option's name that it takes, too; or NULL */
  bool hidden, optional;          /* optional: without its argument the count is `value` */
};

#endif
