/* SPDX-License-Identifier: MIT */
/* The kernel's side of a recording; see timeline.h. */
#include "timeline.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 4096 };

/* Content of frames of one type that is not written yet. */
struct pile {
  unsigned char *bytes;
  size_t used;
};

struct timeline {
  struct trace_writer *to;
  uint64_t sample_ns, rate, lost, lost_told;
  uint32_t flags;
  struct pile kernel, code, named;
  struct clock_pair before, now; /* mono 0: none yet */
  unsigned char *all;            /* code, as it was written, for the next file */
  size_t all_used;
};

struct timeline *timeline_new(uint64_t sample_ns, uint32_t flags, uint64_t rate) {
  struct timeline *t = allocate(1, sizeof *t);
  t->sample_ns = sample_ns;
  t->flags = flags;
  t->rate = rate;
  return t;
}

void timeline_free(struct timeline *t) {
  if (!t)
    return;
  free(t->kernel.bytes);
  free(t->code.bytes);
  free(t->named.bytes);
  free(t->all);
  free(t);
}

/* -- clocks ---------------------------------------------------------------------------- */

void timeline_clock(struct timeline *t, struct clock_pair now) {
  t->before = t->now;
  t->now = now;
}

/* -- frames ---------------------------------------------------------------------------- */

static void write_pile(struct timeline *t, enum trace_type type, struct pile *p) {
  struct trace_frame frame = {.type = type};
  bool of_kernel = type == TRACE_KERNEL;
  if (of_kernel) {
    frame.number = t->sample_ns;
    frame.block = t->flags;
    frame.lost = t->lost - t->lost_told;
  }
  if (!p->used && !frame.lost)
    return;
  trace_write(t->to, &frame, p->bytes, p->used);
  t->lost_told = of_kernel ? t->lost : t->lost_told;
  p->used = 0;
}

/* Code comes before what lies in it. */
void timeline_flush(struct timeline *t) {
  write_pile(t, TRACE_CODE, &t->code);
  write_pile(t, TRACE_NAMED, &t->named);
  write_pile(t, TRACE_KERNEL, &t->kernel);
}

static void put(struct timeline *t, struct pile *p, const void *head, size_t size, const void *rest,
                size_t more) {
  if (!p->bytes)
    p->bytes = allocate(1, TRACE_RAW_MOST);
  if (TRACE_RAW_MOST - p->used < size + more)
    timeline_flush(t);
  memcpy(p->bytes + p->used, head, size);
  if (more)
    memcpy(p->bytes + p->used + size, rest, more);
  p->used += size + more;
}

void timeline_to(struct timeline *t, struct trace_writer *to) {
  t->to = to;
  for (size_t done = 0; done < t->all_used;) {
    struct trace_code code;
    memcpy(&code, t->all + done, sizeof code);
    put(t, &t->code, &code, sizeof code, t->all + done + sizeof code, code.path_length);
    done += sizeof code + code.path_length;
  }
}

/* -- adding ---------------------------------------------------------------------------- */

void timeline_add(struct timeline *t, const struct trace_kernel *record, uint64_t ns,
                  const uint64_t *frame) {
  struct trace_kernel r = *record;
  r.tick = clock_tick_at(&t->before, &t->now, t->rate, ns);
  put(t, &t->kernel, &r, sizeof r, frame, r.frames * sizeof *frame);
}

void timeline_code(struct timeline *t, const struct trace_code *from, const char *path) {
  struct trace_code code = *from;
  code.tick = t->now.tick;
  code.path_length = (uint32_t)strnlen(path, TEXT_MOST);
  put(t, &t->code, &code, sizeof code, path, code.path_length);
  t->all = reallocate(t->all, t->all_used + sizeof code + code.path_length, 1);
  memcpy(t->all + t->all_used, &code, sizeof code);
  memcpy(t->all + t->all_used + sizeof code, path, code.path_length);
  t->all_used += sizeof code + code.path_length;
}

void timeline_named(struct timeline *t, uint64_t start, uint64_t end, const char *name) {
  struct trace_named named = {
      .start = start, .end = end, .length = (uint32_t)strnlen(name, TEXT_MOST)};
  put(t, &t->named, &named, sizeof named, name, named.length);
}

void timeline_says(struct timeline *t, uint64_t lost, uint32_t flags) {
  t->lost = lost;
  t->flags = flags;
}
