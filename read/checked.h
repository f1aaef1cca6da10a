/* SPDX-License-Identifier: MIT */
/*
 * What `aprof check --json` has found in a program's sources.
 *
 * In: its file. Out: findings, for those who join them with what was measured. Cost: one parse of
 * it. Locking: none.
 */
#ifndef APROF_READ_CHECKED_H
#define APROF_READ_CHECKED_H

#include <stddef.h>
#include <stdint.h>

struct checked_finding {
  const char *file; /* as the check names it */
  uint64_t line;
  const char *rule, *text, *mend;
};

struct checked {
  struct checked_finding *finding;
  size_t findings;
};

/* NULL after a message where it cannot be read, or is none. */
struct checked *checked_read(const char *path);
void checked_free(struct checked *);

#endif
