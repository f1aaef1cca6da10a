/* SPDX-License-Identifier: MIT */
/*
 * Takes requests out of a recording; see sieve.h.
 *
 * The story says which requests go, and whose each event is. A future that comes from one that goes
 * to one that stays keeps what it did before: then its first request is partial. What runs, and
 * goes, becomes HELD; where it stops and nothing follows at once, the thread is in OTHER or IDLE
 * again. Events are numbered anew, so that none seems lost.
 */
#include "sieve.h"

#include "read/clock.h"
#include "read/util.h"
#include "replay.h"
#include "trace-write.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_EVENTS = TRACE_RAW_MOST / sizeof(struct aprof_trace_event) };
enum verdict { STAYS, GOES, LEAVES };

/* What is being written of one block. */
struct out {
  struct aprof_trace_event *events;
  uint32_t count;
  uint64_t number, next; /* of the first one; of the next; 0: none yet */
  uint64_t read;         /* number that the next event read would have */
  uint64_t first, last, lost;
  size_t mark;      /* the next one of the list */
  enum verdict of;  /* of the last event, for its MOREs */
  bool held, rests; /* HELD was written last; what was held has stopped, ... */
  uint64_t stopped; /* ... then */
  uint32_t rest;    /* OTHER or IDLE, as was said last */
  uint32_t running; /* future that runs there */
};

struct sieving {
  struct replay_marks marks; /* first */
  const struct sieve_wish *wish;
  struct trace *from;
  struct trace_writer *to;
  unsigned char **verdict; /* by block, by mark */
  struct out *out;         /* by stream */
  uint64_t left_out;
};

/* -- which go --------------------------------------------------------------------------- */

static bool goes(const struct sieving *s, const struct story_request *r, bool undone,
                 uint64_t mult) {
  const struct sieve_wish *w = s->wish;
  if (undone || !r->over || !r->whole)
    return undone;
  return (w->over && clock_to_ns(r->end - r->begin, mult) < w->over) ||
         (w->kind && fnmatch(w->kind, r->kind, 0) != 0);
}

static enum verdict verdict_of(const struct replay_mark *m, const bool *requests,
                               const bool *futures) {
  if (m->request != STORY_NONE)
    return requests[m->request] ? GOES : STAYS;
  if (m->future == STORY_NONE || !futures[m->future])
    return STAYS;
  return m->from != STORY_NONE && !futures[m->from] ? LEAVES : GOES;
}

/* Whose token it is tells the end behind it. */
static void judge(struct sieving *s, uint32_t block, const bool *requests, const bool *futures) {
  const struct replay_list *l = &s->marks.block[block];
  unsigned char *verdict = s->verdict[block] = allocate(l->count + 1, 1);
  for (size_t i = l->count; i--;) {
    const struct replay_mark *m = &l->mark[i];
    bool alone = m->request == STORY_NONE && m->future == STORY_NONE;
    verdict[i] = (unsigned char)verdict_of(m, requests, futures);
    if (alone && m->from == STORY_NONE && i + 1 < l->count && l->mark[i + 1].request != STORY_NONE)
      verdict[i] = verdict[i + 1];
  }
}

static void played(struct replay_marks *marks, const struct story *story, const bool *undone,
                   uint32_t undone_count, uint64_t mult) {
  struct sieving *s = (struct sieving *)(void *)marks;
  bool *requests = allocate(story->requests_count + 1u, sizeof *requests),
       *futures = allocate(story->futures_count + 1u, sizeof *futures);
  for (uint32_t i = 0; i < story->requests_count; i++) {
    requests[i] = goes(s, &story->requests[i], i < undone_count && undone[i], mult);
    s->left_out += requests[i];
  }
  for (uint32_t i = story->futures_count; i--;) {
    const struct story_future *f = &story->futures[i];
    bool stays_later = f->later != STORY_NONE && f->later > i && !futures[f->later];
    futures[i] = f->request != STORY_NONE && requests[f->request] && !stays_later;
  }
  s->verdict = allocate(marks->blocks + 1u, sizeof *s->verdict);
  for (uint32_t i = 0; i < marks->blocks; i++)
    judge(s, i, requests, futures);
  free(requests);
  free(futures);
}

/* -- events --------------------------------------------------------------------------------- */

static void flush(struct sieving *s, struct out *o, uint32_t block) {
  struct trace_frame frame = {.type = TRACE_EVENTS,
                              .block = block,
                              .number = o->number,
                              .first = o->first,
                              .last = o->last,
                              .lost = o->lost};
  if (o->count || o->lost)
    trace_write(s->to, &frame, o->events, o->count * sizeof *o->events);
  o->number += o->count;
  o->count = 0;
  o->lost = 0;
  o->first = o->last;
}

