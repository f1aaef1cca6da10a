/* SPDX-License-Identifier: MIT */
/*
 * Who is answered.
 *
 * Purpose: a page of somebody else, open in the browser of a user who may read here, must not
 * read along: by a name of its own that it lets mean this machine (Host), or from its own place
 * (Origin). Beyond this machine nobody is answered who does not have the token: whoever sends it
 * as such, or has once given it in the form and has a cookie for it since.
 * Cost: a few comparisons, of secrets in constant time. Locking: none.
 */
#ifndef APROF_CLI_SERVE_GUARD_H
#define APROF_CLI_SERVE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

enum { GUARD_SECRET = 32, GUARD_TOKEN_LEAST = 16, GUARD_TOKEN_MOST = 256 };

struct guard {
  char *token; /* NULL: whoever reaches us is answered */
  bool made;   /* here, so nobody knows it yet */
  char session[GUARD_SECRET + 1];
  char cookie[32];   /* its name */
  const char **name; /* that we are known by, beside numbers and localhost; borrowed */
  size_t names;
};

/* What a request says of itself; NULL: nothing. */
struct guard_request {
  const char *host, *origin, *authorization, *cookie;
  const char *site, *mode; /* Sec-Fetch-Site, -Mode */
};

struct refusal {
  unsigned status;
  const char *sentence;
};

/* Reads the token from `file`, or makes one where that is NULL and `wanted`. Cookies of several
   servers on one machine differ by `port`. False after a message. */
bool guard_open(struct guard *, const char *file, bool wanted, unsigned port);
void guard_close(struct guard *);
/* The first line of a file, or `text` itself, said to be of `what`: free() it. NULL after a message
   where it is no token. */
char *guard_read_token(const char *file);
char *guard_take_token(const char *text, const char *what);

/* NULL: it is answered. `public`: whoever has no token is, too. */
const struct refusal *guard_check(const struct guard *, const struct guard_request *, bool public);
bool guard_is_token(const struct guard *, const char *text);

#endif
