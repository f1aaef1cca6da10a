/*
 * The report: one look at totals.
 *
 * Purpose: what the numbers mean, in this order: one line about the process,
 * findings in words, functions, and the awaits where time was really spent.
 * Cost: sorts; nothing is computed twice.
 * Locking: none.
 */
#ifndef APROF_CLI_REPORT_H
#define APROF_CLI_REPORT_H

#include "reading.h"

#include <stdio.h>

enum report_sort {
  SORT_EXEC,
  SORT_CALLS,
  SORT_WAITING,
  SORT_WALL,
  SORT_QUEUED,
  SORT_SLICE,
  SORT_WORST,
  SORT_CHILDREN,
  SORT_NAME,
};

/* What is a finding. */
struct report_limits {
  uint64_t held;   /* ns: a slice, a blocking call, a queue's p99 */
  uint64_t stuck;  /* ns: the least for one that waits, and that has never run */
  uint64_t leaked; /* futures of one place, alive at exit */
  uint64_t spins;  /* wakes of itself that led to nothing */
};

struct report_options {
  enum report_sort sort;
  size_t functions, waits; /* rows; 0: all */
  struct report_limits limits;
  bool json;
};

/* Names of report_sort, in its order; NULL ends them. */
extern const char *const report_sorts[];

/* What the loops of the process did. */
struct loop {
  uint64_t elapsed, idle, exec; /* of the threads that ran futures, or polled */
  bool has_idle;   /* some poller is known: then there is a "busy" */
  uint64_t worst;  /* slice, ns; UNKNOWN: none */
  uint64_t unseen; /* of elapsed, when holds could not be seen: times were shed */
  unsigned shed;   /* by these threads: 1 << enum aprof_step */
};
struct loop report_loop(const struct reading *);

/* Functions that did anything, in the order asked for; the caller frees the array. */
const struct r_function **report_functions(const struct reading *, enum report_sort, size_t *count);

/* The largest slice; in an interval that has no maximum of its own, the middle of the highest
   bucket it added to, as percentiles are. 0: there was none. */
uint64_t report_longest_slice(const struct r_function *);

/* It has run, and there is no histogram of it: they were lost or not wanted. What was shed is
   another matter (governed.h). */
bool report_lacks_histograms(const struct r_function *);

/* A path that ends in a wait for something outside: the time under its name. */
struct wait {
  char *path; /* "handle > fetch > quota.c:61 connect" */
  const struct r_path *at;
  uint64_t count, waiting, max, p99;
  uint64_t mean; /* of those that ended, as count and p99 are; UNKNOWN: none has */
};
struct wait *report_waits(const struct reading *, bool background, size_t *count);
void report_waits_free(struct wait *, size_t count);
/* The same with no directory in its place; the caller frees it. */
char *report_bare_path(const struct reading *, const struct wait *);

enum finding_kind {
  FINDING_HELD,
  FINDING_STUCK,
  FINDING_BLOCKING,
  FINDING_NEVER_RAN,
  FINDING_LEAKED,
  FINDING_QUEUED,
  FINDING_SPINNING,
  FINDING_GROWING,
  FINDING_LOST, /* before what may come of it */
  FINDING_REUSED,
  FINDING_UNPLACED
};
struct finding {
  enum finding_kind kind;
  uint64_t weight;                     /* for the order within a kind */
  uint64_t severity;                   /* ns; UNKNOWN: not in time */
  uint64_t count;                      /* of slices, futures...; UNKNOWN: not counted */
  bool goes_on;                        /* of one that holds the loop: it still does */
  unsigned shed;                       /* what its numbers lack: 1 << enum aprof_step */
  const struct r_function *function;   /* or NULL */
  char *at;                            /* "file:line" of the evidence, or NULL */
  const char *created_at, *created_by; /* or NULL */
  char *text;
};
struct finding *report_findings(const struct reading *, const struct report_limits *,
                                size_t *count);
void report_findings_free(struct finding *, size_t count);
extern const char *const finding_kinds[];
cJSON *finding_json(const struct finding *);

/* report-findings.c */
void report_print_findings(const struct reading *, const struct report_options *, FILE *out);

/* report-queue.c: sections of the text: each loop where there are several, who
   woke whom and how late it ran, and what blocked. Nothing where there is nothing. */
void report_print_loops(const struct reading *, const struct report_options *, FILE *out);
void report_print_wakers(const struct reading *, const struct report_options *, FILE *out);
void report_print_blocking(const struct reading *, const struct report_options *, FILE *out);
void report_print_more(size_t all, size_t shown, FILE *out);

/* report-miss.c: awaits outside any future, and ends, wakes and switches of keys that none
   has; by what was called, and not where it has found one elsewhere. All places, if all
   rows are asked for. */
void report_print_misses(const struct reading *, const struct report_options *, FILE *out);

/* Shortens the names of files in the readings. */
void report_print(struct reading *, const struct report_options *, FILE *out);
void report_json(const struct reading *, const struct report_options *, FILE *out);

/* Loads, subtracts and prints; `second` may be NULL. The exit status. */
int report_targets(const char *first, const char *second, const struct report_options *);
extern const struct report_options report_defaults;

#endif
