/*
 * What the files of events share: the functions that fill a gate, and the steps
 * that bodies and brackets have in common.
 * Locking: the steps only inside an event.
 */
#ifndef APROF_EVENTS_H
#define APROF_EVENTS_H

#include "rt.h"

struct event_table {
  void (*enter)(struct aprof_site *, struct aprof_token *, const void *);
  void (*leave)(struct aprof_token *, int);
  void (*suspend)(struct aprof_site *, struct aprof_token *);
  void (*resume)(struct aprof_token *);
  void (*at)(struct aprof_site *);
  void (*resync)(struct aprof_token *);
};
struct bracket_table {
  void (*create_begin)(struct aprof_site *, struct aprof_token *, struct aprof_site *,
                       const void *);
  void (*create_end)(struct aprof_token *, uint64_t, uint64_t, int);
  void (*run_begin)(struct aprof_site *, struct aprof_token *, uint64_t, uint64_t,
                    struct aprof_site *, const void *);
  void (*run_end)(struct aprof_token *, int, struct aprof_site *);
  void (*wake)(struct aprof_site *, uint64_t, uint64_t);
  void (*end)(struct aprof_site *, uint64_t, uint64_t, int);
  void (*idle_begin)(struct aprof_site *, struct aprof_token *);
  void (*idle_end)(struct aprof_token *);
  void (*wake_current)(struct aprof_site *);
  void (*end_current)(struct aprof_site *, int);
};
extern const struct event_table events_bodies;
extern const struct bracket_table events_brackets;

/* A new record under the running future (under nothing if `root`): no state, no
   key yet. NULL: lost, and counted. */
struct aprof_future *future_born(struct thread *t, struct aprof_site *function, bool root,
                                 uint64_t now);
/* f turned out to be the future of this body, whose address is `self` if known. */
void future_named(struct thread *t, struct aprof_future *f, struct aprof_site *body,
                  const void *self);
/* The announced call site of the running future, else `callee`. */
struct aprof_site *take_call_site(struct thread *t, struct aprof_site *callee);

#endif
