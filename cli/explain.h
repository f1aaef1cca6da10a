/* SPDX-License-Identifier: MIT */
/*
 * Why a run has no totals.
 *
 * Purpose: whoever sees no report asks what is missing: the plugin, a line that describes the
 * callbacks, or a call of what is async. The program's own notes tell.
 * Cost: reads the program's file. Locking: none.
 */
#ifndef APROF_CLI_EXPLAIN_H
#define APROF_CLI_EXPLAIN_H

/* One line on stderr. Only where `program` ran, and no process of the run made a profile. */
void explain_no_totals(const char *program);

#endif
