/* SPDX-License-Identifier: MIT */
/*
 * All addresses of names, looked up again as time goes on.
 *
 * Purpose: one name may be many machines, which come and go. A thread of its own looks them up, as
 * that may take long; who asks gets what is known. What a name server does not answer to for a
 * while stays as it was. Cost: a look-up of each name each ten seconds. Locking: its own.
 */
#ifndef APROF_CLI_SERVE_NAMES_H
#define APROF_CLI_SERVE_NAMES_H

#include <stddef.h>

struct names_up;

struct names_up *names_up_new(void);
/* Not while it is looked for: as a child, or another thread, is. Ends without waiting for that. */
void names_up_free(struct names_up *);
/* As numbers, "10.0.0.7" or "[fe80::1]", in order; each to be freed, and the list. The first
   look-ups, until names_up_start, are waited for; later ones have none at first. */
char **names_up_of(struct names_up *, const char *name, size_t *count);
void names_up_start(struct names_up *);
/* Another number when something has changed. */
unsigned names_up_changes(struct names_up *);

#endif
