/*
 * The interval between two totals of one process; see view.h. Counts, sums
 * and histograms are subtracted; what only the later one knows happened in
 * between.
 */
#include "governed.h"
#include "index.h"
#include "json.h"
#include "util.h"
#include "view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Counters only grow, so less than before means a torn read of a live process;
   then nothing is what was seen to happen. */
static void take(uint64_t *later, uint64_t earlier) {
  *later = *later > earlier ? *later - earlier : 0;
}

static void take_max(uint64_t *later, uint64_t earlier) {
  if (*later == earlier)
    *later = UNKNOWN;
}

/* Two buckets are one if their bounds were converted with nearly one rate. */
static bool same_bucket(uint64_t a, uint64_t b) {
  uint64_t apart = a > b ? a - b : b - a;
  return apart <= (a > b ? a : b) / 100;
}

/* `max`: of all that the later totals have, which none of the interval's passes; or UNKNOWN. */
static void take_distribution(struct distribution *later, const struct distribution *earlier,
                              uint64_t max) {
  size_t j = 0, kept = 0;
  if (!later->count)
    return;
  for (size_t i = 0; i < later->count; i++) {
    struct bucket b = later->bucket[i];
    while (j < earlier->count && earlier->bucket[j].lower < b.lower &&
           !same_bucket(earlier->bucket[j].lower, b.lower))
      j++;
    if (j < earlier->count && same_bucket(earlier->bucket[j].lower, b.lower))
      take(&b.count, earlier->bucket[j++].count);
    if (b.count)
      later->bucket[kept++] = b;
  }
  later->count = kept;
  later->p50 = buckets_percentile(later->bucket, kept, 500, max);
  later->p99 = buckets_percentile(later->bucket, kept, 990, max);
}

/* -- finding what belongs together ----------------------------------------- */

static const char *shown(const char *text) {
  return text ? text : "";
}

/* Two lambdas on one line have one name. */
static char *function_key(const struct view_function *f) {
  return print_string("%s\n%s\n%" PRIu64 "\n%" PRIu64, f->name, shown(f->file), f->line, f->column);
}

static char *miss_key(const struct view_miss *m) {
  return print_string("%s\n%s\n%s\n%" PRIu64, m->kind, shown(m->name), shown(m->file), m->line);
}

static char *await_key(const struct view_await *a) {
  return print_string("%s\n%s\n%s\n%" PRIu64 "\n%d", a->kind, a->callee, shown(a->file), a->line,
                      a->background);
}

static char *blocking_key(const struct view_blocking *b) {
  return print_string("%s\n%s\n%" PRIu64, b->callee, shown(b->file), b->line);
}

static char *waker_key(const struct view_waker *w) {
  return print_string("%s\n%d\n%s\n%" PRIu64, w->name, w->clock, shown(w->file), w->line);
}

static char *block_key(uint64_t block) {
  return print_string("%" PRIu64, block);
}

/* A path by the number of its parent in the earlier totals and its own name. */
static char *path_key(const struct view *v, const struct view_path *path, size_t parent) {
  const struct view_function *f =
      path->function < v->functions ? &v->function[path->function] : NULL;
  return print_string("%zu\n%d\n%d\n%s\n%s\n%s\n%" PRIu64 "\n%" PRIu64, parent, path->is_await,
                      path->is_await && path->background, path->name,
                      path->is_await ? path->kind : "",
                      path->is_await ? shown(path->place) : shown(f ? f->file : NULL),
                      f && !path->is_await ? f->line : 0, f && !path->is_await ? f->column : 0);
}

/* -- subtraction ----------------------------------------------------------- */

static void take_await(struct view_await *later, const struct view_await *earlier) {
  take(&later->count, earlier->count);
  take(&later->immediate, earlier->immediate);
  take(&later->waiting, earlier->waiting);
  take(&later->ended, earlier->ended);
  take_distribution(&later->waits, &earlier->waits, later->max);
  take_max(&later->max, earlier->max);
}

static void take_awaits(struct view_function *later, const struct view_function *earlier) {
  struct index x;
  index_new(&x, earlier->awaits);
  for (size_t i = 0; i < earlier->awaits; i++)
    index_put(&x, await_key(&earlier->await[i]), &earlier->await[i]);
  for (size_t i = 0; i < later->awaits; i++) {
    const struct view_await *before = index_get(&x, await_key(&later->await[i]));
    if (before)
      take_await(&later->await[i], before);
  }
  index_free(&x);
}

