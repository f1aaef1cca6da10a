/* SPDX-License-Identifier: MIT */
/*
 * cli: what every file of the `aprof` command shares.
 *
 * Purpose: the commands' entry points; main.c has the table of them.
 * Cost: none worth a thought. Locking: the command is single threaded.
 */
#ifndef APROF_CLI_CLI_H
#define APROF_CLI_CLI_H

#include "read/util.h"
#include "show/outputs.h"

/* argv[0] is "aprof NAME", as argp wants to print it. */
typedef int command_function(int argc, char **argv);
command_function cmd_run, cmd_dump, cmd_list, cmd_on, cmd_off, cmd_reset, cmd_merge, cmd_diff,
    cmd_export, cmd_serve, cmd_set, cmd_top, cmd_probe, cmd_record,
    cmd_coverage, cmd_bindings, cmd_cflags, cmd_check, cmd_suggest;

/* Becomes the program beside this one whose name ends so. `without`: what it lacks if it is not
   there, and what to do. cmd-beside.c */
int run_beside(const char *ending, const char *without, char **argv);

/* The command that an output is. */
int show_output(const struct output *, int argc, char **argv);
/* As that of `target` alone, without options. */
int show_plainly(const struct output *, const char *target);

#endif
