/* SPDX-License-Identifier: MIT */
/*
 * What there is to serve: readings of processes, made when somebody asks.
 *
 * Purpose: nothing is read while nobody asks. Each process is one that the user may read; they come
 * and go between readings. Cost: that of reading; see serve-document.h. Locking: none.
 */
#ifndef APROF_CLI_SERVE_SOURCE_H
#define APROF_CLI_SERVE_SOURCE_H

#include "serve-document.h"
#include "serve-look.h"
#include "serve-push.h"
#include "show/page.h"

enum shown_as { SHOWN_TOTALS, SHOWN_PAGE, SHOWN_SLOW };

/* A document about one process, kept for others who ask for it. */
struct shown {
  enum shown_as as;
  struct feed_key key;
  struct latest latest;
  int64_t asked;
  size_t left_out; /* of the latest */
};
enum { SHOWN = 8 };

struct source {
  struct origin of;
  struct page_options page;
  uint64_t functions; /* in metrics, one by one */
  struct format_memory *memory;
  struct latest metrics[2], processes;
  struct pushes *pushes; /* or NULL */
  struct view **last;    /* as they were scraped: counters do not fall */
  size_t lasts;
  struct shown shown[SHOWN];
};

/* Each held for the caller. */
struct document *source_metrics(struct source *, bool open);
struct document *source_processes(struct source *);
/* NULL: there is no such process, or none that may be read. Of all that fit, put together. */
struct document *source_shown(struct source *, enum shown_as, const struct feed_key *);
/* That process lives on this machine, and may be read. */
bool source_has_live(struct source *, const struct process_name *);
/* The page's document for who listens, without sources, which the first one has: a feed_writer of a
   struct source. */
bool source_feed(void *source, const struct feed_key *, uint64_t *moved, bool *last, FILE *out);
void source_close(struct source *);

#endif
