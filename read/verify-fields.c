/* Totals tested: every member that is read is there, of its type; see verify.h. */
#include "verify.h"

#include "json.h"
#include "names.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

enum type {
  COUNT,       /* 0 .. 2^63 - 1: of things, of nanoseconds */
  LATER_COUNT, /* or null, or missing: totals of before there was one */
  MAYBE_COUNT, /* or null */
  IDENTITY,    /* 0 .. 2^64 - 1 or null */
  SIGNED,      /* or null */
  SHARE,       /* not negative, a fraction or null */
  TEXT,
  MAYBE_TEXT,
  LATER_TEXT, /* or null, or missing */
  FLAG,
  LATER_FLAG, /* or null, or missing */
  HISTOGRAM,  /* or null */
  PAIR,       /* of texts, or null */
  ARRAY,      /* of objects */
};

static const char *const expected[] = {"a count",
                                       "a count or null",
                                       "a count or null",
                                       "an id or null",
                                       "an integer or null",
                                       "a share or null",
                                       "a text",
                                       "a text or null",
                                       "a text or null",
                                       "true or false",
                                       "true, false or null",
                                       "a histogram or null",
                                       "two texts or null",
                                       "an array of objects"};

struct field {
  const char *name;
  enum type type;
};

static const struct field process_fields[] = {{"pid", SIGNED},
                                              {"name", TEXT},
                                              {"command", TEXT},
                                              {"host", TEXT},
                                              {"started_at", MAYBE_TEXT},
                                              {"dumped_at", MAYBE_TEXT},
                                              {"elapsed_ns", COUNT},
                                              {"measured_ns", LATER_COUNT},
                                              {"reset_ns", LATER_COUNT},
                                              {"reason", TEXT},
                                              {"reset_epoch", COUNT},
                                              {NULL, COUNT}};

static const struct field health_fields[] = {
    {"events", COUNT},           {"event_cost_ns", MAYBE_COUNT},
    {"lost_futures", COUNT},     {"other_nodes", COUNT},
    {"lost_histograms", COUNT},  {"lost_events", COUNT},
    {"missed_events", COUNT},    {"reused_keys", COUNT},
    {"torn_threads", COUNT},     {"nested_events", COUNT},
    {"overhead_percent", SHARE}, {"consistent", FLAG},
    {"confined", LATER_FLAG},    {NULL, COUNT}};

static const struct field thread_fields[] = {
    {"block", COUNT},    {"tid", SIGNED},       {"name", TEXT},
    {"events", COUNT},   {"exec_ns", COUNT},    {"idle_ns", COUNT},
    {"other_ns", COUNT}, {"elapsed_ns", COUNT}, {NULL, COUNT}};

static const struct field loop_fields[] = {{"block", COUNT},
                                           {"tid", SIGNED},
                                           {"name", TEXT},
                                           {"elapsed_ns", COUNT},
                                           {"busy_ns", MAYBE_COUNT},
                                           {"hold_max_ns", MAYBE_COUNT},
                                           {"hold_max_between", PAIR},
                                           {"hold_max_function", MAYBE_TEXT},
                                           {"hold_open_ns", MAYBE_COUNT},
                                           {"hold_open_from", MAYBE_TEXT},
                                           {"hold_open_function", MAYBE_TEXT},
                                           {NULL, COUNT}};

