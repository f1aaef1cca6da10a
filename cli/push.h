/* SPDX-License-Identifier: MIT */
/*
 * Bodies to a server over HTTP: tried again, in a bounded queue, and what was dropped is counted.
 *
 * Purpose: who makes what is pushed (cmd-export.c) is part of every command and knows no libcurl;
 * who sends it (push.c) is a program of its own beside it. A thread sends; what a server refuses
 * for good is dropped, what it cannot take now, or does not answer, is sent again after a while
 * that grows, or that the server says. Whoever adds waits while the queue is full. Cost: the
 * queue's memory. Locking: one mutex, which is held for pointers only.
 */
#ifndef APROF_CLI_PUSH_H
#define APROF_CLI_PUSH_H

#include "show/formats.h"

struct push_options {
  const char *url, *query; /* query: or NULL */
  const char *headers;     /* a file with one on each line, or NULL */
  uint64_t give_up;        /* ns that a server may fail to take anything */
  bool drops;              /* who adds does not wait for room: it is dropped */
};

struct pushed {
  uint64_t items, bodies; /* that the server took; items are what is in bodies */
  uint64_t dropped;       /* items that it did not */
  uint64_t rejected;      /* what it says itself that it did not take of those it took */
  uint64_t retries;       /* bodies that were sent again */
  char fault[256];        /* why; "": nothing was dropped */
  bool gone;              /* because the server took nothing for as long as it may fail */
};

struct pusher;

/* NULL after a message. */
typedef struct pusher *push_open(const struct push_options *, const struct format_push *);
/* Takes the body, which was allocated. */
typedef void push_add(struct pusher *, char *body, size_t length, uint64_t items);
/* The same with a query of its own behind the URL; or NULL. */
typedef void push_add_for(struct pusher *, const char *query, char *body, size_t length,
                          uint64_t items);
/* As of now. */
typedef struct pushed push_numbers(struct pusher *);
/* Waits so long for what is queued; the rest is dropped. The pusher stays, for its numbers. */
typedef void push_abandon(struct pusher *, unsigned ms);
/* Waits until all is sent, or dropped. */
typedef struct pushed push_close(struct pusher *);

struct push {
  push_open *open;
  push_add *add;
  push_close *close;
  push_add_for *add_for;
  push_numbers *numbers;
  push_abandon *abandon;
};

/* By libcurl. push.c */
extern const struct push push_by_curl;

#endif
