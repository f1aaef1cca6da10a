/* Totals read back; see view.h. */
#include "view.h"

#include "governed.h"
#include "json.h"
#include "util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* -- parts ----------------------------------------------------------------- */

static const char *text_of(const cJSON *object, const char *name, const char *otherwise) {
  const char *text = json_get_text(object, name);
  return text ? text : otherwise;
}

static size_t array_size(const cJSON *array) {
  return cJSON_IsArray(array) ? (size_t)cJSON_GetArraySize(array) : 0;
}

static struct distribution read_distribution(const cJSON *object, const char *name) {
  struct distribution d = {0};
  const cJSON *histogram = json_member(object, name);
  const cJSON *buckets = json_member(histogram, "buckets"), *pair;
  size_t size = array_size(buckets);
  if (!size)
    return d;
  d.bucket = allocate(size, sizeof *d.bucket);
  cJSON_ArrayForEach(pair, buckets) {
    if (cJSON_GetArraySize(pair) != 2)
      continue;
    struct bucket b = {json_value(pair->child, 0), json_value(pair->child->next, 0)};
    if (d.count && b.lower <= d.bucket[d.count - 1].lower)
      continue;
    d.bucket[d.count++] = b;
  }
  d.p50 = json_get(histogram, "p50", 0);
  d.p99 = json_get(histogram, "p99", 0);
  return d;
}

/* Without the waits that go on; older totals do not say which part that is. */
static uint64_t ended_of(const cJSON *object) {
  uint64_t all = json_get(object, "waiting_ns", 0), open = json_get(object, "open_ns", 0);
  return all > open ? all - open : 0;
}

static void read_await(struct view_await *a, const cJSON *object) {
  a->file = json_get_text(object, "file");
  a->line = json_get(object, "line", 0);
  a->callee = text_of(object, "callee", "?");
  a->kind = text_of(object, "kind", "await");
  a->background = json_get_bool(object, "background", false);
  a->count = json_get(object, "count", 0);
  a->immediate = json_get(object, "immediate", 0);
  a->waiting = json_get(object, "waiting_ns", 0);
  a->ended = ended_of(object);
  a->max = json_get(object, "max_ns", UNKNOWN);
  a->waits = read_distribution(object, "waiting");
}

static void read_blocking(struct view_function *f, const cJSON *array) {
  const cJSON *item;
  f->blocking = allocate(array_size(array), sizeof *f->blocking);
  cJSON_ArrayForEach(item, array) f->blocking[f->blockings++] = (struct view_blocking){
      .file = json_get_text(item, "file"),
      .callee = text_of(item, "callee", "?"),
      .line = json_get(item, "line", 0),
      .count = json_get(item, "count", 0),
      .held = json_get(item, "held_ns", 0),
      .max = json_get(item, "max_ns", UNKNOWN),
  };
}

static void read_wakers(struct view_function *f, const cJSON *array) {
  const cJSON *item;
  f->waker = allocate(array_size(array), sizeof *f->waker);
  cJSON_ArrayForEach(item, array) f->waker[f->wakers++] = (struct view_waker){
      .file = json_get_text(item, "file"),
      .name = text_of(item, "name", "?"),
      .in = json_get_text(item, "function"),
      .line = json_get(item, "line", 0),
      .count = json_get(item, "count", 0),
      .queued = json_get(item, "queued_ns", 0),
      .max = json_get(item, "max_ns", UNKNOWN),
      .clock = json_get_bool(item, "clock", false),
      .queued_of = read_distribution(item, "queued"),
  };
}

static const char *pair_text(const cJSON *object, const char *name, int index) {
  return cJSON_GetStringValue(cJSON_GetArrayItem(json_member(object, name), index));
}

