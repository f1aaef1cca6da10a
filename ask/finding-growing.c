/* SPDX-License-Identifier: MIT */
/* Functions of which more and more futures live. */
#include "findings.h"

#include "read/util.h"
#include "sentence.h"

#include <stdlib.h>
#include <string.h>

enum { GROWING_LEAST = 100, GROWING_TIMES = 2 };

static void find_growing(struct findings *list, const struct view_function *f) {
  uint64_t before = f->live_before;
  if (before == UNKNOWN || view_unseen(f) || f->live / GROWING_TIMES < before ||
      f->live - before < GROWING_LEAST)
    return;
  findings_add(list, (struct finding){
                         .kind = FINDING_GROWING,
                         .weight = f->live - before,
                         .severity = UNKNOWN,
                         .count = f->live - before,
                         .function = f,
                         .at = findings_place(f->file, f->line),
                         .text = sentence("`%s` grows: %s lived at the beginning, %s at the end",
                                          f->name, told_count(before), told_count(f->live)),
                     });
}

/* -- by the ages of those alive ------------------------------------------------------ */

enum { OLD_LEAST = 50, PARTS = 3, PART_SHARE = 10 };
#define ELAPSED_LEAST 2000000000u

/* Futures of one function, made at one place, that should have ended long ago. */
struct alive {
  const struct view_live *first;
  uint64_t count, part[PARTS]; /* of the process's life in which they were made, oldest first */
  uint64_t oldest, youngest;
};

static bool is_alike(const struct view_live *a, const struct view_live *b) {
  return a->function == b->function &&
         !strcmp(a->created_at ? a->created_at : "", b->created_at ? b->created_at : "");
}

static bool is_background(const struct view_live *live) {
  return (live->await && live->await->background) || live->background;
}

/* Nothing has come to it ever. */
static bool is_idle(const struct view_live *live) {
  return is_background(live) && !live->started;
}

/* Futures that wait for more work, for their time, or for what they called do not count. Several in
   one entry count as spread evenly from the youngest to the oldest. */
static void add_live(const struct view *v, const struct view_live *live, uint64_t limit,
                     struct alive *a) {
  const struct view_function *f = &v->function[live->function];
  bool rests = (is_background(live) && !is_idle(live)) || live->due > live->age / 10 ||
               live->aside || view_is(live, "running");
  uint64_t usual = findings_usual_life(f), far = findings_far_beyond(usual, limit);
  uint64_t elapsed = v->process.elapsed, least = usual ? far : 0;
  if (rests || live->age < least)
    return;
  uint64_t span = live->age - live->age_min, steps = span && live->count > 1 ? PARTS * 4 : 1;
  for (uint64_t i = 0; i < steps; i++) {
    uint64_t age = live->age - (steps > 1 ? span * i / (steps - 1) : 0);
    uint64_t part = age >= elapsed ? 0 : (elapsed - age) / (elapsed / PARTS + 1);
    a->part[part] += live->count / steps + (i < live->count % steps);
  }
  a->count += live->count;
  a->oldest = live->age > a->oldest ? live->age : a->oldest;
  a->youngest = live->age_min < a->youngest ? live->age_min : a->youngest;
}

/* They were made all along. Made at once they are a pool, or were there from the start. The last
   part lacks those that are not old enough yet. */
static bool comes_all_along(const struct alive *a) {
  for (int i = 0; i + 1 < PARTS; i++)
    if (a->part[i] < a->count / PART_SHARE)
      return false;
  return a->youngest < a->oldest / 2;
}

static void add_old(struct findings *list, const struct view *v, const struct alive *a) {
  const struct view_function *f = &v->function[a->first->function];
  uint64_t usual = findings_usual_life(f);
  const char *at = a->first->created_at;
  const char *life = usual ? turn_text(" (most lives take %s at most)", told_time(usual))
                     : f->done + f->cancelled ? ""
                     : is_idle(a->first)      ? "; none has ever run or ended"
                                              : "; none has ever ended";
  findings_add(
      list, (struct finding){
                .kind = FINDING_GROWING,
                .weight = a->count,
                .severity = UNKNOWN,
                .count = a->count,
                .function = f,
                .created_at = at,
                .at = at ? print_string("%s", at) : findings_place(f->file, f->line),
                .text = sentence("`%s` grows: %s live that were made%s%s all along, from %s to %s "
                                 "ago%s",
                                 f->name, told_count(a->count), at ? " at " : "", at ? at : "",
                                 told_time(a->oldest), told_time(a->youngest), life)});
}

/* At exit others are left: finding-leaked.c. */
static void find_old(struct findings *list, const struct view *v, const struct ask_limits *limits) {
  bool left = !strcmp(v->process.reason, "exit");
  struct alive *group = allocate(v->lives + 1, sizeof *group);
  size_t groups = 0;
  for (size_t i = 0; i < v->lives; i++) {
    const struct view_live *live = &v->live[i];
    size_t at = 0;
    if (live->function >= v->functions || view_unseen(&v->function[live->function]) ||
        (left && !is_idle(live)))
      continue;
    while (at < groups && !is_alike(group[at].first, live))
      at++;
    if (at == groups)
      group[groups++] = (struct alive){.first = live, .youngest = UNKNOWN};
    add_live(v, live, limits->of[FINDING_STUCK], &group[at]);
  }
  for (size_t i = 0; i < groups; i++)
    if (group[i].count >= OLD_LEAST && comes_all_along(&group[i]))
      add_old(list, v, &group[i]);
  free(group);
}

static void judge(struct findings *list, const struct view *v, const struct ask_limits *limits) {
  for (size_t i = 0; i < v->functions; i++)
    find_growing(list, &v->function[i]);
  bool events_lost = v->health.lost_events != 0;
  if (!v->is_interval && !events_lost && v->process.elapsed >= ELAPSED_LEAST)
    find_old(list, v, limits);
}

const struct finding_row finding_growing = {.judge = judge, .next = NEXT_ALIVE};
