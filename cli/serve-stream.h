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

struct feed;

struct streams {
  struct feed *first;
  bool ending;
};

/* What a feed is of: as much as its maker needs. */
struct feed_key {
  int64_t pid;
  uint64_t range;
};

/* Writes the document of now; *last: there will be no other. */
typedef bool feed_writer(void *context, const struct feed_key *, bool *last, FILE *out);

/* A response that goes on until the client, or what it listens to, ends. NULL without memory. */
struct MHD_Response *stream_open(struct streams *, struct MHD_Connection *,
                                 const struct feed_key *);
/* Makes what is due, and wakes who listens. */
void streams_tick(struct streams *, feed_writer *, void *context);
/* Milliseconds until something is due; -1: nothing is. */
int streams_wait(const struct streams *);
/* No more are told anything; all are woken to hear that. */
void streams_end(struct streams *);

#endif