static void read_function(struct view_function *f, const cJSON *object) {
  const cJSON *awaits = json_member(object, "awaits"), *item;
  f->name = text_of(object, "name", "?");
  f->file = json_get_text(object, "file");
  f->line = json_get(object, "line", 0);
  f->column = json_get(object, "column", 0);
  f->instrumented = json_get_bool(object, "instrumented", true);
  f->created = json_get(object, "created", 0);
  f->done = json_get(object, "done", 0);
  f->failed = json_get(object, "failed", 0);
  f->cancelled = json_get(object, "cancelled", 0);
  f->detached = json_get(object, "detached", 0);
  f->live = json_get(object, "live", 0);
  f->shed = governed_read(object);
  f->live_before = UNKNOWN;
  f->born_done = json_get(object, "born_done", 0);
  f->slices = json_get(object, "slices", 0);
  f->wall = json_get(object, "wall_ns", 0);
  f->queued = json_get(object, "queued_ns", 0);
  f->exec = json_get(object, "exec_ns", 0);
  uint64_t pool = json_get(object, "pool_exec_ns", 0);
  f->loop_exec = f->exec > pool ? f->exec - pool : 0;
  f->waiting = json_get(object, "waiting_ns", 0);
  f->children_exec = json_get(object, "children_exec_ns", 0);
  f->exec_max = json_get(object, "exec_max_ns", UNKNOWN);
  f->wall_max = json_get(object, "wall_max_ns", UNKNOWN);
  f->slice_max = json_get(object, "slice_max_ns", UNKNOWN);
  f->slice_from = pair_text(object, "slice_max_between", 0);
  f->slice_to = pair_text(object, "slice_max_between", 1);
  f->slice_from_name = pair_text(object, "slice_max_names", 0);
  f->slice_to_name = pair_text(object, "slice_max_names", 1);
  f->mostly = json_get_text(object, "slice_max_mostly");
  f->mostly_max = json_get(object, "slice_max_mostly_ns", UNKNOWN);
  f->slice_at_start = json_get_bool(object, "slice_max_at_start", false);
  f->mostly_at_once = json_get_bool(object, "slice_max_mostly_at_once", false);
  f->exec_of = read_distribution(object, "exec");
  f->slice_of = read_distribution(object, "slice");
  f->wall_of = read_distribution(object, "wall");
  f->queued_of = read_distribution(object, "queued");
  f->await = allocate(array_size(awaits), sizeof *f->await);
  cJSON_ArrayForEach(item, awaits) read_await(&f->await[f->awaits++], item);
  if (cJSON_IsArray(json_member(object, "blocking")))
    read_blocking(f, json_member(object, "blocking"));
  if (cJSON_IsArray(json_member(object, "wakers")))
    read_wakers(f, json_member(object, "wakers"));
}

static size_t function_index(const struct view *v, const cJSON *object) {
  uint64_t index = json_get(object, "function_index", UNKNOWN);
  return index < v->functions ? (size_t)index : SIZE_MAX;
}

