/* SPDX-License-Identifier: MIT */
/*
 * What gates hold for each event that has a fast one; see fast.c.
 */
#ifndef APROF_RT_FAST_GATES_H
#define APROF_RT_FAST_GATES_H

#include "rt/rt.h"

/* By the events that each file has; each goes on in the general one (general.h) where
   anything is out of the ordinary. */
void fast_bodies(struct aprof_gate *gate, uint32_t clock);
void fast_brackets(struct aprof_gate *gate, uint32_t clock);
void fast_rest(struct aprof_gate *gate, uint32_t clock);
static inline void fast_all(struct aprof_gate *gate, uint32_t clock) {
  fast_bodies(gate, clock);
  fast_brackets(gate, clock);
  fast_rest(gate, clock);
}

#endif
