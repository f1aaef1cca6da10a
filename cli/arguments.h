/* SPDX-License-Identifier: MIT */
/*
 * The arguments of a command: help, errors and values from tables of options.
 *
 * Purpose: the one place that knows argp. What is wrong ends the command with one line and
 * CLI_USAGE. Locking: none.
 */
#ifndef APROF_CLI_ARGUMENTS_H
#define APROF_CLI_ARGUMENTS_H

#include "ask/option.h"

#define ARGUMENTS_TARGET                                                                           \
  "TARGET: a PID, the NAME of a process, totals (PROG.PID.json; - is standard input), a profile, " \
  "or a core; without one it is the only live process that is profiled."

struct arguments {
  const char *usage; /* what stands behind the options; NULL: nothing does */
  const char *about; /* the command's help; behind \v what stands below the options */
  struct {
    const struct option_row *row; /* NULL: no more tables */
    void *into;
  } table[5]; /* the last is empty */
  size_t least, most;   /* words that are no options; most 0: none, UINT32_MAX: any number */
  const char *lacking;  /* what is said of too few */
  const char *too_many; /* and of too many; NULL: "takes no argument" */
  bool in_order;        /* no options behind the first word */
  /* NULL, or what else is wrong. */
  const char *(*fault)(const struct arguments *);
  const void *context; /* of `fault` */
  char **word;         /* out: borrowed of argv */
  size_t words;
};

void arguments_parse(struct arguments *, int argc, char **argv);

#endif
