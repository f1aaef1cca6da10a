/* SPDX-License-Identifier: MIT */
/*
 * What a thread that ran had of it: a processor, or not.
 *
 * In: a story with switches (aprof record --switches), a stretch of a thread. Out: how much of that
 * it was on a processor, could have been (preempted), or was blocked in the kernel; what is not
 * known. The four add up to the stretch. Who is woken waits for a processor before it goes on: that
 * is a part of `blocked`, as nothing tells when the wake was.
 * Cost: logarithmic in the switches, linear in those of the stretch. Locking: none.
 */
#ifndef APROF_ASK_ON_CPU_H
#define APROF_ASK_ON_CPU_H

#include "record/story.h"

struct on_cpu {
  uint64_t on, preempted, blocked, unknown; /* ns */
};

/* Adds what the stretch had. Without switches all of it is unknown. */
void on_cpu_add(struct on_cpu *, const struct story *, uint32_t thread, uint64_t begin,
                uint64_t end);

#endif
