/* SPDX-License-Identifier: MIT */
/* What hits were, added up. Bounded: what is new beyond TALLY_MOST is `other`. Cost: a look-up a
 * hit.
 */
#ifndef APROF_PROBE_TALLY_H
#define APROF_PROBE_TALLY_H

#include "probe.h"

enum { TALLY_MOST = 4096 };

struct tally {
  struct probe_result *result;
  struct histogram durations;
  uint64_t longest;
};

/* Takes its texts. `above`: of which future it was, "get > read"; or NULL. */
void tally_hit(struct tally *, struct probe_hit *, const char *above);
/* How long a call took that nothing else is asked of. */
void tally_duration(struct tally *, uint64_t ns);
/* The most frequent first. */
void tally_settle(struct tally *);
/* Gives its texts back. */
void tally_drop(const struct probe_result *, struct probe_hit *);

#endif
