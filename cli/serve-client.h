/* SPDX-License-Identifier: MIT */
/*
 * Connections, and how long each may take.
 *
 * Purpose: whoever is slow, or only holds a connection, is cut off after a while, and at once where
 * others need the room: a new one always finds some. What is cut off is the one that has
 * taken longest to say what it wants, then to take its answer, then to listen. Time in which nobody
 * serves them, because an answer is made, is not theirs: by their clock that is a second at most.
 * Cost: a walk over all when one comes and there is no room, and each second. Locking: none.
 */
#ifndef APROF_CLI_SERVE_CLIENT_H
#define APROF_CLI_SERVE_CLIENT_H

#include <microhttpd.h>
#include <stddef.h>
#include <stdint.h>

/* In the order in which they have to go. */
enum client_state {
  CLIENT_ASKS,    /* it has not said what it wants */
  CLIENT_IDLE,    /* it had an answer, and may ask again */
  CLIENT_TAKES,   /* its answer is on the way */
  CLIENT_LISTENS, /* to events */
  CLIENT_CUT,     /* it is told no more */
  CLIENT_STATES
};

struct client {
  struct client *next, *before;
  struct clients *all;
  int fd;
  enum client_state state;
  int64_t since; /* by the clock of all */
};

struct clients {
  struct client *first;
  size_t count, room;
  int64_t clock, swept; /* ns; monotonic ns */
};

/* Raises the limit of descriptors for `room`, which becomes what there is. */
void clients_open(struct clients *);
/* As MHD calls it. */
void clients_notify(void *clients, struct MHD_Connection *, void **socket_context,
                    enum MHD_ConnectionNotificationCode);
struct client *client_of(struct MHD_Connection *);
void client_becomes(struct client *, enum client_state);
/* To be called after each time that they were served. Cuts those off that have taken too long, and
   the longest while over `too_much` is said to be held for them. */
void clients_sweep(struct clients *, size_t (*held)(void), size_t too_much);

#endif
