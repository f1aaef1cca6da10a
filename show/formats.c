/* SPDX-License-Identifier: MIT */
/* The table of formats; see formats.h. */
#include "formats.h"

#include <string.h>

/* clang-format off */
const struct format formats[] = {
    {"openmetrics", "OpenMetrics 1.0, as scraped over HTTP", openmetrics_write, FORMAT_FUNCTIONS, false},
    {"prometheus", "Prometheus' older text, as node exporters read it", prometheus_write, FORMAT_FUNCTIONS, false},
    {"pprof", "a profile for `go tool pprof' and its kin", pprof_write, FORMAT_BACKGROUND | FORMAT_TIME | FORMAT_REQUESTS, true},
    {"folded", "a line for each stack and its time, as flamegraph.pl reads it", folded_write, FORMAT_MEASURE | FORMAT_BACKGROUND | FORMAT_TIME | FORMAT_REQUESTS, false},
    {"speedscope", "for speedscope.app: a profile for each measure and process", speedscope_write, FORMAT_BACKGROUND | FORMAT_TIME | FORMAT_REQUESTS, false},
    {"callgrind", "a profile for callgrind_annotate and KCachegrind", callgrind_write, FORMAT_BACKGROUND | FORMAT_TIME | FORMAT_REQUESTS, false},
    {"chrome", "totals as a trace for Chrome's viewer: how long, not when", chrome_write, FORMAT_BACKGROUND | FORMAT_TIME | FORMAT_REQUESTS, false},
    {"csv", "a table of functions, awaits, loops...: --rows", csv_write, FORMAT_ROWS | FORMAT_TIME | FORMAT_REQUESTS, false},
    {NULL, NULL, NULL, 0, false}};
/* clang-format on */

const struct format *format_find(const char *name) {
  for (const struct format *f = formats; f->name; f++)
    if (!strcmp(f->name, name))
      return f;
  return NULL;
}
