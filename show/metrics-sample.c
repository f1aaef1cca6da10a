/* SPDX-License-Identifier: MIT */
/* A family, a sample, a histogram as text; see metrics.h. */
#include "metrics.h"

#include "read/util.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {NULL, "counter", "gauge", "histogram"};

/* Bounds of histograms, ns. */
static const uint64_t bounds[] = {10000,     100000,    500000,     1000000,    2500000,
                                  5000000,   10000000,  25000000,   50000000,   100000000,
                                  250000000, 500000000, 1000000000, 2500000000, 10000000000};
enum { BOUNDS = sizeof bounds / sizeof *bounds };

void metric_begin(const struct metrics *w, const char *family, enum metric_kind kind,
                  const char *says) {
  const char *suffix = kind == METRIC_COUNTER && !w->open ? "_total" : "";
  fprintf(w->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", family, suffix, says, family, suffix,
          kinds[kind]);
}

char *metric_escaped(const char *text) {
  char *to = allocate(2 * strlen(text) + 1, 1), *at = to;
  for (; *text; text++) {
    if (strchr("\\\"\n", *text))
      *at++ = '\\';
    *at++ = *text == '\n' ? 'n' : *text;
  }
  return to;
}

char *metric_label(const char *name, const char *text) {
  char *value = text ? metric_escaped(text) : NULL;
  char *all = value ? print_string(",%s=\"%s\"", name, value) : print_string("%s", "");
  free(value);
  return all;
}

static void print_number(FILE *out, uint64_t value, bool time) {
  if (time)
    fprintf(out, " %" PRIu64 ".%09" PRIu64 "\n", value / 1000000000, value % 1000000000);
  else
    fprintf(out, " %" PRIu64 "\n", value);
}

void metric_sample(const struct metrics *w, const struct metric_process *p, const char *family,
                   enum metric_kind kind, const char *labels, uint64_t value, bool time) {
  fprintf(w->out, "%s%s{%s}", family, kind == METRIC_COUNTER ? "_total" : "", labels);
  print_number(w->out, value, time);
  if (kind == METRIC_COUNTER && w->open && !isnan(p->since))
    fprintf(w->out, "%s_created{%s} %.3f\n", family, labels, p->since);
}

/* A bucket is 6 % wide at most; all of it counts where its middle lies. */
void metric_histogram(const struct metrics *w, const char *family, const char *labels,
                      const struct distribution *d) {
  uint64_t count = 0;
  unsigned __int128 sum = 0;
  size_t at = 0;
  for (size_t i = 0; i <= BOUNDS; i++) {
    for (; at < d->count; at++) {
      const struct bucket *b = &d->bucket[at];
      uint64_t middle = buckets_percentile(b, 1, 1000, HISTOGRAM_NO_MAX);
      if (i < BOUNDS && middle > bounds[i])
        break;
      add_to(&count, b->count);
      sum += (unsigned __int128)b->count * middle;
    }
    if (i < BOUNDS)
      fprintf(w->out, "%s_bucket{%s,le=\"%g\"} %" PRIu64 "\n", family, labels,
              (double)bounds[i] / 1e9, count);
    else
      fprintf(w->out, "%s_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n", family, labels, count);
  }
  fprintf(w->out, "%s_sum{%s}", family, labels);
  print_number(w->out, sum < BEYOND ? (uint64_t)sum : BEYOND, true);
  fprintf(w->out, "%s_count{%s} %" PRIu64 "\n", family, labels, count);
}
