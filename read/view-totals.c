/* SPDX-License-Identifier: MIT */
/* A view of totals: JSON that comes from anywhere, tested member by member as it is read; see
   fields.h. */
#include "fields.h"
#include "json.h"
#include "names.h"
#include "util.h"
#include "verify.h"
#include "view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const expected[] = {[FIELD_COUNT] = "a count",
                                       [FIELD_MAYBE] = "a count or null",
                                       [FIELD_NONZERO] = "a count or null",
                                       [FIELD_INDEX] = "a count or null",
                                       [FIELD_ID] = "an id or null",
                                       [FIELD_SIGNED] = "an integer",
                                       [FIELD_TID] = "an integer or null",
                                       [FIELD_SHARE] = "a share or null",
                                       [FIELD_TEXT] = "a text",
                                       [FIELD_MAYBE_TEXT] = "a text or null",
                                       [FIELD_FLAG] = "true or false",
                                       [FIELD_MAYBE_FLAG] = "true, false or null",
                                       [FIELD_HISTOGRAM] = "a histogram or null",
                                       [FIELD_PAIR] = "two texts or null",
                                       [FIELD_SHED] = "an array of texts",
                                       [FIELD_LIST] = "an array of objects",
                                       [FIELD_STEPS] = "an array of objects",
                                       [FIELD_OBJECT] = "an object"};

/* Where in the totals something lies: an object, or an element of a list. */
struct where {
  const struct where *outer; /* NULL: at the top */
  const char *name;
  size_t index; /* SIZE_MAX: of an object */
};

struct reader {
  struct view *v;
  char *fault;
  bool is_first; /* aprof.totals/1 */
};

/* -- what is wrong -------------------------------------------------------------- */

static char *where_text(const struct where *where) {
  if (!where)
    return print_string("%s", "");
  char *outer = where_text(where->outer);
  char *text = where->index == SIZE_MAX
                   ? print_string("%s%s.", outer, where->name)
                   : print_string("%s%s[%zu].", outer, where->name, where->index);
  free(outer);
  return text;
}

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

static bool refuse(struct reader *r, const cJSON *item, const struct field *field,
                   const struct where *where) {
  char *place = where_text(where), *value = shown_value(item);
  r->fault =
      !where && field->type == FIELD_LIST
          ? print_string("%s is no array of objects", field->name)
          : print_string("%s%s is %s, not %s", place, field->name, value, expected[field->type]);
  free(place);
  free(value);
  return false;
}

/* -- one member -------------------------------------------------------------------- */

static bool read_count(const cJSON *item, uint64_t most, uint64_t *to) {
  uint64_t value = json_value(item, UINT64_MAX);
  if (cJSON_IsString(item) && strlen(item->valuestring) <= JSON_EXACT_DIGITS)
    return false; /* a text that says a number, not a number that is long */
  if (cJSON_IsNumber(item) && item->valuedouble != (double)value)
    return false; /* a fraction, or below 0 */
  if (value > most || (value == UINT64_MAX && most != UINT64_MAX))
    return false;
  *to = value;
  return true;
}

static bool read_signed(const cJSON *item, int64_t *to) {
  if (!cJSON_IsNumber(item) || item->valuedouble <= -9.1e15 || item->valuedouble >= 9.1e15 ||
      item->valuedouble != (double)(int64_t)item->valuedouble)
    return false;
  *to = (int64_t)item->valuedouble;
  return true;
}

static bool read_share(const cJSON *item, double *to) {
  if (!cJSON_IsNumber(item) || item->valuedouble < 0 || item->valuedouble >= 1e18)
    return false;
  *to = item->valuedouble;
  return true;
}

/* Totals may come from anywhere, and what they say goes to a terminal. */
static bool read_text(struct reader *r, const cJSON *item, const char **to) {
  if (!cJSON_IsString(item))
    return false;
  clean_text(item->valuestring);
  *to = arena_text(&r->v->arena, item->valuestring);
  return true;
}

static bool read_pair(struct reader *r, const cJSON *item, const char **to) {
  const cJSON *first = cJSON_IsArray(item) ? item->child : NULL;
  const cJSON *second = first ? first->next : NULL;
  if (!second || second->next)
    return false;
  return (cJSON_IsNull(first) || read_text(r, first, &to[0])) &&
         (cJSON_IsNull(second) || read_text(r, second, &to[1]));
}

static size_t array_size(const cJSON *array) {
  return cJSON_IsArray(array) ? (size_t)cJSON_GetArraySize(array) : 0;
}

