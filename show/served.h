/* SPDX-License-Identifier: MIT */
/*
 * What `aprof serve' says beside views: the form for a token, as a page of its own.
 * Cost: none. Locking: none.
 */
#ifndef APROF_SHOW_SERVED_H
#define APROF_SHOW_SERVED_H

#include <stdbool.h>
#include <stdio.h>

/* `wrong`: what was given is not the token. */
void served_form(bool wrong, FILE *out);

#endif
