/* SPDX-License-Identifier: MIT */
/* What a server took of what was pushed, shared by the processes that send. Cost, locking: none;
   atomic additions. */
#ifndef APROF_CLI_SERVE_PUSH_COUNTS_H
#define APROF_CLI_SERVE_PUSH_COUNTS_H

#include "push.h"
#include "show/emit.h"

#include <stdatomic.h>
#include <string.h>

struct push_counts {
  _Atomic uint64_t items, bodies, dropped, rejected, retries, cut, lost;
  _Atomic bool fails, refuses; /* refuses: it began with what is not sent again */
  char fault[256]; /* of who failed last; may be torn, and ends in any case */
};

static inline void push_counts_add(struct push_counts *c, const struct pushed *before,
                                   const struct pushed *now) {
  c->items += now->items - before->items;
  c->bodies += now->bodies - before->bodies;
  c->dropped += now->dropped - before->dropped;
  c->rejected += now->rejected - before->rejected;
  c->retries += now->retries - before->retries;
  bool failed = now->retries > before->retries || now->dropped > before->dropped;
  if (failed && !c->fails)
    c->refuses = now->retries == before->retries;
  c->fails = now->bodies > before->bodies ? false : failed ? true : c->fails;
  if (failed)
    memcpy(c->fault, now->fault, sizeof c->fault - 1);
}

static inline void push_counts_cut(struct push_counts *c, uint64_t partial, uint64_t lost) {
  c->cut += partial;
  c->lost += lost;
}

static inline void push_counts_json(const struct push_counts *c, struct emit *e) {
  emit_bool(e, "fails", c->fails);
  emit_text(e, "says", c->fails && *c->fault ? c->fault : NULL);
  emit_number(e, "sent", c->items);
  emit_number(e, "dropped", c->dropped);
  emit_number(e, "rejected", c->rejected);
  emit_number(e, "retries", c->retries);
  emit_number(e, "cut", c->cut);
  emit_number(e, "lost_events", c->lost);
}

static inline struct format_pushed push_counts_state(const struct push_counts *c,
                                                     const char *format, const char *url) {
  return (struct format_pushed){format,     url,         !c->fails,  c->items,
                                c->dropped, c->rejected, c->retries, c->cut};
}

#endif
