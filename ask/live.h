/* SPDX-License-Identifier: MIT */
/*
 * What lives, as a tree of groups: who waits for what, who holds a loop, who is queued.
 *
 * In: a view. Out: futures under those that created them, equal ones as one group; listeners,
 * which only wait for new work, apart, and what they created as roots.
 * Cost: a sort and an index of what the view lists. Locking: none.
 */
#ifndef APROF_ASK_LIVE_H
#define APROF_ASK_LIVE_H

#include "read/fields.h"

struct live_group {
  const struct view_live *like; /* the one that is in its state for longest; texts are of all */
  size_t parent;                /* index of an earlier group; SIZE_MAX: a root */
  size_t depth;                 /* under its root */
  uint64_t count;
  uint64_t age, since, since_min; /* the greatest; the greatest and the least */
  uint64_t due;                   /* the least of those that wait for a time; 0: none does */
  uint64_t held_beneath;          /* the longest hold that it or what is beneath it has; 0: none */
  bool holds;                     /* like->holds is of a loop, or was when the process ended */
  unsigned shed, lacks;
};

struct live_tree {
  struct live_group *group; /* a depth-first walk: holders first, then the oldest */
  size_t groups;
  struct live_group *listener; /* the most first; all of them roots */
  size_t listeners;
  uint64_t running, queued, waiting, listening; /* futures */
  uint64_t unknown;                             /* without a state, see struct view_live */
  uint64_t apart;                               /* so many are listed without who created them */
};

/* The process of the view has ended: ages are those at its last event. */
bool ask_ended(const struct view *);

struct live_tree ask_live(const struct view *);
void ask_live_free(struct live_tree *);

#endif
