/* SPDX-License-Identifier: MIT */
/*
 * The arguments of a command: help, errors and values from tables of options.
 *
 * Purpose: the one place that knows argp. What is wrong ends the command with one line and
 * CLI_USAGE. Locking: none.
 */
#ifndef APROF_CLI_ARGUMENTS_H
#define APROF_CLI_ARGUMENTS_H

#include "options.h"

#define ARGUMENTS_TARGET                                                                           \
  "TARGET: a PID, the NAME of a process, totals (PROG.PID.json; - is standard input; a directory " \
  "with those of one process), a profile, or a core; without one it is the only live process "     \
  "that "                                                                                          \
  "is profiled."

#define ARGUMENTS_RECORDING                                                                        \
  "TARGET: a recording (`aprof record'), or the PID or NAME of a live process, which is recorded " \
  "first; without one it is the only live process that is profiled."

void arguments_parse(struct arguments *, int argc, char **argv);

#endif
