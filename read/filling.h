/* SPDX-License-Identifier: MIT */
/*
 * A view that is made of a profile's model, between the files that make it.
 *
 * view-profile.c begins and has paths, view-names.c names and places, view-process.c the process
 * and its threads, view-loops.c what ran on these, view-functions.c functions with their places and
 * histograms, view-requests.c requests and spans, view-live.c what lives. Cost: linear in the
 * model, and sorts. Locking: none.
 */
#ifndef APROF_READ_FILLING_H
#define APROF_READ_FILLING_H

#include "kept.h"
#include "model.h"
#include "util.h"
#include "view.h"

/* Strings of one name, as the view keeps them. */
struct text {
  const char *name, *file, *function, *place;
};

struct filling {
  struct view *v;
  const struct model *m;
  struct text *text; /* by name */
  uint32_t *number;  /* of functions in the view, by those of the model */
  bool *path_shown;  /* by node */
  uint32_t *offset;  /* of histograms: those of one number */
  size_t offsets, offset_room;
  struct histogram sum; /* empty between two distributions */
  bool histograms, log; /* they are wanted */
  struct kept *kept;    /* or NULL */
};

static inline const struct name *name_of(const struct filling *f, uint32_t name) {
  return &f->m->names->name[name];
}
/* view-names.c */
const struct text *text_of(const struct filling *, uint32_t name);
const char *kind_of(const struct name *);
/* The two places that bracket a slice, and what is there. */
void fill_slice(const struct filling *, const char **between, const char **names, uint32_t from,
                uint32_t to);

static inline uint64_t known_if(bool known, uint64_t value) {
  return known ? value : UNKNOWN;
}

static inline void greater(uint64_t *value, uint64_t other) {
  if (other > *value)
    *value = other;
}

/* A histogram of the distribution that is made next. view-functions.c */
void fill_collect(struct filling *, uint32_t offset);
/* What was collected, and forgets it. The paths of one function share a histogram: each
   counts once. */
struct distribution fill_collected(struct filling *, uint64_t rate, uint64_t max);

/* view-process.c */
void fill_process(struct view *, const struct model *, const struct view_request *);
void fill_health(struct view *, const struct model *);
void fill_threads(const struct filling *);
void fill_misses(const struct filling *);
void fill_loops(const struct filling *); /* what each ran; view-loops.c */
/* Of a process that lives; nothing where that number is another's here, as in a PID namespace. */
void fill_run_delay(struct view *, const struct aprof_header *);

/* view-functions.c: those with nothing to tell are left out; the longest exec comes first. */
void fill_functions(struct filling *);

/* view-live.c */
void fill_live(const struct filling *, uint32_t limit);

/* view-requests.c */
void fill_requests(struct filling *);
void fill_spans(const struct filling *);

#endif
