/* SPDX-License-Identifier: MIT */
/* The model's books, and how they are added up. */
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

/* -- paths ------------------------------------------------------------------ */

static struct path *path_below(struct ledger *ledger, struct path *above, const char *name,
                               bool is_await) {
  for (unsigned i = 0; i < ledger->path_count; i++) {
    struct path *path = &ledger->paths[i];
    if (path->above == above && path->is_await == is_await && strcmp(path->name, name) == 0)
      return path;
  }
  struct path *path = &ledger->paths[ledger->path_count++];
  if (ledger->path_count > LEDGER_PATHS)
    abort();
  *path = (struct path){.above = above, .name = name, .is_await = is_await};
  return path;
}

/* A function already on the path folds onto its first occurrence. */
static struct path *function_path(struct ledger *ledger, struct path *above, const char *name) {
  for (struct path *path = above; path; path = path->above)
    if (strcmp(path->name, name) == 0)
      return path;
  return path_below(ledger, above, name, false);
}

struct path *ledger_await(struct ledger *ledger, struct path *function, const char *site) {
  return path_below(ledger, function, site, true);
}

static void path_spell(const struct path *path, char *text, size_t size) {
  if (path->above)
    path_spell(path->above, text, size);
  else
    text[0] = 0;
  size_t length = strlen(text);
  snprintf(text + length, size - length, "%s%s",
           !length          ? ""
           : path->is_await ? " @ "
                            : " > ",
           path->name);
}

/* -- futures ---------------------------------------------------------------- */

struct future *ledger_future(struct thread *t, const struct aprof_site *site, bool root) {
  struct ledger *ledger = t->ledger;
  if (ledger->future_count == LEDGER_FUTURES)
    abort();
  struct future *f = &ledger->futures[ledger->future_count++];
  struct path *above = root || !t->current ? NULL : t->current->path;
  *f = (struct future){.state = TENTATIVE,
                       .site = site,
                       .birth = site->name,
                       .path = function_path(ledger, above, site->name),
                       .created = ledger->now,
                       .last = ledger->now,
                       .thread = t->number};
  return f;
}

void ledger_named(struct thread *t, struct future *f, const struct aprof_site *site) {
  f->path = function_path(t->ledger, f->path->above, site->name);
  if (f->await)
    f->await = ledger_await(t->ledger, f->path, f->await->name);
  f->site = site;
  f->nameless = false;
}

/* -- time ------------------------------------------------------------------- */

static void segment(struct ledger *ledger, struct path *path, int kind, uint64_t length,
                    bool immediate) {
  if (ledger->segment_count == sizeof ledger->segments / sizeof *ledger->segments)
    abort();
  ledger->segments[ledger->segment_count++] =
      (struct segment){.path = path, .kind = kind, .length = length, .immediate = immediate};
}

void ledger_time(struct thread *t) {
  uint64_t now = t->ledger->now;
  if (!t->began)
    t->begin = t->last = now;
  t->began = true;
  uint64_t *where = t->current ? &t->exec : t->idling ? &t->idle : &t->other;
  *where += now - t->last;
  t->last = now;
}

/* f, which goes on here or is over, has been ready for so long: the long slices of this thread
   have their share of that. */
static void queue(struct thread *t, struct future *f, uint64_t length) {
  struct ledger *ledger = t->ledger;
  uint64_t since = ledger->now - length;
  f->queued += length;
  segment(ledger, f->path, SEGMENT_QUEUE, length, false);
  for (unsigned i = 0; i < LEDGER_HOLDS && i < t->holds; i++) {
    const struct held *held = &t->held[i];
    uint64_t from = held->begin > since ? held->begin : since;
    if (held->end <= from + LEDGER_LONG)
      continue;
    segment(ledger, held->path, SEGMENT_DELAY, held->end - from, false);
    ledger->segments[ledger->segment_count - 1].delayed = f->path->name;
  }
}

void ledger_close(struct thread *t, struct future *f, bool immediate) {
  struct ledger *ledger = t->ledger;
  uint64_t length = ledger->now - f->last, queued = 0;
  if (f->state == RUNNING) {
    f->exec += length;
    segment(ledger, f->path, SEGMENT_EXEC, length, false);
  } else if (f->state == WAITING) {
    if (f->woken && !f->aside && f->woken_at <= ledger->now) {
      queued = ledger->now - (f->woken_at > f->last ? f->woken_at : f->last);
      queue(t, f, queued);
    }
    f->waiting += length - queued;
    segment(ledger, f->await, SEGMENT_WAIT, length - queued, immediate);
  } else if (f->state == QUEUED) {
    queue(t, f, length);
  }
  f->woken &= f->state == RUNNING || f->aside; /* for its next wait */
  f->last = ledger->now;
}