/* Paths come with rising ids, parents first. */
static size_t find_path(const struct view *v, uint64_t id) {
  size_t low = 0, high = v->paths;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (v->path[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < v->paths && v->path[low].id == id ? low : SIZE_MAX;
}

static void read_path(struct view *v, const cJSON *object) {
  uint64_t id = json_get(object, "id", 0);
  if (!id || (v->paths && v->path[v->paths - 1].id >= id))
    return;
  struct view_path *path = &v->path[v->paths];
  path->id = id;
  path->parent = find_path(v, json_get(object, "parent", 0));
  path->is_await = json_get_text(object, "callee") != NULL;
  path->name = text_of(object, path->is_await ? "callee" : "function", "?");
  path->place = json_get_text(object, "await");
  path->kind = text_of(object, "kind", "await");
  path->background = json_get_bool(object, "background", false);
  path->function = function_index(v, object);
  path->count = json_get(object, "count", 0);
  path->immediate = json_get(object, "immediate", 0);
  path->created = json_get(object, "created", 0);
  path->exec = json_get(object, "exec_ns", 0);
  path->waiting = json_get(object, "waiting_ns", 0);
  path->ended = ended_of(object);
  path->max = json_get(object, "max_ns", UNKNOWN);
  v->paths++;
}

static void read_live(struct view *v, const cJSON *object) {
  v->live[v->lives++] = (struct view_live){
      .function = function_index(v, object),
      .state = text_of(object, "state", "?"),
      .place = json_get_text(object, "await"),
      .callee = json_get_text(object, "callee"),
      .kind = text_of(object, "kind", ""),
      .background = json_get_bool(object, "background", false),
      .id = json_get(object, "id", 0),
      .parent = json_get(object, "parent", 0),
      .age = json_get(object, "age_ns", 0),
      .since = json_get(object, "since_ns", 0),
      .count = json_get(object, "count", 1),
      .created_at = json_get_text(object, "created_at"),
      .created_by = json_get_text(object, "created_by"),
      .started = json_get_bool(object, "started", true),
      .aside = json_get_bool(object, "aside", false),
      .tid = json_get_signed(object, "thread", 0),
      .age_min = json_get(object, "age_min_ns", json_get(object, "age_ns", 0)),
      .since_min = json_get(object, "since_min_ns", json_get(object, "since_ns", 0)),
      .not_due = json_get(object, "due_in_ns", 0) != 0,
  };
}

static void read_thread(struct view_thread *t, const cJSON *object) {
  *t = (struct view_thread){
      .block = json_get(object, "block", UNKNOWN),
      .name = text_of(object, "name", "?"),
      .tid = json_get_signed(object, "tid", 0),
      .exec = json_get(object, "exec_ns", 0),
      .idle = json_get(object, "idle_ns", 0),
      .other = json_get(object, "other_ns", 0),
      .elapsed = json_get(object, "elapsed_ns", 0),
      .cost = json_get(object, "cost_ns", UNKNOWN),
  };
  governed_read_thread(object, t);
}

static void read_loops(struct view *v, const cJSON *array) {
  const cJSON *item;
  v->loop = allocate(array_size(array), sizeof *v->loop);
  cJSON_ArrayForEach(item, array) {
    v->loop[v->loops++] = (struct view_loop){
        .tid = json_get_signed(item, "tid", 0),
        .name = text_of(item, "name", "?"),
        .block = json_get(item, "block", UNKNOWN),
        .hold_max = json_get(item, "hold_max_ns", UNKNOWN),
        .from = pair_text(item, "hold_max_between", 0),
        .to = pair_text(item, "hold_max_between", 1),
        .function = json_get_text(item, "hold_max_function"),
        .open = json_get(item, "hold_open_ns", UNKNOWN),
        .open_from = json_get_text(item, "hold_open_from"),
        .open_function = json_get_text(item, "hold_open_function"),
    };
  }
}

static void read_misses(struct view *v, const cJSON *array) {
  const cJSON *item;
  v->miss = allocate(array_size(array), sizeof *v->miss);
  if (cJSON_IsArray(array))
    cJSON_ArrayForEach(item, array) v->miss[v->misses++] = (struct view_miss){
        .kind = text_of(item, "kind", "?"),
        .name = json_get_text(item, "name"),
        .file = json_get_text(item, "file"),
        .in = json_get_text(item, "function"),
        .line = json_get(item, "line", 0),
        .count = json_get(item, "count", 0),
        .matched = cJSON_IsTrue(json_member(item, "matched")),
    };
}

static void read_arrays(struct view *v) {
  const cJSON *item, *array = json_member(v->json, "functions");
  v->function = allocate(array_size(array), sizeof *v->function);
  cJSON_ArrayForEach(item, array) read_function(&v->function[v->functions++], item);
  array = json_member(v->json, "tree");
  v->path = allocate(array_size(array), sizeof *v->path);
  cJSON_ArrayForEach(item, array) read_path(v, item);
  array = json_member(v->json, "live");
  v->live = allocate(array_size(array), sizeof *v->live);
  cJSON_ArrayForEach(item, array) read_live(v, item);
  array = json_member(v->json, "threads");
  v->thread = allocate(array_size(array), sizeof *v->thread);
  cJSON_ArrayForEach(item, array) read_thread(&v->thread[v->threads++], item);
  read_loops(v, json_member(v->json, "loop"));
  read_misses(v, json_member(v->json, "misses"));
}

static void read_head(struct view *v) {
  const cJSON *process = json_member(v->json, "process");
  const cJSON *health = json_member(v->json, "health");
  v->name = text_of(process, "name", text_of(process, "command", "?"));
  v->command = text_of(process, "command", "?");
  v->host = text_of(process, "host", "");
  v->started_at = text_of(process, "started_at", "");
  v->dumped_at = text_of(process, "dumped_at", "");
  v->reason = text_of(process, "reason", "");
  v->pid = json_get(process, "pid", 0);
  v->elapsed = json_get(process, "elapsed_ns", 0);
  v->measured = json_get(process, "measured_ns", UNKNOWN);
  v->epoch = json_get(process, "epoch", 0);
  v->reset_epoch = json_get(process, "reset_epoch", 0);
  v->reset = json_get(process, "reset_ns", UNKNOWN);
  v->events = json_get(health, "events", 0);
  v->event_cost = json_get(health, "event_cost_ns", UNKNOWN);
  v->lost_futures = json_get(health, "lost_futures", 0);
  v->lost_events = json_get(health, "lost_events", 0);
  v->lost_histograms = json_get(health, "lost_histograms", 0);
  v->missed_events = json_get(health, "missed_events", 0);
  v->nested_events = json_get(health, "nested_events", 0);
  v->other_nodes = json_get(health, "other_nodes", 0);
  v->torn_threads = json_get(health, "torn_threads", 0);
  v->reused_keys = json_get(health, "reused_keys", 0);
  const cJSON *overhead = json_member(health, "overhead_percent");
  v->overhead = cJSON_IsNumber(overhead) ? overhead->valuedouble : -1;
  v->consistent = json_get_bool(health, "consistent", true);
  v->confined = json_get_bool(health, "confined", false);
}

/* -- the whole ------------------------------------------------------------- */

struct view *view_new(cJSON *json, const char *what) {
  struct view *v = allocate(1, sizeof *v);
  v->json = json;
  v->what = print_string("%s", what);
  read_head(v);
  read_arrays(v);
  governed_settle(v);
  view_join(v);
  return v;
}

void view_free(struct view *v) {
  if (!v)
    return;
  for (size_t i = 0; i < v->functions; i++) {
    struct view_function *f = &v->function[i];
    free(f->exec_of.bucket);
    free(f->slice_of.bucket);
    free(f->wall_of.bucket);
    free(f->queued_of.bucket);
    for (size_t j = 0; j < f->awaits; j++)
      free(f->await[j].waits.bucket);
    free(f->await);
    free(f->blocking);
    for (size_t j = 0; j < f->wakers; j++)
      free(f->waker[j].queued_of.bucket);
    free(f->waker);
  }
  free(v->function);
  free(v->path);
  free(v->live);
  free(v->thread);
  free(v->loop);
  free(v->miss);
  free(v->what);
  cJSON_Delete(v->json);
  free(v);
}
