/* SPDX-License-Identifier: MIT */
/*
 * What is counted beneath a function beside its awaits: its wakers, and calls that block the loop.
 */
#ifndef APROF_RT_BENEATH_H
#define APROF_RT_BENEATH_H

#include "rt/rt.h"

/* Another time of that length, in ticks, at `site` beneath the function whose node is `above`;
   `kind`: enum aprof_node_kind. Inside an event. */
void count_beneath(struct thread *t, uint32_t above, uint32_t site, uint32_t kind, uint64_t length);

#endif
