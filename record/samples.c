/* SPDX-License-Identifier: MIT */
/* Samples and switches of a recording; see samples.h. */
#include "samples.h"

#include "read/clock.h"
#include "read/names.h"
#include "read/util.h"
#include "story-build.h"

#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000u
enum { THREADS_MOST = 1 << 16 };

/* -- records --------------------------------------------------------------------------- */

struct reading {
  struct trace *trace;
  struct story *story;
  struct {
    uint32_t samples, switches, codes, named, addresses;
  } room;
  uint32_t last; /* thread that was found last */
};

/* Room for `more` elements behind those there are. */
static void *grown(void *list, uint32_t count, uint32_t more, uint32_t *room, size_t size) {
  if (count + more <= *room)
    return list;
  *room = (count + more) * 2 + 64;
  return reallocate(list, *room, size);
}

#define GROW(r, list, more)                                                                        \
  ((r)->story->kernel.list = grown((r)->story->kernel.list, (r)->story->kernel.list##_count, more, \
                                   &(r)->room.list, sizeof *(r)->story->kernel.list))

static uint64_t ns_of(const struct reading *r, uint64_t tick) {
  const struct trace_header *h = &r->trace->header;
  return tick > h->begin_tick ? clock_to_ns(tick - h->begin_tick, h->mult) : 0;
}

static uint32_t thread_of(struct reading *r, int32_t tid) {
  struct story *s = r->story;
  if (s->threads_count > THREADS_MOST)
    return r->last = 0; /* no kernel has so many */
  if (r->last < s->threads_count && s->threads[r->last].tid == tid)
    return r->last;
  for (r->last = 0; r->last < s->threads_count; r->last++)
    if (s->threads[r->last].tid == tid)
      return r->last;
  r->last = story_add_thread(s, tid, "");
  s->threads[r->last].first_slice = s->slices_count;
  return r->last;
}

static void take_sample(struct reading *r, const struct trace_kernel *k, const unsigned char *at) {
  struct story_kernel *to = &r->story->kernel;
  if (to->addresses_count > UINT32_MAX / 4 || to->samples_count > UINT32_MAX / 4)
    return;
  GROW(r, samples, 1);
  GROW(r, addresses, k->frames);
  if (k->frames)
    memcpy(to->addresses + to->addresses_count, at, k->frames * sizeof *to->addresses);
  to->samples[to->samples_count++] = (struct story_sample){.at = ns_of(r, k->tick),
                                                           .thread = thread_of(r, k->tid),
                                                           .segment = STORY_NONE,
                                                           .frame = to->addresses_count,
                                                           .frames = k->frames,
                                                           .kernel = k->kernel != 0};
  to->addresses_count += k->frames;
}

static void take_switch(struct reading *r, const struct trace_kernel *k) {
  static const uint8_t states[] = {
      [TRACE_ON] = STORY_ON_CPU,       [TRACE_PREEMPTED] = STORY_PREEMPTED,
      [TRACE_BLOCKED] = STORY_BLOCKED, [TRACE_OVER] = STORY_OVER,
      [TRACE_UNKNOWN] = SAMPLES_LOST,  [TRACE_WATCHED] = SAMPLES_WATCHED};
  struct story_kernel *to = &r->story->kernel;
  if (k->what < TRACE_ON || k->what > TRACE_WATCHED || to->switches_count > UINT32_MAX / 4)
    return;
  GROW(r, switches, 1);
  to->switches[to->switches_count++] = (struct story_switch){
      .at = ns_of(r, k->tick), .thread = thread_of(r, k->tid), .to = states[k->what]};
}

static void take_kernel(struct reading *r, const struct trace_frame *head, const unsigned char *at,
                        const unsigned char *end) {
  struct story_kernel *to = &r->story->kernel;
  struct trace_kernel k;
  to->there = true;
  to->sample_ns = head->number && head->number <= SECOND ? head->number : to->sample_ns;
  to->lost += head->lost;
  to->user_only |= (head->block & TRACE_USER_ONLY) != 0;
  to->has_switches |= (head->block & TRACE_SWITCHES) != 0;
  to->throttled |= (head->block & TRACE_THROTTLED) != 0;
  while ((size_t)(end - at) >= sizeof k) {
    memcpy(&k, at, sizeof k);
    at += sizeof k;
    if ((size_t)(end - at) / sizeof(uint64_t) < k.frames)
      return;
    if (k.what == TRACE_SAMPLE)
      take_sample(r, &k, at);
    else
      take_switch(r, &k);
    at += k.frames * sizeof(uint64_t);
  }
}

