/* SPDX-License-Identifier: MIT */
/*
 * The report: one look at totals.
 *
 * Purpose: what the numbers mean, in this order: one line about the process,
 * findings in words, functions, and the awaits where time was really spent.
 * Cost: sorts; nothing is computed twice.
 * Locking: none.
 */
#ifndef APROF_SHOW_REPORT_H
#define APROF_SHOW_REPORT_H

#include "ask/ask.h"

#include <stdio.h>

enum report_sort {
  SORT_EXEC,
  SORT_CALLS,
  SORT_WAITING,
  SORT_WALL,
  SORT_QUEUED,
  SORT_SLICE,
  SORT_WORST,
  SORT_CHILDREN,
  SORT_NAME,
};

struct report_options {
  enum report_sort sort;
  size_t functions, waits; /* rows; 0: all */
  struct ask_limits limits;
};

/* Names of report_sort, in its order; NULL ends them. */
extern const char *const report_sorts[];

/* Functions that did anything, in the order asked for; the caller frees the array. */
const struct view_function **report_functions(const struct view *, enum report_sort, size_t *count);

/* report-findings.c */
void report_print_findings(const struct view *, const struct report_options *, FILE *out);

/* report-queue.c: sections of the text: each loop where there are several, who
   woke whom and how late it ran, and what blocked. Nothing where there is nothing. */
void report_print_loops(const struct view *, const struct report_options *, FILE *out);
void report_print_wakers(const struct view *, const struct report_options *, FILE *out);
void report_print_blocking(const struct view *, const struct report_options *, FILE *out);
/* A line for each thread that shed something. */
void report_print_shed(const struct view *, FILE *out);
void report_print_more(size_t all, size_t shown, FILE *out);

/* report-miss.c: awaits outside any future, and ends, wakes and switches of keys that none
   has; by what was called, and not where it has found one elsewhere. All places, if all
   rows are asked for. */
void report_print_misses(const struct view *, const struct report_options *, FILE *out);

/* shorten.c: the directory, slash included, that all names of the functions' files
   share; "" where there is none. The caller frees it. */
char *report_directory(const struct view *);
/* Takes it off every name of a file and place. */
void report_shorten(struct view *, const char *directory);

/* Shortens the names of files in the view. */
void report_print(struct view *, const struct report_options *, FILE *out);
void report_json(const struct view *, const struct report_options *, FILE *out);

extern const struct report_options report_defaults;

#endif
