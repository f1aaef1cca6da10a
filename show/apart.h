/* SPDX-License-Identifier: MIT */
/*
 * One host, build or process against the others, as text in 80 columns and as JSON (aprof.apart/1).
 *
 * Purpose: the first line names the one that is slow and what makes most of the difference.
 * Cost: that of ask/apart.h. Locking: none.
 */
#ifndef APROF_SHOW_APART_H
#define APROF_SHOW_APART_H

#include "ask/requests.h"
#include "outputs.h"

struct apart_options {
  const char *by; /* NULL: they are not told apart */
  struct request_filter requests;
  uint64_t rows; /* of a kind; 0: all */
};

/* OUTPUT_FAILED after a message. */
int apart_print(const struct output_many *, const struct apart_options *, FILE *out);
int apart_json(const struct output_many *, const struct apart_options *, FILE *out);

#endif