/* Percentiles and buckets, none of which falls. */
static bool read_histogram(struct reader *r, const cJSON *item, struct distribution *d) {
  const cJSON *buckets = json_member(item, "buckets"), *pair;
  uint64_t *point = &d->p50, total = 0;
  for (int i = 0; i < DISTRIBUTION_POINTS; i++)
    if (!read_count(json_member(item, distribution_points[i]), INT64_MAX, &point[i]) ||
        (i && point[i] < point[i - 1]))
      return false;
  size_t size = array_size(buckets);
  d->bucket = arena_get(&r->v->arena, size, sizeof *d->bucket);
  cJSON_ArrayForEach(pair, buckets) {
    const cJSON *lower = cJSON_IsArray(pair) ? pair->child : NULL;
    const cJSON *count = lower ? lower->next : NULL;
    struct bucket *b = &d->bucket[d->count];
    if (!count || count->next || !read_count(lower, INT64_MAX, &b->lower) ||
        !read_count(count, INT64_MAX - total, &b->count) || (d->count && b->lower <= b[-1].lower))
      return false;
    total += b->count;
    d->count++;
  }
  return size != 0;
}

static bool read_shed(const cJSON *array, unsigned *to) {
  const cJSON *item;
  if (!cJSON_IsArray(array))
    return false;
  cJSON_ArrayForEach(
      item, array) for (int step = 1; step < APROF_STEPS;
                        step++) if (cJSON_IsString(item) &&
                                    !strcmp(item->valuestring, governed_steps[step].name)) *to |=
      1u << step;
  return true;
}

/* -- objects ------------------------------------------------------------------------- */

static bool read_object(struct reader *, const cJSON *object, const struct layout *, void *to,
                        const struct where *);

static bool read_list(struct reader *r, const cJSON *array, const struct field *field, void *to,
                      const struct where *outer) {
  size_t size = array_size(array), most = field->type == FIELD_STEPS ? APROF_STEPS : SIZE_MAX;
  struct where where = {.outer = outer, .name = field->name};
  const cJSON *item;
  if (!cJSON_IsArray(array))
    return refuse(r, array, field, outer);
  cJSON_ArrayForEach(item, array) if (!cJSON_IsObject(item)) return refuse(r, array, field, outer);
  if (field->type == FIELD_LIST) {
    *(void **)to = arena_get(&r->v->arena, size, field->of->size);
    *(size_t *)((char *)to + sizeof(void *)) = size;
  }
  char *element = field->type == FIELD_LIST ? *(char **)to : to;
  cJSON_ArrayForEach(item, array) {
    const struct layout *layout = field->of;
    if (where.index == most)
      break;
    if (layout->other && !json_member(item, layout->unless)) {
      *(bool *)(element + layout->is_other) = true;
      layout = layout->other;
    }
    if (!read_object(r, item, layout, element, &where))
      return false;
    element += layout->size;
    where.index++;
  }
  return true;
}

/* What is not there, or null. False where it has to be. */
static bool read_nothing(const struct field *field, void *to, bool missing) {
  bool may_miss = field->later != NOT_LATER;
  switch (field->type) {
  case FIELD_MAYBE:
  case FIELD_INDEX:
    *(uint64_t *)to = UNKNOWN;
    break;
  case FIELD_SHARE:
    *(double *)to = -1;
    break;
  case FIELD_MAYBE_FLAG:
    *(uint8_t *)to = FLAG_UNKNOWN;
    break;
  case FIELD_NONZERO:
  case FIELD_ID:
  case FIELD_TID:
  case FIELD_MAYBE_TEXT:
  case FIELD_HISTOGRAM:
  case FIELD_PAIR:
    break;
  case FIELD_TEXT:
    *(const char **)to = "";
    return may_miss;
  case FIELD_FLAG:
    *(uint8_t *)to = field->later == LATER_TRUE;
    return may_miss;
  default:
    return may_miss;
  }
  return may_miss || !missing;
}

static bool read_value(struct reader *r, const cJSON *item, const struct field *field, void *to) {
  switch (field->type) {
  case FIELD_ID:
    return read_count(item, UINT64_MAX, to);
  case FIELD_SIGNED:
  case FIELD_TID:
    return read_signed(item, to);
  case FIELD_SHARE:
    return read_share(item, to);
  case FIELD_TEXT:
  case FIELD_MAYBE_TEXT:
    return read_text(r, item, to);
  case FIELD_FLAG:
  case FIELD_MAYBE_FLAG:
    *(uint8_t *)to = cJSON_IsTrue(item) != 0;
    return cJSON_IsBool(item);
  case FIELD_HISTOGRAM:
    return read_histogram(r, item, to);
  case FIELD_PAIR:
    return read_pair(r, item, to);
  case FIELD_SHED:
    return read_shed(item, to);
  default:
    return read_count(item, INT64_MAX, to);
  }
}

