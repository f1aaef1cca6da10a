/* SPDX-License-Identifier: MIT */
/* From the rings of a process into a file; see recorder.h. */
#include "recorder.h"

#include "drain.h"
#include "hits.h"
#include "image.h"
#include "lag.h"
#include "read/clock.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FRAME_EVENTS = TRACE_RAW_MOST / sizeof(struct aprof_trace_event) };
#define SECOND ((uint64_t)1000000000)
#define PAUSE_LEAST 1000000u
#define PAUSE_MOST 50000000u
#define LOOKS_MOST 100u

/* Events of one ring that are fetched and not written yet. */
struct pending {
  struct aprof_trace_event *events;
  size_t count;
  uint64_t number;          /* of the first one */
  uint64_t first, last;     /* ticks between which they were fetched */
  uint64_t since;           /* ns, when the first one was fetched */
  uint64_t lost, lost_told; /* for which there was no ring; those that a frame has told */
  uint64_t lost_before;     /* ... before the recording, of the same count */
};

struct recorder {
  int fd;
  struct trace_header header;
  struct trace_writer *to, *next; /* next: a file beside it, that began later; or NULL */
  struct image *image;
  struct profile *copy; /* as it was at the last image */
  struct drain drain;
  struct pending *pending; /* by ring */
  struct hits *hits;       /* of places that are watched; NULL: none is */
  uint32_t rings;
  uint64_t fetched; /* tick of the last poll, */
  uint64_t asked;   /* and its ns */
  uint64_t named;   /* ns, when the tables of names were looked at last */
  uint64_t pause, lag;
  uint32_t share; /* as of the header, written last; of a recording of some requests */
  struct trace_share counts[2];                /* when it began; written last */
  uint64_t shared;                             /* ns, when it was written */
  struct recorder_numbers before, before_next; /* when this file began, and the next one */
  uint64_t unplaced_before;                    /* events without a thread, as the recording began */
  bool of_rings;
  struct timeline *timeline; /* or NULL */
  struct lag *lags;          /* or NULL: nobody asks */
  uint64_t lost;             /* events, when it was asked for last */
};

/* -- the file ------------------------------------------------------------------------ */

static int64_t realtime(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * (int64_t)SECOND + now.tv_nsec;
}

/* CLOCK_REALTIME at a tick of the profile: from the moment that it was made at, so that it holds
   for what has ended long ago, too. */
static int64_t realtime_at(const struct recorder *r, const struct aprof_header *h, uint64_t tick,
                           bool live) {
  if (live && h->clock_source != APROF_CLOCK_VIRTUAL) {
    uint64_t now = profile_clock(h);
    return realtime() - (int64_t)clock_to_ns(now > tick ? now - tick : 0, r->header.mult);
  }
  return h->started_at_ns +
         (int64_t)clock_to_ns(tick > h->tick0 ? tick - h->tick0 : 0, r->header.mult);
}

static struct trace_writer *open_file(struct recorder *r, int to, uint64_t begin, bool live) {
  const struct aprof_header *h = &r->copy->header;
  r->header.begin_tick = begin;
  r->header.begin_ns = realtime_at(r, h, begin, live);
  return trace_writer_new(to, &r->header);
}

static void flush(struct recorder *r, uint32_t ring) {
  struct pending *p = &r->pending[ring];
  struct trace_frame frame = {.type = TRACE_EVENTS,
                              .block = r->drain.ring[ring].block,
                              .number = p->number,
                              .first = p->first,
                              .last = p->last,
                              .lost = p->lost - p->lost_told};
  if (!p->count && !frame.lost)
    return;
  trace_write(r->to, &frame, p->events, p->count * sizeof *p->events);
  p->lost_told = p->lost;
  p->count = 0;
}

static uint64_t millionths(uint32_t share) {
  uint64_t number = share == UINT32_MAX ? 1000000 : (uint64_t)((double)share / 0x1p32 * 1e6 + 0.5);
  return share && !number ? 1 : number; /* 0: recording stands still */
}

/* What the process's header said at that tick. */
static void write_share(struct recorder *r, struct trace_writer *to,
                        const struct aprof_header *then, uint64_t tick) {
  if (!(r->header.flags & TRACE_SHARED))
    return;
  struct trace_share counts = {then->begun_requests, then->kept_requests};
  struct trace_frame frame = {
      .type = TRACE_SHARE, .number = millionths(then->trace_share), .first = tick};
  trace_write(to, &frame, &counts, sizeof counts);
  if (!r->shared)
    r->counts[0] = counts;
  r->counts[1] = counts;
  r->share = then->trace_share;
  r->shared = r->asked;
}

