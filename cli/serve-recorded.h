/* SPDX-License-Identifier: MIT */
/*
 * Processes that others tell of, by views that come as time goes on, and what they did lately.
 *
 * In: views. Out: of each process the last one, and windows. The process that was told of last
 * comes first; beyond a number those that were told of longest ago are forgotten. The last view of
 * each stays; what memory these leave is for earlier ones, as much for each. Cost: memory as it is
 * given, of all together, by who asks for room before there is a new one; to find one is linear.
 * Locking: none.
 */
#ifndef APROF_CLI_SERVE_RECORDED_H
#define APROF_CLI_SERVE_RECORDED_H

#include "listing.h"
#include "read/history.h"
#include "serve-process.h"

struct recorded {
  struct recorded *next;
  struct history *history;
  char *host;     /* by which it is asked for */
  char *own_host; /* that it has for itself */
  int64_t pid;    /* by which it is asked for */
  const void *teller;
  bool here;     /* the teller said so when it was asked last */
  unsigned mark; /* the teller's */
};

struct records {
  struct recorded *first;
  size_t count, most, memory; /* memory: bytes of all readings */
  size_t forgotten;           /* for want of room */
  uint64_t moved;             /* changes with each view */
};

/* Takes the view. `host`: the name to give it, NULL: its own; `pid`: by which it is asked for, 0:
   its own. NULL: another teller tells of the same process, or it is older than what is known
   already; then nothing has changed. */
struct recorded *records_add(struct records *, struct view *, const char *host, int64_t pid,
                             const void *teller);
/* For a process that is not known: false where there is none, although all that have ended were
   forgotten. */
bool records_make_room(struct records *);
/* Those of this teller: they are there no more; they are not known any more. */
void records_leave(struct records *, const void *teller);
void records_forget(struct records *, const void *teller);
void records_close(struct records *);

/* NULL: there is none. */
struct recorded *records_find(const struct records *, const struct process_name *);
void recorded_list(const struct recorded *, struct listing *);

#endif
