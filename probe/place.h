/* SPDX-License-Identifier: MIT */
/*
 * FILE:LINE or FUNCTION to the addresses that it is compiled to.
 *
 * Cost: reads the lines of all units, or all functions. Locking: none.
 */
#ifndef APROF_PROBE_PLACE_H
#define APROF_PROBE_PLACE_H

#include "debug.h"
#include "probe.h"

struct places {
  struct probe_place *place; /* texts are libdw's, or of the arena */
  size_t count;
  bool entry; /* they are where functions begin */
};

/* One address for each body that the place is in, and for each place that it was inlined into.
   False after a message that names what is near, where there is none. */
bool place_find(struct debug *, struct arena *, const char *asked, struct places *);
/* The lines of that function's bodies that can be probed, in the order of their addresses. False
   after a message. */
bool place_list(struct debug *, struct arena *, const char *function, struct places *);

#endif
