/* SPDX-License-Identifier: MIT */
/*
 * What lives, as text and as JSON.
 *
 * Purpose: one look at a process that hangs, is slow, or has crashed.
 * Cost: that of ask/live.h. Locking: none.
 */
#ifndef APROF_SHOW_PS_H
#define APROF_SHOW_PS_H

#include "read/view.h"

#include <stdio.h>

struct ps_options {
  size_t rows; /* 0: all */
  bool json;
};

/* In 80 columns; shortens the names of files in the view. */
void ps_print(struct view *, const struct ps_options *, FILE *out);
/* aprof.ps/1: all of it */
void ps_json(const struct view *, FILE *out);

#endif
