/* SPDX-License-Identifier: MIT */
/* The events of all threads in order; see streams.h. */
#include "streams.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

struct stream {
  const struct trace_stream *of;
  uint32_t frame; /* the next one to read, in `of` */
  struct aprof_trace_event *events;
  uint32_t at, count; /* in events */
  uint64_t number;    /* of events[at] */
  uint64_t expected;  /* number of the event that would follow the last one; UINT64_MAX: any */
  uint64_t end;       /* that many there were at the end; 0: nobody knows */
  uint64_t lost;      /* found missing, not told yet */
  uint64_t near;      /* a tick of about that time */
  uint64_t now;
  struct stream_event next;
};

struct streams {
  struct trace *trace;
  struct stream *stream;
  struct stream **heap; /* by time of their next event, then by block */
  uint32_t streams, heaped;
  uint64_t begin, end, events, tried;
  bool based;              /* what is before an image is in that */
  struct stream **waiting; /* room for those that have to wait */
  unsigned char *room;
};

/* -- one thread ------------------------------------------------------------------ */

/* The next frame that can be read; false at the end. */
static bool next_frame(struct streams *s, struct stream *t) {
  while (t->frame < t->of->count) {
    uint32_t number = t->of->frames[t->frame++];
    const struct trace_frame *head = &s->trace->frame[number].head;
    int64_t size = trace_bytes(s->trace, number, s->room);
    t->lost += size < 0 ? 0 : head->lost;
    if (size <= 0)
      continue; /* what was in it is missing by the next one's number */
    t->events = reallocate(t->events, (size_t)size, 1);
    memcpy(t->events, s->room, (size_t)size);
    t->at = 0;
    t->count = (uint32_t)((size_t)size / sizeof *t->events);
    t->number = head->number;
    t->near = head->first;
    return true;
  }
  return false;
}

/* The event at hand; NULL at the end. Those that are told already are left out. */
static const struct aprof_trace_event *peek(struct streams *s, struct stream *t) {
  for (;;) {
    if (t->at == t->count && !next_frame(s, t)) {
      t->lost += t->expected < t->end ? t->end - t->expected : 0;
      t->end = 0;
      return NULL;
    }
    if (t->expected == UINT64_MAX || t->number >= t->expected)
      break;
    uint64_t told = t->expected - t->number, rest = t->count - t->at;
    told = told < rest ? told : rest;
    t->at += (uint32_t)told;
    t->number += told;
  }
  if (t->expected != UINT64_MAX && t->number > t->expected)
    t->lost += t->number - t->expected;
  t->expected = t->number;
  return &t->events[t->at];
}

static void step(struct streams *s, struct stream *t) {
  t->at++;
  t->number++;
  t->expected = t->number;
  s->events++;
}

/* What follows an event and belongs to it. */
static void take_more(struct streams *s, struct stream *t, struct stream_event *e) {
  for (unsigned i = 0;; i++) {
    uint64_t lost = t->lost;
    const struct aprof_trace_event *more = peek(s, t);
    if (!more || t->lost != lost || aprof_trace_kind(more) != APROF_TRACE_MORE)
      return;
    if (i < sizeof e->a / sizeof *e->a) {
      e->a[i] = aprof_trace_a(more);
      e->b[i] = aprof_trace_b(more);
    }
    step(s, t);
  }
}

static uint64_t clamped(const struct streams *s, uint64_t tick) {
  return tick < s->begin ? s->begin : tick > s->end ? s->end : tick;
}

/* It was found out when what comes behind it happened: what else happened until then may be what it
   is about. */
static void found_out(struct streams *s, struct stream *t, struct stream_event *e) {
  const struct aprof_trace_event *next = peek(s, t);
  uint64_t then = next ? clamped(s, aprof_trace_tick(next, t->near)) : 0;
  if (then > t->now)
    e->now = t->now = t->near = then;
}

/* False at the end. */
static bool advance(struct streams *s, struct stream *t) {
  const struct aprof_trace_event *raw;
  while ((raw = peek(s, t)) && aprof_trace_kind(raw) == APROF_TRACE_MORE)
    step(s, t); /* its event is lost */
  struct stream_event *e = &t->next;
  if (!raw) {
    *e = (struct stream_event){.tick = t->now,
                               .now = t->now,
                               .block = t->of->block,
                               .kind = APROF_TRACE_NONE,
                               .lost = t->lost};
    t->lost = 0;
    return e->lost != 0;
  }
  uint64_t told = aprof_trace_tick(raw, t->near), tick = clamped(s, told);
  bool early = told < s->begin && aprof_trace_kind(raw) >= APROF_TRACE_BORN;
  *e = (struct stream_event){.tick = early ? told : tick,
                             .number = t->number,
                             .block = t->of->block,
                             .kind = aprof_trace_kind(raw),
                             .future = aprof_trace_future(raw),
                             .node = aprof_trace_node(raw),
                             .lost = t->lost};
  t->lost = 0;
  if (t->now < tick)
    t->now = tick;
  e->now = t->now;
  t->near = t->now;
  step(s, t);
  take_more(s, t, e);
  if (e->kind == APROF_TRACE_READY)
    found_out(s, t, e);
  return true;
}

