/* SPDX-License-Identifier: MIT */
/* What a recording lacks, and what helps; see record-lost.h. */
#include "record-lost.h"

#include "show/format.h"

#include <stdio.h>

/* What helps the one makes the other worse. */
void record_say_lost(const struct recorder_numbers *n) {
  if (n->lost > n->ringless)
    fprintf(stderr,
            "aprof: %s were overwritten before they were read; larger rings (--size, of `memory:' "
            "a\n"
            "       quarter at most), or a machine that is less busy, lose less\n",
            n->ringless ? shown_count(n->lost - n->ringless) : "these");
  if (n->ringless)
    fprintf(
        stderr,
        "aprof: %s were of threads that had no room for a ring; smaller ones (--size), or more\n"
        "       `memory:' for the process, leave some\n",
        n->lost > n->ringless ? shown_count(n->ringless) : "these");
  if (n->unplaced)
    fprintf(
        stderr,
        "aprof: %s more were of threads that got no room in the profile, and are in no number;\n"
        "       more `memory:' for the process has it\n",
        shown_count(n->unplaced));
}
