/* SPDX-License-Identifier: MIT */
/*
 * A view tested against the ledger.
 *
 * Purpose: what was edited, cut, merged badly or made by a damaged profile is told by the first
 * member that cannot be: of the wrong type, beyond what can be counted, or at odds with an
 * equation of the ledger (aprof-totals(5)). No number of a true file is ever refused, not even
 * of a torn profile: only what the writer derives is compared.
 * Cost: linear in the size of the view. Locking: none.
 */
#ifndef APROF_READ_VERIFY_H
#define APROF_READ_VERIFY_H

#include "view.h"

#include <cjson/cJSON.h>

#define TOTALS_SCHEMA "aprof.totals/2"
#define TOTALS_SCHEMA_1 "aprof.totals/1" /* is read, too */

/* A view of JSON from json_parse; NULL where a member is not of its type: then `*fault` is
   what is wrong ("functions[3].wall_ns is -7, ..."), to be freed. view-totals.c */
struct view *view_read(const cJSON *json, const char *what, char **fault);

/* NULL where all is well; else what is wrong, to be freed: a number beyond 2^63, or one of
   the equations. */
char *view_fault(const struct view *);
/* The same of a profile's view, and false after a message. Totals that are written of one that is
   sound are never refused when they are read. */
bool view_is_sound(const struct view *);
/* The first of these alone. */
char *view_beyond(const struct view *);

#endif
