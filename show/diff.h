/* SPDX-License-Identifier: MIT */
/*
 * A comparison of runs: as text in 80 columns, as Markdown, as JSON (aprof.diff/1).
 *
 * Purpose: what changed from A to B, the dearest first, and which gates failed.
 * Cost: that of ask/diff.h. Locking: none.
 */
#ifndef APROF_SHOW_DIFF_H
#define APROF_SHOW_DIFF_H

#include "ask/gate.h"

#include <stdio.h>

struct diff_shown {
  const struct diff *diff;
  uint64_t rows; /* functions and awaits that changed; 0: all */
  const struct gate_result *gate;
  size_t gates;
};

void diff_print(const struct diff_shown *, FILE *out);
void diff_markdown(const struct diff_shown *, FILE *out);
/* Every measure of every row. diff-json.c */
void diff_json(const struct diff_shown *, FILE *out);

#endif
