/* SPDX-License-Identifier: MIT */
/* What the files of findings share; see findings.h. */
#include "findings.h"

#include "live.h"
#include "read/governed.h"
#include "read/util.h"
#include "sentence.h"

#include <stdlib.h>
#include <string.h>

void findings_add(struct findings *list, struct finding finding) {
  if (list->count == list->room) {
    list->room = list->room ? list->room * 2 : 8;
    list->finding = reallocate(list->finding, list->room, sizeof *list->finding);
  }
  list->finding[list->count++] = finding;
}

char *findings_place(const char *file, uint64_t line) {
  return file ? print_string("%s", place_text(file, line)) : NULL;
}

uint64_t findings_longer(const struct distribution *d, uint64_t threshold) {
  uint64_t count = 0;
  for (size_t i = 0; i < d->count; i++)
    if (d->bucket[i].lower >= threshold)
      count += d->bucket[i].count;
  return count;
}

bool findings_is_beneath(const struct view *v, const struct view_path *await, size_t function) {
  size_t at = await->parent;
  if (at != SIZE_MAX && v->path[at].function == function)
    return false;
  while (at != SIZE_MAX && v->path[at].function != function)
    at = v->path[at].parent;
  return at != SIZE_MAX;
}

/* -- of futures alive --------------------------------------------------------------- */

/* Ten times the usual is out of the ordinary. */
enum { FAR_TIMES = 10 };

uint64_t findings_far_beyond(uint64_t usual, uint64_t limit) {
  return usual > limit / FAR_TIMES ? usual * FAR_TIMES : limit;
}

uint64_t findings_p99(uint64_t ended, const struct distribution *d) {
  return ended >= USUAL_COUNT && d->count ? d->p99 : 0;
}

uint64_t findings_usual_life(const struct view_function *f) {
  if (f->done < USUAL_COUNT)
    return 0;
  return f->wall_of.count ? f->wall_of.p99 : f->wall_max != UNKNOWN ? f->wall_max : 0;
}

static bool is_one_of(const char *text, const char *const *list) {
  while (*list && (!text || strcmp(text, *list)))
    list++;
  return *list != NULL;
}

/* The future was left at the end. Not leaked: futures on a stack (they run, or wait for one that
   does), and those that wait for new work or for their time. Young ones are under way. */
bool findings_is_left(const struct live_case *c) {
  static const char *const on_stack[] = {"call", "run", "function", "idle", "switch", NULL};
  const struct view_live *live = c->live;
  if (strcmp(c->view->process.reason, "exit") || view_is(live, "running"))
    return false;
  if (live->aside || live->due || is_one_of(live->kind, on_stack) ||
      (live->await && live->await->background))
    return false;
  return live->age_min >=
         findings_far_beyond(findings_usual_life(c->function), c->limits->of[FINDING_STUCK]);
}

/* Neither young futures count, nor those made elsewhere. */
const char *findings_of_alive(const struct alike *g) {
  uint64_t live = g->function->live;
  return g->count >= live ? "" : turn_text(", of %s alive,", told_count(live));
}

const char *findings_time(const struct alike *g, uint64_t time) {
  return told_mark(LACKS(g->lacks, live, since), told_time(time));
}

uint64_t findings_over(const struct distribution *d, uint64_t threshold) {
  uint64_t all = 0, time;
  for (size_t i = 0; i < d->count; i++)
    if (d->bucket[i].lower >= threshold) {
      if (__builtin_mul_overflow(d->bucket[i].lower, d->bucket[i].count, &time))
        return UNKNOWN - 1; /* of damaged totals */
      add_to(&all, time);
    }
  return all;
}

static bool is_busy(const struct loop *loop) {
  return loop->run_delay != UNKNOWN && loop->run_delay >= loop->elapsed / BUSY_SHARE;
}

bool findings_is_machines(const struct view *v, uint64_t held, uint64_t queued) {
  struct loop loop = ask_loop(v);
  return is_busy(&loop) && held <= loop.run_delay && queued / MACHINE_TIMES <= loop.run_delay;
}

bool findings_are_machines(const struct view *v, uint64_t late, uint64_t of) {
  struct loop loop = ask_loop(v);
  return is_busy(&loop) && loop.run_delay <= loop.elapsed && /* it may have begun before */
         (double)late / (double)of <= (double)loop.run_delay / (double)loop.elapsed;
}
