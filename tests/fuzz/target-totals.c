/*
 * Fuzz target: the reader of totals, and all that a report makes of them.
 *
 * Input: totals, or two of them with a NUL byte between: the earlier one first.
 */
#include "read/json.h"
#include "read/verify.h"
#include "read/view.h"
#include "show/report.h"

#include <stdlib.h>
#include <string.h>

/* Without the equations, which few mutations keep. */
static struct view *parse_anyhow(const char *text, size_t size) {
  char *fault = NULL;
  cJSON *json = json_parse(text, size, &fault);
  struct view *v = cJSON_IsObject(json) ? view_read(json, "fuzzed", &fault) : NULL;
  json_free(json);
  free(fault);
  return v;
}

static struct view *parse(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1); /* exactly as long, so that every byte beyond is one too many */
  memcpy(text, data, size);
  text[size] = 0;
  struct view *v = view_of_totals(text, size, "fuzzed");
  if (!v)
    v = parse_anyhow(text, size);
  free(text);
  return v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static FILE *nowhere;
  if (!nowhere)
    nowhere = fopen("/dev/null", "w");
  const uint8_t *cut = memchr(data, 0, size);
  struct view *earlier = cut ? parse(data, (size_t)(cut - data)) : NULL;
  struct view *v = cut ? parse(cut + 1, size - (size_t)(cut + 1 - data)) : parse(data, size);
  if (v && (!earlier || view_subtract(v, earlier))) {
    struct report_options all = report_defaults;
    all.functions = all.waits = 0;
    all.limits.of[FINDING_HELD] = 1;
    report_json(v, &all, NULL, nowhere);
    report_print(v, &report_defaults, nowhere);
  }
  view_free(earlier);
  view_free(v);
  return 0;
}
/* SPDX-License-Identifier: MIT */
