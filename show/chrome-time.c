/* SPDX-License-Identifier: MIT */
/*
 * A recording as events of Chrome's trace viewer.
 *
 * A process has a row for each thread: who held it, and in that what ran. Requests are asynchronous
 * events, and so are their futures, with what each did. Arrows go from where a future was woken to
 * where it runs. Times are microseconds since the earliest recording began, three digits behind
 * the point are the rest.
 */
#include "ask/story-wakes.h"
#include "emit.h"
#include "formats.h"
#include "read/util.h"

#include <inttypes.h>
#include <stdlib.h>

struct writer {
  struct emit e;
  const struct format_options *options;
  const struct story *s;
  size_t story;
  uint64_t offset; /* of its begin to the first one's */
  uint64_t flows;
};

static void emit_time(struct emit *e, const char *name, uint64_t ns) {
  emit_float(e, name, (double)ns / 1e3, 3);
}

/* An event that goes on with its arguments: end it with end_event. */
static void begin_event(struct writer *w, const char *phase, const char *name, int64_t tid) {
  emit_row(&w->e);
  emit_open(&w->e, NULL, '{');
  emit_text(&w->e, "ph", phase);
  emit_text(&w->e, "name", name);
  emit_signed(&w->e, "pid", w->s->pid);
  emit_signed(&w->e, "tid", tid);
}

static void put_times(struct writer *w, uint64_t begin, uint64_t end) {
  emit_time(&w->e, "ts", w->offset + begin);
  emit_time(&w->e, "dur", end - begin);
}

static void end_event(struct writer *w) {
  emit_close(&w->e, '}');
}

static void name_row(struct writer *w, const char *what, int64_t tid, const char *name) {
  begin_event(w, "M", what, tid);
  emit_open(&w->e, "args", '{');
  emit_text(&w->e, "name", name);
  emit_close(&w->e, '}');
  end_event(w);
}

/* -- threads ----------------------------------------------------------------------------- */

static int64_t tid_of(const struct story *s, uint32_t thread) {
  return thread < s->threads_count ? s->threads[thread].tid : 0;
}

static void put_place(struct writer *w, const struct story_path *p) {
  emit_text(&w->e, "path", p->text);
  if (p->file)
    emit_place(&w->e, "place", p->file, p->line);
}

/* Who held it: a slice is of the outermost future on the stack. */
static void write_slices(struct writer *w) {
  const struct story *s = w->s;
  for (uint32_t i = 0; i < s->slices_count; i++) {
    const struct story_slice *slice = &s->slices[i];
    const struct story_path *p = &s->paths[s->futures[slice->future].path];
    begin_event(w, "X", p->name, tid_of(s, slice->thread));
    emit_text(&w->e, "cat", "slice");
    put_times(w, slice->begin, slice->end);
    emit_open(&w->e, "args", '{');
    put_place(w, p);
    emit_close(&w->e, '}');
    end_event(w);
  }
}

static const char *tier_of(const struct story *s, const struct story_segment *g) {
  return g->tier && g->tier < STORY_TIERS ? s->tiers[g->tier] : NULL;
}

/* Some viewers take what has other arguments for another function: there is nothing of a request. */
static void write_runs(struct writer *w) {
  const struct story *s = w->s;
  for (uint32_t i = 0; i < s->segments_count; i++) {
    const struct story_segment *g = &s->segments[i];
    if (g->what != STORY_EXEC || g->thread == STORY_NONE)
      continue;
    const struct story_path *p = &s->paths[g->path];
    begin_event(w, "X", p->name, tid_of(s, g->thread));
    emit_text(&w->e, "cat", "run");
    put_times(w, g->begin, g->end);
    emit_open(&w->e, "args", '{');
    put_place(w, p);
    if (tier_of(s, g))
      emit_text(&w->e, "tier", tier_of(s, g));
    emit_close(&w->e, '}');
    end_event(w);
  }
}

static void write_arrow(struct writer *w, const char *phase, int64_t tid, uint64_t at) {
  begin_event(w, phase, "wakes", tid);
  emit_text(&w->e, "cat", "wake");
  emit_number(&w->e, "id", w->flows);
  if (*phase == 'f')
    emit_text(&w->e, "bp", "e");
  emit_time(&w->e, "ts", w->offset + at);
  end_event(w);
}

/* An arrow begins in the box that lies there: one that ends just then has it a nanosecond before.
 */
static void write_wakes(struct writer *w) {
  struct story_wakes wakes = ask_story_wakes(w->s);
  for (uint32_t i = 0; i < wakes.wakes; i++) {
    const struct story_wake *wake = &wakes.wake[i];
    const struct story_segment *run = &w->s->segments[wake->run];
    const struct story_segment *from = &w->s->segments[wake->from];
    if (run->thread == STORY_NONE || from->thread == STORY_NONE)
      continue;
    w->flows++;
    write_arrow(w, "s", tid_of(w->s, from->thread),
                wake->at - (wake->at == from->end && from->end > from->begin));
    write_arrow(w, "f", tid_of(w->s, run->thread), run->begin);
  }
  ask_story_wakes_free(&wakes);
}