void ledger_runs(struct thread *t, struct future *f, const char *from) {
  if (f->thread != t->number)
    t->ledger->migrations++;
  f->thread = t->number;
  f->state = RUNNING;
  t->current = f;
  if (!t->slice_open) {
    t->slice_open = true;
    t->slice_begin = t->ledger->now;
    const struct future *outermost = f;
    while (outermost->caller && outermost->caller->state == WAITING &&
           outermost->caller->aside == FOR_CALLEE && outermost->caller->callee == outermost)
      outermost = outermost->caller;
    t->slice_owner = outermost->path;
    t->slice_from = from;
  }
}

void ledger_waits(struct thread *t, struct future *f) {
  f->state = WAITING;
  f->last = t->ledger->now;
  if (t->current == f)
    t->current = NULL;
}

void ledger_over(struct thread *t, struct future *f, int how) {
  f->state = OVER;
  f->how = how;
  f->over = t->ledger->now;
  f->keyed = false;
  if (t->current == f)
    t->current = NULL;
}

static void longest_slice(struct thread *t, uint64_t length, const char *to) {
  struct ledger *ledger = t->ledger;
  struct longest *longest = ledger->longest;
  while (longest < ledger->longest + ledger->longest_count &&
         (longest->path != t->slice_owner || longest->thread != t->number))
    longest++;
  if (longest == ledger->longest + ledger->longest_count) {
    ledger->longest_count++;
    *longest = (struct longest){.path = t->slice_owner, .thread = t->number};
  }
  if (length <= longest->length)
    return;
  longest->length = length;
  longest->from = t->slice_from;
  longest->to = to;
}

void ledger_slice_end(struct thread *t, const char *to) {
  struct ledger *ledger = t->ledger;
  uint64_t length = ledger->now - t->slice_begin;
  t->last_slice = ledger->segment_count;
  segment(ledger, t->slice_owner, SEGMENT_SLICE, length, false);
  longest_slice(t, length, to);
  if (length > LEDGER_LONG)
    t->held[t->holds++ % LEDGER_HOLDS] = (struct held){
        .path = t->slice_owner, .begin = t->slice_begin, .end = ledger->now};
  t->slice_open = false;
  t->slices++;
}

void ledger_charge_back(struct thread *t, struct future *f, const char *to) {
  struct ledger *ledger = t->ledger;
  uint64_t passed = ledger->now - f->last;
  f->exec += passed;
  segment(ledger, f->path, SEGMENT_EXEC, passed, false);
  t->exec += passed;
  *(t->idling ? &t->idle : &t->other) -= passed;
  struct segment *slice = &ledger->segments[t->last_slice];
  if (slice->length > LEDGER_LONG)
    t->held[(t->holds - 1) % LEDGER_HOLDS].end += passed;
  else if (slice->length + passed > LEDGER_LONG)
    t->held[t->holds++ % LEDGER_HOLDS] = (struct held){
        .path = slice->path, .begin = t->slice_begin, .end = ledger->now};
  slice->length += passed;
  longest_slice(t, slice->length, to);
  f->last = ledger->now;
  if (f->woken && f->woken_at < ledger->now)
    f->woken_at = ledger->now;
}

/* -- adding up -------------------------------------------------------------- */

/* Lower bound of the bucket of a value, by counting: each below 32 has its own, above 16
   buckets divide each octave. */
static uint64_t bucket_lower(uint64_t value) {
  uint64_t width = 1;
  while (value / width >= 32)
    width *= 2;
  return value / width * width;
}

/* Histograms are kept by function, or await in it, whatever the path. */
static void bucket(struct rows *rows, const struct path *path, const char *what, uint64_t value) {
  char place[256];
  snprintf(place, sizeof place, path->is_await ? "%s @ %s" : "%s%s",
           path->is_await ? path->above->name : path->name, path->is_await ? path->name : "");
  rows_bucket(rows, place, what, bucket_lower(value), 1);
}

static void segment_rows(struct segment *s, struct rows *rows) {
  char path[2048];
  path_spell(s->path, path, sizeof path);
  switch (s->kind) {
  case SEGMENT_EXEC:
    rows_add(rows, path, "exec", s->length);
    for (struct path *up = s->path->above; up; up = up->above) {
      path_spell(up, path, sizeof path);
      rows_add(rows, path, "children_exec", s->length);
    }
    break;
  case SEGMENT_QUEUE:
    rows_add(rows, path, "queued", s->length);
    bucket(rows, s->path, "queued histogram", s->length);
    break;
  case SEGMENT_SLICE:
    rows_add(rows, path, "slices", 1);
    rows_max(rows, path, "slice_max", s->length);
    bucket(rows, s->path, "slice histogram", s->length);
    break;
  case SEGMENT_DELAY: {
    char what[256];
    snprintf(what, sizeof what, "delayed %s", s->delayed);
    rows_add(rows, path, what, s->length);
    snprintf(what, sizeof what, "times it delayed %s", s->delayed);
    rows_add(rows, path, what, 1);
    break;
  }
  case SEGMENT_WAIT:
    rows_add(rows, path, "count", 1);
    rows_add(rows, path, "immediate", s->immediate);
    rows_add(rows, path, "waiting", s->length);
    rows_max(rows, path, "max", s->length);
    if (!s->immediate)
      bucket(rows, s->path, "histogram", s->length);
    path_spell(s->path->above, path, sizeof path);
    rows_add(rows, path, "waiting", s->length);
  }
}

