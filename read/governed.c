/* SPDX-License-Identifier: MIT */
/* Governed overhead: what was shed, and what that concerns, of a profile; see governed.h. */
#include "governed.h"

#include "clock.h"
#include "util.h"

#include <stdlib.h>

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

/* So many events tell what one takes. */
enum { TIMED_ENOUGH = 256 };

/* Not less than the least, which a busy machine may have measured too high at the start. 0: they do
   not tell it. */
static uint64_t timed_mticks(const struct model *m, uint64_t events, uint64_t ticks) {
  uint64_t least = m->profile->header.event_cost_mticks;
  if (events < TIMED_ENOUGH)
    return 0;
  uint64_t each = (uint64_t)((unsigned __int128)ticks * 1000 / events);
  return each > least ? each : least;
}

uint64_t governed_timed(const struct model *m) {
  const struct profile_runs *blocks = &m->profile->blocks;
  uint64_t events = 0, ticks = 0;
  for (size_t i = 0; i < blocks->count; i++) {
    const struct aprof_block *b = blocks->run[i].elements;
    events += b->timed_events;
    ticks += b->timed_ticks;
  }
  return timed_mticks(m, events, ticks);
}

uint64_t governed_cost(const struct model *m, const struct aprof_block *b) {
  const struct aprof_header *header = &m->profile->header;
  uint64_t timed = timed_mticks(m, b->timed_events, b->timed_ticks), cost = 0;
  if (timed || (timed = governed_timed(m)) != 0)
    return cost_ns(m, b->sequence / 2, timed);
  for (uint32_t step = 0; step < APROF_STEPS; step++) {
    uint64_t general, events = events_at(b, step, &general);
    uint64_t each = step == 0 ? header->event_cost_mticks : header->step_cost_mticks[step];
    add_to(&cost, cost_ns(m, events, each) + cost_ns(m, general, header->general_cost_mticks));
  }
  return cost;
}

void governed_fill(struct view *v, const struct model *m) {
  const struct aprof_header *header = &m->profile->header;
  v->governed.is = header->overhead_ppm != 0;
  v->governed.ceiling = header->overhead_ppm / 10000.0;
  for (int step = 0; step < APROF_STEPS; step++) {
    uint64_t mticks = header->step_cost_mticks[step];
    v->governed.at_step[step] = (struct view_step){
        .step = governed_steps[step].name,
        .event_cost = mticks ? (clock_to_ns(mticks, m->rate) + 500) / 1000 : UNKNOWN,
    };
  }
}

static uint64_t ns_since_start(const struct model *m, uint64_t tick) {
  return clock_to_ns(beyond(tick, m->profile->header.tick0), m->rate);
}

static void fill_periods(struct view *v, const struct model *m, struct view_thread *t,
                         const struct aprof_block *b) {
  t->period = arena_get(&v->arena, APROF_PERIODS, sizeof *t->period);
  uint32_t first = b->changes > APROF_PERIODS ? b->changes - APROF_PERIODS : 0;
  for (uint32_t i = first; i < b->changes; i++) {
    const struct aprof_period *p = &b->periods[i % APROF_PERIODS];
    if (p->step == 0 || p->step >= APROF_STEPS)
      continue;
    t->period[t->periods++] = (struct view_period){
        .step = governed_steps[p->step].name,
        .begin = ns_since_start(m, p->begin_tick),
        .end = p->end_tick ? ns_since_start(m, p->end_tick) : UNKNOWN,
        .events = p->end_tick ? p->events : beyond(b->sequence / 2, b->step_event),
    };
  }
}

void governed_fill_thread(struct view *v, const struct model *m, struct view_thread *t) {
  const struct aprof_block *b = profile_block(m->profile, (uint32_t)t->block);
  t->governed = m->profile->header.overhead_ppm != 0 && b;
  if (!t->governed)
    return;
  t->step = governed_steps[b->step < APROF_STEPS ? b->step : 0].name;
  t->changes = b->changes;
  for (uint32_t step = 0; step < APROF_STEPS; step++) {
    uint64_t general;
    t->at_step[step].step = governed_steps[step].name;
    t->at_step[step].events = events_at(b, step, &general);
    t->at_step[step].elapsed = clock_to_ns(ticks_at(m, b, step), m->rate);
  }
  fill_periods(v, m, t, b);
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
