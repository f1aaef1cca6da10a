/* SPDX-License-Identifier: MIT */
/*
 * Which share of the requests a recording keeps, and how that follows what happens.
 *
 * Purpose: what `aprof record --sample` and `--max-lag` mean, from their texts to the header of the
 * process. A share is constant; a rate is a share that follows how many requests begin; either is
 * halved while loops are late, and nothing is recorded where that does not help. Cost: some loads
 * and a store at each look. Locking: none; who looks is the one recorder of the process.
 */
#ifndef APROF_CLI_RECORD_SHARE_H
#define APROF_CLI_RECORD_SHARE_H

#include <aprof/profile.h>
#include <stdbool.h>
#include <stdint.h>

struct share_wish {
  double share; /* 0: not given */
  double rate;  /* a second; 0: not given */
  /* ns. A lag that is longer halves the share; where none is half as long for so long it is doubled
     again. 0: not given */
  uint64_t max_lag, resume_after;
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
  double now;     /* what is wished for at the moment */
  uint64_t begun; /* requests of the process, */
  uint64_t at;    /* ns, when the rate was measured last */
  /* Overload. */
  unsigned halved;        /* so often, at the moment */
  bool stopped;           /* nothing is kept */
  unsigned halves, stops; /* how often that was done so far */
  uint64_t calm, changed; /* ns: since when nothing was late; when the share was changed last */
  uint64_t stopped_for;   /* ns, all that are over */
  uint64_t lag;           /* ns, the most */
  bool behind;            /* ... and the recorder once fell behind */
};

/* The share to begin with. */
void share_begin(struct share *, const struct share_wish *, const struct aprof_header *,
                 uint64_t now);
/* To be called often: another share, once there is reason to. `lag`: ns, the most since the last
   look; UINT64_MAX: the recorder falls behind. */
void share_look(struct share *, struct aprof_header *, uint64_t now, uint64_t lag);
/* What the process keeps at the moment; 0: nothing. */
double share_kept(const struct share *);
/* "a loop was 65.2 ms late: the share was halved 3 times, and is 1/8", for people; NULL: never. To
   be freed. */
char *share_says(const struct share *, uint64_t now);

#endif
