/* SPDX-License-Identifier: MIT */
/*
 * Events: whoever listens gets each new document of what it listens to.
 *
 * Purpose: documents are made once for all who listen to the same, each second, or less often where
 * making takes long; none while nobody listens. Who is slow misses some, and gets the newest next:
 * nothing is queued.
 * Cost: one document for each process and range that is listened to. Locking: none.
 */
#ifndef APROF_CLI_SERVE_STREAM_H
#define APROF_CLI_SERVE_STREAM_H

#include "serve-client.h"
#include "serve-document.h"
#include "serve-process.h"

struct feed;

struct streams {
  struct feed *first;
  bool ending;
};

enum { FEED_KIND = 256 };

/* What a feed is of: as much as its maker needs. */
struct feed_key {
  struct process_name process;
  uint64_t range;        /* ns; 0: since the start */
  bool apart;            /* of several, functions are not added up */
  char kind[FEED_KIND];  /* of requests; "": all */
  char where[FEED_KIND]; /* only of hosts with this label, or of "build=ID"; "": all */
};

static inline bool feed_same(const struct feed_key *a, const struct feed_key *b) {
  return a->process.pid == b->process.pid && a->range == b->range && a->apart == b->apart &&
         !strcmp(a->process.host, b->process.host) && !strcmp(a->kind, b->kind) &&
         !strcmp(a->where, b->where);
}

/* Writes the document of now, unless that is the one of `*moved`, which becomes its own; false:
   there is none to write. *last: there will be no other. */
typedef bool feed_writer(void *context, const struct feed_key *, uint64_t *moved, bool *last,
                         FILE *out);

/* A response that goes on until the client, or what it listens to, ends; packed as one stream of
   gzip. NULL without memory. */
struct MHD_Response *stream_open(struct streams *, struct MHD_Connection *, const struct feed_key *,
                                 bool packed);
/* Makes what is due, and wakes who listens. */
void streams_tick(struct streams *, feed_writer *, void *context);
/* Milliseconds until something is due; -1: nothing is. */
int streams_wait(const struct streams *);
/* No more are told anything; all are woken to hear that. */
void streams_end(struct streams *);

#endif
