/* SPDX-License-Identifier: MIT */
/*
 * Questions that clients ask of processes, which are recorded meanwhile.
 *
 * Purpose: who wants it has a process recorded, all share that recording, and each answer is made
 * once for all who ask the same. When nobody has asked for some seconds the recording is over.
 * Cost: cli/inquiry.h, for each process. Locking: none.
 */
#ifndef APROF_CLI_SERVE_ASK_H
#define APROF_CLI_SERVE_ASK_H

#include "inquiry.h"
#include "serve-answer.h"
#include "serve-stream.h"

#include <poll.h>

enum { ASKS_MOST = 8 }; /* processes at a time */

struct asks {
  struct recorded *first;
  size_t count;
};

/* Which answer. */
struct asks_key {
  int64_t pid;
  const struct question *question;
  const char *kind; /* "": all */
};

/* Has the process recorded, from now on or still; says so. */
enum MHD_Result asks_record(struct asks *, int64_t pid, struct MHD_Connection *);
/* Says what that costs. */
enum MHD_Result asks_cost(const struct asks *, int64_t pid, struct MHD_Connection *);
/* Answers, now or as soon as there is an answer: then the connection is suspended until it is to
   ask again. `since`: when the request came, ns. */
enum MHD_Result asks_answer(struct asks *, const struct asks_key *, int64_t since,
                            struct MHD_Connection *);

/* Takes answers, wakes who waits for them, asks on, ends what nobody wants. */
void asks_tick(struct asks *);
/* What to wait for: so many, ASKS_MOST at most. */
size_t asks_fds(const struct asks *, struct pollfd *);
void asks_end(struct asks *);

#endif
