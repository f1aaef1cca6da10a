/* Totals read back: what belongs together in them; see reading.h. */
#include "cli.h"
#include "index.h"
#include "reading.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static char *place_key(size_t function, const char *place, const char *callee, bool background) {
  return print_string("%zu\n%s\n%s\n%d", function, place ? place : "", callee, background);
}

static char *await_key(size_t function, const struct r_await *a) {
  char *place = a->file && a->line ? print_string("%s:%" PRIu64, a->file, a->line)
                                   : print_string("%s", a->file ? a->file : "");
  char *key = place_key(function, place, a->callee, a->background);
  free(place);
  return key;
}

static void find_awaits(struct reading *r) {
  struct index x;
  size_t awaits = 0;
  for (size_t i = 0; i < r->functions; i++)
    awaits += r->function[i].awaits;
  index_new(&x, awaits);
  for (size_t i = 0; i < r->functions; i++)
    for (size_t j = 0; j < r->function[i].awaits; j++)
      index_put(&x, await_key(i, &r->function[i].await[j]), &r->function[i].await[j]);
  for (size_t i = 0; i < r->paths; i++) {
    struct r_path *path = &r->path[i];
    if (path->is_await)
      path->await =
          index_get(&x, place_key(path->function, path->place, path->name, path->background));
  }
  for (size_t i = 0; i < r->lives; i++) {
    struct r_live *live = &r->live[i];
    for (int one = 0; one < 2 && live->callee && !live->await;
         one++) /* one of the two says which */
      live->await = index_get(
          &x, place_key(live->function, live->place, live->callee, live->background == !one));
  }
  index_free(&x);
}

static void find_threads(struct reading *r) {
  struct index x;
  index_new(&x, r->threads);
  for (size_t i = 0; i < r->threads; i++)
    index_put(&x, print_string("%" PRIu64, r->thread[i].block), &r->thread[i]);
  for (size_t i = 0; i < r->loops; i++) {
    struct r_loop *loop = &r->loop[i];
    struct r_thread *t = (struct r_thread *)index_get(&x, print_string("%" PRIu64, loop->block));
    loop->thread = t;
    if (t)
      t->is_pool = loop->hold_max == UNKNOWN && loop->open == UNKNOWN && t->exec &&
                   loop->tid != (int64_t)r->pid && !(t->shed >> APROF_STEP_COARSE);
  }
  index_free(&x);
}

/* Who runs holds the loop of the thread, unless that is a pool's; and a hold that goes on
   may be the longest of its loop. */
static void find_holds(struct reading *r) {
  struct index x;
  index_new(&x, r->loops);
  for (size_t i = 0; i < r->loops; i++)
    index_put(&x, print_string("%" PRId64, r->loop[i].tid), &r->loop[i]);
  for (size_t i = 0; i < r->lives; i++) {
    struct r_live *live = &r->live[i];
    if (strcmp(live->state, "running"))
      continue;
    struct r_loop *loop = (struct r_loop *)index_get(&x, print_string("%" PRId64, live->tid));
    if (loop && loop->thread && loop->thread->is_pool)
      continue;
    live->holds = live->since_min;
    if (loop && loop->open != UNKNOWN && loop->open >= live->holds) {
      live->holds = loop->open;
      live->held_by = loop->open_function;
      live->held_from = loop->open_from;
    }
    if (!loop || (loop->hold_max != UNKNOWN && loop->hold_max >= live->holds))
      continue;
    loop->hold_max = live->holds;
    loop->from = loop->to = NULL;
    loop->function = live->held_by                   ? live->held_by
                     : live->function < r->functions ? r->function[live->function].name
                                                     : NULL;
  }
  index_free(&x);
}

/* Times of what lives are those of the thread that ran it last, if any is known. */
static void find_shed(struct reading *r) {
  struct index x;
  if (!r->shed)
    return;
  index_new(&x, r->threads);
  for (size_t i = 0; i < r->threads; i++)
    index_put(&x, print_string("%" PRId64, r->thread[i].tid), &r->thread[i]);
  for (size_t i = 0; i < r->lives; i++) {
    struct r_live *live = &r->live[i];
    const struct r_thread *t = index_get(&x, print_string("%" PRId64, live->tid));
    live->shed = t ? t->shed : r->shed;
    if (live->function < r->functions)
      live->shed |= r->function[live->function].shed;
  }
  index_free(&x);
}

void reading_join(struct reading *r) {
  find_awaits(r);
  find_threads(r);
  find_holds(r);
  find_shed(r);
}