static void over_rows(const struct future *f, const char *path, struct rows *rows) {
  rows_add(rows, path,
           f->how == APROF_DONE     ? "done"
           : f->how == APROF_FAILED ? "failed"
                                    : "cancelled",
           1);
  rows_max(rows, path, "exec_max", f->exec);
  rows_max(rows, path, "wall_max", f->over - f->created);
  bucket(rows, f->path, "exec histogram", f->exec);
  bucket(rows, f->path, "wall histogram", f->over - f->created);
  rows_add(rows, path, "born_done", !f->waited);
}

/* The open segment of one that lives; the reader adds it too, but counts it not. */
static void live_rows(struct ledger *ledger, const struct future *f, const char *path,
                      struct rows *rows) {
  uint64_t open = ledger->now - f->last;
  uint64_t queued = f->state == QUEUED                               ? open
                    : !f->woken || f->aside || f->woken_at > ledger->now ? 0
                    : f->woken_at > f->last                  ? ledger->now - f->woken_at
                                                             : open;
  rows_add(rows, path, "live", 1);
  if (f->state == RUNNING) {
    struct segment s = {.path = f->path, .kind = SEGMENT_EXEC, .length = open};
    segment_rows(&s, rows);
    return;
  }
  rows_add(rows, path, "queued", queued);
  if (f->state == WAITING) {
    char await[2048];
    path_spell(f->await, await, sizeof await);
    rows_add(rows, await, "waiting", open - queued);
    rows_add(rows, path, "waiting", open - queued);
  }
}

static void thread_rows(const struct thread *t, struct rows *rows) {
  char name[32];
  snprintf(name, sizeof name, "thread %u", t->number);
  rows_add(rows, name, "exec", t->exec);
  rows_add(rows, name, "idle", t->idle);
  rows_add(rows, name, "other", t->other);
  rows_add(rows, name, "elapsed", t->ledger->now - t->begin);
}

static void longest_rows(const struct longest *longest, struct rows *rows) {
  char path[2048], between[128];
  if (longest->length == 0)
    return;
  path_spell(longest->path, path, sizeof path);
  snprintf(between, sizeof between, "slice between %s and %s", longest->from, longest->to);
  rows_max(rows, path, between, longest->length);
}

void ledger_rows(struct ledger *ledger, struct rows *rows) {
  for (unsigned i = 0; i < ledger->segment_count; i++)
    segment_rows(&ledger->segments[i], rows);
  for (unsigned i = 0; i < ledger->future_count; i++) {
    struct future *f = &ledger->futures[i];
    char path[2048];
    if (f->state == NEVER || f->state == TENTATIVE)
      continue;
    path_spell(f->path, path, sizeof path);
    rows_add(rows, path, "created", 1);
    rows_add(rows, path, "wall", (f->state == OVER ? f->over : ledger->now) - f->created);
    if (f->state == OVER)
      over_rows(f, path, rows);
    else
      live_rows(ledger, f, path, rows);
  }
  for (unsigned i = 0; i < ledger->longest_count; i++)
    longest_rows(&ledger->longest[i], rows);
  for (unsigned i = 0; i < PROGRAM_THREADS; i++)
    if (ledger->threads[i].began)
      thread_rows(&ledger->threads[i], rows);
  rows_add(rows, "health", "missed", ledger->missed);
  rows_add(rows, "health", "reused", ledger->reused);
  rows_add(rows, "health", "unmatched", ledger->unmatched);
  rows_add(rows, "health", "migrations", ledger->migrations);
}

/* wall = queued + exec + waiting of each future; elapsed = exec + idle + other of
   each thread; and all that ran, ran on some thread. */
bool ledger_check(const struct ledger *ledger) {
  uint64_t futures = 0, threads = 0;
  for (unsigned i = 0; i < ledger->future_count; i++) {
    const struct future *f = &ledger->futures[i];
    if (f->state == NEVER || f->state == TENTATIVE)
      continue;
    uint64_t open = f->state == OVER ? 0 : ledger->now - f->last;
    uint64_t wall = (f->state == OVER ? f->over : ledger->now) - f->created;
    if (wall != f->exec + f->queued + f->waiting + open)
      return false;
    futures += f->exec + (f->state == RUNNING ? open : 0);
  }
  for (unsigned i = 0; i < PROGRAM_THREADS; i++) {
    const struct thread *t = &ledger->threads[i];
    if (t->began && ledger->now - t->begin != t->exec + t->idle + t->other)
      return false;
    threads += t->exec;
  }
  return futures == threads;
}
