/* SPDX-License-Identifier: MIT */
/* A view of a profile: the model's numbers, under the names that users know; see view.h. */
#include "clock.h"
#include "governed.h"
#include "kept.h"
#include "model.h"
#include "settle.h"
#include "util.h"
#include "view.h"

#include <aprof/abi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Strings of one name, as the view keeps them. */
struct text {
  const char *name, *file, *function, *place;
};

struct filling {
  struct view *v;
  const struct model *m;
  struct text *text; /* by name */
  uint32_t *number;  /* of functions in the view, by those of the model */
  bool *path_shown;  /* by node */
  uint32_t *offset;  /* of histograms: those of one number */
  size_t offsets, offset_room;
  bool histograms;   /* they are wanted */
  struct kept *kept; /* or NULL */
};

static const struct name *name_of(const struct filling *f, uint32_t name) {
  return &f->m->names->name[name];
}

/* "file:line"; NULL where there is none */
static const char *place_of(struct view *v, const struct name *name) {
  if (!name->file || !name->line)
    return arena_text(&v->arena, name->file);
  char *place = print_string("%s:%u", name->file, name->line);
  const char *copy = arena_text(&v->arena, place);
  free(place);
  return copy;
}

static const struct text *text_of(const struct filling *f, uint32_t index) {
  struct text *text = &f->text[index];
  if (!text->name) {
    const struct name *name = name_of(f, index);
    *text = (struct text){.name = arena_text(&f->v->arena, name->name),
                          .file = arena_text(&f->v->arena, name->file),
                          .function = arena_text(&f->v->arena, name->function),
                          .place = place_of(f->v, name)};
  }
  return text;
}

static const char *kind_of(const struct name *name) {
  static const char *const kinds[] = {
      [APROF_SITE_AWAIT] = "await",   [APROF_SITE_CREATE] = "create",    [APROF_SITE_RUN] = "run",
      [APROF_SITE_RETURN] = "return", [APROF_SITE_CALL] = "call",        [APROF_SITE_IDLE] = "idle",
      [APROF_SITE_SWITCH] = "switch", [APROF_SITE_FUNCTION] = "function"};
  const char *kind = name->kind < sizeof kinds / sizeof *kinds ? kinds[name->kind] : NULL;
  return kind ? kind : "unknown";
}

static uint64_t known_if(bool known, uint64_t value) {
  return known ? value : UNKNOWN;
}

static void greater(uint64_t *value, uint64_t other) {
  if (other > *value)
    *value = other;
}

/* -- the process ------------------------------------------------------------------ */

static const char *cleaned(struct view *v, const char *text) {
  char *copy = (char *)arena_text(&v->arena, text);
  if (copy)
    clean_text(copy);
  return copy;
}

static const char *time_text(struct view *v, int64_t ns) {
  int64_t seconds = ns / 1000000000, rest = ns % 1000000000;
  if (rest < 0) {
    rest += 1000000000;
    seconds--;
  }
  struct tm tm;
  time_t time = (time_t)seconds;
  char text[96];
  if (!gmtime_r(&time, &tm) || tm.tm_year > 8099 || tm.tm_year < 0)
    return NULL;
  size_t length = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
  snprintf(text + length, sizeof text - length, ".%09dZ", (int)rest);
  return arena_text(&v->arena, text);
}

/* "" is not known. */
static const char *known_text(struct view *v, const char *text) {
  return *text ? cleaned(v, text) : NULL;
}

/* Since the last reset, while profiling was on: an epoch of being off has no length, nor has
   the first one of a process that began so. UNKNOWN: too many epochs ago. */
static uint64_t measured(const struct model *m) {
  const struct aprof_header *header = &m->profile->header;
  uint64_t ticks = 0;
  if (header->epoch - header->reset_epoch >= APROF_EPOCHS)
    return UNKNOWN;
  for (uint32_t ago = header->epoch - header->reset_epoch + 1; ago-- > 0;) {
    uint32_t epoch = header->epoch - ago;
    const struct aprof_epoch *e = &header->epochs[epoch % APROF_EPOCHS];
    uint64_t end = epoch != header->epoch ? e->end_tick : header->enabled ? m->now : 0;
    add_to(&ticks, end > e->begin_tick ? end - e->begin_tick : 0);
  }
  return clock_to_ns(ticks, m->rate);
}

static bool was_reset(const struct aprof_header *header) {
  return header->epochs[header->reset_epoch % APROF_EPOCHS].begin_tick > header->tick0;
}

