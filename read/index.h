/* SPDX-License-Identifier: MIT */
/*
 * What belongs together, found by a text that says what it is.
 *
 * Purpose: places of two totals, or of two arrays of one, are matched in time that
 * grows with their number, whoever wrote them.
 * Cost: a string per entry. Locking: none.
 */
#ifndef APROF_READ_INDEX_H
#define APROF_READ_INDEX_H

#include <stddef.h>

struct index_entry;

struct index {
  struct index_entry *entry;
  size_t room, used; /* room: a power of two, at least twice as much */
};

/* For `room` entries; it grows where there are more. index_free gives it back. */
void index_new(struct index *, size_t room);
void index_free(struct index *);
/* Takes the key; of equal ones the first stays. */
void index_put(struct index *, char *key, const void *value);
/* Frees the key. NULL where there is no such entry. */
const void *index_get(const struct index *, char *key);

#endif
