/* SPDX-License-Identifier: MIT */
/*
 * A recording as a trace of Perfetto: protobuf (perfetto.proto), packet by packet.
 *
 * A process has a track for each thread: who held it, in that what ran, and where that woke another
 * an instant, from which an arrow goes to where the other runs. Beside them is a track for each
 * kind of requests, below that one for each request, and below that one for each of its futures
 * with what it did. What the kernel said of threads: perfetto-kernel.c. Times are those of day, in
 * ns.
 *
 * Events are ended by the next end on their track, and Perfetto keeps the order of the file where
 * times are equal: so what lies on a track is written from the outside in.
 */
#include "perfetto.h"
#include "read/index.h"
#include "read/util.h"

#include <inttypes.h>
#include <stdlib.h>

/* -- threads ----------------------------------------------------------------------------- */

static const struct story_wakes *sorted; /* for qsort and bsearch */

static int by_from(const void *a, const void *b) {
  uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
  const struct story_wake *x = &sorted->wake[i], *y = &sorted->wake[j];
  if (x->from != y->from)
    return x->from < y->from ? -1 : 1;
  return x->at != y->at ? (x->at < y->at ? -1 : 1) : i < j ? -1 : i > j;
}

static int is_run(const void *run, const void *wake) {
  uint32_t x = *(const uint32_t *)run, y = ((const struct story_wake *)wake)->run;
  return x < y ? -1 : x > y;
}

static uint64_t flow_of(const struct perfetto *w, size_t wake) {
  return ((uint64_t)w->story + 1) << 40 | (wake + 1);
}

static void put_wakes(struct perfetto *w, uint64_t track, uint32_t run) {
  size_t low = 0, high = w->wakes.wakes;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (w->wakes.wake[w->by_from[middle]].from < run)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < w->wakes.wakes && w->wakes.wake[w->by_from[low]].from == run; low++) {
    const struct story_wake *wake = &w->wakes.wake[w->by_from[low]];
    struct perfetto_event e;
    perfetto_event(&e, track, INSTANT, CATEGORY_WAKE);
    perfetto_name(&e, w->s, NAME_WAKES);
    e.flow = flow_of(w, w->by_from[low]);
    e.event.flow_ids = &e.flow;
    e.event.n_flow_ids = 1;
    perfetto_note(&e, NOTE_PATH, w->s->paths[w->s->segments[wake->run].path].text);
    perfetto_put(w, &e, wake->at);
  }
}

static void put_run(struct perfetto *w, uint64_t track, uint32_t run) {
  const struct story_segment *g = &w->s->segments[run];
  const struct story_wake *woken =
      bsearch(&run, w->wakes.wake, w->wakes.wakes, sizeof *woken, is_run);
  uint32_t request = w->s->futures[g->future].request;
  struct perfetto_event e;
  perfetto_event(&e, track, SLICE_BEGIN, CATEGORY_RUN);
  perfetto_path(&e, w->s, g->path);
  perfetto_tier(&e, w->s, g);
  if (request != STORY_NONE)
    perfetto_note_number(&e, NOTE_REQUEST, w->s->requests[request].number);
  if (woken) {
    e.flow = flow_of(w, (size_t)(woken - w->wakes.wake));
    e.event.terminating_flow_ids = &e.flow;
    e.event.n_terminating_flow_ids = 1;
  }
  perfetto_put(w, &e, g->begin);
  put_wakes(w, track, run);
  perfetto_put_end(w, track, g->end);
}

static void begin_slice(struct perfetto *w, uint64_t track, const struct story_slice *slice) {
  struct perfetto_event e;
  perfetto_event(&e, track, SLICE_BEGIN, CATEGORY_SLICE);
  perfetto_path(&e, w->s, w->s->futures[slice->future].path);
  perfetto_put(w, &e, slice->begin);
}

/* Who held it, in order, and in each what ran. */
static void put_thread(struct perfetto *w, uint32_t thread, const uint32_t *run, size_t runs) {
  const struct story_thread *t = &w->s->threads[thread];
  const struct story_slice *next = w->s->slices + t->first_slice, *end = next + t->slices;
  const struct story_slice *open = NULL;
  uint64_t track = perfetto_track(w, TRACK_THREAD, thread);
  for (size_t i = 0; i <= runs; i++) {
    uint64_t begin = i < runs ? w->s->segments[run[i]].begin : UINT64_MAX;
    for (;;) {
      if (open && (open->end <= begin || i == runs)) {
        perfetto_put_end(w, track, open->end);
        open = NULL;
      }
      if (open || next == end || (next->begin > begin && i < runs))
        break;
      open = next++;
      begin_slice(w, track, open);
    }
    if (i < runs)
      put_run(w, track, run[i]);
  }
}

static void put_all_runs(struct perfetto *w) {
  const struct story *s = w->s;
  uint32_t *first = allocate(s->threads_count + 2u, sizeof *first);
  uint32_t *run = allocate(s->segments_count + 1u, sizeof *run);
  for (uint32_t i = 0; i < s->segments_count; i++)
    if (s->segments[i].what == STORY_EXEC && s->segments[i].thread < s->threads_count)
      first[s->segments[i].thread + 2]++;
  for (uint32_t i = 2; i < s->threads_count + 2u; i++)
    first[i] += first[i - 1];
  for (uint32_t i = 0; i < s->segments_count; i++)
    if (s->segments[i].what == STORY_EXEC && s->segments[i].thread < s->threads_count)
      run[first[s->segments[i].thread + 1]++] = i;
  for (uint32_t i = 0; i < s->threads_count; i++)
    put_thread(w, i, run + first[i], first[i + 1] - first[i]);
  free(run);
  free(first);
}