static const char *build_id(struct view *v, const struct aprof_header *header) {
  char text[2 * sizeof header->build_id + 1] = "";
  for (uint32_t i = 0; i < header->build_id_length; i++)
    sprintf(text + 2 * i, "%02x", header->build_id[i]);
  return known_text(v, text);
}

static void fill_process(struct view *v, const struct model *m,
                         const struct view_request *request) {
  const struct aprof_header *header = &m->profile->header;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t reset = header->epochs[header->reset_epoch % APROF_EPOCHS].begin_tick;
  v->process = (struct view_process){
      .pid = header->pid,
      .parent_pid = header->parent_pid,
      .name = cleaned(v, header->name),
      .command = cleaned(v, header->command),
      .host = cleaned(v, header->host),
      .container = known_text(v, header->container),
      .processors = header->processors,
      .build_id = build_id(v, header),
      .aprof_version = known_text(v, header->aprof),
      .started_at = time_text(v, header->started_at_ns),
      .dumped_at = time_text(v, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec),
      .elapsed = clock_to_ns(m->now > header->tick0 ? m->now - header->tick0 : 0, m->rate),
      .measured = measured(m),
      .reason = request->reason,
      .sequence = request->sequence,
      .enabled = header->enabled != 0,
      .epoch = header->epoch,
      .reset_epoch = header->reset_epoch,
      .reset = known_if(was_reset(header), clock_to_ns(reset - header->tick0, m->rate)),
      .profile = cleaned(v, request->path),
  };
  static const char *const sources[] = {"", "tsc", "monotonic", "virtual"};
  unsigned __int128 hz = ((unsigned __int128)1000000000u << 32) + m->rate / 2;
  hz /= m->rate;
  v->clock = (struct view_clock){.source = sources[header->clock_source & 3],
                                 .hz = hz > UINT64_MAX ? UINT64_MAX : (uint64_t)hz};
}

/* Events are never set back, so after a reset there is no share of the time since. */
static uint64_t known_cost(const struct model *m, uint64_t cost) {
  const struct aprof_header *header = &m->profile->header;
  return known_if(header->event_cost_mticks && !was_reset(header), cost);
}

/* Where the kernel has not said, and without a poller, nobody can tell sleep from work but of
   futures that run. */
static uint64_t worked(const struct model_thread *t) {
  uint64_t by_clock = t->exec + (t->idle ? t->other : 0);
  return known_if(t->exec || t->idle, t->cpu ? t->cpu : by_clock);
}

static void fill_health(struct view *v, const struct model *m) {
  const struct aprof_header *header = &m->profile->header;
  const struct model_health *health = &m->health;
  uint64_t least = (clock_to_ns(header->event_cost_mticks, m->rate) + 500) / 1000;
  uint64_t timed = (clock_to_ns(governed_timed(m), m->rate) + 500) / 1000;
  v->health = (struct view_health){
      .events = health->events,
      .event_cost = known_if(header->event_cost_mticks, timed ? timed : least),
      .event_cost_least = known_if(header->event_cost_mticks, least),
      .event_cost_timed = timed != 0,
      .cost = known_cost(m, health->cost),
      .lost_futures = header->lost_futures,
      .folded_nodes = header->folded_nodes,
      .other_nodes = header->other_nodes,
      .lost_histograms = header->lost_histograms,
      .lost_events = header->lost_events,
      .lost_delays = header->lost_delays,
      .missed_events = health->missed_events,
      .nested_events = health->nested_events,
      .unmatched_awaits = health->unmatched_awaits,
      .reused_keys = health->reused_keys,
      .migrations = health->migrations,
      .torn_threads = health->torn_threads,
      .memory = header->used,
      .consistent = m->profile->consistent,
      .confined = header->confined != 0,
      .refused_modules = header->refused_modules,
      .refused_module = known_text(v, header->refused_name),
  };
  settle_overhead(v);
}

/* -- threads and loops ---------------------------------------------------------------- */

static void fill_thread(struct view *v, const struct model *m, struct view_thread *t,
                        const struct model_thread *from) {
  t->block = from->block;
  t->tid = from->tid;
  t->name = arena_text(&v->arena, from->name);
  t->events = from->events;
  t->exec = from->exec;
  t->idle = from->idle;
  t->other = from->other;
  t->elapsed = from->exec + from->idle + from->other;
  t->missed_events = from->missed_events;
  t->reused_keys = from->reused_keys;
  t->cost = known_cost(m, from->cost);
  t->worked = worked(from);
  governed_fill_thread(v, m, t);
}

