/* SPDX-License-Identifier: MIT */
/* What expressions and stacks were, added up. Bounded: what is new beyond TALLY_MOST is `other`.
   Cost: a look-up a hit. */
#ifndef APROF_PROBE_TALLY_H
#define APROF_PROBE_TALLY_H

#include "probe.h"

enum { TALLY_MOST = 4096 };

/* Takes `text`; a number, too, where `number` is one. */
void tally_value(struct probe_shown *, char *text, const int64_t *number, bool late);
void tally_unknown(struct probe_shown *, const char *why);
void tally_stack(struct probe_result *, char *text);
/* The most frequent first. */
void tally_settle(struct probe_result *);

#endif
