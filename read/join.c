/* Totals read back: what belongs together in them; see view.h. */
#include "index.h"
#include "util.h"
#include "view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static char *place_key(size_t function, const char *place, const char *callee, bool background) {
  return print_string("%zu\n%s\n%s\n%d", function, place ? place : "", callee, background);
}

static char *await_key(size_t function, const struct view_await *a) {
  char *place = a->file && a->line ? print_string("%s:%" PRIu64, a->file, a->line)
                                   : print_string("%s", a->file ? a->file : "");
  char *key = place_key(function, place, a->callee, a->background);
  free(place);
  return key;
}

static void find_awaits(struct view *v) {
  struct index x;
  size_t awaits = 0;
  for (size_t i = 0; i < v->functions; i++)
    awaits += v->function[i].awaits;
  index_new(&x, awaits);
  for (size_t i = 0; i < v->functions; i++)
    for (size_t j = 0; j < v->function[i].awaits; j++)
      index_put(&x, await_key(i, &v->function[i].await[j]), &v->function[i].await[j]);
  for (size_t i = 0; i < v->paths; i++) {
    struct view_path *path = &v->path[i];
    if (path->is_await)
      path->await =
          index_get(&x, place_key(path->function, path->place, path->name, path->background));
  }
  for (size_t i = 0; i < v->lives; i++) {
    struct view_live *live = &v->live[i];
    for (int one = 0; one < 2 && live->callee && !live->await;
         one++) /* one of the two says which */
      live->await = index_get(
          &x, place_key(live->function, live->place, live->callee, live->background == !one));
  }
  index_free(&x);
}

static void find_threads(struct view *v) {
  struct index x;
  index_new(&x, v->threads);
  for (size_t i = 0; i < v->threads; i++)
    index_put(&x, print_string("%" PRIu64, v->thread[i].block), &v->thread[i]);
  for (size_t i = 0; i < v->loops; i++) {
    struct view_loop *loop = &v->loop[i];
    struct view_thread *t =
        (struct view_thread *)index_get(&x, print_string("%" PRIu64, loop->block));
    loop->thread = t;
    if (t)
      t->is_pool = loop->hold_max == UNKNOWN && loop->open == UNKNOWN && t->exec &&
                   loop->tid != (int64_t)v->pid && !(t->shed >> APROF_STEP_COARSE);
  }
  index_free(&x);
}

/* Who runs holds the loop of the thread, unless that is a pool's; and a hold that goes on
   may be the longest of its loop. */
static void find_holds(struct view *v) {
  struct index x;
  index_new(&x, v->loops);
  for (size_t i = 0; i < v->loops; i++)
    index_put(&x, print_string("%" PRId64, v->loop[i].tid), &v->loop[i]);
  for (size_t i = 0; i < v->lives; i++) {
    struct view_live *live = &v->live[i];
    if (strcmp(live->state, "running"))
      continue;
    struct view_loop *loop = (struct view_loop *)index_get(&x, print_string("%" PRId64, live->tid));
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
                     : live->function < v->functions ? v->function[live->function].name
                                                     : NULL;
  }
  index_free(&x);
}

/* Times of what lives are those of the thread that ran it last, if any is known. */
static void find_shed(struct view *v) {
  struct index x;
  if (!v->shed)
    return;
  index_new(&x, v->threads);
  for (size_t i = 0; i < v->threads; i++)
    index_put(&x, print_string("%" PRId64, v->thread[i].tid), &v->thread[i]);
  for (size_t i = 0; i < v->lives; i++) {
    struct view_live *live = &v->live[i];
    const struct view_thread *t = index_get(&x, print_string("%" PRId64, live->tid));
    live->shed = t ? t->shed : v->shed;
    if (live->function < v->functions)
      live->shed |= v->function[live->function].shed;
  }
  index_free(&x);
}

void view_join(struct view *v) {
  find_awaits(v);
  find_threads(v);
  find_holds(v);
  find_shed(v);
}
