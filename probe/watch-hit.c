/* SPDX-License-Identifier: MIT */
/* What comes of a hit: whether it matches, what is seen there, when a call returns; see
   watch-state.h. */
#include "watch-state.h"

#include "entry.h"
#include "read/util.h"
#include "unwind.h"

#include <stdlib.h>
#include <string.h>

enum {
  OPEN_MOST = 65536, /* calls whose return is waited for */
  KEPT_MOST = 1 << 20,
};

/* -- hits that match ------------------------------------------------------------------ */

static void finish(struct watching *w, struct probe_hit *h) {
  struct probe_result *r = w->result;
  if (w->watch->keep && r->kept == KEPT_MOST) {
    r->unkept++;
    tally_drop(r, h);
    return;
  }
  if (w->watch->tell)
    w->watch->tell(r, h, w->watch->context);
  if (!w->watch->keep) {
    tally_hit(&w->tally, h, NULL);
    return;
  }
  if (r->kept == r->room) {
    r->room += r->room / 2 + 256;
    r->hit = reallocate(r->hit, r->room, sizeof *r->hit);
  }
  r->hit[r->kept++] = *h;
}

static struct probe_hit see(struct watching *w, const struct hit *h,
                            const struct probe_place *place) {
  struct probe_hit seen = {.time = h->time,
                           .duration = UINT64_MAX,
                           .tid = h->tid,
                           .place = (uint32_t)(place - w->result->place)};
  if (w->watch->showns)
    seen.value = allocate(w->watch->showns, sizeof *seen.value);
  for (size_t i = 0; i < w->watch->showns; i++) {
    struct value v = h->unit ? expression_value(w->shown[i], h)
                             : (struct value){.fault = "no debug information is here"};
    struct probe_seen *to = &seen.value[i];
    to->text = value_text(h, &v, &to->is_number, &to->number);
    to->why = v.fault;
    to->late = v.late;
  }
  if (w->watch->stack)
    seen.stack = unwind_text(h);
  return seen;
}

/* -- calls and returns -------------------------------------------------------------- */

static bool is_return(const struct watching *w, uint64_t address) {
  for (size_t i = 0; i < w->return_count; i++)
    if (w->returns[i] == address)
      return true;
  return false;
}

/* The call that has that frame, taken off; false: there is none. */
static bool call_closes(struct watching *w, uint64_t frame, struct probe_hit *hit) {
  for (size_t i = w->opens; i > 0; i--)
    if (w->open[i - 1].frame == frame) {
      *hit = w->open[i - 1].hit;
      w->open[i - 1] = w->open[--w->opens];
      return true;
    }
  return false;
}

/* Its return is not seen: how long it took is not known. */
void watch_unpaired(struct watching *w, struct probe_hit *h) {
  w->result->unpaired++;
  if (w->watch->over)
    tally_drop(w->result, h);
  else
    finish(w, h);
}

/* Whether its return will be seen. */
static bool arm_return(struct watching *w, uint64_t back) {
  if (is_return(w, back))
    return true;
  if (w->result->places + w->return_count >= watch_most(w->watch) ||
      breakpoints_arm(w->breakpoints, back) != 0)
    return false;
  w->returns[w->return_count++] = back;
  return true;
}

static void call_opens(struct watching *w, const struct hit *h, struct probe_hit *hit) {
  struct probe_hit elsewhere;
  uint64_t frame = location_frame(h), back = 0;
  bool late = false;
  if (frame != 0 && call_closes(w, frame, &elsewhere))
    watch_unpaired(w, &elsewhere); /* its frame is used again: it has returned elsewhere */
  if (frame == 0 || !hit_read(h, frame - 8, &back, sizeof back, &late) || back == 0 ||
      !arm_return(w, back) || w->opens == OPEN_MOST) {
    watch_unpaired(w, hit);
    return;
  }
  w->open = reallocate(w->open, w->opens + 1, sizeof *w->open);
  w->open[w->opens++] = (struct open_call){frame, *hit};
}

static void returned(struct watching *w, const struct hit *h) {
  struct probe_hit hit;
  if (!call_closes(w, h->reg[MACHINE_STACK], &hit))
    return;
  if (h->time < hit.time) {
    watch_unpaired(w, &hit);
    return;
  }
  hit.duration = h->time - hit.time;
  if (hit.duration >= w->watch->over) {
    w->result->overs++;
    finish(w, &hit);
    return;
  }
  if (!w->watch->keep)
    tally_duration(&w->tally, hit.duration);
  tally_drop(w->result, &hit);
}

/* -- hits -------------------------------------------------------------------------- */

/* `place`: where it is, or NULL: a return. */
static void locate(struct watching *w, const struct breakpoint_hit *b,
                   const struct probe_place *place, struct hit *h) {
  *h = (struct hit){.debug = w->debug,
                    .stack = b->stack,
                    .stack_size = b->stack_size,
                    .time = b->time,
                    .tid = b->tid,
                    .entry = entry_value,
                    .function = place && w->places->entry ? place->function : NULL};
  memcpy(h->reg, b->reg, sizeof h->reg);
  h->unit = debug_unit_at(w->debug, b->address, &h->module, &h->room, &h->bias);
  h->pc = b->address - h->bias;
}

static const struct probe_place *place_of(const struct probe_result *r, uint64_t address) {
  for (size_t i = 0; i < r->places; i++)
    if (r->place[i].address == address)
      return &r->place[i];
  return NULL;
}

void watch_hit(struct watching *w, const struct breakpoint_hit *b) {
  struct probe_result *r = w->result;
  bool is_back = w->watch->duration && is_return(w, b->address);
  const struct probe_place *place = is_back ? NULL : place_of(r, b->address);
  struct hit h;
  if (!is_back && !place)
    return;
  locate(w, b, place, &h);
  if (is_back) {
    returned(w, &h);
    return;
  }
  r->seen++;
  if (w->condition) {
    const char *fault = NULL;
    bool holds = h.unit && expression_holds(w->condition, &h, &fault);
    if (fault || !h.unit) {
      r->undecided++;
      r->why_undecided = fault ? fault : "no debug information is here";
    }
    if (!holds)
      return;
  }
  r->matched++;
  struct probe_hit hit = see(w, &h, place);
  if (w->watch->duration)
    call_opens(w, &h, &hit);
  else
    finish(w, &hit);
}
