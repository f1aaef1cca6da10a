/* SPDX-License-Identifier: MIT */
/*
 * Totals: a view as JSON, aprof.totals/2.
 *
 * In: a view. Out: the format that doc/aprof.totals-2.schema.json and aprof-totals(5) describe,
 * by the rows of read/fields.c; and findings, by the limits that a report has without options.
 * Cost: streamed, so memory does not grow with the output. Locking: none.
 */
#ifndef APROF_SHOW_TOTALS_H
#define APROF_SHOW_TOTALS_H

#include "ask/ask.h"
#include "emit.h"
#include "read/fields.h"

#include <stdio.h>

/* A failing `out` is the caller's to see (ferror). */
void totals_write(const struct view *, FILE *out);

/*
 * Writes the totals of the profile open as `fd` to `out`. False after a message where it cannot
 * be read.
 */
bool totals_make(int fd, const char *what, enum profile_state state,
                 const struct view_request *request, FILE *out);

/* Members of an object as they are in totals: those named, with blanks between them; NULL: all. */
void emit_members(struct emit *, const struct layout *, const void *object, const char *names);

/* A member of totals, by its name there. */
void emit_total(struct emit *, const struct view *, const char *name);
/* "lacks": names of the members that lack something, by the object's `lacks`. */
void emit_lacks(struct emit *, const struct layout *, unsigned lacks);

/* An element of an array of findings; or its members alone. */
void emit_finding(struct emit *, const struct finding *);
void emit_finding_members(struct emit *, const struct finding *);

#endif