/* -- all of them ------------------------------------------------------------------- */

static bool is_before(const struct stream *a, const struct stream *b) {
  return a->next.now != b->next.now ? a->next.now < b->next.now : a->of->block < b->of->block;
}

static void sink(struct streams *s, uint32_t at) {
  for (;;) {
    uint32_t least = at;
    for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < s->heaped; child++)
      if (is_before(s->heap[child], s->heap[least]))
        least = child;
    if (least == at)
      return;
    struct stream *moved = s->heap[at];
    s->heap[at] = s->heap[least];
    s->heap[least] = moved;
    at = least;
  }
}

static void put(struct streams *s, struct stream *t) {
  uint32_t at = s->heaped++;
  for (; at && is_before(t, s->heap[(at - 1) / 2]); at = (at - 1) / 2)
    s->heap[at] = s->heap[(at - 1) / 2];
  s->heap[at] = t;
}

static struct stream *take(struct streams *s) {
  struct stream *first = s->heap[0];
  s->heap[0] = s->heap[--s->heaped];
  sink(s, 0);
  return first;
}

static bool is_numbered_anew(const struct trace *t) {
  for (uint32_t i = 0; i < t->frames; i++)
    if (t->frame[i].head.type == TRACE_SIEVE)
      return true;
  return false;
}

struct streams *streams_new(struct trace *trace, const struct profile *base,
                            const struct profile *last, uint64_t begin, uint64_t end) {
  struct streams *s = allocate(1, sizeof *s);
  bool ends = last && !is_numbered_anew(trace);
  s->trace = trace;
  s->based = base != NULL;
  s->begin = begin;
  s->end = end;
  s->room = allocate(1, TRACE_RAW_MOST);
  s->streams = trace->streams;
  s->stream = allocate(s->streams + 1u, sizeof *s->stream);
  s->heap = allocate(s->streams + 1u, sizeof(struct stream *));
  s->waiting = allocate(s->streams + 1u, sizeof(struct stream *));
  for (uint32_t i = 0; i < s->streams; i++) {
    struct stream *t = &s->stream[i];
    const struct aprof_block *block = base ? profile_block(base, trace->stream[i].block) : NULL;
    const struct aprof_block *at_last = ends ? profile_block(last, trace->stream[i].block) : NULL;
    t->of = &trace->stream[i];
    t->end = at_last ? at_last->ring_head : 0;
    t->expected = block ? block->ring_head : base ? 0 : UINT64_MAX;
    t->now = begin;
    if (advance(s, t))
      put(s, t);
  }
  return s;
}

/* A file may claim that a million threads had all their events at one moment, none of which can be
   the next: the first is taken then, once so many have been tried for each event. */
enum { TRIED_EACH = 16, TRIED_FIRST = 1 << 20 };

static bool may_try(struct streams *s) {
  return s->tried++ < TRIED_FIRST + TRIED_EACH * s->events;
}

/* The first that can be next of those of the same moment. */
static struct stream *
choose(struct streams *s, bool (*can)(void *context, const struct stream_event *), void *context) {
  struct stream *first = take(s), *chosen = first;
  if (!s->heaped || s->heap[0]->next.now != first->next.now || can(context, &first->next))
    return first;
  uint32_t waiting = 0;
  s->waiting[waiting++] = first;
  chosen = NULL;
  while (!chosen && s->heaped && s->heap[0]->next.now == first->next.now && may_try(s)) {
    struct stream *t = take(s);
    if (can(context, &t->next))
      chosen = t;
    else
      s->waiting[waiting++] = t;
  }
  for (uint32_t i = chosen ? 0 : 1; i < waiting; i++)
    put(s, s->waiting[i]);
  return chosen ? chosen : first;
}

bool streams_next(struct streams *s, struct stream_event *event,
                  bool (*can)(void *context, const struct stream_event *), void *context) {
  if (!s->heaped)
    return false;
  struct stream *t = choose(s, can, context);
  *event = t->next;
  if (advance(s, t))
    put(s, t);
  return true;
}

uint64_t streams_whole_from(const struct streams *s) {
  uint64_t from = 0;
  for (uint32_t i = 0; i < s->heaped; i++) {
    const struct stream *t = s->heap[i];
    bool cut = t->next.number && !s->based;
    if (cut && t->next.now > from)
      from = t->next.now;
  }
  return from;
}

uint64_t streams_events(const struct streams *s) {
  return s->events;
}

void streams_free(struct streams *s) {
  if (!s)
    return;
  for (uint32_t i = 0; i < s->streams; i++)
    free(s->stream[i].events);
  free(s->stream);
  free(s->heap);
  free(s->waiting);
  free(s->room);
  free(s);
}
