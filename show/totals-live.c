/* Totals: what lives at the moment of the dump; see totals.h. */
#include "totals.h"

#include "read/json.h"
#include "read/util.h"

#include <aprof/abi.h>

#include <stdlib.h>

static const char *state_text(uint8_t state) {
  return state == APROF_FUTURE_RUNNING  ? "running"
         : state == APROF_FUTURE_QUEUED ? "queued"
                                        : "waiting";
}

/* `count` 1: the future itself; more: of so many alike the oldest, with the time that is
   due first, and the least that `youngest` has. */
static cJSON *live_object(const struct model *m, const struct totals_order *order,
                          const struct model_live *live, const struct model_live *youngest,
                          uint64_t count) {
  const struct name *await = &m->names->name[live->await];
  const struct name *create = &m->names->name[live->create];
  const struct name *function = &m->names->name[m->function[live->function].name];
  bool alone = count == 1;
  cJSON *object = cJSON_CreateObject();
  json_maybe(object, "id", live->id, alone);
  json_maybe(object, "parent", live->parent, alone && live->parent != 0);
  json_text(object, "function", function->name);
  json_number(object, "function_index", order->number[live->function]);
  json_text(object, "state", state_text(live->state));
  json_number(object, "age_ns", live->age);
  json_number(object, "since_ns", live->since);
  json_number(object, "age_min_ns", youngest->age);
  json_number(object, "since_min_ns", youngest->since);
  json_maybe(object, "due_in_ns", live->due, live->due != 0);
  cJSON_AddItemToObject(object, "await", totals_place(await));
  json_text(object, "callee", live->await == NAME_UNKNOWN ? NULL : await->name);
  json_text(object, "kind", live->await == NAME_UNKNOWN ? NULL : totals_kind(await));
  cJSON_AddBoolToObject(object, "background", (await->flags & APROF_BACKGROUND) != 0);
  cJSON_AddBoolToObject(object, "started", live->started);
  cJSON_AddBoolToObject(object, "aside", live->aside);
  cJSON_AddItemToObject(object, "created_at", totals_place(create));
  json_text(object, "created_by", create->kind == APROF_SITE_FUNCTION ? NULL : create->function);
  if (alone && live->tid)
    json_signed(object, "thread", live->tid);
  else
    json_text(object, "thread", NULL);
  json_number(object, "count", count);
  return object;
}

static int by_group(const void *a, const void *b) {
  const struct model_live *x = a, *y = b;
  if (x->function != y->function)
    return x->function < y->function ? -1 : 1;
  if (x->await != y->await)
    return x->await < y->await ? -1 : 1;
  if (x->state != y->state)
    return x->state < y->state ? -1 : 1;
  if (x->create != y->create)
    return x->create < y->create ? -1 : 1;
  if (x->started != y->started)
    return x->started ? -1 : 1;
  if (x->aside != y->aside)
    return x->aside ? -1 : 1;
  if (!x->due != !y->due)
    return x->due ? -1 : 1;
  return x->age > y->age ? -1 : x->age < y->age;
}

static bool same_group(const struct model_live *x, const struct model_live *y) {
  return x->function == y->function && x->await == y->await && x->state == y->state &&
         x->create == y->create && x->started == y->started && x->aside == y->aside &&
         !x->due == !y->due;
}

static void write_groups(const struct model *m, const struct totals_order *order, FILE *out) {
  uint32_t rest = m->lives - TOTALS_LIVE_LIMIT;
  struct model_live *young = allocate(rest, sizeof *young);
  for (uint32_t i = 0; i < rest; i++)
    young[i] = m->live[TOTALS_LIVE_LIMIT + i];
  qsort(young, rest, sizeof *young, by_group);
  for (uint32_t from = 0, to; from < rest; from = to) {
    struct model_live oldest = young[from], youngest = oldest;
    for (to = from + 1; to < rest && same_group(&young[to], &young[from]); to++) {
      if (young[to].since > oldest.since)
        oldest.since = young[to].since;
      if (young[to].since < youngest.since)
        youngest.since = young[to].since;
      if (young[to].due < oldest.due)
        oldest.due = young[to].due;
      youngest.age = young[to].age; /* the last is the youngest */
    }
    fputs(",\n  ", out);
    json_write(out, live_object(m, order, &oldest, &youngest, to - from));
  }
  free(young);
}

void totals_live(const struct model *m, const struct totals_order *order, FILE *out) {
  for (uint32_t i = 0; i < m->lives && i < TOTALS_LIVE_LIMIT; i++) {
    fputs(i ? ",\n  " : "\n  ", out);
    json_write(out, live_object(m, order, &m->live[i], &m->live[i], 1));
  }
  if (m->lives > TOTALS_LIVE_LIMIT)
    write_groups(m, order, out);
  if (m->lives)
    fputc('\n', out);
}
