/* SPDX-License-Identifier: MIT */
/*
 * Rows of what differs, and the sentence of the cause: in slow requests (tail.c), and on one of
 * several hosts (apart.c).
 *
 * Cost: that of what is written. Locking: none; texts are of turn_text.
 */
#ifndef APROF_SHOW_TAIL_ROWS_H
#define APROF_SHOW_TAIL_ROWS_H

#include "asked.h"

/* Whether there is one. */
bool tail_rows_differ(const struct tail *);
/* "GET /item: +49.00 of the +61.00 ms: waiting in `pool_get` at db.c:77, ...", of a name; free()
 * it.
 */
char *tail_rows_cause(const struct story *, const char *name, const struct tail *);
/* A table: so many rows, 0: all; what both sides are called. */
struct tail_heads {
  const char *others, *slow;
};
void tail_rows_print(const struct story *, const struct tail *, uint64_t rows,
                     const struct tail_heads *, FILE *out);

/* "cause": null where there is none. `name`: as above. */
void tail_rows_emit_cause(struct emit *, const struct story *, const char *name,
                          const struct tail *);
/* "rows". */
void tail_rows_emit(struct emit *, const struct story *, const struct tail *);

#endif