static void take_blocking(struct view_function *later, const struct view_function *earlier) {
  struct index x;
  index_new(&x, earlier->blockings);
  for (size_t i = 0; i < earlier->blockings; i++)
    index_put(&x, blocking_key(&earlier->blocking[i]), &earlier->blocking[i]);
  for (size_t i = 0; i < later->blockings; i++) {
    struct view_blocking *b = &later->blocking[i];
    const struct view_blocking *before = index_get(&x, blocking_key(b));
    if (!before)
      continue;
    take(&b->count, before->count);
    take(&b->held, before->held);
    take_max(&b->max, before->max);
  }
  index_free(&x);
}

static void take_wakers(struct view_function *later, const struct view_function *earlier) {
  struct index x;
  index_new(&x, earlier->wakers);
  for (size_t i = 0; i < earlier->wakers; i++)
    index_put(&x, waker_key(&earlier->waker[i]), &earlier->waker[i]);
  for (size_t i = 0; i < later->wakers; i++) {
    struct view_waker *w = &later->waker[i];
    const struct view_waker *before = index_get(&x, waker_key(w));
    if (!before)
      continue;
    take(&w->count, before->count);
    take(&w->queued, before->queued);
    take_distribution(&w->queued_of, &before->queued_of, w->max);
    take_max(&w->max, before->max);
  }
  index_free(&x);
}

static void take_function(struct view_function *later, const struct view_function *earlier) {
  later->live_before = earlier->live;
  take(&later->created, earlier->created);
  take(&later->done, earlier->done);
  take(&later->failed, earlier->failed);
  take(&later->cancelled, earlier->cancelled);
  take(&later->detached, earlier->detached);
  take(&later->born_done, earlier->born_done);
  take(&later->slices, earlier->slices);
  take(&later->wall, earlier->wall);
  take(&later->queued, earlier->queued);
  take(&later->exec, earlier->exec);
  take(&later->loop_exec, earlier->loop_exec);
  take(&later->waiting, earlier->waiting);
  take(&later->children_exec, earlier->children_exec);
  take_distribution(&later->exec_of, &earlier->exec_of, later->exec_max);
  take_distribution(&later->slice_of, &earlier->slice_of, later->slice_max);
  take_distribution(&later->wall_of, &earlier->wall_of, later->wall_max);
  take_distribution(&later->queued_of, &earlier->queued_of, UNKNOWN);
  take_max(&later->exec_max, earlier->exec_max);
  take_max(&later->wall_max, earlier->wall_max);
  take_max(&later->slice_max, earlier->slice_max);
  if (later->slice_max == UNKNOWN)
    later->slice_from = later->slice_to = later->slice_from_name = later->slice_to_name =
        later->mostly = NULL;
  take_awaits(later, earlier);
  take_blocking(later, earlier);
  take_wakers(later, earlier);
}

static void take_functions(struct view *later, const struct view *earlier) {
  struct index x;
  index_new(&x, earlier->functions);
  for (size_t i = 0; i < earlier->functions; i++)
    index_put(&x, function_key(&earlier->function[i]), &earlier->function[i]);
  for (size_t i = 0; i < later->functions; i++) {
    const struct view_function *before = index_get(&x, function_key(&later->function[i]));
    if (before)
      take_function(&later->function[i], before);
  }
  index_free(&x);
}

static void take_path(struct view_path *later, const struct view_path *earlier) {
  take(&later->count, earlier->count);
  take(&later->immediate, earlier->immediate);
  take(&later->created, earlier->created);
  take(&later->exec, earlier->exec);
  take(&later->waiting, earlier->waiting);
  take(&later->ended, earlier->ended);
  take_max(&later->max, earlier->max);
}

static void take_paths(struct view *later, const struct view *earlier) {
  struct index x;
  size_t *before = allocate(later->paths, sizeof *before);
  index_new(&x, earlier->paths);
  for (size_t i = 0; i < earlier->paths; i++) {
    const struct view_path *path = &earlier->path[i];
    index_put(&x, path_key(earlier, path, path->parent), path);
  }
  for (size_t i = 0; i < later->paths; i++) {
    struct view_path *path = &later->path[i];
    size_t parent = path->parent == SIZE_MAX ? SIZE_MAX : before[path->parent];
    const struct view_path *match = NULL;
    before[i] = SIZE_MAX - 1; /* equal to no parent there is */
    if (parent != SIZE_MAX - 1)
      match = index_get(&x, path_key(later, path, parent));
    if (match) {
      before[i] = (size_t)(match - earlier->path);
      take_path(path, match);
    }
  }
  index_free(&x);
  free(before);
}

static void take_misses(struct view *later, const struct view *earlier) {
  struct index x;
  index_new(&x, earlier->misses);
  for (size_t i = 0; i < earlier->misses; i++)
    index_put(&x, miss_key(&earlier->miss[i]), &earlier->miss[i]);
  for (size_t i = 0; i < later->misses; i++) {
    const struct view_miss *before = index_get(&x, miss_key(&later->miss[i]));
    if (before)
      take(&later->miss[i].count, before->count);
  }
  index_free(&x);
}

