/* SPDX-License-Identifier: MIT */
/*
 * What metrics consist of, between the files that write them.
 *
 * openmetrics.c has the families that the table of fields names, metrics-process.c what is told
 * of processes and of other servers, metrics-sample.c the text of one family, one sample.
 */
#ifndef APROF_SHOW_METRICS_H
#define APROF_SHOW_METRICS_H

#include "ask/top.h"
#include "formats.h"

enum metric_kind { METRIC_NONE, METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

struct metric_process {
  const struct view *v;
  char *labels; /* process="shop",pid="4242" */
  double since; /* seconds since 1970 that counters count from; NAN: not known */
  struct top top;
  struct top_kinds kinds;
};

struct metrics {
  FILE *out;
  bool open; /* OpenMetrics; else the older text */
  struct metric_process *process;
  size_t processes;
};

/* metrics-sample.c */
void metric_begin(const struct metrics *, const char *family, enum metric_kind, const char *says);
/* `process`: whose counters began when; NULL of a gauge. `time`: the value is ns. */
void metric_sample(const struct metrics *, const struct metric_process *, const char *family,
                   enum metric_kind, const char *labels, uint64_t value, bool time);
void metric_histogram(const struct metrics *, const char *family, const char *labels,
                      const struct distribution *);
/* To be freed: ,container="..."; nothing where there is no text. */
char *metric_label(const char *name, const char *text);
/* To be freed: as it stands between quotes. */
char *metric_escaped(const char *text);

/* metrics-process.c */
/* Labels of each process, by which no two of them are taken for one. */
void metric_processes_name(struct metrics *, bool with_host);
void metric_processes(const struct metrics *);
void metric_findings(const struct metrics *);
/* Of serve: those that it asks, and those that it sends to. */
void metric_servers(const struct metrics *, const struct format_options *);

#endif
