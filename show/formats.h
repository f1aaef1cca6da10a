/* SPDX-License-Identifier: MIT */
/*
 * Formats: what other tools read, as a table.
 *
 * Purpose: a format is a file here, and a row in formats.c; `aprof export --to NAME` writes it
 * (cli/cmd-export.c). Cost: that of the format. Locking: none.
 */
#ifndef APROF_SHOW_FORMATS_H
#define APROF_SHOW_FORMATS_H

#include "stacks.h"

#include <stdio.h>

/* Another server that processes are known from. */
struct format_agent {
  const char *name, *url;
  bool up;      /* it answers */
  uint64_t age; /* since it did, ns; UNKNOWN: it never has */
};

/* Which functions of each process were told one by one, from one time to the next. */
struct format_memory;
void format_memory_free(struct format_memory *);

struct format_options {
  uint64_t functions;         /* so many one by one, the rest as one; 0: all */
  enum stack_measure measure; /* the numbers, where there is one for each stack */
  bool background;            /* waiting for new work, too */
  int rows;                   /* which of csv_rows */
  bool hosts;                 /* processes are of several: each says which */
  const struct format_agent *agent;
  size_t agents;
  struct format_memory **memory; /* that this one leaves; or NULL */
};

/* Of any number of processes, each a view of its own. A failing `out` is the caller's to see. */
typedef void format_function(const struct view *const *, size_t views,
                             const struct format_options *, FILE *out);

/* Which options it takes. TIME: --for, --window; metrics count from the start of the process on.
   REQUESTS: --kind, --tier; metrics have all, by their labels. */
enum {
  FORMAT_FUNCTIONS = 1,
  FORMAT_MEASURE = 2,
  FORMAT_BACKGROUND = 4,
  FORMAT_ROWS = 8,
  FORMAT_TIME = 16,
  FORMAT_REQUESTS = 32
};

struct format {
  const char *name, *summary;
  format_function *write;
  unsigned takes;
  bool binary; /* nothing for a terminal */
};

/* NULL's name ends them. */
extern const struct format formats[];
/* NULL: there is none of that name. */
const struct format *format_find(const char *name);

format_function openmetrics_write, prometheus_write, folded_write, pprof_write, speedscope_write,
    callgrind_write, chrome_write, csv_write;

/* The lists of totals that csv has; NULL ends them. */
extern const char *const csv_rows[];

/* Seconds since 1970 when its counters began; NAN: not known. */
double counted_since(const struct view_process *);

#endif