static void take_threads(struct view *later, const struct view *earlier) {
  struct index x;
  index_new(&x, earlier->threads);
  for (size_t i = 0; i < earlier->threads; i++)
    index_put(&x, block_key(earlier->thread[i].block), &earlier->thread[i]);
  for (size_t i = 0; i < later->threads; i++) {
    struct view_thread *t = &later->thread[i];
    const struct view_thread *before = index_get(&x, block_key(t->block));
    if (!before)
      continue;
    take(&t->exec, before->exec);
    take(&t->idle, before->idle);
    take(&t->other, before->other);
    take(&t->elapsed, before->elapsed);
    for (int step = 0; step < APROF_STEPS; step++) {
      take(&t->at_step[step].elapsed, before->at_step[step].elapsed);
      take(&t->at_step[step].events, before->at_step[step].events);
    }
    if (before->cost == UNKNOWN)
      t->cost = UNKNOWN;
    else if (t->cost != UNKNOWN)
      take(&t->cost, before->cost);
  }
  index_free(&x);
}

/* An old longest hold is none of the interval's. */
static void take_loops(struct view *later, const struct view *earlier) {
  struct index x;
  index_new(&x, earlier->loops);
  for (size_t i = 0; i < earlier->loops; i++)
    index_put(&x, block_key(earlier->loop[i].block), &earlier->loop[i]);
  for (size_t i = 0; i < later->loops; i++) {
    const struct view_loop *before = index_get(&x, block_key(later->loop[i].block));
    if (before)
      take_max(&later->loop[i].hold_max, before->hold_max);
  }
  index_free(&x);
}

/* As the totals have it of a whole life; see totals-loop.c. What each event cost depends on
   what its thread had shed then: only the cost at both ends tells. After a reset, and in
   older totals, there is none: then all cost the same, if nothing can be shed. */
static void take_overhead(struct view *later) {
  uint64_t elapsed = 0, cost = 0;
  bool known = later->threads != 0, governed = cJSON_IsObject(json_member(later->json, "governed"));
  for (size_t i = 0; i < later->threads; i++) {
    elapsed += later->thread[i].elapsed;
    known &= later->thread[i].cost != UNKNOWN;
    cost += known ? later->thread[i].cost : 0;
  }
  bool alike = !governed && later->event_cost != UNKNOWN;
  double all = known ? (double)cost : (double)later->events * (double)later->event_cost;
  later->overhead = elapsed && (known || alike) ? 100 * all / (double)elapsed : -1;
}

static bool belong_together(const struct view *later, const struct view *earlier) {
  if (later->pid != earlier->pid || strcmp(later->host, earlier->host) ||
      strcmp(later->started_at, earlier->started_at)) {
    complain("%s and %s are of different processes (%" PRIu64 " and %" PRIu64
             "): there is no interval between them",
             earlier->what, later->what, earlier->pid, later->pid);
    return false;
  }
  if (later->elapsed < earlier->elapsed) {
    complain("%s is later than %s: give the earlier one first", earlier->what, later->what);
    return false;
  }
  if (later->reset_epoch != earlier->reset_epoch) {
    complain("the totals were reset between %s and %s: the later one alone is the interval since",
             earlier->what, later->what);
    return false;
  }
  return true;
}

/* Totals of before there were columns are compared without. */
static void forget_columns(struct view *later, const struct view *earlier) {
  for (size_t i = 0; i < earlier->functions; i++)
    if (earlier->function[i].column)
      return;
  for (size_t i = 0; i < later->functions; i++)
    later->function[i].column = 0;
}

bool view_subtract(struct view *later, const struct view *earlier) {
  if (!belong_together(later, earlier))
    return false;
  forget_columns(later, earlier);
  take_paths(later, earlier); /* needs the functions' names, nothing else of them */
  take_functions(later, earlier);
  take_misses(later, earlier);
  take_threads(later, earlier);
  take_loops(later, earlier);
  later->is_interval = true;
  governed_settle(later);
  take(&later->elapsed, earlier->elapsed);
  if (earlier->measured == UNKNOWN)
    later->measured = UNKNOWN;
  else if (later->measured != UNKNOWN)
    take(&later->measured, earlier->measured);
  take(&later->events, earlier->events);
  take_overhead(later);
  take(&later->reused_keys, earlier->reused_keys);
  take(&later->lost_futures, earlier->lost_futures);
  take(&later->lost_events, earlier->lost_events);
  take(&later->lost_histograms, earlier->lost_histograms);
  take(&later->missed_events, earlier->missed_events);
  take(&later->nested_events, earlier->nested_events);
  take(&later->other_nodes, earlier->other_nodes);
  return true;
}