/* -- requests ---------------------------------------------------------------------------- */

static const char *end_of(const struct story_future *f) {
  static const char *const ends[] = {[STORY_LIVES] = "lives",
                                     [STORY_DONE] = "done",
                                     [STORY_FAILED] = "failed",
                                     [STORY_CANCELLED] = "cancelled",
                                     [STORY_MOVED] = "moved to another request"};
  return ends[f->how];
}

static void put_state(struct perfetto *w, uint64_t track, const struct story_segment *g) {
  struct perfetto_event e;
  perfetto_event(&e, track, SLICE_BEGIN, CATEGORY_STATE);
  perfetto_path(&e, w->s, g->path);
  perfetto_tier(&e, w->s, g);
  if (g->what == STORY_EXEC)
    perfetto_name(&e, w->s, NAME_RUNNING);
  else if (g->what == STORY_QUEUED)
    perfetto_name(&e, w->s, NAME_QUEUED);
  else if (g->what == STORY_ASIDE)
    perfetto_name(&e, w->s, NAME_ASIDE);
  perfetto_put(w, &e, g->begin);
  perfetto_put_end(w, track, g->end);
}

static void put_future(struct perfetto *w, uint64_t parent, uint32_t number) {
  const struct story_future *f = &w->s->futures[number];
  uint64_t track = perfetto_track(w, TRACK_FUTURE, number);
  struct perfetto_event e;
  perfetto_put_track(w, track, parent, w->s->paths[f->path].name);
  perfetto_event(&e, track, SLICE_BEGIN, CATEGORY_FUTURE);
  perfetto_path(&e, w->s, f->path);
  perfetto_note(&e, NOTE_END, end_of(f));
  perfetto_put(w, &e, f->born);
  for (uint32_t i = f->first; i != STORY_NONE; i = w->s->segments[i].next)
    put_state(w, track, &w->s->segments[i]);
  perfetto_put_end(w, track, f->over);
}

static void put_request(struct perfetto *w, uint64_t parent, uint32_t number) {
  const struct story_request *r = &w->s->requests[number];
  uint64_t track = perfetto_track(w, TRACK_REQUEST, number);
  char *name = print_string("%s %" PRIu64, r->kind, r->number);
  char *trace = print_string("%016" PRIx64 "%016" PRIx64, r->trace[0], r->trace[1]);
  struct perfetto_event e;
  perfetto_put_track(w, track, parent, name);
  perfetto_event(&e, track, SLICE_BEGIN, CATEGORY_REQUEST);
  e.event.name = (char *)r->kind;
  perfetto_note_number(&e, NOTE_REQUEST, r->number);
  perfetto_note_number(&e, NOTE_EXEC, r->exec);
  perfetto_note_number(&e, NOTE_QUEUED, r->queued);
  perfetto_note_number(&e, NOTE_WAITING, r->waiting);
  perfetto_note(&e, NOTE_END, r->failed ? "failed" : r->over ? "done" : "lives");
  if (r->trace[0] || r->trace[1])
    perfetto_note(&e, NOTE_TRACE, trace);
  perfetto_put(w, &e, r->begin);
  perfetto_put_end(w, track, r->end);
  for (uint32_t i = 0; i < r->futures_count; i++)
    put_future(w, track, r->futures[i]);
  free(trace);
  free(name);
}

/* Those of a kind lie beside each other. */
static void put_requests(struct perfetto *w) {
  const struct story *s = w->s;
  struct index x;
  uint64_t process = perfetto_track(w, TRACK_PROCESS, 0);
  index_new(&x, s->requests_count);
  for (uint32_t i = 0; i < s->requests_count; i++) {
    if (!format_means(w->options, w->story, i))
      continue;
    const struct story_request *there = index_get(&x, print_string("%s", s->requests[i].kind));
    if (!there) {
      there = &s->requests[i];
      index_put(&x, print_string("%s", there->kind), there);
      perfetto_put_track(w, perfetto_track(w, TRACK_KIND, i), process, there->kind);
    }
    put_request(w, perfetto_track(w, TRACK_KIND, (uint32_t)(there - s->requests)), i);
  }
  index_free(&x);
  bool any = false;
  for (uint32_t i = 0; !w->options->meant && i < s->futures_count; i++)
    if (s->futures[i].request == STORY_NONE) {
      if (!any)
        perfetto_put_track(w, perfetto_track(w, TRACK_REST, 0), process, "futures of no request");
      any = true;
      put_future(w, perfetto_track(w, TRACK_REST, 0), i);
    }
}

static void put_story(struct perfetto *w) {
  perfetto_begin(w);
  w->wakes = ask_story_wakes(w->s);
  w->by_from = allocate(w->wakes.wakes + 1u, sizeof *w->by_from);
  for (uint32_t i = 0; i < w->wakes.wakes; i++)
    w->by_from[i] = i;
  sorted = &w->wakes;
  qsort(w->by_from, w->wakes.wakes, sizeof *w->by_from, by_from);
  put_all_runs(w);
  put_requests(w);
  perfetto_kernel(w);
  free(w->by_from);
  ask_story_wakes_free(&w->wakes);
}

void perfetto_tell(const struct story *const *s, size_t stories, const struct format_options *o,
                   FILE *out) {
  struct perfetto w = {.out = out, .options = o};
  for (w.story = 0; w.story < stories; w.story++) {
    w.s = s[w.story];
    put_story(&w);
  }
  free(w.buffer);
}