/* -- requests ---------------------------------------------------------------------------- */

/* Ids are the process's own, so that several do not mix. */
static void begin_async(struct writer *w, const char *phase, const char *id, const char *name,
                        uint64_t at) {
  begin_event(w, phase, name, 0);
  emit_text(&w->e, "cat", "request");
  emit_open(&w->e, "id2", '{');
  emit_text(&w->e, "local", id);
  emit_close(&w->e, '}');
  emit_time(&w->e, "ts", w->offset + at);
}

static void end_async(struct writer *w, const char *id, const char *name, uint64_t at) {
  begin_async(w, "e", id, name, at);
  end_event(w);
}

static const char *state_of(const struct story_segment *g) {
  static const char *const states[] = {[STORY_EXEC] = "running",
                                       [STORY_QUEUED] = "queued",
                                       [STORY_WAITING] = "waiting",
                                       [STORY_ASIDE] = "waiting for its callee"};
  return states[g->what];
}

/* A future's row: what it did, within its life. */
static void write_future(struct writer *w, const char *request, uint32_t number) {
  const struct story *s = w->s;
  const struct story_future *f = &s->futures[number];
  char *id = print_string("%s.%" PRIu32, request, number);
  const char *name = s->paths[f->path].name;
  begin_async(w, "b", id, name, f->born);
  emit_open(&w->e, "args", '{');
  put_place(w, &s->paths[f->path]);
  emit_close(&w->e, '}');
  end_event(w);
  for (uint32_t i = f->first; i != STORY_NONE; i = s->segments[i].next) {
    const struct story_segment *g = &s->segments[i];
    const struct story_path *p = &s->paths[g->path];
    char *says = g->what == STORY_EXEC || g->what == STORY_QUEUED
                     ? print_string("%s", state_of(g))
                     : print_string("%s: %s", state_of(g), p->name);
    begin_async(w, "b", id, says, g->begin);
    emit_open(&w->e, "args", '{');
    emit_text(&w->e, "state", state_of(g));
    put_place(w, p);
    if (tier_of(s, g))
      emit_text(&w->e, "tier", tier_of(s, g));
    emit_close(&w->e, '}');
    end_event(w);
    end_async(w, id, says, g->end);
    free(says);
  }
  end_async(w, id, name, f->over);
  free(id);
}

static void write_request(struct writer *w, uint32_t number) {
  const struct story_request *r = &w->s->requests[number];
  char *id = print_string("%" PRIu64, r->number);
  begin_async(w, "b", id, r->kind, r->begin);
  emit_open(&w->e, "args", '{');
  emit_number(&w->e, "exec_ns", r->exec);
  emit_number(&w->e, "queued_ns", r->queued);
  emit_number(&w->e, "waiting_ns", r->waiting);
  emit_bool(&w->e, "failed", r->failed);
  emit_bool(&w->e, "whole", r->whole);
  if (r->trace[0] || r->trace[1]) {
    char *trace = print_string("%016" PRIx64 "%016" PRIx64, r->trace[0], r->trace[1]);
    emit_text(&w->e, "trace", trace);
    free(trace);
  }
  emit_close(&w->e, '}');
  end_event(w);
  for (uint32_t i = 0; i < r->futures_count; i++)
    write_future(w, id, r->futures[i]);
  end_async(w, id, r->kind, r->end);
  free(id);
}

static void write_story(struct writer *w) {
  const struct story *s = w->s;
  name_row(w, "process_name", 0, s->process);
  for (uint32_t i = 0; i < s->threads_count; i++)
    name_row(w, "thread_name", s->threads[i].tid, s->threads[i].name);
  write_slices(w);
  write_runs(w);
  write_wakes(w);
  for (uint32_t i = 0; i < s->requests_count; i++)
    if (format_means(w->options, w->story, i))
      write_request(w, i);
}

void chrome_tell(const struct story *const *s, size_t stories, const struct format_options *o,
                 FILE *out) {
  struct writer w = {.options = o};
  int64_t first = INT64_MAX;
  for (size_t i = 0; i < stories; i++)
    first = s[i]->started_at_ns < first ? s[i]->started_at_ns : first;
  emit_begin(&w.e, out, NULL);
  emit_text(&w.e, "displayTimeUnit", "ns");
  emit_open(&w.e, "otherData", '{');
  emit_text(&w.e, "made_by", "aprof " APROF_VERSION);
  emit_signed(&w.e, "started_at_ns", first);
  emit_close(&w.e, '}');
  emit_open(&w.e, "traceEvents", '[');
  for (w.story = 0; w.story < stories; w.story++) {
    w.s = s[w.story];
    w.offset = (uint64_t)w.s->started_at_ns - (uint64_t)first;
    write_story(&w);
  }
  emit_close(&w.e, ']');
  emit_end(&w.e);
}
