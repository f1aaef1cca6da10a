/* SPDX-License-Identifier: MIT */
/* How the model's books are added up, and whether they balance. */
#include "ledger.h"

#include <string.h>

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
  const struct path *function = path;
  while (function->above && (function->is_await || function->is_span))
    function = function->above;
  snprintf(place, sizeof place, path->is_await ? "%s @ %s" : "%s%s", function->name,
           path->is_await ? path->name : "");
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
  case SEGMENT_OUTSIDE:
    rows_add(rows, path, "exec", s->length);
    for (struct path *up = s->path->above; up; up = up->above) {
      path_spell(up, path, sizeof path);
      rows_add(rows, path, "children_exec", s->length);
    }
    break;
  case SEGMENT_SPANNED:
    rows_add(rows, path, "done", 1);
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
static void live_rows(const struct future *f, enum state state, uint64_t now, const char *path,
                      struct rows *rows) {
  uint64_t open = now - f->last;
  uint64_t queued = state == QUEUED                              ? open
                    : !f->woken || f->aside || f->woken_at > now ? 0
                    : f->woken_at > f->last                      ? now - f->woken_at
                                                                 : open;
  rows_add(rows, path, f->state == DETACHED ? "detached" : "live", 1);
  if (state == RUNNING) {
    struct segment s = {.path = f->at, .kind = SEGMENT_EXEC, .length = open};
    segment_rows(&s, rows);
    return;
  }
  rows_add(rows, path, "queued", queued);
  if (state == WAITING) {
    char await[2048];
    path_spell(f->await, await, sizeof await);
    rows_add(rows, await, "waiting", open - queued);
    path_spell(f->await->above, await, sizeof await);
    rows_add(rows, await, "waiting", open - queued);
  }
}

static void thread_rows(const struct thread *t, struct rows *rows) {
  char name[32];
  snprintf(name, sizeof name, "thread %u", t->number);
  rows_add(rows, name, "exec", t->exec);
  rows_add(rows, name, "idle", t->idle);
  rows_add(rows, name, "other", t->other);
  rows_add(rows, name, "elapsed", (t->ledger->off ? t->last : t->ledger->now) - t->begin);
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
    rows_add(rows, path, "wall",
             (f->state == OVER || f->state == DETACHED ? f->over : ledger->now) - f->created);
    if (f->state == OVER)
      over_rows(f, path, rows);
    else if (f->state == DETACHED)
      live_rows(f, f->detached, f->over, path, rows);
    else
      live_rows(f, f->state, ledger->now, path, rows);
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
    uint64_t end = f->state == OVER || f->state == DETACHED ? f->over : ledger->now;
    uint64_t open = f->state == OVER ? 0 : end - f->last, wall = end - f->created;
    enum state state = f->state == DETACHED ? f->detached : f->state;
    if (wall != f->exec + f->queued + f->waiting + open)
      return false;
    futures += f->exec + (state == RUNNING ? open : 0);
  }
  for (unsigned i = 0; i < PROGRAM_THREADS; i++) {
    const struct thread *t = &ledger->threads[i];
    if (t->began &&
        (ledger->off ? t->last : ledger->now) - t->begin != t->exec + t->idle + t->other)
      return false;
    threads += t->exec;
  }
  return futures == threads;
}
