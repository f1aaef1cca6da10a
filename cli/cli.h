/* SPDX-License-Identifier: MIT */
/*
 * cli: what every file of the `aprof` command shares.
 *
 * Purpose: the subcommands' entry points.
 * Cost: none worth a thought. Locking: the command is single threaded.
 */
#ifndef APROF_CLI_H
#define APROF_CLI_H

#include "read/util.h"

/* One per subcommand; argv[0] is "aprof NAME", as argp wants to print it. */
int cmd_run(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_on(int argc, char **argv);
int cmd_off(int argc, char **argv);
int cmd_reset(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_flame(int argc, char **argv);
int cmd_ps(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_coverage(int argc, char **argv);
int cmd_bindings(int argc, char **argv);
int cmd_cflags(int argc, char **argv);

#endif