/* As a text of the story, without what no terminal should get. */
static const char *text_of(struct reading *r, const unsigned char *at, size_t length) {
  char *copy = print_string("%.*s", (int)length, (const char *)at);
  clean_text(copy);
  const char *kept = story_text(r->story, copy);
  free(copy);
  return kept;
}

static void take_code(struct reading *r, const unsigned char *at, const unsigned char *end) {
  struct story_kernel *to = &r->story->kernel;
  struct trace_code c;
  while ((size_t)(end - at) >= sizeof c) {
    memcpy(&c, at, sizeof c);
    at += sizeof c;
    if ((size_t)(end - at) < c.path_length)
      return;
    GROW(r, codes, 1);
    struct story_code *code = &to->codes[to->codes_count++];
    *code = (struct story_code){.since = ns_of(r, c.tick),
                                .start = c.start,
                                .end = c.end,
                                .offset = c.offset,
                                .path = text_of(r, at, c.path_length),
                                .build_id_length = c.build_id_length};
    if (code->build_id_length > sizeof code->build_id)
      code->build_id_length = 0;
    memcpy(code->build_id, c.build_id, sizeof code->build_id);
    at += c.path_length;
  }
}

static void take_named(struct reading *r, const unsigned char *at, const unsigned char *end) {
  struct story_kernel *to = &r->story->kernel;
  struct trace_named n;
  while ((size_t)(end - at) >= sizeof n) {
    memcpy(&n, at, sizeof n);
    at += sizeof n;
    if ((size_t)(end - at) < n.length)
      return;
    GROW(r, named, 1);
    to->named[to->named_count++] =
        (struct story_named){.start = n.start, .end = n.end, .name = text_of(r, at, n.length)};
    at += n.length;
  }
}

void samples_read(struct trace *t, struct story *s) {
  struct reading r = {.trace = t, .story = s};
  unsigned char *room = NULL;
  for (uint32_t i = 0; i < t->frames; i++) {
    const struct trace_frame *head = &t->frame[i].head;
    if (head->type < TRACE_KERNEL || head->type > TRACE_NAMED)
      continue;
    room = room ? room : allocate(1, TRACE_RAW_MOST);
    int64_t size = trace_bytes(t, i, room);
    if (size < 0)
      continue;
    if (head->type == TRACE_KERNEL)
      take_kernel(&r, head, room, room + size);
    else if (head->type == TRACE_CODE)
      take_code(&r, room, room + size);
    else
      take_named(&r, room, room + size);
  }
  free(room);
  samples_settle(s);
}

/* -- in order -------------------------------------------------------------------------- */

/* All begin with a time and a thread. */
static int by_time(const void *a, const void *b) {
  const struct story_switch *x = a, *y = b;
  if (x->thread != y->thread)
    return x->thread < y->thread ? -1 : 1;
  return x->at < y->at ? -1 : x->at > y->at;
}

_Static_assert(offsetof(struct story_sample, at) == offsetof(struct story_switch, at) &&
                   offsetof(struct story_sample, thread) == offsetof(struct story_switch, thread),
               "both are sorted alike");

static int by_begin(const void *a, const void *b, void *of) {
  const struct story *s = of;
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  uint64_t begins = s->segments[x].begin, other = s->segments[y].begin;
  return begins != other ? (begins < other ? -1 : 1) : x < y ? -1 : x > y;
}

/* They are in order, but where events contradict themselves. */
static void order_runs(const struct story *s, uint32_t *run, uint32_t count) {
  for (uint32_t i = 1; i < count; i++)
    if (s->segments[run[i - 1]].begin > s->segments[run[i]].begin) {
      qsort_r(run, count, sizeof *run, by_begin, (void *)(uintptr_t)s);
      return;
    }
}

/* Stretches in which futures ran, by thread and in order: numbers of segments, and where each
   thread's begin. */
