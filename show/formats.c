/* SPDX-License-Identifier: MIT */
/* The table of formats; see formats.h. */
#include "formats.h"

#include <string.h>

const struct format formats[] = {
    {"openmetrics", "OpenMetrics 1.0, as scraped over HTTP", openmetrics_write, FORMAT_FUNCTIONS},
    {"prometheus", "Prometheus' older text, as node exporters read it", prometheus_write,
     FORMAT_FUNCTIONS},
    {"folded", "a line for each stack and its time, as flamegraph.pl reads it", folded_write,
     FORMAT_MEASURE | FORMAT_BACKGROUND},
    {NULL, NULL, NULL, 0}};

const struct format *format_find(const char *name) {
  for (const struct format *f = formats; f->name; f++)
    if (!strcmp(f->name, name))
      return f;
  return NULL;
}
