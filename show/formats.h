/* SPDX-License-Identifier: MIT */
/*
 * Formats: what other tools read, as a table.
 *
 * Purpose: a format is a file here, and a row in formats.c; `aprof export --to NAME` writes it
 * (cli/cmd-export.c). Cost: that of the format. Locking: none.
 */
#ifndef APROF_SHOW_FORMATS_H
#define APROF_SHOW_FORMATS_H

#include "record/story.h"
#include "stacks.h"

#include <stdio.h>

/* Another server that processes are known from. */
struct format_agent {
  const char *name, *url;
  bool up;           /* it answers */
  uint64_t age;      /* since it did, ns; UNKNOWN: it never has */
  uint64_t left_out; /* of its processes, for want of room */
};

/* A server that numbers are pushed to, and what it took: requests, profiles, metrics. */
struct format_pushed {
  const char *format, *url;
  bool up;
  uint64_t sent, dropped, rejected, retries, cut;
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
  const struct format_pushed *pushed;
  size_t pusheds;
  struct format_memory **memory; /* that this one leaves; or NULL */
  uint32_t from, until; /* of recordings whose requests come one by one: only these; until 0: all */
  const bool *const *meant; /* of each story by number of request: these alone; NULL: all */
};

/* Of any number of processes, each a view of its own. A failing `out` is the caller's to see. */
typedef void format_function(const struct view *const *, size_t views,
                             const struct format_options *, FILE *out);

/* The same of recordings: what happened when. */
typedef void story_format_function(const struct story *const *, size_t stories,
                                   const struct format_options *, FILE *out);

/* Which options it takes. TIME: --for, --window; metrics count from the start of the process on.
   REQUESTS: --kind, --tier; metrics have all, by their labels. STACKS: it is made of paths alone,
   so of a recording's as well. SAMPLES: what these sampled lies beneath its paths. */
enum {
  FORMAT_FUNCTIONS = 1,
  FORMAT_MEASURE = 2,
  FORMAT_BACKGROUND = 4,
  FORMAT_ROWS = 8,
  FORMAT_TIME = 16,
  FORMAT_REQUESTS = 32,
  FORMAT_STACKS = 64,
  FORMAT_SAMPLES = 128
};

/* How a server takes it over HTTP. */
struct format_push {
  const char *path;                    /* where the URL has none; NULL: the URL has to */
  const char *type;                    /* of the body */
  char *(*query)(const struct view *); /* behind the URL; the view: or NULL; free() it */
  const char *before, *behind;         /* what stands around the body, or NULL */
  uint64_t (*rejected)(const char *answer, size_t length); /* of a body that was taken in part */
};

struct format {
  const char *name, *summary;
  format_function *write; /* NULL: of recordings only */
  unsigned takes;
  bool binary;                    /* nothing for a terminal */
  story_format_function *tell;    /* NULL: of views only, but see FORMAT_STACKS */
  const struct format_push *push; /* NULL: no server takes it */
};

/* NULL's name ends them. */
extern const struct format formats[];
/* NULL: there is none of that name. */
const struct format *format_find(const char *name);

format_function openmetrics_write, prometheus_write, folded_write, pprof_write, speedscope_write,
    callgrind_write, chrome_write, csv_write, otlp_metrics_write;
story_format_function chrome_tell, perfetto_tell, otlp_tell, otlp_proto_tell, ndjson_tell,
    clickhouse_tell;

/* The first request behind a part of a recording that begins with this one: what is pushed is about
   as large each time. */
static inline uint32_t format_part_end(const struct story *s, uint32_t from) {
  enum { FUTURES = 2000 };
  for (uint32_t futures = 0; from < s->requests_count && futures < FUTURES; from++)
    futures += s->requests[from].futures_count;
  return from;
}

/* Whether a request is meant. */
static inline bool format_means(const struct format_options *o, size_t story, uint32_t request) {
  return !o->meant || (request != STORY_NONE && o->meant[story][request]);
}

extern const struct format_push push_otlp, push_otlp_proto, push_otlp_metrics, push_ndjson,
    push_clickhouse, push_pprof;

/* The lists of totals that csv has; NULL ends them. */
extern const char *const csv_rows[];

/* Seconds since 1970 when its counters began; NAN: not known. */
double counted_since(const struct view_process *);

#endif
