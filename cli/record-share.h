/* SPDX-License-Identifier: MIT */
/*
 * Which share of the requests a recording keeps, and how that follows what happens.
 *
 * Purpose: what `aprof record --sample` means, from its text to the header of the process. A share
 * is constant; a rate is a share that follows how many requests begin. Cost: some loads and a store
 * at each look. Locking: none; who looks is the one recorder of the process.
 */
#ifndef APROF_CLI_RECORD_SHARE_H
#define APROF_CLI_RECORD_SHARE_H

#include <aprof/profile.h>
#include <stdbool.h>
#include <stdint.h>

struct share_wish {
  double share; /* 0: not given */
  double rate;  /* a second; 0: not given */
};

/* "1/100", "0.01", "1%", "200/s". NULL, or what is wrong with it, to be freed. */
char *share_take(struct share_wish *, const char *text);
static inline bool share_is_wished(const struct share_wish *w) {
  return w->share > 0 || w->rate > 0;
}

/* N, so that every Nth is about that share: what a program starts with. */
static inline uint64_t share_start(const struct share_wish *w) {
  return w->share > 0 ? (uint64_t)(1 / w->share + 0.5) : 1;
}

struct share {
  const struct share_wish *wish;
  double now;     /* what the process keeps at the moment */
  uint64_t begun; /* requests of the process, */
  uint64_t at;    /* ns, when the rate was measured last */
};

/* The share to begin with. */
void share_begin(struct share *, const struct share_wish *, const struct aprof_header *,
                 uint64_t now);
/* To be called often: another share, once there is reason to. */
void share_look(struct share *, struct aprof_header *, uint64_t now);

#endif
