/* SPDX-License-Identifier: MIT */
/*
 * What a view means: findings, the loops, the awaits where time was really spent.
 *
 * In: a view. Out: answers that outputs show, none of which looks further for them.
 * Cost: linear in the view; findings and waits are sorted. Locking: none.
 */
#ifndef APROF_ASK_ASK_H
#define APROF_ASK_ASK_H

#include "finding-table.h"
#include "option.h"
#include "read/fields.h"
#include "sentence.h"

enum finding_kind {
#define FINDING_KIND(KIND, name, limit) FINDING_##KIND,
  FINDING_TABLE(FINDING_KIND) FINDINGS
};

/* The limit of each kind: what lies beyond it is a finding. */
struct ask_limits {
  uint64_t of[FINDINGS];
};
#define ASK_DEFAULT(KIND, name, limit) [FINDING_##KIND] = limit,
#define ASK_DEFAULTS                                                                               \
  {                                                                                                \
    .of = { FINDING_TABLE(ASK_DEFAULT) }                                                           \
  }
extern const struct ask_limits ask_defaults; /* these */
/* The options that change these limits, for a struct ask_limits. */
const struct option_row *ask_options(void);

/* What the loops of the process did. */
struct loop {
  uint64_t elapsed, idle, exec; /* of the threads that ran futures, or polled */
  bool has_idle;                /* some poller is known: then there is a "busy" */
  uint64_t worst;               /* slice, ns; UNKNOWN: none */
  uint64_t run_delay;           /* others had the processors; UNKNOWN: not known */
  uint64_t unseen;              /* of elapsed, when holds could not be seen: times were shed */
  unsigned shed;                /* by these threads: 1 << enum aprof_step */
  unsigned lacks;               /* enum lack: what these numbers do */
};
struct loop ask_loop(const struct view *);

/* The longest slice. An interval without a maximum of its own takes the middle of the highest
   bucket that grew, as percentiles do. 0: there was none. */
uint64_t ask_longest_slice(const struct view_function *);

/* The function has run and has no histogram: it was lost, or nobody wanted it. What was shed is
   told by LACKS. */
bool ask_lacks_histograms(const struct view_function *);

/* A function's sum divided by its futures: those made, in an interval also those that lived in it.
   UNKNOWN: there were none. */
uint64_t ask_per_call(const struct view *, const struct view_function *, uint64_t sum);

/* The function is a library's: its file is a header of the system, or nobody knows its file and it
   has no events. */
bool ask_is_library(const struct view_function *);

/* A path that ends in a wait for something outside, and the time it waited. */
struct wait {
  char *path; /* "handle > fetch > quota.c:61 connect" */
  const struct view_path *at;
  uint64_t count, waiting, max, p99;
  uint64_t mean; /* of those that ended, as count and p99 are; UNKNOWN: none has */
};
/* The path is an await, and not for what the waiting function called or runs. */
bool ask_waits_outside(const struct view_path *);
struct wait *ask_waits(const struct view *, bool background, size_t *count);
void ask_waits_free(struct wait *, size_t count);

/* What digs deeper. */
enum finding_next {
  NEXT_NOTHING,
  NEXT_FUNCTION, /* all about its function */
  NEXT_ALIVE,    /* what lives */
};

/* Findings are ordered by level first, then by kind. */
enum finding_level { LEVEL_LARGE, LEVEL_USUAL, LEVEL_MINOR };

/* What a finding takes, and from what. */
struct cost {
  uint64_t time, whole; /* ns; time UNKNOWN: not to be told in time */
  const char *of;       /* "the loop's time" */
};

enum { FINDING_EFFECTS = 4 };

struct finding {
  enum finding_kind kind;
  enum finding_next next;
  struct cost cost;
  const char *rule; /* of `aprof check`, which finds such before they run; or NULL */
  enum finding_level level;
  bool alive;            /* it goes on, among the futures alive */
  uint64_t weight;       /* for the order within a kind */
  uint64_t severity;     /* ns; UNKNOWN: not in time */
  uint64_t count;        /* of slices, futures...; UNKNOWN: not counted */
  uint64_t held;         /* the loop, ns; 0: it is another matter, or not known */
  const char *from, *to; /* between which places; or NULL */
  const char *mostly;    /* inside which function, or NULL; so long: */
  uint64_t mostly_max;
  unsigned shed;                        /* what its numbers lack: 1 << enum aprof_step */
  const struct view_function *function; /* or NULL */
  char *at;                             /* "file:line" of the evidence, or NULL */
  const char *created_at, *created_by;  /* or NULL */
  struct sentence text;
  struct sentence effect[FINDING_EFFECTS]; /* what else it did, worst first; none: no more */
  const struct view_function
      *cause; /* another finding is about it, whose effect this is; or NULL */
};
struct finding *ask_findings(const struct view *, const struct ask_limits *, size_t *count);
void findings_free(struct finding *, size_t count);
/* Of several processes the one that a finding is about: of its function, or where that held a loop
   the longest, or lives. NULL: that is not known. */
const struct view_process *ask_process_of(const struct view *, const struct finding *);
extern const char *const finding_kinds[FINDINGS];

#endif
