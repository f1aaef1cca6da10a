/* SPDX-License-Identifier: MIT */
/*
 * The model's requests: who is a part of which, and whose time it was.
 *
 * Purpose: each segment of a future's time goes to a share, by tier, when it ends; a share goes to
 * the request that the future is a part of when that changes, or the tier does, or the future is
 * over. Requests are remembered one by one, and added up by kind at the end.
 * Cost: everything is kept. Locking: none.
 */
#ifndef TESTS_RANDOM_REQUESTS_H
#define TESTS_RANDOM_REQUESTS_H

#include "ledger.h"

#define REQUESTS LEDGER_FUTURES

struct request {
  bool implicit, failed;
  bool over;           /* booked: what its members do from here on is `after` */
  bool none;           /* its create failed, or its epoch has ended */
  struct future *root; /* NULL: it has none */
  bool root_over;
  struct thread *ends_on; /* its root ended below a part of it, which still runs there */
  struct future *last;    /* that one */
  const char *label, *function;
  struct future *first;
  uint64_t begin, stopped;
  uint64_t finished_at;
  unsigned members;
  struct share has;                     /* what was booked so far */
  uint64_t exec, queued, waiting, wall; /* when it was over */
  uint64_t after, after_exec;
};

struct requests {
  struct request request[REQUESTS];
  unsigned count, most;
  bool roots;    /* one has begun: those without one are none */
  uint64_t lost; /* that had no room */
  uint64_t none; /* exec of futures that were part of none */
};

struct requests *requests_new(unsigned most);

/* A future is born, under what runs on t. root: it begins a request; called: by what runs;
   for_new_work: its create is in the background. */
void requests_born(struct thread *t, struct future *f, bool root, bool called, bool for_new_work);
/* ... and never was: its create failed. */
void requests_never(struct thread *t, struct future *f);
void requests_over(struct thread *t, struct future *f);

/* f's segment ends now. */
void requests_close(struct ledger *ledger, struct future *f);
/* It seemed to wait, and ran. */
void requests_charge_back(struct ledger *ledger, struct future *f, uint64_t passed);

/* It waits for new work from here on; it goes on, whatever it waited for. */
void requests_waits_for_new(struct ledger *ledger, struct future *f);
void requests_goes_on(struct ledger *ledger, struct future *f);

/* The tier that f is in changes: what it had goes to the one before. */
void requests_enter_tier(struct ledger *ledger, struct future *f, struct inside *inside);
void requests_leave_tiers(struct ledger *ledger, struct future *f, unsigned depth);

/* The request that f is a part of, or NULL. */
struct request *requests_of(struct future *f);
void requests_label(struct request *r, const char *label);
/* f, at rest, goes over to what runs on t: rearmed, or handed over. */
void requests_taken_along(struct thread *t, struct future *f);
/* ... to that one, running. */
void requests_moved(struct thread *t, struct future *f, struct request *to);

/* An epoch ends: no future is a part of anything any more; and what there was counts as zero. */
void requests_detached(struct ledger *ledger);
void requests_reset(struct ledger *ledger);

/* Last thing in an event. */
void requests_event_end(struct thread *t);

/* Of all tiers. */
uint64_t requests_sum(const uint64_t *amounts);

void requests_rows(struct ledger *ledger, struct rows *rows);
/* Does the exec of all requests and of none make up that of the threads? */
bool requests_check(struct ledger *ledger);

#endif