static void put(struct sieving *s, struct out *o, uint32_t block,
                const struct aprof_trace_event *e) {
  if (o->count == FRAME_EVENTS)
    flush(s, o, block);
  o->events[o->count++] = *e;
}

static void put_new(struct sieving *s, struct out *o, uint32_t block, uint32_t kind, uint64_t a,
                    uint64_t b) {
  struct aprof_trace_event e;
  aprof_trace_put(&e, 0, kind, a, b);
  put(s, o, block, &e);
}

/* What was held has stopped: is that told by what comes at that tick? */
static void settle(struct sieving *s, struct out *o, uint32_t block, uint32_t kind, uint64_t tick) {
  bool runs = kind == APROF_TRACE_RUNNING || kind == APROF_TRACE_POLLED || kind == APROF_TRACE_HELD;
  bool told = kind >= APROF_TRACE_THREAD && kind <= APROF_TRACE_IDLE;
  if (o->rests && !told && !(runs && tick == o->stopped)) {
    put_new(s, o, block, o->rest, o->stopped, 0);
    o->held = false;
  }
  o->rests = false;
}

/* Of a future that goes. */
static void leave_out(struct sieving *s, struct out *o, uint32_t block,
                      const struct aprof_trace_event *e) {
  uint32_t kind = aprof_trace_kind(e), future = aprof_trace_future(e);
  uint64_t tick = aprof_trace_a(e);
  bool runs = kind == APROF_TRACE_RUNNING || kind == APROF_TRACE_POLLED;
  bool stops = (kind >= APROF_TRACE_DONE && kind <= APROF_TRACE_CANCELLED) ||
               (kind >= APROF_TRACE_WAITING && kind <= APROF_TRACE_ASIDE);
  if (runs) {
    settle(s, o, block, kind, tick);
    if (!o->held)
      put_new(s, o, block, APROF_TRACE_HELD, tick, aprof_trace_what(0, aprof_trace_node(e)));
    o->held = true;
    o->running = future;
  } else if (stops && future == o->running) {
    o->rests = o->held;
    o->stopped = tick;
    o->running = 0;
  }
}

/* It was part of one that stays, and goes on in one that goes. */
static void leave(struct sieving *s, struct out *o, uint32_t block,
                  const struct aprof_trace_event *e) {
  settle(s, o, block, APROF_TRACE_JOIN, aprof_trace_a(e));
  put(s, o, block, e);
  put_new(s, o, block, APROF_TRACE_MORE, 0, APROF_TRACE_LEFT);
}

static void keep(struct sieving *s, struct out *o, uint32_t block,
                 const struct aprof_trace_event *e) {
  uint32_t kind = aprof_trace_kind(e);
  bool runs = kind == APROF_TRACE_RUNNING || kind == APROF_TRACE_POLLED;
  settle(s, o, block, kind, aprof_trace_a(e));
  if (runs)
    o->running = aprof_trace_future(e);
  if (runs || (kind >= APROF_TRACE_THREAD && kind <= APROF_TRACE_STOLEN))
    o->held = false;
  if (kind == APROF_TRACE_HELD)
    o->held = true;
  if (kind == APROF_TRACE_OTHER || kind == APROF_TRACE_IDLE)
    o->rest = kind;
  put(s, o, block, e);
}

/* THREAD says what it does while nothing runs. */
static void take_more(struct out *o, const struct aprof_trace_event *e, bool of_thread) {
  if (of_thread)
    o->rest =
        (aprof_trace_a(e) >> 32 & 0xff) == APROF_THREAD_IDLE ? APROF_TRACE_IDLE : APROF_TRACE_OTHER;
}

/* -- frames ----------------------------------------------------------------------------------- */

static enum verdict next_verdict(const struct sieving *s, struct out *o, uint32_t block,
                                 uint64_t number) {
  const struct replay_list *l = block < s->marks.blocks ? &s->marks.block[block] : NULL;
  while (l && o->mark < l->count && l->mark[o->mark].number < number)
    o->mark++;
  bool found = l && o->mark < l->count && l->mark[o->mark].number == number;
  return found ? s->verdict[block][o->mark] : STAYS;
}