/* The two places that bracket a slice, and what is there. */
static void fill_slice(const struct filling *f, const char **between, const char **names,
                       uint32_t from, uint32_t to) {
  between[0] = text_of(f, from)->place;
  between[1] = text_of(f, to)->place;
  names[0] = text_of(f, from)->name;
  names[1] = text_of(f, to)->name;
}

/* A thread is busy while it is not in its poller; without one nobody can tell. */
static void fill_loop(const struct filling *f, struct view_loop *loop,
                      const struct model_thread *t) {
  uint64_t busy = t->exec + t->other;
  const struct model_hold *hold = &t->hold, *open = &t->open;
  loop->block = t->block;
  loop->tid = t->tid;
  loop->name = arena_text(&f->v->arena, t->name);
  loop->elapsed = busy + t->idle;
  loop->busy = known_if(t->idle, busy);
  /* Times of a damaged profile may add up beyond what a number holds. */
  loop->busy_share =
      t->idle && busy <= loop->elapsed && loop->elapsed ? (double)busy / (double)loop->elapsed : -1;
  loop->preempted = t->preempted;
  loop->preempted_max = known_if(t->preempted_max, t->preempted_max);
  loop->slice_max = known_if(hold->time, hold->time);
  if (hold->time) {
    fill_slice(f, loop->slice_between, loop->slice_names, hold->from, hold->to);
    loop->slice_function = text_of(f, hold->function)->name;
  }
  loop->open = known_if(open->time, open->time);
  if (open->time) {
    loop->open_from = text_of(f, open->from)->place;
    loop->open_function = text_of(f, open->function)->name;
  }
}

static void fill_threads(const struct filling *f) {
  struct view *v = f->v;
  v->thread = arena_get(&v->arena, f->m->threads, sizeof *v->thread);
  v->loop = arena_get(&v->arena, f->m->threads, sizeof *v->loop);
  for (uint32_t i = 0; i < f->m->threads; i++) {
    const struct model_thread *t = &f->m->thread[i];
    fill_thread(v, f->m, &v->thread[v->threads++], t);
    if (t->exec || t->idle)
      fill_loop(f, &v->loop[v->loops++], t);
  }
}

static void fill_misses(const struct filling *f) {
  static const char *const kinds[APROF_MISS_KINDS] = {
      [APROF_MISS_RUN] = "run",       [APROF_MISS_BUSY] = "busy",
      [APROF_MISS_RESUME] = "resume", [APROF_MISS_LEAVE] = "leave",
      [APROF_MISS_UNSEEN] = "unseen", [APROF_MISS_CURRENT] = "current",
      [APROF_MISS_BROKEN] = "broken", [APROF_MISS_REUSED] = "reused",
      [APROF_MISS_AWAIT] = "await",   [APROF_MISS_END] = "end",
      [APROF_MISS_WAKE] = "wake",     [APROF_MISS_SWITCH] = "switch",
      [APROF_MISS_BEFORE] = "before",
  };
  struct view *v = f->v;
  v->miss = arena_get(&v->arena, f->m->misses, sizeof *v->miss);
  for (uint32_t i = 0; i < f->m->misses; i++) {
    const struct model_miss *miss = &f->m->miss[i];
    const struct text *text = text_of(f, miss->name);
    v->miss[v->misses++] = (struct view_miss){
        .kind = kinds[miss->kind],
        .count = miss->count,
        .name = miss->name == NAME_UNKNOWN ? NULL : text->name,
        .file = text->file,
        .line = name_of(f, miss->name)->line,
        .in = text->function,
        .matched = model_miss_has_key(miss) ? miss->matched : FLAG_UNKNOWN,
    };
  }
}

/* -- histograms --------------------------------------------------------------------- */

enum which { EXEC, SLICE, WALL, QUEUED, WAITING };

static uint32_t histogram_of(const struct aprof_counters *c, enum which which) {
  switch (which) {
  case EXEC:
    return c->function.exec_histogram;
  case SLICE:
    return c->function.slice_histogram;
  case WALL:
    return c->function.wall_histogram;
  case QUEUED:
    return c->function.queued_histogram;
  default:
    return c->await.histogram;
  }
}

