/* SPDX-License-Identifier: MIT */
/* The model's books: what is written into them, event by event. */
#include "ledger.h"

#include "requests.h"

#include <stdlib.h>
#include <string.h>

/* -- paths ------------------------------------------------------------------ */

static struct path *path_below(struct ledger *ledger, struct path *above, const char *name,
                               bool is_await) {
  for (unsigned i = 0; i < ledger->path_count; i++) {
    struct path *path = &ledger->paths[i];
    if (path->above == above && path->is_await == is_await && strcmp(path->name, name) == 0)
      return path; /* no span is called as a function */
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

struct path *ledger_span(struct ledger *ledger, struct path *above, const char *name) {
  for (struct path *path = above; path && path->is_span; path = path->above)
    if (strcmp(path->name, name) == 0)
      return path;
  struct path *path = path_below(ledger, above, name, false);
  path->is_span = true;
  return path;
}

/* -- futures ---------------------------------------------------------------- */

struct future *ledger_future(struct thread *t, const struct aprof_site *site, bool root) {
  struct ledger *ledger = t->ledger;
  if (ledger->future_count == LEDGER_FUTURES)
    abort();
  struct future *f = &ledger->futures[ledger->future_count++];
  struct path *above = root || !t->current ? NULL : t->current->at;
  *f = (struct future){.state = TENTATIVE,
                       .site = site,
                       .birth = site->name,
                       .path = function_path(ledger, above, site->name),
                       .created = ledger->now,
                       .last = ledger->now,
                       .thread = t->number};
  f->at = f->path;
  return f;
}

void ledger_named(struct thread *t, struct future *f, const struct aprof_site *site) {
  f->path = f->at = function_path(t->ledger, f->path->above, site->name);
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

void ledger_spanned(struct ledger *ledger, struct path *span) {
  segment(ledger, span, SEGMENT_SPANNED, 0, false);
}

/* The thread was outside futures, in a span, until now. */
static void outside(struct thread *t) {
  struct ledger *ledger = t->ledger;
  segment(ledger, t->outside, SEGMENT_OUTSIDE, ledger->now - t->last, false);
  ledger->segments[ledger->segment_count - 1].from = t->last;
  ledger->segments[ledger->segment_count - 1].thread = t->number;
}

/* What was outside from then on was a future's after all. */
static void not_outside(struct thread *t, uint64_t from) {
  struct ledger *ledger = t->ledger;
  for (unsigned i = 0; i < ledger->segment_count; i++) {
    struct segment *s = &ledger->segments[i];
    if (s->kind == SEGMENT_OUTSIDE && s->thread == t->number && s->from >= from)
      s->length = 0;
  }
}

void ledger_was_idle(struct thread *t) {
  not_outside(t, t->ledger->now - t->other_open);
  t->idle += t->other_open;
  t->other -= t->other_open;
  t->other_open = 0;
}

void ledger_time(struct thread *t) {
  uint64_t now = t->ledger->now;
  if (!t->began)
    t->begin = t->last = now;
  t->began = true;
  if (t->ledger->off)
    return;
  uint64_t *where = t->current ? &t->exec : t->idling || t->was_idle ? &t->idle : &t->other;
  *where += now - t->last;
  t->other_open += where == &t->other ? now - t->last : 0;
  if (t->outside && where == &t->other)
    outside(t);
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
  requests_close(ledger, f);
  if (f->state == RUNNING) {
    f->exec += length;
    segment(ledger, f->at, SEGMENT_EXEC, length, false);
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
  requests_goes_on(t->ledger, f);
  f->thread = t->number;
  f->state = RUNNING;
  t->current = f;
  t->was_idle = false;
  t->other_open = 0;
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
  requests_over(t, f);
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
    t->held[t->holds++ % LEDGER_HOLDS] =
        (struct held){.path = t->slice_owner, .begin = t->slice_begin, .end = ledger->now};
  t->slice_open = false;
  t->slices++;
}

void ledger_charge_back(struct thread *t, struct future *f, const char *to) {
  struct ledger *ledger = t->ledger;
  uint64_t passed = ledger->now - f->last;
  f->exec += passed;
  segment(ledger, f->at, SEGMENT_EXEC, passed, false);
  requests_charge_back(ledger, f, passed);
  t->exec += passed;
  *(t->idling ? &t->idle : &t->other) -= passed;
  t->other_open = 0;
  not_outside(t, f->last);
  struct segment *slice = &ledger->segments[t->last_slice];
  if (slice->length > LEDGER_LONG)
    t->held[(t->holds - 1) % LEDGER_HOLDS].end += passed;
  else if (slice->length + passed > LEDGER_LONG)
    t->held[t->holds++ % LEDGER_HOLDS] =
        (struct held){.path = slice->path, .begin = t->slice_begin, .end = ledger->now};
  slice->length += passed;
  longest_slice(t, slice->length, to);
  f->last = ledger->now;
  if (f->woken && f->woken_at < ledger->now)
    f->woken_at = ledger->now;
}

/* -- epochs ------------------------------------------------------------------ */

static void detach(struct future *f, uint64_t now) {
  if (f->state == TENTATIVE)
    f->state = NEVER;
  if (f->state == OVER || f->state == NEVER || f->state == DETACHED)
    return;
  f->detached = f->state;
  f->state = DETACHED;
  f->over = now;
  f->keyed = false;
}

static void thread_forgets(struct thread *t) {
  t->was_idle = !t->current && (t->idling || t->was_idle);
  t->current = t->suspended = t->idler = t->tentative = t->polled = NULL;
  t->outside = NULL;
  t->idling = t->slice_open = t->seen = false;
  t->other_open = 0;
  t->holds = 0;
}

static void next_epoch(struct ledger *ledger) {
  for (unsigned i = 0; i < PROGRAM_THREADS; i++) {
    struct thread *t = &ledger->threads[i];
    if (t->seen)
      ledger_time(t);
    else
      t->begin += ledger->now - t->last;
    t->last = ledger->now;
  }
  requests_detached(ledger);
  for (unsigned i = 0; i < ledger->future_count; i++)
    detach(&ledger->futures[i], ledger->now);
  for (unsigned i = 0; i < PROGRAM_THREADS; i++)
    thread_forgets(&ledger->threads[i]);
  ledger->epoch++;
  ledger->late = ledger->now > 1;
}

void ledger_switch(struct ledger *ledger, bool off) {
  if (ledger->off == off)
    return;
  if (off)
    next_epoch(ledger);
  ledger->off = off;
  ledger->late |= ledger->now > 1;
  for (unsigned i = 0; i < PROGRAM_THREADS; i++) {
    struct thread *t = &ledger->threads[i];
    t->begin += off ? 0 : ledger->now - t->last;
    t->last = ledger->now;
  }
}

void ledger_reset(struct ledger *ledger) {
  next_epoch(ledger);
  ledger->future_count = ledger->segment_count = ledger->longest_count = 0;
  ledger->missed = ledger->reused = ledger->unmatched = ledger->migrations = 0;
  for (unsigned i = 0; i < PROGRAM_THREADS; i++) {
    struct thread *t = &ledger->threads[i];
    t->exec = t->idle = t->other = 0;
    t->begin = t->last = ledger->now;
  }
  requests_reset(ledger);
}
