/* SPDX-License-Identifier: MIT */
/*
 * What a command takes: its tables of options, and its words.
 *
 * Cost: a look-up is linear in the options. Locking: none; data.
 */
#ifndef APROF_CLI_OPTIONS_H
#define APROF_CLI_OPTIONS_H

#include "ask/option.h"

enum { ARGUMENT_TABLES = 8 };

struct arguments {
  const char *usage; /* what stands behind the options; NULL: nothing does */
  const char *about; /* the command's help; behind \v what stands below the options */
  struct {
    const struct option_row *row; /* NULL: no more tables */
    void *into;
  } table[ARGUMENT_TABLES]; /* the last is empty */
  size_t least, most;       /* words that are no options; most 0: none, UINT32_MAX: any number */
  const char *lacking;      /* what is said of too few */
  const char *too_many;     /* and of too many; NULL: "takes no argument" */
  bool in_order;            /* no options behind the first word */
  enum { OFFER_FILES, OFFER_TARGETS, OFFER_PROCESSES, OFFER_PROGRAM } offers; /* words, to shells */
  /* NULL, or what else is wrong. */
  const char *(*fault)(const struct arguments *);
  const void *context; /* of `fault` */
  char **word;         /* out: borrowed of argv */
  size_t words;
};

/* The row of an option's whole name; NULL: there is none. */
const struct option_row *arguments_named(const struct arguments *, const char *name, size_t length);
/* That of the option in this word ("--name", "-abc") whose value is the next word; or NULL. */
const struct option_row *arguments_awaits(const struct arguments *, const char *word);

#endif
