/* SPDX-License-Identifier: MIT */
/*
 * The flame graph: paths as boxes, as wide as the time of futures on them.
 *
 * In: a view, or two to compare, perhaps of a recording's slow requests and the rest. Out: frames
 * with their place, and one SVG of them that needs nothing else: script and style are inside, and
 * without a script it still is a picture. Cost: n log n in the paths; what is narrower than half a
 * pixel is not written. Locking: none.
 */
#ifndef APROF_SHOW_FLAME_H
#define APROF_SHOW_FLAME_H

#include "ask/requests.h"
#include "ask/slowest.h"
#include "read/view.h"
#include "stacks.h"

#include <stdio.h>

enum flame_per { FLAME_IN_TOTAL, FLAME_PER_CALL, FLAME_PER_SECOND, FLAME_PER_REQUEST };

struct flame_options {
  enum stack_measure measure; /* no STACK_CALLS */
  enum flame_per per;
  bool all;           /* waiting for new work, too */
  const char *mark;   /* REGEX or /REGEX/ that names fit; NULL: nothing is marked */
  bool diff;          /* two views */
  struct view *other; /* the second, or NULL */
  const struct request_filter *requests; /* that are meant, by kind and tier; or NULL */
  struct slowest_filter slowest;         /* of a recording: which of these */
  const char *says[2];                   /* what each view is of; NULL: its process */
};

enum flame_what { FLAME_ROOT, FLAME_FUNCTION, FLAME_RUN, FLAME_QUEUE, FLAME_WAIT, FLAME_FOLD };

enum { FLAME_PIXELS = 1200, FLAME_SIDES = 2, FLAME_DEPTH = 250 };

/* Of each number one per view: what A has, what B has. */
struct flame_frame {
  size_t parent; /* an earlier one; that of the root is itself */
  unsigned depth;
  enum flame_what what;
  bool library, marked, drawn;
  char *name, *place;                            /* "file:line", or NULL */
  double self[FLAME_SIDES], amount[FLAME_SIDES]; /* ns; with all beneath */
  double count[FLAME_SIDES];                     /* futures, or waits */
  double x, width;                               /* of the whole picture: 0 to 1 */
};

struct flame {
  struct flame_options options;
  char *mark;                           /* the expression, to be shown; or NULL */
  const struct view *view[FLAME_SIDES]; /* the second: NULL, or what the first is compared to */
  int sides;
  struct flame_frame *frame; /* parents before children */
  size_t frames, room;
  double background[FLAME_SIDES]; /* ns left out: waiting for new work, */
  double uncounted[FLAME_SIDES];  /* and per call what belongs to no future that was counted */
  size_t hidden;                  /* frames narrower than half a pixel, or too deep: in folds */
  double hidden_width;            /* how much of the picture these have */
  unsigned depth;                 /* rows */
};

/* Shortens the names of files in the views, which have to stay. `to`: NULL, or what `from` is
   compared to: functions are the same where name and file are, awaits where the name is. */
struct flame *flame_new(struct view *from, struct view *to, const struct flame_options *);
void flame_free(struct flame *);
/* REGEX of that or of /REGEX/; free() it. */
char *flame_expression(const char *mark);
/* flame-svg.c */
void flame_write(const struct flame *, FILE *out);

#endif