/* As of the image. */
static void write_share_then(struct recorder *r, struct trace_writer *to) {
  const struct profile *p = r->copy;
  write_share(r, to, &p->header, profile_now(p, true, 0));
}

/* Where it has changed, or is due again. */
static void write_share_now(struct recorder *r) {
  struct aprof_header now;
  if (r->header.flags & TRACE_SHARED && profile_read_header(r->fd, "", &now, true) &&
      (now.trace_share != r->share || r->asked - r->shared > SECOND))
    write_share(r, r->to, &now, profile_clock(&now));
}

/* -- fetching -------------------------------------------------------------------------- */

static void know_rings(struct recorder *r) {
  drain_look(&r->drain);
  if (r->rings == r->drain.rings)
    return;
  r->pending = reallocate(r->pending, r->drain.rings, sizeof *r->pending);
  for (; r->rings < r->drain.rings; r->rings++)
    r->pending[r->rings] = (struct pending){.events = NULL};
}

/* One that is new to us had its events while we were looking: from the first on. False: there is
   nothing to fetch; else also if all that was copied has been overwritten meanwhile. */
static bool fetch_some(struct recorder *r, uint32_t number, uint64_t tick, uint64_t now) {
  struct pending *p = &r->pending[number];
  struct drain_ring *ring = &r->drain.ring[number];
  uint64_t first, before = ring->next;
  if (!p->events)
    p->events = reallocate(NULL, FRAME_EVENTS, sizeof *p->events);
  size_t room = FRAME_EVENTS - p->count;
  size_t got = drain_fetch(&r->drain, ring, p->events + p->count, room, &first);
  p->lost = ring->unwritten - p->lost_before;
  if (!got)
    return ring->next != before;
  if (r->lags)
    lag_see(r->lags, number, p->events + p->count, got, tick);
  if (p->count && first != p->number + p->count) { /* some are missing between: another frame */
    struct aprof_trace_event *old = p->events;
    p->events = reallocate(NULL, FRAME_EVENTS, sizeof *p->events);
    memcpy(p->events, old + p->count, got * sizeof *old);
    struct aprof_trace_event *new = p->events;
    p->events = old;
    flush(r, number);
    p->events = new;
    free(old);
  }
  if (!p->count) {
    p->number = first;
    p->first = r->fetched;
    p->since = now;
  }
  p->count += got;
  p->last = tick;
  if (p->count == FRAME_EVENTS)
    flush(r, number);
  return true;
}

/* What is there now; a thread may be faster than we are. If it went round its ring while each part
   was copied, as when this process stood still meanwhile, nothing is taken though the ring is full:
   it is looked at again, and what is missed is counted as ever. */
static void fetch_ring(struct recorder *r, uint32_t number, uint64_t tick, uint64_t now) {
  const struct drain_ring *ring = &r->drain.ring[number];
  uint64_t before = ring->taken;
  for (unsigned looks = 0; looks < LOOKS_MOST && ring->taken == before; looks++) {
    uint64_t head = drain_head(&r->drain, ring);
    do {
      if (!fetch_some(r, number, tick, now))
        return;
    } while (ring->next < head);
  }
}

static void fetch_known(struct recorder *r) {
  uint64_t now = clock_monotonic(), tick = profile_clock(&r->copy->header);
  r->drain.fill = 0;
  for (uint32_t i = 0; i < r->rings; i++) {
    fetch_ring(r, i, tick, now);
    if (r->pending[i].count && now - r->pending[i].since > SECOND)
      flush(r, i);
  }
  r->fetched = tick;
  r->lag = now - r->asked;
  r->asked = now;
}

static void fetch_all(struct recorder *r) {
  know_rings(r);
  fetch_known(r);
}

static void take_clocks(struct recorder *r) {
  timeline_clock(r->timeline, clock_pair(&r->copy->header));
}

struct timeline *recorder_timeline(struct recorder *r, uint64_t sample_ns, uint32_t flags) {
  if (!r->timeline) {
    r->timeline = timeline_new(sample_ns, flags, r->header.mult);
    timeline_to(r->timeline, r->to);
    take_clocks(r);
  }
  return r->timeline;
}

void recorder_poll(struct recorder *r) {
  write_share_now(r);
  fetch_all(r);
  if (r->timeline)
    take_clocks(r);
  if (r->drain.fill > 0.25)
    r->pause /= 2;
  else if (r->drain.fill < 0.0625)
    r->pause += r->pause / 4;
  if (r->hits)
    hits_write(r->hits, r->to, false);
  r->pause = r->pause < PAUSE_LEAST ? PAUSE_LEAST : r->pause > PAUSE_MOST ? PAUSE_MOST : r->pause;
  if (r->asked - r->named > SECOND) {
    image_add(r->image, r->to, r->fd);
    if (r->timeline)
      timeline_flush(r->timeline);
    r->named = r->asked;
  }
}

