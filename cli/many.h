/* SPDX-License-Identifier: MIT */
/*
 * Several targets as views: recordings, totals, live processes, and what other servers tell.
 *
 * Purpose: the one place that opens all of these for a command that tells them apart. Live ones,
 * and those of other servers, are measured over a time. Asking servers is of a program that has
 * libcurl, which sets `many_pull`. Cost: that of reading them, and that time. Locking: none.
 */
#ifndef APROF_CLI_MANY_H
#define APROF_CLI_MANY_H

#include "load.h"
#include "record/story.h"
#include "show/outputs.h"

struct many {
  struct output_many is;
  struct view **view;
  struct output_missing *missing;
  struct load load; /* of what lives */
  struct story **story;
  size_t stories;
  void *pulled;
};

/* Other servers: asked once, and again some time later. */
struct many_pull {
  void *(*begin)(const struct output_from *); /* NULL after a message */
  void (*end)(void *, struct many *, uint64_t span);
  void (*close)(void *);
};
extern const struct many_pull *many_pull;

/* Whether it is the URL of one. */
bool many_is_url(const char *target);
/* URLs among targets are added to those of `from`. False after a message: nothing can be compared
   without what lacks; a server that does not answer is `missing`. */
bool many_open(struct many *, const char *const *target, size_t targets, struct output_from *from,
               uint64_t span);
void many_release(struct many *);

/* For many_pull. The view is many's. */
void many_add(struct many *, struct view *);
void many_add_missing(struct many *, const char *name, const char *says);

#endif