static void take(struct sieving *s, struct out *o, uint32_t block, uint64_t number,
                 const struct aprof_trace_event *e, bool *of_thread) {
  uint32_t kind = aprof_trace_kind(e);
  if (kind == APROF_TRACE_MORE) {
    take_more(o, e, *of_thread);
    *of_thread = false;
    if (o->of == STAYS)
      put(s, o, block, e);
    return;
  }
  *of_thread = kind == APROF_TRACE_THREAD;
  o->of = next_verdict(s, o, block, number);
  if (o->of == GOES)
    leave_out(s, o, block, e);
  else if (o->of == LEAVES)
    leave(s, o, block, e);
  else
    keep(s, o, block, e);
}

static void take_frame(struct sieving *s, const struct trace_frame *head, struct out *o,
                       const struct aprof_trace_event *events, size_t count) {
  bool of_thread = false;
  if (!o->events) {
    o->events = allocate(FRAME_EVENTS, sizeof *o->events);
    o->number = o->read = head->number;
    o->first = head->first;
    o->rest = APROF_TRACE_OTHER;
  }
  if (head->number > o->read) { /* what is missing is missing still */
    flush(s, o, head->block);
    o->number += head->number - o->read;
  }
  if (head->lost) {
    flush(s, o, head->block);
    o->lost = head->lost;
  }
  o->last = head->last;
  for (size_t i = 0; i < count; i++)
    take(s, o, head->block, head->number + i, &events[i], &of_thread);
  o->read = head->number + count;
}

static struct out *out_of(struct sieving *s, uint32_t block) {
  for (uint32_t i = 0; i < s->from->streams; i++)
    if (s->from->stream[i].block == block)
      return &s->out[i];
  return NULL;
}

static void flush_all(struct sieving *s) {
  for (uint32_t i = 0; i < s->from->streams; i++) {
    struct out *o = &s->out[i];
    if (!o->events)
      continue;
    settle(s, o, s->from->stream[i].block, APROF_TRACE_NONE, 0);
    flush(s, o, s->from->stream[i].block);
  }
}

/* What is no event stays as it is; all events stand before the last image. */
static void write_frames(struct sieving *s) {
  struct trace_sieve what = {.over = s->wish->over, .left_out = s->left_out};
  struct aprof_trace_event *room = allocate(1, TRACE_RAW_MOST);
  if (s->wish->kind)
    strncpy(what.kind, s->wish->kind, sizeof what.kind - 1);
  trace_write(s->to, &(struct trace_frame){.type = TRACE_SIEVE}, &what, sizeof what);
  bool flushed = false;
  for (uint32_t i = 0; i < s->from->frames; i++) {
    const struct trace_frame *head = &s->from->frame[i].head;
    int64_t size = head->raw ? trace_bytes(s->from, i, room) : 0;
    struct out *o = head->type == TRACE_EVENTS ? out_of(s, head->block) : NULL;
    if (size < 0)
      continue;
    if (o) {
      take_frame(s, head, o, room, (size_t)size / sizeof *room);
      continue;
    }
    if (!flushed &&
        (head->type == TRACE_END || (head->type == TRACE_IMAGE && head->block == TRACE_LAST))) {
      flush_all(s);
      flushed = true;
    }
    trace_write(s->to, head, room, (size_t)size);
  }
  if (!flushed)
    flush_all(s);
  free(room);
}

static void release(struct sieving *s) {
  for (uint32_t i = 0; i < s->marks.blocks; i++) {
    free(s->marks.block[i].mark);
    if (s->verdict)
      free(s->verdict[i]);
  }
  for (uint32_t i = 0; s->out && i < s->from->streams; i++)
    free(s->out[i].events);
  free(s->marks.block);
  free(s->verdict);
  free(s->out);
  trace_writer_free(s->to);
  trace_close(s->from);
}

char *sieve(const char *from, int to, const struct sieve_wish *wish, uint64_t *left_out) {
  struct trace_error why = {""};
  struct sieving s = {.marks = {.played = played}, .wish = wish};
  char *fault = NULL;
  s.from = trace_open(from, &why);
  struct replay *r = s.from ? replay_marked(s.from, &why, &s.marks) : NULL;
  if (r) {
    replay_free(r);
    s.out = allocate(s.from->streams + 1u, sizeof *s.out);
    s.to = trace_writer_new(to, &s.from->header);
    write_frames(&s);
    *left_out = s.left_out;
    int error = trace_write_error(s.to);
    fault = error ? print_string("%s", strerror(error)) : NULL;
  } else
    fault = print_string("%s", why.text);
  release(&s);
  return fault;
}