uint64_t recorder_pause(const struct recorder *r) {
  return r->pause;
}

void recorder_watch(struct recorder *r) {
  struct recorder_numbers n;
  recorder_numbers(r, &n);
  r->lost = n.lost;
  lag_free(r->lags);
  r->lags = lag_new();
}

uint64_t recorder_lag(struct recorder *r) {
  struct recorder_numbers n;
  recorder_numbers(r, &n);
  bool behind = n.lost > r->lost || r->drain.fill > 0.5;
  r->lost = n.lost;
  uint64_t ticks = lag_take(r->lags, r->fetched);
  return behind ? UINT64_MAX : clock_to_ns(ticks, r->header.mult);
}

void recorder_numbers(const struct recorder *r, struct recorder_numbers *n) {
  *n = (struct recorder_numbers){.written = trace_written(r->to),
                                 .begun = r->counts[1].begun - r->counts[0].begun,
                                 .kept = r->counts[1].kept - r->counts[0].kept,
                                 .lag = r->lag,
                                 .error = trace_write_error(r->to)};
  for (uint32_t i = 0; i < r->rings; i++) {
    n->events += r->drain.ring[i].taken;
    n->ringless += r->pending[i].lost;
    n->lost += r->drain.ring[i].missed + r->pending[i].lost;
  }
  uint64_t unplaced = r->copy->header.lost_events;
  n->unplaced = unplaced > r->unplaced_before ? unplaced - r->unplaced_before : 0;
}

/* -- begin and end -------------------------------------------------------------------- */

/* Events of each ring from where the image has it; or, of rings alone, the oldest there are. */
static void begin_rings(struct recorder *r) {
  know_rings(r);
  for (uint32_t i = 0; i < r->rings; i++) {
    const struct aprof_block *b = profile_block(r->copy, r->drain.ring[i].block);
    struct drain_ring *ring = &r->drain.ring[i];
    ring->next = b && !r->of_rings ? b->ring_head : 0;
    if (r->of_rings && b && b->ring_bits < 32 && b->ring_head >> b->ring_bits)
      ring->next = b->ring_head - ((uint64_t)1 << b->ring_bits);
    ring->unwritten = b && !r->of_rings ? b->ring_lost : 0;
    r->pending[i].lost_before = ring->unwritten;
  }
}

/* The rings reach back to the start: so do the counts. */
static void share_from_start(struct recorder *r) {
  for (uint32_t i = 0; i < r->rings; i++)
    if (r->drain.ring[i].next)
      return;
  struct aprof_header start = r->copy->header;
  start.begun_requests = start.kept_requests = 0;
  write_share(r, r->to, &start, start.tick0);
}

static struct recorder *begin(int fd, const char *what, uint64_t rate, bool left) {
  struct profile *copy = profile_read(fd, what, !left, false);
  if (!copy)
    return NULL;
  struct recorder *r = allocate(1, sizeof *r);
  r->fd = fd;
  r->copy = copy;
  r->image = image_new();
  r->pause = PAUSE_LEAST * 5;
  memcpy(r->header.magic, TRACE_MAGIC, sizeof r->header.magic);
  r->header.version = TRACE_VERSION;
  r->header.header_size = sizeof r->header;
  r->header.profile_version = APROF_PROFILE_VERSION;
  r->header.clock_source = copy->header.clock_source;
  r->header.mult = rate;
  r->header.start_time = copy->header.start_time;
  r->header.pid = copy->header.pid;
  if (copy->header.mode & APROF_TRACE_SHARED)
    r->header.flags |= TRACE_SHARED;
  strncpy(r->header.aprof, APROF_VERSION, sizeof r->header.aprof - 1);
  r->fetched = r->header.begin_tick = profile_now(copy, true, 0);
  r->asked = r->named = clock_monotonic();
  drain_begin(&r->drain, fd);
  return r;
}

struct recorder *recorder_begin(int fd, const char *what, int to, uint64_t rate, bool left) {
  struct recorder *r = begin(fd, what, rate, left);
  if (!r)
    return NULL;
  begin_rings(r);
  r->unplaced_before = r->copy->header.lost_events;
  r->to = open_file(r, to, r->header.begin_tick, !left);
  image_write(r->image, r->to, r->copy, TRACE_BASE);
  write_share_then(r, r->to);
  return r;
}

