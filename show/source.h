/* SPDX-License-Identifier: MIT */
/*
 * Source files, and what marks on their lines say.
 *
 * In: names as a view has them, marks of ask/annotate.h. Out: the open file, texts, JSON.
 * Cost: none. Locking: none.
 */
#ifndef APROF_SHOW_SOURCE_H
#define APROF_SHOW_SOURCE_H

#include "ask/annotate.h"
#include "emit.h"

/* It ends as names of sources of C and C++ do. */
bool source_is_named(const char *);

/* The first of these names (NULL ends them) that can be read; or, if `directory` is given, the last
   of them below it, with ever fewer of its directories. NULL with errno; else *path is to be freed.
   */
FILE *source_open(const char *const *names, const char *directory, char **path);

/* Whether lines may have moved since the process began. */
bool source_is_newer(const struct view *, FILE *);

/* What a mark is, where the line alone does not say; to be freed. */
char *source_mark_text(const struct mark *);
/* "marks", as `aprof annotate --json` has them. */
void source_emit_marks(struct emit *, const struct mark *, size_t count);

#endif
