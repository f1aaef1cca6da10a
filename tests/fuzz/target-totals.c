/*
 * Fuzz target: the reader of totals, and all that a report makes of them.
 *
 * Input: totals, or two of them with a NUL byte between: the earlier one first.
 */
#include "cli/json.h"
#include "cli/reading.h"
#include "cli/report.h"
#include "cli/verify.h"

#include <stdlib.h>
#include <string.h>

/* Without the equations, which few mutations keep. */
static struct reading *parse_anyhow(const char *text, size_t size) {
  char *fault = NULL;
  cJSON *json = json_parse(text, size, &fault);
  if (json && !(fault = verify_fields(json)))
    return reading_new(json, "fuzzed");
  cJSON_Delete(json);
  free(fault);
  return NULL;
}

static struct reading *parse(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1); /* exactly as long, so that every byte beyond is one too many */
  memcpy(text, data, size);
  text[size] = 0;
  struct reading *r = reading_parse(text, size, "fuzzed");
  if (!r)
    r = parse_anyhow(text, size);
  free(text);
  return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static FILE *nowhere;
  if (!nowhere)
    nowhere = fopen("/dev/null", "w");
  const uint8_t *cut = memchr(data, 0, size);
  struct reading *earlier = cut ? parse(data, (size_t)(cut - data)) : NULL;
  struct reading *r = cut ? parse(cut + 1, size - (size_t)(cut + 1 - data)) : parse(data, size);
  if (r && (!earlier || reading_subtract(r, earlier))) {
    struct report_options all = report_defaults;
    all.functions = all.waits = 0;
    all.limits.held = 1;
    report_json(r, &all, nowhere);
    report_print(r, &report_defaults, nowhere);
  }
  reading_free(earlier);
  reading_free(r);
  return 0;
}