static const struct field function_fields[] = {{"name", TEXT},
                                               {"file", MAYBE_TEXT},
                                               {"line", MAYBE_COUNT},
                                               {"column", LATER_COUNT},
                                               {"instrumented", LATER_FLAG},
                                               {"created", COUNT},
                                               {"done", COUNT},
                                               {"failed", COUNT},
                                               {"cancelled", COUNT},
                                               {"detached", COUNT},
                                               {"live", COUNT},
                                               {"born_done", COUNT},
                                               {"slices", COUNT},
                                               {"wall_ns", COUNT},
                                               {"queued_ns", COUNT},
                                               {"exec_ns", COUNT},
                                               {"pool_exec_ns", LATER_COUNT},
                                               {"waiting_ns", COUNT},
                                               {"children_exec_ns", COUNT},
                                               {"exec_max_ns", MAYBE_COUNT},
                                               {"wall_max_ns", MAYBE_COUNT},
                                               {"slice_max_ns", MAYBE_COUNT},
                                               {"slice_max_between", PAIR},
                                               {"slice_max_names", PAIR},
                                               {"slice_max_at_start", LATER_FLAG},
                                               {"slice_max_mostly", LATER_TEXT},
                                               {"slice_max_mostly_ns", LATER_COUNT},
                                               {"slice_max_mostly_at_once", LATER_FLAG},
                                               {"exec", HISTOGRAM},
                                               {"slice", HISTOGRAM},
                                               {"wall", HISTOGRAM},
                                               {"queued", HISTOGRAM},
                                               {"awaits", ARRAY},
                                               {"wakers", ARRAY},
                                               {"blocking", ARRAY},
                                               {NULL, COUNT}};

static const struct field await_fields[] = {
    {"callee", TEXT},     {"file", MAYBE_TEXT},   {"line", MAYBE_COUNT},    {"kind", TEXT},
    {"count", COUNT},     {"immediate", COUNT},   {"waiting_ns", COUNT},    {"max_ns", MAYBE_COUNT},
    {"background", FLAG}, {"waiting", HISTOGRAM}, {"open_ns", LATER_COUNT}, {NULL, COUNT}};

static const struct field waker_fields[] = {
    {"name", TEXT},           {"file", MAYBE_TEXT}, {"line", MAYBE_COUNT},   {"clock", FLAG},
    {"count", COUNT},         {"queued_ns", COUNT}, {"max_ns", MAYBE_COUNT}, {"queued", HISTOGRAM},
    {"function", MAYBE_TEXT}, {NULL, COUNT}};

static const struct field blocking_fields[] = {
    {"callee", TEXT},   {"file", MAYBE_TEXT},    {"line", MAYBE_COUNT}, {"count", COUNT},
    {"held_ns", COUNT}, {"max_ns", MAYBE_COUNT}, {NULL, COUNT}};

static const struct field path_fields[] = {{"id", COUNT},
                                           {"parent", MAYBE_COUNT},
                                           {"function_index", COUNT},
                                           {"waiting_ns", COUNT},
                                           {NULL, COUNT}};

static const struct field function_path_fields[] = {
    {"function", TEXT},   {"created", COUNT},   {"done", COUNT},    {"failed", COUNT},
    {"cancelled", COUNT}, {"detached", COUNT},  {"live", COUNT},    {"slices", COUNT},
    {"exec_ns", COUNT},   {"queued_ns", COUNT}, {"wall_ns", COUNT}, {"children_exec_ns", COUNT},
    {NULL, COUNT}};

static const struct field await_path_fields[] = {
    {"await", MAYBE_TEXT},   {"callee", TEXT},         {"kind", TEXT},
    {"background", FLAG},    {"count", COUNT},         {"immediate", COUNT},
    {"max_ns", MAYBE_COUNT}, {"open_ns", LATER_COUNT}, {NULL, COUNT}};

static const struct field miss_fields[] = {
    {"kind", TEXT},        {"count", COUNT},         {"name", MAYBE_TEXT},    {"file", MAYBE_TEXT},
    {"line", MAYBE_COUNT}, {"function", MAYBE_TEXT}, {"matched", LATER_FLAG}, {NULL, COUNT}};

