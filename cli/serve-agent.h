/* SPDX-License-Identifier: MIT */
/*
 * One of the other servers, and a round of questions to it: the list of its processes, then the
 * totals of each, one after the other.
 * Cost, locking: as serve-agents.h.
 */
#ifndef APROF_CLI_SERVE_AGENT_H
#define APROF_CLI_SERVE_AGENT_H

#include "serve-agent-list.h"
#include "serve-pull.h"
#include "serve-recorded.h"

#define SECOND ((int64_t)1000000000)

enum agent_state { AGENT_NEW, AGENT_ANSWERS, AGENT_SLOW, AGENT_GONE, AGENT_VERSION, AGENT_WRONG };

struct agent {
  struct agent *next;
  struct agents *all;
  struct agent_entry is;
  enum agent_state state;
  char *says;                  /* why it is not AGENT_ANSWERS; or NULL */
  int64_t answered, due, cost; /* monotonic ns; ns of the last round */
  int64_t silent;              /* since then it is asked, and has not answered; 0: it has */
  struct pull *pull;
  struct process_names wanted; /* of this round */
  size_t at;
  size_t left_out, leaves_out; /* of its processes, for want of room; so far in this round */
  bool passes_on;              /* it is of agents itself: hosts are those that it names */
  unsigned round;
};

struct agents {
  struct agent_sources sources;
  struct agent *first;
  struct pulls *pulls;
  struct records records;
  uint64_t every;
  int64_t asked, listed; /* when somebody looked last, and the lists were; monotonic ns */
  int64_t heard;         /* when one has answered last */
  int64_t period;        /* of the rounds, ns */
  bool told;             /* that something has no room */
};

static inline bool agent_is_doubtful(const struct agent *a) {
  return a->state > AGENT_ANSWERS;
}
void agent_start(struct agent *);
/* The round is over, whatever has not come: it is slow. */
void agent_give_up(struct agent *);
void agent_free(struct agent *);
/* What it has told is of now, or nearly. */
bool agent_counts(const struct agent *);
int64_t agents_period(const struct agents *);
bool agents_are_watched(const struct agents *);

#endif
