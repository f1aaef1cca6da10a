/* SPDX-License-Identifier: MIT */
/*
 * Events that could not be placed: how many, of which kind, and who sent them, so
 * that a binding's mistake is found by its line. Nothing here is on the path of an
 * event that finds what it looks for.
 */
#include <string.h>

#include "miss.h"

#include "rt/file/arena.h"
#include "rt/rt.h"
#include "rt/sys/lock.h"
#include "site.h"

/* One page to a block: a place per kind for what has none of its own, then those of
   sites, found by their hash. */
#define ROOM ((APROF_PAGE - sizeof(struct aprof_chunk)) / sizeof(struct aprof_missed))
#define SHARED ((uint32_t)APROF_MISS_KINDS)
#define PROBES 32u
#define NO_ROOM 1u /* for the page itself: only sums are kept */

static struct aprof_missed *table(struct aprof_block *b, uint32_t owner) {
  if (b->misses == 0) {
    rt_lock();
    struct aprof_missed *all = arena_chunk(APROF_CHUNK_MISSES, owner, 0, ROOM, sizeof *all);
    b->misses = all != NULL ? (uint64_t)((char *)all - rt_base()) : NO_ROOM;
    rt_unlock();
  }
  return b->misses > NO_ROOM ? (struct aprof_missed *)(rt_base() + b->misses) : NULL;
}

static struct aprof_missed *place(struct aprof_missed *all, enum aprof_miss kind, uint32_t site) {
  uint32_t at = (site * 0x9e3779b1u + kind * 0x85ebca6bu) >> 16;
  for (uint32_t i = 0; site != 0 && i < PROBES; i++) {
    struct aprof_missed *m = &all[SHARED + (at + i) % (ROOM - SHARED)];
    if (m->kind == 0) {
      m->site = site;
      publish_fence();
      m->kind = kind;
    }
    if (m->kind == kind && m->site == site)
      return m;
  }
  all[kind].kind = kind;
  return &all[kind];
}

void event_missed(struct thread *t, enum aprof_miss kind, uint32_t site) {
  struct aprof_block *b = t->block;
  if (kind < APROF_MISS_REUSED)
    b->missed_events++;
  else if (kind == APROF_MISS_REUSED)
    b->reused_keys++;
  else if (kind == APROF_MISS_AWAIT)
    b->unmatched_awaits++;
  struct aprof_missed *all = table(b, t->index);
  if (all != NULL)
    place(all, kind, site)->count++;
}

/* A call returns to the byte behind it: the byte before belongs to the call. */
void event_missed_from(struct thread *t, enum aprof_miss kind, const void *caller) {
  event_missed(t, kind, site_of_address((const char *)caller - 1, APROF_MODEL_NONE));
}

void misses_forget(struct aprof_block *b) {
  if (b->misses > NO_ROOM)
    memset(rt_base() + b->misses, 0, ROOM * sizeof(struct aprof_missed));
}