static const struct field live_fields[] = {{"id", IDENTITY},
                                           {"parent", IDENTITY},
                                           {"function_index", COUNT},
                                           {"state", TEXT},
                                           {"age_ns", COUNT},
                                           {"since_ns", COUNT},
                                           {"await", MAYBE_TEXT},
                                           {"callee", MAYBE_TEXT},
                                           {"kind", MAYBE_TEXT},
                                           {"count", COUNT},
                                           {"age_min_ns", COUNT},
                                           {"since_min_ns", COUNT},
                                           {"started", FLAG},
                                           {"aside", LATER_FLAG},
                                           {"created_at", MAYBE_TEXT},
                                           {"background", LATER_FLAG},
                                           {"created_by", MAYBE_TEXT},
                                           {"due_in_ns", LATER_COUNT},
                                           {NULL, COUNT}};

/* -- one member -------------------------------------------------------------- */

static bool is_count(const cJSON *item, uint64_t most) {
  uint64_t value = json_value(item, UINT64_MAX);
  if (cJSON_IsString(item) && strlen(item->valuestring) <= JSON_EXACT_DIGITS)
    return false; /* a text that says a number, not a number that is long */
  if (cJSON_IsNumber(item) && item->valuedouble != (double)value)
    return false; /* a fraction, or below 0 */
  return value <= most && (value != UINT64_MAX || most == UINT64_MAX);
}

static bool is_signed(const cJSON *item) {
  return cJSON_IsNumber(item) && item->valuedouble > -9.1e15 && item->valuedouble < 9.1e15 &&
         item->valuedouble == (double)(int64_t)item->valuedouble;
}

static bool is_pair(const cJSON *item) {
  if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) != 2)
    return false;
  const cJSON *first = item->child, *second = first->next;
  return (cJSON_IsString(first) || cJSON_IsNull(first)) &&
         (cJSON_IsString(second) || cJSON_IsNull(second));
}

static bool is_objects(const cJSON *array) {
  const cJSON *item;
  if (!cJSON_IsArray(array))
    return false;
  cJSON_ArrayForEach(item, array) if (!cJSON_IsObject(item)) return false;
  return true;
}

/* Percentiles and buckets, none of which falls. */
static bool is_histogram(const cJSON *item) {
  static const char *const points[] = {"p50", "p90", "p95", "p99", "p999", "max"};
  const cJSON *buckets = json_member(item, "buckets"), *pair;
  uint64_t last = 0, total = 0;
  bool first = true;
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    const cJSON *point = json_member(item, points[i]);
    if (!is_count(point, INT64_MAX) || json_value(point, 0) < last)
      return false;
    last = json_value(point, 0);
  }
  if (!cJSON_IsArray(buckets) || !buckets->child)
    return false;
  last = 0;
  cJSON_ArrayForEach(pair, buckets) {
    if (!cJSON_IsArray(pair) || cJSON_GetArraySize(pair) != 2)
      return false;
    const cJSON *lower = pair->child, *count = lower->next;
    if (!is_count(lower, INT64_MAX) || !is_count(count, INT64_MAX - total) ||
        (!first && json_value(lower, 0) <= last))
      return false;
    first = false;
    last = json_value(lower, 0);
    total += json_value(count, 0);
  }
  return true;
}

static bool is_of(enum type type, const cJSON *item) {
  bool null = cJSON_IsNull(item);
  switch (type) {
  case COUNT:
    return is_count(item, INT64_MAX);
  case LATER_COUNT:
    return !item || null || is_count(item, INT64_MAX);
  case MAYBE_COUNT:
    return null || is_count(item, INT64_MAX);
  case IDENTITY:
    return null || is_count(item, UINT64_MAX);
  case SIGNED:
    return null || is_signed(item);
  case SHARE:
    return null || (cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < 1e18);
  case TEXT:
    return cJSON_IsString(item);
  case MAYBE_TEXT:
    return null || cJSON_IsString(item);
  case LATER_TEXT:
    return !item || null || cJSON_IsString(item);
  case FLAG:
    return cJSON_IsBool(item);
  case LATER_FLAG:
    return !item || null || cJSON_IsBool(item);
  case HISTOGRAM:
    return null || is_histogram(item);
  case PAIR:
    return null || is_pair(item);
  case ARRAY:
    return is_objects(item);
  }
  return false;
}

