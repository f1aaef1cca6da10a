/* Totals: what the profiling cost, and how the loops are; see totals.h. */
#include "totals.h"

#include "read/clock.h"
#include "read/json.h"
#include "read/util.h"

#include <stdlib.h>

static void add_decimal(cJSON *object, const char *name, double value) {
  char text[64];
  snprintf(text, sizeof text, "%.4f", value);
  cJSON_AddRawToObject(object, name, text);
}

bool totals_were_reset(const struct aprof_header *header) {
  return header->epochs[header->reset_epoch % APROF_EPOCHS].begin_tick > header->tick0;
}

/* Events are never set back, so after a reset there is no share of the time since. */
void totals_overhead(const struct model *m, cJSON *object, uint64_t cost, uint64_t elapsed) {
  const struct aprof_header *header = &m->profile->header;
  bool known = header->event_cost_mticks && !totals_were_reset(header);
  json_maybe(object, "cost_ns", cost, known);
  if (known && elapsed)
    add_decimal(object, "overhead_percent", 100 * (double)cost / (double)elapsed);
  else
    json_text(object, "overhead_percent", NULL);
}

void totals_slice(const struct model *m, cJSON *object, const char *prefix, uint64_t time,
                  uint32_t from, uint32_t to) {
  char between[64], names[64];
  snprintf(between, sizeof between, "%s_between", prefix);
  snprintf(names, sizeof names, "%s_names", prefix);
  if (!time) {
    json_text(object, between, NULL);
    json_text(object, names, NULL);
    return;
  }
  const struct name *first = &m->names->name[from], *last = &m->names->name[to];
  cJSON *array = cJSON_AddArrayToObject(object, between);
  cJSON_AddItemToArray(array, totals_place(first));
  cJSON_AddItemToArray(array, totals_place(last));
  array = cJSON_AddArrayToObject(object, names);
  cJSON_AddItemToArray(array, cJSON_CreateString(first->name));
  cJSON_AddItemToArray(array, cJSON_CreateString(last->name));
}

static void add_open(const struct model *m, cJSON *object, const struct model_hold *open) {
  json_maybe(object, "hold_open_ns", open->time, open->time != 0);
  if (open->time)
    cJSON_AddItemToObject(object, "hold_open_from", totals_place(&m->names->name[open->from]));
  else
    json_text(object, "hold_open_from", NULL);
  json_text(object, "hold_open_function", open->time ? m->names->name[open->function].name : NULL);
}

/* A thread is busy while it is not in its poller; without one nobody can tell. */
static cJSON *loop_object(const struct model *m, const struct model_thread *t) {
  uint64_t busy = t->exec + t->other, elapsed = busy + t->idle;
  const struct model_hold *hold = &t->hold;
  cJSON *object = cJSON_CreateObject();
  json_number(object, "block", t->block);
  json_signed(object, "tid", t->tid);
  json_text(object, "name", t->name);
  json_number(object, "elapsed_ns", elapsed);
  json_maybe(object, "busy_ns", busy, t->idle != 0);
  if (t->idle)
    add_decimal(object, "busy", (double)busy / (double)elapsed);
  else
    json_text(object, "busy", NULL);
  json_maybe(object, "hold_max_ns", hold->time, hold->time != 0);
  totals_slice(m, object, "hold_max", hold->time, hold->from, hold->to);
  json_text(object, "hold_max_function", hold->time ? m->names->name[hold->function].name : NULL);
  add_open(m, object, &t->open);
  return object;
}

void totals_loops(const struct model *m, FILE *out) {
  bool first = true;
  for (uint32_t i = 0; i < m->threads; i++) {
    const struct model_thread *t = &m->thread[i];
    if (!t->exec && !t->idle)
      continue;
    fputs(first ? "\n  " : ",\n  ", out);
    first = false;
    json_write(out, loop_object(m, t));
  }
  if (!first)
    fputc('\n', out);
}

/* Names of enum aprof_miss. */
static const char *const misses[APROF_MISS_KINDS] = {
    [APROF_MISS_RUN] = "run",       [APROF_MISS_BUSY] = "busy",
    [APROF_MISS_RESUME] = "resume", [APROF_MISS_LEAVE] = "leave",
    [APROF_MISS_UNSEEN] = "unseen", [APROF_MISS_CURRENT] = "current",
    [APROF_MISS_BROKEN] = "broken", [APROF_MISS_REUSED] = "reused",
    [APROF_MISS_AWAIT] = "await",   [APROF_MISS_END] = "end",
    [APROF_MISS_WAKE] = "wake",     [APROF_MISS_SWITCH] = "switch",
    [APROF_MISS_BEFORE] = "before",
};

void totals_misses(const struct model *m, FILE *out) {
  for (uint32_t i = 0; i < m->misses; i++) {
    const struct model_miss *miss = &m->miss[i];
    const struct name *name = &m->names->name[miss->name];
    cJSON *object = cJSON_CreateObject();
    json_text(object, "kind", misses[miss->kind]);
    json_number(object, "count", miss->count);
    json_text(object, "name", miss->name == NAME_UNKNOWN ? NULL : name->name);
    totals_site(object, NULL, name);
    json_text(object, "function", name->function);
    json_flag(object, "matched", miss->matched, model_miss_has_key(miss));
    fputs(i ? ",\n  " : "\n  ", out);
    json_write(out, object);
  }
  if (m->misses)
    fputc('\n', out);
}