static bool read_member(struct reader *r, const cJSON *item, const struct field *field,
                        void *object, const struct where *where) {
  void *to = field_of(object, field);
  if (!item || cJSON_IsNull(item))
    return read_nothing(field, to, !item) || field->is || refuse(r, item, field, where);
  if (field->type == FIELD_LIST || field->type == FIELD_STEPS)
    return read_list(r, item, field, to, where);
  if (field->type != FIELD_OBJECT)
    return read_value(r, item, field, to) || refuse(r, item, field, where);
  struct where inner = {.outer = where, .name = field->name, .index = SIZE_MAX};
  if (!cJSON_IsObject(item))
    return refuse(r, item, field, where);
  if (field->is)
    *((bool *)object + field->is) = true;
  return read_object(r, item, field->of, to, &inner);
}

/* Members most often lie in the order of the table. */
static bool read_object(struct reader *r, const cJSON *object, const struct layout *layout,
                        void *to, const struct where *where) {
  const cJSON *next = object->child;
  for (size_t i = 0; i < layout->fields; i++) {
    const struct field *field = &layout->field[i];
    if (!field->name)
      continue;
    const char *name = r->is_first && field->was ? field->was : field->name;
    const cJSON *item = next && !strcmp(next->string, name) ? next : json_member(object, name);
    if (!read_member(r, item, field, to, where))
      return false;
    next = item ? item->next : next;
  }
  return true;
}

/* -- the whole -------------------------------------------------------------------------- */

/* aprof.totals/1 had all of them in one list. */
static void split_misses(struct view *v) {
  size_t kept = 0;
  v->ignored = arena_get(&v->arena, v->misses, sizeof *v->ignored);
  v->ignores = 0;
  for (size_t i = 0; i < v->misses; i++)
    if (view_may_be_right(v->miss[i].kind))
      v->ignored[v->ignores++] = v->miss[i];
    else
      v->miss[kept++] = v->miss[i];
  v->misses = kept;
}

/* What the waits of an await add up to; NULL: to what they say. */
static char *sum_fault(const struct view *v) {
  for (size_t i = 0; i < v->functions; i++)
    for (size_t j = 0; j < v->function[i].awaits; j++) {
      const struct view_await *a = &v->function[i].await[j];
      if (a->waiting != a->ended + a->open)
        return print_string("functions[%zu].awaits[%zu].all_ns is %" PRIu64
                            ", but waiting_ns + open_ns is %" PRIu64,
                            i, j, a->waiting, a->ended + a->open);
    }
  return NULL;
}

struct view *view_read(const cJSON *json, const char *what, char **fault) {
  const char *schema = json_get_text(json, "schema");
  struct reader r = {.v = view_new(what), .is_first = schema && !strcmp(schema, TOTALS_SCHEMA_1)};
  bool read = read_object(&r, json, &layout_totals, r.v, NULL);
  if (read && r.is_first)
    split_misses(r.v);
  else if (read)
    r.fault = sum_fault(r.v);
  if (read && !r.fault) {
    view_settle(r.v);
    return r.v;
  }
  view_free(r.v);
  *fault = r.fault;
  return NULL;
}

static const char *schema_fault(const cJSON *json) {
  const char *schema = json_get_text(json, "schema");
  if (!cJSON_IsObject(json) || !schema || strncmp(schema, "aprof.totals/", 13))
    return "is JSON, but no totals of aprof";
  if (strcmp(schema, TOTALS_SCHEMA) && strcmp(schema, TOTALS_SCHEMA_1))
    return "was written by another version of aprof, in a format this one does not know";
  return NULL;
}

struct view *view_of_totals(const char *text, size_t length, const char *what) {
  char *fault = NULL;
  struct view *v = NULL;
  cJSON *json = json_parse(text, length, &fault);
  const char *other = json ? schema_fault(json) : NULL;
  if (!json && length == 0)
    complain("%s is neither totals nor a profile: it is empty", what);
  else if (!json && length >= 8 && !memcmp(text, "aprofTR1", 8))
    complain(
        "%s is a recording: `aprof tail', `slow', `blame', `path', `flame' and `export' ask it",
        what);
  else if (!json)
    complain("%s is neither totals nor a profile: %s", what, fault);
  else if (other)
    complain("%s %s", what, other);
  else if (!(v = view_read(json, what, &fault)) || (fault = view_fault(v)))
    complain("%s is damaged: %s", what, fault);
  json_free(json);
  if (fault) {
    view_free(v);
    v = NULL;
  }
  free(fault);
  return v;
}