struct recorder *recorder_of_rings(int fd, const char *what, int to, uint64_t rate, bool left) {
  struct recorder *r = begin(fd, what, rate, left);
  if (!r)
    return NULL;
  r->of_rings = true;
  r->header.flags |= TRACE_FLIGHT;
  begin_rings(r);
  r->to = open_file(r, to, r->copy->header.tick0, !left);
  share_from_start(r);
  write_share_then(r, r->to);
  return r;
}

/* The copy is of now, and what is fetched ends with it: a ring that is newer than the copy has
   nothing yet. */
static void fetch_to_image(struct recorder *r, bool left) {
  fetch_all(r); /* most of it, so that it is not overwritten while the image is made */
  profile_refresh(r->copy, r->fd);
  if (left)
    r->copy->read_tick = 0;
  know_rings(r);
  for (uint32_t i = 0; i < r->rings; i++) {
    const struct aprof_block *b = profile_block(r->copy, r->drain.ring[i].block);
    r->drain.ring[i].limit = b ? b->ring_head : 0;
  }
  fetch_known(r); /* and no ring that has come since */
  for (uint32_t i = 0; i < r->rings; i++) {
    flush(r, i);
    r->drain.ring[i].limit = UINT64_MAX;
  }
}

static void close_file(struct recorder *r) {
  struct recorder_numbers n;
  if (r->timeline)
    timeline_flush(r->timeline);
  write_share_then(r, r->to);
  if (r->hits)
    hits_write(r->hits, r->to, true);
  image_write(r->image, r->to, r->copy, TRACE_LAST);
  recorder_numbers(r, &n);
  struct trace_frame end = {.type = TRACE_END,
                            .number = n.events - r->before.events,
                            .lost = n.lost - r->before.lost,
                            .first = profile_now(r->copy, true, 0)};
  trace_write(r->to, &end, NULL, 0);
}

void recorder_end(struct recorder *r, bool left) {
  fetch_to_image(r, left);
  close_file(r);
}

int recorder_rotate(struct recorder *r, int to) {
  fetch_to_image(r, false);
  close_file(r);
  int error = trace_write_error(r->to);
  recorder_numbers(r, &r->before);
  trace_writer_free(r->to);
  r->header.flags &= ~(uint32_t)TRACE_FLIGHT;
  r->to = open_file(r, to, r->copy->read_tick, true);
  if (r->timeline)
    timeline_to(r->timeline, r->to);
  image_write(r->image, r->to, r->copy, TRACE_BASE);
  write_share_then(r, r->to);
  if (r->hits)
    hits_again(r->hits, r->to);
  return error;
}

/* What the first file has of names is complete before the image of the next one, as from there on
   only what is new to that is written. */
void recorder_begin_next(struct recorder *r, int to) {
  fetch_to_image(r, false);
  image_add(r->image, r->to, r->fd);
  recorder_numbers(r, &r->before_next);
  r->header.flags &= ~(uint32_t)TRACE_FLIGHT;
  r->next = open_file(r, to, r->copy->read_tick, true);
  image_write(r->image, r->next, r->copy, TRACE_BASE);
  write_share_then(r, r->next);
  if (r->hits)
    hits_again(r->hits, r->next);
  trace_writer_join(r->to, r->next);
  if (r->timeline)
    timeline_to(r->timeline, r->to); /* both have all code */
}

int recorder_take_next(struct recorder *r) {
  int error = trace_write_error(r->to);
  trace_writer_free(r->to);
  r->to = r->next;
  r->next = NULL;
  if (r->timeline)
    timeline_to(r->timeline, r->to);
  r->before = r->before_next;
  return error;
}

void recorder_end_copy(struct recorder *r, int to, bool left) {
  trace_writer_move(r->to, to);
  recorder_end(r, left);
}

/* -- places that are watched ------------------------------------------------------------ */

uint32_t recorder_probe(struct recorder *r, bool if_hit, const char *label, const char *const *name,
                        size_t names) {
  if (!r->hits)
    r->hits = hits_new(&r->copy->header, r->header.mult);
  return hits_add_probe(r->hits, r->to, if_hit ? TRACE_IF_HIT : 0, label, name, names);
}

void recorder_hit(struct recorder *r, uint32_t probe, int tid, uint64_t time) {
  hits_add(r->hits, r->to, probe, tid, time);
}

void recorder_free(struct recorder *r) {
  if (!r)
    return;
  for (uint32_t i = 0; i < r->rings; i++)
    free(r->pending[i].events);
  free(r->pending);
  drain_end(&r->drain);
  timeline_free(r->timeline);
  hits_free(r->hits);
  lag_free(r->lags);
  trace_writer_free(r->to);
  trace_writer_free(r->next);
  image_free(r->image);
  profile_free(r->copy);
  free(r);
}
