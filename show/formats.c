/* SPDX-License-Identifier: MIT */
/* The table of formats; see formats.h. */
#include "formats.h"

#include <string.h>

const struct format formats[] = {
    {"openmetrics", "OpenMetrics 1.0, as scraped over HTTP", .write = openmetrics_write,
     .takes = FORMAT_FUNCTIONS},
    {"prometheus", "Prometheus' older text, as node exporters read it", .write = prometheus_write,
     .takes = FORMAT_FUNCTIONS},
    {"pprof", "a profile for `go tool pprof' and its kin", .write = pprof_write,
     .takes = FORMAT_BACKGROUND | FORMAT_TIME | FORMAT_REQUESTS | FORMAT_STACKS | FORMAT_SAMPLES,
     .binary = true, .push = &push_pprof},
    {"folded", "a line for each stack and its time, as flamegraph.pl reads it",
     .write = folded_write,
     .takes = FORMAT_MEASURE | FORMAT_BACKGROUND | FORMAT_TIME | FORMAT_REQUESTS | FORMAT_STACKS |
              FORMAT_SAMPLES},
    {"speedscope", "for speedscope.app: a profile for each measure and process",
     .write = speedscope_write,
     .takes = FORMAT_BACKGROUND | FORMAT_TIME | FORMAT_REQUESTS | FORMAT_STACKS | FORMAT_SAMPLES},
    {"callgrind", "a profile for callgrind_annotate and KCachegrind", .write = callgrind_write,
     .takes = FORMAT_BACKGROUND | FORMAT_TIME | FORMAT_REQUESTS | FORMAT_STACKS},
    {"chrome", "for Chrome's viewer: a recording in time, of totals how long",
     .write = chrome_write, .takes = FORMAT_BACKGROUND | FORMAT_TIME | FORMAT_REQUESTS,
     .tell = chrome_tell},
    {"csv", "a table of functions, awaits, loops...: --rows", .write = csv_write,
     .takes = FORMAT_ROWS | FORMAT_TIME | FORMAT_REQUESTS},
    {"perfetto", "a recording for ui.perfetto.dev: requests, threads, wakes", .takes = FORMAT_TIME,
     .binary = true, .tell = perfetto_tell},
    {"otlp", "requests of a recording as OpenTelemetry's spans, in JSON", .takes = FORMAT_TIME,
     .tell = otlp_tell, .push = &push_otlp},
    {"otlp-proto", "the same in protobuf", .takes = FORMAT_TIME, .binary = true,
     .tell = otlp_proto_tell, .push = &push_otlp_proto},
    {"otlp-metrics", "numbers as OpenTelemetry's metrics, in JSON", .write = otlp_metrics_write,
     .takes = FORMAT_FUNCTIONS, .push = &push_otlp_metrics},
    {"ndjson", "a line of JSON for each request of a recording that has ended",
     .takes = FORMAT_TIME, .tell = ndjson_tell, .push = &push_ndjson},
    {"clickhouse", "the same for the table of clickhouse.sql", .takes = FORMAT_TIME,
     .tell = clickhouse_tell, .push = &push_clickhouse},
    {0}};

const struct format *format_find(const char *name) {
  for (const struct format *f = formats; f->name; f++)
    if (!strcmp(f->name, name))
      return f;
  return NULL;
}
