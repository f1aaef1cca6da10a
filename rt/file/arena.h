/* SPDX-License-Identifier: MIT */
/* Chunks of the profile; see arena.c. rt.lock held. */
#ifndef APROF_RT_ARENA_H
#define APROF_RT_ARENA_H

#include "rt/rt.h"

/* Zeroed, `count` elements of so many bytes; NULL when the memory limit is reached. Readers find it
   from here on, but those that are filled first: futures, kinds, blocks and rings. */
void *arena_chunk(uint32_t type, uint32_t owner, uint32_t first, uint32_t count, uint32_t element);
void arena_publish(void *elements, uint32_t type);
uint32_t arena_string(const char *text); /* offset / 8; 0 for NULL or no memory */
void arena_reset(void);

#endif