static uint32_t *runs_of(const struct story *s, uint32_t **first) {
  uint32_t *at = *first = allocate(s->threads_count + 1u, sizeof *at);
  uint32_t *used = allocate(s->threads_count + 1u, sizeof *used);
  uint32_t *run = allocate(s->segments_count + 1u, sizeof *run);
  for (uint32_t i = 0; i < s->segments_count; i++)
    if (s->segments[i].what == STORY_EXEC && s->segments[i].thread < s->threads_count)
      at[s->segments[i].thread + 1]++;
  for (uint32_t i = 1; i <= s->threads_count; i++)
    at[i] += at[i - 1];
  for (uint32_t i = 0; i < s->segments_count; i++) {
    const struct story_segment *g = &s->segments[i];
    if (g->what != STORY_EXEC || g->thread >= s->threads_count)
      continue;
    run[at[g->thread] + used[g->thread]++] = i;
  }
  for (uint32_t i = 0; i < s->threads_count; i++)
    order_runs(s, run + at[i], used[i]);
  free(used);
  return run;
}

static void find_segments(struct story *s) {
  uint32_t *first, *run = runs_of(s, &first), at = 0, thread = STORY_NONE;
  for (uint32_t i = 0; i < s->kernel.samples_count; i++) {
    struct story_sample *x = &s->kernel.samples[i];
    if (x->thread != thread)
      at = first[thread = x->thread];
    while (at < first[thread + 1] && s->segments[run[at]].end <= x->at)
      at++;
    if (at < first[thread + 1] && s->segments[run[at]].begin <= x->at)
      x->segment = run[at];
  }
  free(run);
  free(first);
}

/* Who leaves a processor was on it. What was lost was lost before the record that says so. */
static void settle_switches(struct story_kernel *k) {
  for (uint32_t i = k->switches_count; i-- > 0;) {
    struct story_switch *x = &k->switches[i];
    const struct story_switch *next = x + 1;
    bool followed = i + 1 < k->switches_count && next->thread == x->thread;
    if (x->to < STORY_ON_STATES)
      continue;
    if (x->to == SAMPLES_LOST && i && k->switches[i - 1].thread == x->thread)
      k->switches[i - 1].to = STORY_ON_UNKNOWN;
    bool was_on = followed && (next->to == STORY_PREEMPTED || next->to == STORY_BLOCKED);
    x->to = was_on ? STORY_ON_CPU : STORY_ON_UNKNOWN;
  }
}

/* -- only those that are asked for -------------------------------------------------------- */

/* The first that samples wait for; NULL: there is none. */
static const struct story_probe *gate_of(const struct story *s) {
  for (uint32_t i = 0; i < s->probes_count; i++)
    if (s->probes[i].if_hit)
      return &s->probes[i];
  return NULL;
}

/* By request: when it first came by. */
static uint64_t *first_hits(const struct story *s, const struct story_probe *gate) {
  uint64_t *first = allocate(s->requests_count + 1u, sizeof *first);
  for (uint32_t i = 0; i < s->requests_count; i++)
    first[i] = UINT64_MAX;
  for (uint32_t i = 0; i < s->hits_count; i++) {
    const struct story_hit *h = &s->hits[i];
    if (&s->probes[h->probe] != gate || h->segment == STORY_NONE)
      continue;
    uint32_t request = s->futures[s->segments[h->segment].future].request;
    if (request != STORY_NONE && h->at < first[request])
      first[request] = h->at;
  }
  return first;
}

static void leave_out(struct story *s, const struct story_probe *gate) {
  struct story_kernel *k = &s->kernel;
  uint64_t *first = first_hits(s, gate);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < k->samples_count; i++) {
    const struct story_sample *x = &k->samples[i];
    uint32_t future = x->segment != STORY_NONE ? s->segments[x->segment].future : STORY_NONE;
    uint32_t request = future != STORY_NONE ? s->futures[future].request : STORY_NONE;
    if (request != STORY_NONE && x->at >= first[request])
      k->samples[kept++] = *x;
  }
  k->if_hit = gate->names_count ? gate->names[0] : "";
  k->left_out = k->samples_count - kept;
  k->samples_count = kept;
  free(first);
}

void samples_settle(struct story *s) {
  struct story_kernel *k = &s->kernel;
  if (k->switches_count)
    qsort(k->switches, k->switches_count, sizeof *k->switches, by_time);
  settle_switches(k);
  if (!k->samples_count)
    return;
  qsort(k->samples, k->samples_count, sizeof *k->samples, by_time);
  find_segments(s);
  const struct story_probe *gate = gate_of(s);
  if (gate)
    leave_out(s, gate);
}
