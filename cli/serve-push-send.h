/* SPDX-License-Identifier: MIT */
/*
 * Processes that send what is pushed; serve-push.c starts them.
 * Cost, locking: as serve-push.h.
 */
#ifndef APROF_CLI_SERVE_PUSH_SEND_H
#define APROF_CLI_SERVE_PUSH_SEND_H

#include "ask/slowest.h"
#include "serve-push-counts.h"

#include <sys/types.h>

enum { PUSH_MOST = 8 };

struct push_wish {
  const struct format *format;
  const char *url;
  char *shown; /* without its query, which may hold a key */
};

struct push_wishes {
  struct push_wish of[PUSH_MOST];
  size_t count;
  uint64_t every;                     /* ns */
  const char *headers;                /* a file of them; or NULL */
  const char *target, *labels;        /* which processes, of a host with which labels; or NULL */
  const struct slowest_filter *which; /* of requests; all without anything in it */
};

struct push_job {
  const struct push_wishes *wishes;
  struct push_counts *counts; /* of each wish; shared */
  int stop;                   /* closed when it ends */
};

/* It is of requests, for which a process is recorded. */
bool push_is_recorded(const struct push_wish *);
/* True: who started this one has ended, or wants no more. */
bool push_ends_within(int stop, uint64_t ns);

/* Until the end of what started it, or of the process that is recorded. */
void push_totals(const struct push_job *) __attribute__((noreturn));
void push_requests(const struct push_job *, pid_t) __attribute__((noreturn));

#endif