static void collect(struct filling *f, const struct model_node *n, enum which which) {
  const struct model *m = f->m;
  for (uint32_t i = f->histograms ? n->leaves : MODEL_NONE; i != MODEL_NONE; i = m->leaf[i].next) {
    uint32_t offset = histogram_of(m->leaf[i].counters, which);
    if (!offset || !profile_histogram(m->profile, offset))
      continue;
    if (f->offsets == f->offset_room) {
      f->offset_room = f->offset_room ? f->offset_room * 2 : 64;
      f->offset = reallocate(f->offset, f->offset_room, sizeof *f->offset);
    }
    f->offset[f->offsets++] = offset;
  }
}

static int by_offset(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* In rising order; how many are left. */
static size_t each_once(uint32_t *offset, size_t offsets) {
  size_t kept = 0;
  if (offsets)
    qsort(offset, offsets, sizeof *offset, by_offset);
  for (size_t i = 0; i < offsets; i++)
    if (!kept || offset[i] != offset[kept - 1])
      offset[kept++] = offset[i];
  return kept;
}

/* What was collected, and forgets it. The paths of one function share a histogram: each
   counts once. */
static struct distribution collected(struct filling *f, uint64_t max) {
  struct histogram h;
  struct distribution of = {0};
  size_t count = each_once(f->offset, f->offsets);
  f->offsets = 0;
  if (!count ||
      (f->kept && kept_get(f->kept, &f->v->arena, f->m->profile, f->offset, count, max, &of)))
    return of;
  histogram_clear(&h);
  for (size_t i = 0; i < count; i++)
    histogram_add(&h, profile_histogram(f->m->profile, f->offset[i]));
  of = histogram_convert(&f->v->arena, &h, f->m->rate, max);
  if (f->kept)
    kept_put(f->kept, f->offset, count, max, &of);
  return of;
}

static struct distribution distribution_of(struct filling *f, const struct model_function *function,
                                           enum which which, uint64_t max) {
  const struct model *m = f->m;
  for (uint32_t i = function->list[APROF_NODE_FUNCTION]; i != MODEL_NONE; i = m->node[i].next)
    collect(f, &m->node[i], which);
  return collected(f, max);
}

/* -- functions -------------------------------------------------------------------------- */

static bool is_empty(const struct model_node *n) {
  return !(n->done | n->failed | n->cancelled | n->detached | n->live | n->slices | n->exec |
           n->queued | n->waiting | n->count | n->exec_max);
}

/* Places of one name beneath a function, over their paths: list[0 .. count - 1]. */
struct place {
  const struct text *text;
  const struct name *name;
  bool background;
  uint64_t count, immediate, time, open, max;
  struct distribution of;
};

static struct place add_up_place(struct filling *f, const uint32_t *list, size_t count) {
  uint32_t name = f->m->node[list[0]].name;
  struct place place = {.text = text_of(f, name), .name = name_of(f, name)};
  place.background = model_background(f->m, f->m->node[list[0]].function, place.name);
  for (size_t i = 0; i < count; i++) {
    const struct model_node *n = &f->m->node[list[i]];
    add_to(&place.count, n->count);
    add_to(&place.immediate, n->immediate);
    add_to(&place.time, n->waiting);
    add_to(&place.open, n->open);
    greater(&place.max, n->max);
    collect(f, n, WAITING);
  }
  place.of = collected(f, place.max);
  return place;
}

static void add_await(struct view_function *v, const struct place *p) {
  v->await[v->awaits++] = (struct view_await){.callee = p->text->name,
                                              .file = p->text->file,
                                              .line = p->name->line,
                                              .kind = kind_of(p->name),
                                              .count = p->count,
                                              .immediate = p->immediate,
                                              .waiting = p->time,
                                              .open = p->open,
                                              .max = known_if(p->count, p->max),
                                              .background = p->background,
                                              .waits = p->of};
}

/* A waker whose site is a create is the clock: what was due then ran later. */
static void add_waker(struct view_function *v, const struct place *p) {
  v->waker[v->wakers++] = (struct view_waker){.name = p->text->name,
                                              .file = p->text->file,
                                              .line = p->name->line,
                                              .in = p->text->function,
                                              .clock = p->name->kind == APROF_SITE_CREATE,
                                              .count = p->count,
                                              .queued = p->time,
                                              .max = known_if(p->count, p->max),
                                              .queued_of = p->of};
}

static void add_blocking(struct view_function *v, const struct place *p) {
  v->blocking[v->blockings++] = (struct view_blocking){.callee = p->text->name,
                                                       .file = p->text->file,
                                                       .line = p->name->line,
                                                       .count = p->count,
                                                       .held = p->time,
                                                       .max = known_if(p->count, p->max),
                                                       .held_of = p->of};
}

static void add_delayed(struct view_function *v, const struct place *p) {
  v->delayed[v->delays++] = (struct view_delayed){.name = p->text->name,
                                                  .file = p->text->file,
                                                  .line = p->name->line,
                                                  .count = p->count,
                                                  .delayed = p->time,
                                                  .max = known_if(p->count, p->max)};
}

static int by_name(const void *a, const void *b, void *context) {
  const struct model *m = context;
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  uint32_t left = m->node[x].name, right = m->node[y].name;
  return left != right ? (left < right ? -1 : 1) : x < y ? -1 : x > y;
}

/* Each place of a kind beneath a function, to `add`; `*at` is where that puts it. */
static void fill_places(struct filling *f, const struct model_function *function,
                        enum aprof_node_kind kind, struct view_function *v, void *at, size_t size,
                        void (*add)(struct view_function *, const struct place *)) {
  const struct model *m = f->m;
  size_t count = 0, places = 0;
  for (uint32_t i = function->list[kind]; i != MODEL_NONE; i = m->node[i].next)
    count += !is_empty(&m->node[i]);
  if (!count)
    return;
  uint32_t *list = allocate(count, sizeof *list);
  count = 0;
  for (uint32_t i = function->list[kind]; i != MODEL_NONE; i = m->node[i].next)
    if (!is_empty(&m->node[i]))
      list[count++] = i;
  qsort_r(list, count, sizeof *list, by_name, (void *)m);
  for (size_t i = 0; i < count; i++)
    places += i == 0 || m->node[list[i]].name != m->node[list[i - 1]].name;
  *(void **)at = arena_get(&f->v->arena, places, size);
  for (size_t from = 0, to; from < count; from = to) {
    for (to = from + 1; to < count && m->node[list[to]].name == m->node[list[from]].name;)
      to++;
    struct place place = add_up_place(f, list + from, to - from);
    add(v, &place);
  }
  free(list);
}

/* All that were due at a time, over the places that said so. */
static void fill_lateness(struct filling *f, const struct model_function *function,
                          struct view_lateness *late) {
  const struct model *m = f->m;
  for (uint32_t i = function->list[APROF_NODE_WAKER]; i != MODEL_NONE; i = m->node[i].next) {
    const struct model_node *n = &m->node[i];
    if (name_of(f, n->name)->kind != APROF_SITE_CREATE || !n->count)
      continue;
    late->is = true;
    add_to(&late->count, n->count);
    add_to(&late->total, n->waiting);
    greater(&late->max, n->max);
    collect(f, n, WAITING);
  }
  late->late = collected(f, late->max);
}

static void fill_longest(const struct filling *f, struct view_function *v, uint32_t function,
                         const struct model_node *longest) {
  v->slice_max = known_if(v->slices, longest ? longest->slice_max : 0);
  v->mostly_max = v->on_cpu_least = v->on_cpu_most = UNKNOWN;
  v->mostly_at_once = v->slice_at_start = FLAG_UNKNOWN;
  if (!longest)
    return;
  fill_slice(f, v->slice_between, v->slice_names, longest->slice_from, longest->slice_to);
  v->on_cpu_least = known_if(longest->on_cpu_most, longest->on_cpu_least);
  v->on_cpu_most = known_if(longest->on_cpu_most, longest->on_cpu_most);
  /* A run begins at its function's start, and was waited for where somebody else created it. */
  const struct name *from = name_of(f, longest->slice_from), *own = name_of(f, function);
  v->slice_at_start = from->kind == APROF_SITE_CREATE &&
                      (from->function == NULL || strcmp(from->function, own->name) != 0);
  if (longest->mostly == MODEL_NONE)
    return;
  const struct model_node *mostly = &f->m->node[longest->mostly];
  v->mostly = text_of(f, mostly->name)->name;
  v->mostly_max = mostly->exec_max;
  v->mostly_at_once = !mostly->waiting;
}

/* Sums over its paths; returns the one with the longest slice, or NULL. */
static const struct model_node *add_up(const struct model *m, const struct model_function *from,
                                       struct view_function *v) {
  const struct model_node *longest = NULL;
  for (uint32_t i = from->list[APROF_NODE_FUNCTION]; i != MODEL_NONE; i = m->node[i].next) {
    const struct model_node *n = &m->node[i];
    add_to(&v->done, n->done);
    add_to(&v->failed, n->failed);
    add_to(&v->cancelled, n->cancelled);
    add_to(&v->detached, n->detached);
    add_to(&v->live, n->live);
    add_to(&v->born_done, n->born_done);
    add_to(&v->slices, n->slices);
    add_to(&v->exec, n->exec);
    add_to(&v->pool_exec, n->pool_exec);
    add_to(&v->queued, n->queued);
    add_to(&v->waiting, n->waiting);
    add_to(&v->children_exec, n->children_exec);
    v->shared |= n->shared;
    greater(&v->exec_max, n->exec_max);
    greater(&v->wall_max, n->wall_max);
    if (n->slice_max > (longest ? longest->slice_max : 0))
      longest = n;
  }
  return longest;
}

static void fill_function(struct filling *f, const struct model_function *from,
                          struct view_function *v) {
  static const char *const models[] = {[APROF_MODEL_STACK] = "stack",
                                       [APROF_MODEL_FRAME] = "frame",
                                       [APROF_MODEL_CALLBACK] = "callback"};
  const struct name *name = name_of(f, from->name);
  const struct text *text = text_of(f, from->name);
  const struct model_node *longest = add_up(f->m, from, v);
  uint64_t ended = v->done + v->failed + v->cancelled;
  v->process = UNKNOWN;
  v->name = text->name;
  v->file = text->file;
  v->line = name->line;
  v->column = name->column;
  v->model = name->model < sizeof models / sizeof *models ? models[name->model] : NULL;
  v->instrumented = !name->by_address || name->noted;
  v->created = ended + v->detached + v->live;
  v->wall = v->queued + v->exec + v->waiting;
  v->shed = governed_concern(f->m, from);
  fill_longest(f, v, from->name, longest);
  v->exec_of = distribution_of(f, from, EXEC, v->exec_max);
  v->slice_of = distribution_of(f, from, SLICE, longest ? longest->slice_max : 0);
  v->wall_of = distribution_of(f, from, WALL, v->wall_max);
  v->queued_of = distribution_of(f, from, QUEUED, HISTOGRAM_NO_MAX);
  /* While the clock is shed there are no maxima. */
  bool coarse = v->shed >> APROF_STEP_COARSE;
  v->exec_max = known_if(ended && (v->exec_max || !coarse), v->exec_max);
  v->wall_max = known_if(ended && (v->wall_max || !coarse), v->wall_max);
  fill_places(f, from, APROF_NODE_AWAIT, v, &v->await, sizeof *v->await, add_await);
  fill_places(f, from, APROF_NODE_WAKER, v, &v->waker, sizeof *v->waker, add_waker);
  fill_places(f, from, APROF_NODE_BLOCKING, v, &v->blocking, sizeof *v->blocking, add_blocking);
  fill_places(f, from, APROF_NODE_DELAYED, v, &v->delayed, sizeof *v->delayed, add_delayed);
  fill_lateness(f, from, &v->lateness);
}

struct ranked {
  uint32_t function;
  uint64_t exec, waiting;
};

static int by_exec(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  if (x->exec != y->exec)
    return x->exec > y->exec ? -1 : 1;
  if (x->waiting != y->waiting)
    return x->waiting > y->waiting ? -1 : 1;
  return x->function < y->function ? -1 : x->function > y->function;
}

/* Those with nothing to tell are left out; the longest exec comes first. */
static void fill_functions(struct filling *f) {
  const struct model *m = f->m;
  bool *used = allocate(m->functions, sizeof *used);
  struct ranked *ranked = allocate(m->functions, sizeof *ranked);
  size_t count = 0;
  for (uint32_t i = m->nodes; i-- > 0;) {
    const struct model_node *n = &m->node[i];
    f->path_shown[i] |= !is_empty(n);
    if (!f->path_shown[i])
      continue;
    used[n->function] = true;
    if (n->parent != MODEL_NONE)
      f->path_shown[n->parent] = true;
    /* Wakers, blocking calls, the delayed are no part of a path: their function lists them. */
    f->path_shown[i] = n->kind <= APROF_NODE_AWAIT;
  }
  for (uint32_t i = 0; i < m->functions; i++) {
    struct view_function sums = {0};
    f->number[i] = MODEL_NONE;
    if (!used[i])
      continue;
    add_up(m, &m->function[i], &sums);
    ranked[count++] = (struct ranked){.function = i, .exec = sums.exec, .waiting = sums.waiting};
  }
  if (count)
    qsort(ranked, count, sizeof *ranked, by_exec);
  f->v->function = arena_get(&f->v->arena, count, sizeof *f->v->function);
  f->v->functions = count;
  for (size_t i = 0; i < count; i++) {
    f->number[ranked[i].function] = (uint32_t)i;
    fill_function(f, &m->function[ranked[i].function], &f->v->function[i]);
  }
  free(ranked);
  free(used);
}

/* -- paths ------------------------------------------------------------------------------ */

static void fill_path(const struct filling *f, struct view_path *path, uint32_t index) {
  const struct model_node *n = &f->m->node[index];
  const struct name *name = name_of(f, n->name);
  const struct text *text = text_of(f, n->name);
  *path = (struct view_path){
      .id = (uint64_t)index + 1,
      .parent_id = n->parent == MODEL_NONE ? 0 : (uint64_t)n->parent + 1,
      .function = f->number[n->function],
      .is_await = n->kind == APROF_NODE_AWAIT,
      .name = text->name,
      .waiting = n->waiting,
  };
  if (path->is_await) {
    path->place = text->place;
    path->kind = kind_of(name);
    path->background = model_background(f->m, n->function, name);
    path->count = n->count;
    path->immediate = n->immediate;
    path->open = n->open;
    path->max = known_if(n->count, n->max);
    return;
  }
  path->created = n->done + n->failed + n->cancelled + n->detached + n->live;
  path->done = n->done;
  path->failed = n->failed;
  path->cancelled = n->cancelled;
  path->detached = n->detached;
  path->live = n->live;
  path->born_done = n->born_done;
  path->slices = n->slices;
  path->exec = n->exec;
  path->queued = n->queued;
  path->wall = n->queued + n->exec + n->waiting;
  path->children_exec = n->children_exec;
  path->shared = n->shared;
}

static void fill_tree(const struct filling *f) {
  struct view *v = f->v;
  size_t count = 0;
  for (uint32_t i = 0; i < f->m->nodes; i++)
    count += f->path_shown[i];
  v->path = arena_get(&v->arena, count, sizeof *v->path);
  for (uint32_t i = 0; i < f->m->nodes; i++)
    if (f->path_shown[i])
      fill_path(f, &v->path[v->paths++], i);
}

/* -- what lives --------------------------------------------------------------------------- */

static const char *state_text(uint8_t state) {
  return state == APROF_FUTURE_RUNNING  ? "running"
         : state == APROF_FUTURE_QUEUED ? "queued"
                                        : "waiting";
}

/* `count` 1: the future itself; more: of so many alike the oldest, with the time that is
   due first, and the least that `youngest` has. */
static void add_live(const struct filling *f, const struct model_live *live,
                     const struct model_live *youngest, uint64_t count) {
  const struct name *await = name_of(f, live->await), *create = name_of(f, live->create);
  const struct text *at = text_of(f, live->await), *by = text_of(f, live->create);
  bool alone = count == 1, waits = live->await != NAME_UNKNOWN;
  f->v->live[f->v->lives++] = (struct view_live){
      .id = alone ? live->id : 0,
      .parent = alone ? live->parent : 0,
      .name = text_of(f, f->m->function[live->function].name)->name,
      .function = f->number[live->function],
      .state = state_text(live->state),
      .age = live->age,
      .since = live->since,
      .age_min = youngest->age,
      .since_min = youngest->since,
      .due = live->due,
      .place = at->place,
      .callee = waits ? at->name : NULL,
      .kind = waits ? kind_of(await) : NULL,
      .background = model_background(f->m, live->function, await),
      .started = live->started,
      .aside = live->aside,
      .created_at = by->place,
      .created_by = create->kind == APROF_SITE_FUNCTION ? NULL : by->function,
      .tid = alone ? live->tid : 0,
      .count = count,
  };
}

/* Alike: all but their times and identities are the same. Who runs stays alone: it holds a loop. */
static int compare_group(const struct model_live *x, const struct model_live *y) {
  if (x->function != y->function)
    return x->function < y->function ? -1 : 1;
  if (x->await != y->await)
    return x->await < y->await ? -1 : 1;
  if (x->state != y->state)
    return x->state < y->state ? -1 : 1;
  if (x->create != y->create)
    return x->create < y->create ? -1 : 1;
  if (x->started != y->started)
    return x->started ? -1 : 1;
  if (x->aside != y->aside)
    return x->aside ? -1 : 1;
  if (x->state == APROF_FUTURE_RUNNING && x->tid != y->tid)
    return x->tid < y->tid ? -1 : 1;
  return !x->due != !y->due ? (x->due ? -1 : 1) : 0;
}

static int by_group(const void *a, const void *b) {
  const struct model_live *x = a, *y = b;
  int order = compare_group(x, y);
  return order ? order : x->age > y->age ? -1 : x->age < y->age;
}

static void fill_groups(const struct filling *f, uint32_t listed) {
  uint32_t rest = f->m->lives - listed;
  struct model_live *young = allocate(rest, sizeof *young);
  memcpy(young, f->m->live + listed, rest * sizeof *young);
  qsort(young, rest, sizeof *young, by_group);
  for (uint32_t from = 0, to; from < rest; from = to) {
    struct model_live oldest = young[from], youngest = oldest;
    for (to = from + 1; to < rest && !compare_group(&young[to], &young[from]); to++) {
      greater(&oldest.since, young[to].since);
      if (young[to].since < youngest.since)
        youngest.since = young[to].since;
      if (young[to].due < oldest.due)
        oldest.due = young[to].due;
      youngest.age = young[to].age; /* the last is the youngest */
    }
    add_live(f, &oldest, &youngest, to - from);
  }
  free(young);
}

static void fill_live(const struct filling *f, uint32_t limit) {
  f->v->live = arena_get(&f->v->arena, f->m->lives, sizeof *f->v->live);
  for (uint32_t i = 0; i < f->m->lives && i < limit; i++)
    add_live(f, &f->m->live[i], &f->m->live[i], 1);
  if (f->m->lives > limit)
    fill_groups(f, limit);
}

/* -- the whole ------------------------------------------------------------------------------ */

struct view *view_of_model(const struct model *m, const char *what,
                           const struct view_request *request, struct kept *kept) {
  struct view *v = view_new(what);
  struct filling f = {.v = v, .m = m, .histograms = !request->without_histograms, .kept = kept};
  f.text = allocate(m->names->count, sizeof *f.text);
  f.number = allocate(m->functions, sizeof *f.number);
  f.path_shown = allocate(m->nodes, sizeof *f.path_shown);
  fill_process(v, m, request);
  fill_threads(&f);
  fill_health(v, m);
  governed_fill(v, m);
  fill_misses(&f);
  fill_functions(&f);
  fill_tree(&f);
  fill_live(&f, request->lives ? request->lives : VIEW_LIVE_LIMIT);
  free(f.text);
  free(f.number);
  free(f.path_shown);
  free(f.offset);
  view_settle(v);
  return v;
}

/* The block of a thread; MODEL_NONE after a message, where there is none. */
static uint32_t block_of(const struct profile *p, const char *what, int64_t tid) {
  for (size_t i = 0; i < p->blocks.count; i++) {
    const struct aprof_block *b = p->blocks.run[i].elements;
    if (b->tid == tid)
      return p->blocks.run[i].first;
  }
  complain("%s has no loop of a thread %lld; a report without --loop lists them", what,
           (long long)tid);
  return MODEL_NONE;
}

struct view *view_of_profile(int fd, const char *what, enum profile_state state,
                             const struct view_request *request) {
  bool live = state == PROFILE_LIVE;
  struct aprof_header header;
  /* The fit comes first: it may have to wait, and "now" must not. */
  if (!profile_read_header(fd, what, &header, false))
    return NULL;
  uint64_t rate = clock_rate(fd, what, &header, live);
  struct profile *p = rate ? profile_read(fd, what, live, !request->without_histograms) : NULL;
  if (!p)
    return NULL;
  uint32_t only = request->loop ? block_of(p, what, request->loop) : MODEL_NONE;
  if (request->loop && only == MODEL_NONE) {
    profile_free(p);
    return NULL;
  }
  uint64_t now = request->at;
  if (!now)
    now = live && p->read_tick ? p->read_tick : profile_last_tick(p);
  struct names *names = names_new(p, live ? p->header.pid : 0);
  struct model *m = model_of_block(p, names, rate, now, !live, only);
  struct view *v = view_of_model(m, what, request, NULL);
  v->only = request->loop;
  model_free(m);
  names_free(names);
  profile_free(p);
  return v;
}
