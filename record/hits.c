/* SPDX-License-Identifier: MIT */
/* Hits of places that are watched, as frames; see hits.h. */
#include "hits.h"

#include "read/clock.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

enum { PENDING = 4096 };
#define OLD_NS 250000000u

struct place {
  char *texts;
  size_t size;
  uint32_t flags;
};

struct hits {
  const struct aprof_header *header;
  uint64_t rate; /* ns per tick << 32 */
  struct clock_pair before;
  struct place *place;
  uint32_t places;
  struct trace_hit *pending; /* `tick`: ns of CLOCK_MONOTONIC still */
  uint32_t count, probe;     /* all of one place */
  uint64_t since;
};

struct hits *hits_new(const struct aprof_header *header, uint64_t rate) {
  struct hits *h = allocate(1, sizeof *h);
  *h = (struct hits){.header = header, .rate = rate, .before = clock_pair(header)};
  h->pending = allocate(PENDING, sizeof *h->pending);
  return h;
}

void hits_free(struct hits *h) {
  if (!h)
    return;
  for (uint32_t i = 0; i < h->places; i++)
    free(h->place[i].texts);
  free(h->place);
  free(h->pending);
  free(h);
}

/* -- places ------------------------------------------------------------------------- */

static void write_place(const struct hits *h, struct trace_writer *w, uint32_t number) {
  const struct trace_frame frame = {
      .type = TRACE_PROBE, .block = number, .number = h->place[number].flags};
  trace_write(w, &frame, h->place[number].texts, h->place[number].size);
}

static void add_text(struct place *p, const char *text) {
  size_t size = strlen(text) + 1;
  if (p->size + size > TRACE_RAW_MOST)
    return;
  p->texts = reallocate(p->texts, p->size + size, 1);
  memcpy(p->texts + p->size, text, size);
  p->size += size;
}

uint32_t hits_add_probe(struct hits *h, struct trace_writer *w, uint32_t flags, const char *label,
                        const char *const *name, size_t names) {
  h->place = reallocate(h->place, h->places + 1, sizeof *h->place);
  struct place *p = &h->place[h->places];
  *p = (struct place){.flags = flags};
  add_text(p, label);
  for (size_t i = 0; i < names; i++)
    add_text(p, name[i]);
  write_place(h, w, h->places);
  return h->places++;
}

void hits_again(const struct hits *h, struct trace_writer *w) {
  for (uint32_t i = 0; i < h->places; i++)
    write_place(h, w, i);
}

/* -- hits --------------------------------------------------------------------------- */

void hits_write(struct hits *h, struct trace_writer *w, bool all) {
  struct clock_pair now = clock_pair(h->header);
  if (h->count && (all || h->count == PENDING || now.mono - h->since >= OLD_NS)) {
    struct trace_frame frame = {.type = TRACE_HITS, .block = h->probe};
    for (uint32_t i = 0; i < h->count; i++)
      h->pending[i].tick = clock_tick_at(&h->before, &now, h->rate, h->pending[i].tick);
    frame.first = h->pending[0].tick;
    frame.last = h->pending[h->count - 1].tick;
    trace_write(w, &frame, h->pending, h->count * sizeof *h->pending);
    h->count = 0;
  }
  if (h->count == 0)
    h->before = now;
}

void hits_add(struct hits *h, struct trace_writer *w, uint32_t probe, int tid, uint64_t time) {
  if (h->count && h->probe != probe)
    hits_write(h, w, true);
  if (h->count == 0) {
    h->probe = probe;
    h->since = time;
  }
  h->pending[h->count++] = (struct trace_hit){.tick = time, .tid = tid};
  if (h->count == PENDING)
    hits_write(h, w, true);
}
