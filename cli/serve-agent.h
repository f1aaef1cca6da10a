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
  struct pull *pull;
  struct process_names wanted; /* of this round */
  size_t at;
  bool passes_on; /* it is of agents itself: hosts are those that it names */
  unsigned round;
};

struct agents {
  struct agent_sources sources;
  struct agent *first;
  struct pulls *pulls;
  struct records records;
  uint64_t every;
  int64_t asked, listed; /* when somebody looked last, and the lists were; monotonic ns */
};

void agent_start(struct agent *);
/* The round is over, whatever has not come: it is slow. */
void agent_give_up(struct agent *);
void agent_free(struct agent *);
/* What it has told is of now, or nearly. */
bool agent_counts(const struct agent *);
bool agents_are_watched(const struct agents *);

#endif