/* -- objects ------------------------------------------------------------------- */

enum { SHOWN = 40 };

/* As it stands in the file, cut where it is long. */
static char *shown_value(const cJSON *item) {
  uint64_t number;
  if (cJSON_IsString(item) && strlen(item->valuestring) > JSON_EXACT_DIGITS &&
      parse_number(item->valuestring, &number))
    return print_string("%s", item->valuestring);
  char *text = item ? cJSON_PrintUnformatted(item) : NULL;
  if (!item || !text)
    return print_string("%s", item ? "too long to show" : "missing");
  bool cut = strlen(text) > SHOWN;
  char *shown = print_string("%.*s%s", cut ? SHOWN : (int)strlen(text), text, cut ? "..." : "");
  cJSON_free(text);
  clean_text(shown);
  return shown;
}

static char *check_object(const cJSON *object, const char *where, const struct field *fields) {
  for (; fields->name; fields++) {
    const cJSON *item = json_member(object, fields->name);
    bool later =
        fields->type == LATER_FLAG || fields->type == LATER_COUNT || fields->type == LATER_TEXT;
    if ((item || later) && is_of(fields->type, item))
      continue;
    char *value = shown_value(item);
    char *fault =
        print_string("%s.%s is %s, not %s", where, fields->name, value, expected[fields->type]);
    free(value);
    return fault;
  }
  return NULL;
}

/* The objects of an array that is known to hold objects; `inner`, for each of them. */
static char *check_array(const cJSON *json, const char *outer, const char *name,
                         const struct field *fields,
                         char *(*inner)(const cJSON *, const char *where)) {
  const cJSON *array = json_member(json, name), *item;
  char *fault = NULL;
  size_t index = 0;
  cJSON_ArrayForEach(item, array) {
    char *where = print_string("%s%s%s[%zu]", outer, *outer ? "." : "", name, index++);
    fault = check_object(item, where, fields);
    if (!fault && inner)
      fault = inner(item, where);
    free(where);
    if (fault)
      break;
  }
  return fault;
}

static char *check_function(const cJSON *object, const char *where) {
  char *fault = check_array(object, where, "awaits", await_fields, NULL);
  if (!fault)
    fault = check_array(object, where, "wakers", waker_fields, NULL);
  return fault ? fault : check_array(object, where, "blocking", blocking_fields, NULL);
}

static char *check_path(const cJSON *object, const char *where) {
  bool is_function = json_member(object, "function") != NULL;
  return check_object(object, where, is_function ? function_path_fields : await_path_fields);
}

char *verify_fields(const cJSON *json) {
  static const struct field top[] = {{"threads", ARRAY}, {"loop", ARRAY}, {"functions", ARRAY},
                                     {"tree", ARRAY},    {"live", ARRAY}, {NULL, COUNT}};
  for (const struct field *field = top; field->name; field++)
    if (!is_of(field->type, json_member(json, field->name)))
      return print_string("%s is no array of objects", field->name);
  const cJSON *misses = json_member(json, "misses"); /* later than the others */
  if (misses && !is_objects(misses))
    return print_string("misses is no array of objects");
  char *fault = check_object(json_member(json, "process"), "process", process_fields);
  if (!fault)
    fault = check_object(json_member(json, "health"), "health", health_fields);
  if (!fault)
    fault = check_array(json, "", "threads", thread_fields, NULL);
  if (!fault)
    fault = check_array(json, "", "loop", loop_fields, NULL);
  if (!fault)
    fault = check_array(json, "", "misses", miss_fields, NULL);
  if (!fault)
    fault = check_array(json, "", "functions", function_fields, check_function);
  if (!fault)
    fault = check_array(json, "", "tree", path_fields, check_path);
  return fault ? fault : check_array(json, "", "live", live_fields, NULL);
}
