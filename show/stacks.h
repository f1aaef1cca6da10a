/* SPDX-License-Identifier: MIT */
/*
 * The paths of a view as stacks: what pictures and profiles of other tools are made of.
 *
 * In: a view. Out: for each of its paths a frame, the frame above it, and what the path has of
 * itself, so that a sum over frames is that of the view, and a sum over all beneath a frame what
 * its futures took. Who waits for what it called or ran waits for nothing of its own, as the
 * frames beneath have that time: such a wait has no frame.
 * Cost: linear in the paths. Locking: none.
 */
#ifndef APROF_SHOW_STACKS_H
#define APROF_SHOW_STACKS_H

#include "read/view.h"

enum stack_measure {
  STACK_WALL, /* the next three together */
  STACK_EXEC,
  STACK_WAITING,
  STACK_QUEUED,
  STACK_CALLS, /* futures; the only one that is no time, ns */
  STACK_CPU,   /* processor time, by samples: native frames have that, and nothing else */
  STACK_MEASURES
};
/* By enum stack_measure; NULL ends them. */
extern const char *const stack_measures[STACK_MEASURES + 1];

enum { STACK_DEPTH = 500 }; /* what is deeper stands beside its caller */

struct stack {
  size_t parent; /* index of an earlier one, which is a function's; SIZE_MAX: a root */
  unsigned depth;
  bool left_out; /* there is no such frame */
  bool is_wait;
  bool unnamed; /* its name says no more than its place */
  char *name, *file;
  uint64_t line; /* 0: not known, as file may be NULL */
  const struct view_path *path;
  const struct view_function *function; /* that runs, or waits; or NULL */
  const struct stack *call;             /* the wait, left out, of its parent for it; or NULL */
  uint64_t self[STACK_MEASURES];
};

struct stacks {
  const struct view *view;
  struct stack *stack; /* one for each path of the view */
  size_t stacks;
};

/* Without waits for new work, unless `background`. The view has to live as long. */
struct stacks stacks_of(const struct view *, bool background);
void stacks_free(struct stacks *);

/* "shop (4242)", to be freed. */
char *stacks_title(const struct view *);

#endif
