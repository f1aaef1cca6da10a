/* SPDX-License-Identifier: MIT */
/* The process, its clock, health and threads, in a view; see filling.h. */
#include "clock.h"
#include "filling.h"
#include "governed.h"
#include "settle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char *cleaned(struct view *v, const char *text) {
  char *copy = (char *)arena_text(&v->arena, text);
  if (copy)
    clean_text(copy);
  return copy;
}

const char *view_time(struct view *v, int64_t ns) {
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

struct view_clock view_clock_of(uint32_t source, uint64_t rate) {
  static const char *const sources[] = {"", "tsc", "monotonic", "virtual"};
  unsigned __int128 hz = ((unsigned __int128)1000000000u << 32) + rate / 2;
  hz /= rate;
  return (struct view_clock){.source = sources[source & 3],
                             .hz = hz > UINT64_MAX ? UINT64_MAX : (uint64_t)hz};
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

void fill_process(struct view *v, const struct model *m, const struct view_request *request) {
  const struct aprof_header *header = &m->profile->header;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t reset = header->epochs[header->reset_epoch % APROF_EPOCHS].begin_tick;
  v->now = m->now;
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
      .started_at = view_time(v, header->started_at_ns),
      .dumped_at = view_time(v, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec),
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
  v->clock = view_clock_of(header->clock_source, m->rate);
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

void fill_health(struct view *v, const struct model *m) {
  const struct aprof_header *header = &m->profile->header;
  const struct model_health *health = &m->health;
  uint64_t least = (clock_to_ns(header->event_cost_mticks, m->rate) + 500) / 1000;
  uint64_t timed = (clock_to_ns(governed_timed(m), m->rate) + 500) / 1000;
  v->health = (struct view_health){
      .events = health->events,
      .general_events = health->general_events,
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
      .lost_requests = header->lost_requests,
      .lost_shares = header->lost_shares,
      .slow_missed = header->slow_missed,
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
  t->run_delay = UNKNOWN;
  governed_fill_thread(v, m, t);
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

void fill_threads(const struct filling *f) {
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

void fill_misses(const struct filling *f) {
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
  v->ignored = arena_get(&v->arena, f->m->misses, sizeof *v->ignored);
  for (uint32_t i = 0; i < f->m->misses; i++) {
    const struct model_miss *miss = &f->m->miss[i];
    const struct text *text = text_of(f, miss->name);
    struct view_miss one = {
        .kind = kinds[miss->kind],
        .count = miss->count,
        .name = miss->name == NAME_UNKNOWN ? NULL : text->name,
        .file = text->file,
        .line = name_of(f, miss->name)->line,
        .in = text->function,
        .matched = model_miss_has_key(miss) ? miss->matched : FLAG_UNKNOWN,
    };
    if (view_may_be_right(one.kind))
      v->ignored[v->ignores++] = one;
    else
      v->miss[v->misses++] = one;
  }
}

/* -- what the kernel counts ------------------------------------------------------------------ */

/* Of a thread that lives: on a processor, ready for one, how often. */
static uint64_t run_delay(int64_t pid, int64_t tid) {
  char *path = print_string("/proc/%" PRId64 "/task/%" PRId64 "/schedstat", pid, tid);
  uint64_t delay = UNKNOWN;
  FILE *file = fopen(path, "re");
  if (file && fscanf(file, "%*u %" SCNu64, &delay) != 1)
    delay = UNKNOWN;
  if (file)
    fclose(file);
  free(path);
  return delay < BEYOND ? delay : UNKNOWN;
}

void fill_run_delay(struct view *v, const struct aprof_header *header) {
  if (v->process.reset != UNKNOWN || !header->start_time ||
      header->clock_source == APROF_CLOCK_VIRTUAL ||
      process_start(header->pid) != header->start_time)
    return; /* what the kernel counts is of all time, by its own clock, and of that number here */
  for (size_t i = 0; i < v->threads; i++)
    v->thread[i].run_delay = run_delay(v->process.pid, v->thread[i].tid);
}
