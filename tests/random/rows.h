/* SPDX-License-Identifier: MIT */
/*
 * Rows: totals as both sides of a comparison spell them.
 *
 * Purpose: the model and the profile reader each make a list of named numbers
 * ("s1 > s4 @ await2 | waiting" = 300); equal programs give equal lists.
 * A row of value 0 is the same as no row. Adding to a row that is there sums,
 * except for maxima (rows_max).
 * Cost: a sort per comparison. Locking: none.
 */
#ifndef TESTS_RANDOM_ROWS_H
#define TESTS_RANDOM_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct row {
  char *name;
  uint64_t value;
  bool maximum;
};

struct rows {
  struct row *row;
  unsigned count, room;
  bool sorted;
};

/* "PLACE | WHAT" gets `value` more, or at least `value`. */
void rows_add(struct rows *rows, const char *place, const char *what, uint64_t value);
void rows_max(struct rows *rows, const char *place, const char *what, uint64_t value);
/* The same for one bucket of a histogram, named by its lower bound. */
void rows_bucket(struct rows *rows, const char *place, const char *what, uint64_t lower,
                 uint64_t count);

/* The value of "PLACE | WHAT", 0 if there is none. */
uint64_t rows_get(struct rows *rows, const char *place, const char *what);

/* Number of rows that differ; prints them to `file` unless it is NULL. */
unsigned rows_differ(struct rows *expected, struct rows *got, FILE *file);
void rows_print(struct rows *rows, FILE *file);
/* What rows_print has written there, as another process: up to an empty line. */
void rows_read(struct rows *rows, FILE *file);
void rows_free(struct rows *rows);

#endif
