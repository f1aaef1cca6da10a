/* SPDX-License-Identifier: MIT */
/*
 * Documents from other servers, by libcurl, many at once.
 *
 * Purpose: whoever answers slowly, never, or without end costs nobody else anything: each answer
 * has its time and its length. No redirection is followed, no proxy of the environment is used, so
 * a token goes where it was meant to, and nowhere else.
 * Cost: a connection for each server. Locking: none.
 */
#ifndef APROF_CLI_SERVE_PULL_H
#define APROF_CLI_SERVE_PULL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

struct pulls;
struct pull;

enum pull_fault {
  PULL_NONE,
  PULL_SLOW,  /* its time was over */
  PULL_GONE,  /* nobody answers */
  PULL_WRONG, /* what came is no answer, or too long */
};

struct pulled {
  enum pull_fault fault;
  const char *says; /* of a fault, in words */
  unsigned status;
  const char *text; /* ends with NUL */
  size_t length;
};

/* The pull is over then. */
typedef void pull_done(void *context, const struct pulled *);

/* NULL after a message: built without libcurl. */
struct pulls *pulls_new(void);
void pulls_free(struct pulls *);

struct pull_wish {
  const char *url, *token; /* token: or NULL */
  const char *connect;     /* "HOST:PORT:ADDRESS:PORT": where that host is to be found; or NULL */
  size_t most;             /* bytes of the answer */
};
struct pull *pull_start(struct pulls *, const struct pull_wish *, pull_done *, void *context);
/* Nobody is told. */
void pull_cancel(struct pulls *, struct pull *);

/* Bytes of answers that are on their way. */
size_t pulls_held(const struct pulls *);

/* As poll(), and one that is done is told, if any is: who has told of all listens. Only time in
   here is an answer's time. */
int pulls_poll(struct pulls *, struct pollfd *, size_t count, int ms);

#endif
