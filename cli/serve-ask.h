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
  const struct question *question; /* or asks_probe; NULL: any of a recording */
  const char *kind, *function;     /* "": all */
};

/* What is asked of a function that is probed, in place of a question. */
extern const struct question asks_probe;
/* It needs samples, too: then everything is recorded, else a share of the requests. */
static inline bool asks_samples(const struct asks_key *key) {
  return key->question == &questions[QUESTION_CPU];
}

/* Has done what that answer needs, from now on or still; says so. */
enum MHD_Result asks_begin(struct asks *, const struct asks_key *, struct MHD_Connection *);
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
