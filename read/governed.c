/* Governed overhead: what was shed, and what that concerns, into totals; see governed.h. */
#include "governed.h"

#include "clock.h"
#include "json.h"
#include "util.h"

#include <stdlib.h>

const struct governed_step governed_steps[APROF_STEPS] = {{"none", NULL},
                                                          {"histograms", "no histograms"},
                                                          {"paths", "no paths"},
                                                          {"clock", "coarse clock"},
                                                          {"times", "counts only"}};

/* -- the profile ------------------------------------------------------------------- */

static uint64_t beyond(uint64_t now, uint64_t since) {
  return now > since ? now - since : 0;
}

/* Events of a step so far, of all and of the general ones. */
static uint64_t events_at(const struct aprof_block *b, uint32_t step, uint64_t *general) {
  uint64_t events = b->at_step[step].events;
  *general = b->at_step[step].general;
  if (step == b->step || (step == 0 && b->step >= APROF_STEPS)) {
    events += beyond(b->sequence / 2, b->step_event);
    *general += beyond(b->general_events, b->step_general);
  }
  return events;
}

static uint64_t ticks_at(const struct model *m, const struct aprof_block *b, uint32_t step) {
  uint64_t ticks = b->at_step[step].ticks;
  if (step == b->step && b->state != APROF_THREAD_FREE)
    ticks += beyond(m->now, b->step_tick);
  return ticks;
}

static uint64_t cost_ns(const struct model *m, uint64_t events, uint64_t mticks) {
  unsigned __int128 ticks = (unsigned __int128)events * mticks / 1000;
  return clock_to_ns(ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks, m->rate);
}

uint64_t governed_cost(const struct model *m, const struct aprof_block *b) {
  const struct aprof_header *header = &m->profile->header;
  uint64_t cost = 0;
  for (uint32_t step = 0; step < APROF_STEPS; step++) {
    uint64_t general, events = events_at(b, step, &general);
    uint64_t each = step == 0 ? header->event_cost_mticks : header->step_cost_mticks[step];
    cost += cost_ns(m, events, each) + cost_ns(m, general, header->general_cost_mticks);
  }
  return cost;
}

static void add_decimal(cJSON *object, const char *name, double value) {
  char text[64];
  snprintf(text, sizeof text, "%.4f", value);
  cJSON_AddRawToObject(object, name, text);
}

cJSON *governed_object(const struct model *m) {
  const struct aprof_header *header = &m->profile->header;
  if (header->overhead_ppm == 0)
    return cJSON_CreateNull();
  cJSON *object = cJSON_CreateObject();
  add_decimal(object, "ceiling_percent", header->overhead_ppm / 10000.0);
  cJSON *array = cJSON_AddArrayToObject(object, "steps");
  for (int step = 0; step < APROF_STEPS; step++) {
    cJSON *item = cJSON_CreateObject();
    uint64_t cost = (clock_to_ns(header->step_cost_mticks[step], m->rate) + 500) / 1000;
    json_text(item, "step", governed_steps[step].name);
    json_maybe(item, "event_cost_ns", cost, header->step_cost_mticks[step] != 0);
    cJSON_AddItemToArray(array, item);
  }
  return object;
}

static uint64_t ns_since_start(const struct model *m, uint64_t tick) {
  return clock_to_ns(beyond(tick, m->profile->header.tick0), m->rate);
}

static void add_periods(const struct model *m, cJSON *object, const struct aprof_block *b) {
  cJSON *array = cJSON_AddArrayToObject(object, "periods");
  uint32_t first = b->changes > APROF_PERIODS ? b->changes - APROF_PERIODS : 0;
  for (uint32_t i = first; i < b->changes; i++) {
    const struct aprof_period *p = &b->periods[i % APROF_PERIODS];
    if (p->step == 0 || p->step >= APROF_STEPS)
      continue;
    cJSON *item = cJSON_CreateObject();
    json_text(item, "step", governed_steps[p->step].name);
    json_number(item, "begin_ns", ns_since_start(m, p->begin_tick));
    json_maybe(item, "end_ns", ns_since_start(m, p->end_tick), p->end_tick != 0);
    json_number(item, "events", p->end_tick ? p->events : beyond(b->sequence / 2, b->step_event));
    cJSON_AddItemToArray(array, item);
  }
}

void governed_thread(const struct model *m, cJSON *object, const struct aprof_block *b) {
  if (m->profile->header.overhead_ppm == 0 || !b) {
    json_text(object, "shed", NULL);
    return;
  }
  cJSON *shed = cJSON_AddObjectToObject(object, "shed");
  json_text(shed, "step", governed_steps[b->step < APROF_STEPS ? b->step : 0].name);
  json_number(shed, "changes", b->changes);
  cJSON *array = cJSON_AddArrayToObject(shed, "steps");
  for (uint32_t step = 0; step < APROF_STEPS; step++) {
    uint64_t general, events = events_at(b, step, &general);
    cJSON *item = cJSON_CreateObject();
    json_text(item, "step", governed_steps[step].name);
    json_number(item, "events", events);
    json_number(item, "elapsed_ns", clock_to_ns(ticks_at(m, b, step), m->rate));
    cJSON_AddItemToArray(array, item);
  }
  add_periods(m, shed, b);
}

/* Steps at which a block had events. */
static unsigned steps_of(const struct aprof_block *b) {
  unsigned bits = 0;
  for (uint32_t step = 1; step < APROF_STEPS; step++) {
    uint64_t general;
    if (events_at(b, step, &general) != 0)
      bits |= 1u << step;
  }
  return bits;
}

unsigned governed_concern(const struct model *m, const struct model_function *f) {
  unsigned bits = 0;
  if (m->profile->header.overhead_ppm == 0)
    return 0;
  for (int kind = 0; kind < MODEL_KINDS; kind++)
    for (uint32_t n = f->list[kind]; n != MODEL_NONE; n = m->node[n].next)
      for (uint32_t leaf = m->node[n].leaves; leaf != MODEL_NONE; leaf = m->leaf[leaf].next) {
        const struct aprof_block *b = profile_block(m->profile, m->leaf[leaf].block);
        bits |= b ? steps_of(b) : 0;
      }
  return governed_and_before(bits);
}

unsigned governed_and_before(unsigned shed) {
  unsigned all = 0;
  for (int step = 1; step < APROF_STEPS; step++)
    if (shed >> step)
      all |= 1u << step;
  return all;
}

void governed_add(cJSON *object, unsigned shed) {
  cJSON *array = cJSON_AddArrayToObject(object, "shed");
  for (int step = 1; step < APROF_STEPS; step++)
    if (shed & 1u << step)
      cJSON_AddItemToArray(array, cJSON_CreateString(governed_steps[step].name));
}
