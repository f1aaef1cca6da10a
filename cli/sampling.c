/* SPDX-License-Identifier: MIT */
/* From perf events to a recording; see sampling.h. */
#include "sampling.h"

#include "probe/generated.h"
#include "read/util.h"
#include "show/format.h"

#include <stdlib.h>
#include <string.h>

struct sampling {
  struct sampler *sampler;
  struct sampler_wish wish;
  struct timeline *timeline;
  struct generated generated;
  struct mappings_of_none {
    uint64_t start, end;
  } * none; /* mappings of no file: what lies there is generated */
  size_t nones;
};

/* -- what comes ------------------------------------------------------------------------ */

static void take_mapping(const struct mapping *m, void *context) {
  struct sampling *s = context;
  struct trace_code code = {
      .start = m->start, .end = m->end, .offset = m->offset, .build_id_length = m->build_id_length};
  memcpy(code.build_id, m->build_id, sizeof code.build_id);
  timeline_code(s->timeline, &code, m->path);
  if (m->path[0] == '/' && strncmp(m->path, "//anon", 6) != 0)
    return;
  s->none = reallocate(s->none, s->nones + 1, sizeof *s->none);
  s->none[s->nones].start = m->start;
  s->none[s->nones++].end = m->end;
}

static void note_generated(struct sampling *s, uint64_t address) {
  for (size_t i = 0; i < s->nones; i++)
    if (address >= s->none[i].start && address < s->none[i].end) {
      generated_add(&s->generated, address);
      return;
    }
}

static void take_record(const struct sampler_record *r, void *context) {
  static const uint8_t whats[] = {
      [SAMPLER_SAMPLE] = TRACE_SAMPLE,       [SAMPLER_ON] = TRACE_ON,
      [SAMPLER_PREEMPTED] = TRACE_PREEMPTED, [SAMPLER_BLOCKED] = TRACE_BLOCKED,
      [SAMPLER_OVER] = TRACE_OVER,           [SAMPLER_WATCHED] = TRACE_WATCHED,
      [SAMPLER_LOST] = TRACE_UNKNOWN};
  struct sampling *s = context;
  const struct trace_kernel record = {
      .tid = r->tid, .what = whats[r->what], .kernel = r->kernel, .frames = (uint16_t)r->frames};
  timeline_add(s->timeline, &record, r->time, r->frame);
  for (size_t i = 0; i < r->frames && s->nones; i++)
    note_generated(s, r->frame[i] - (i > 0));
}

static void take_name(uint64_t start, uint64_t end, const char *name, void *context) {
  timeline_named(context, start, end, name);
}

/* -- all of it ------------------------------------------------------------------------- */

/* Of a profile that was named by its file the header tells; a number alone does not: it may have
   been given to another process. */
static long pid_of(const struct found *found, const struct aprof_header *h) {
  if (found->pid)
    return found->pid;
  return process_start(h->pid) == h->start_time ? h->pid : 0;
}

static uint32_t flags_of(const struct sampling *s, const struct sampler_numbers *n) {
  return (n->no_kernel ? TRACE_USER_ONLY : 0u) | (s->wish.switches ? TRACE_SWITCHES : 0u) |
         (n->throttled ? TRACE_THROTTLED : 0u);
}

struct sampling *sampling_begin(const struct found *found, const struct aprof_header *h,
                                const struct sampler_wish *wish, struct recorder *recorder) {
  const uint64_t second = 1000000000;
  const char *why = NULL;
  long pid = pid_of(found, h);
  if (!wish->hertz && !wish->switches)
    return NULL;
  if (h->clock_source == APROF_CLOCK_VIRTUAL)
    why = "its clock is the program's own, and the kernel has another";
  else if (!pid)
    why = "which process it is cannot be told from here; name it by its PID";
  struct sampler *sampler = why ? NULL : sampler_new(pid, wish, &why);
  if (!sampler) {
    complain("%s is recorded without %s: %s", found->what,
             !wish->switches ? "samples"
             : wish->hertz   ? "samples and switches"
                             : "switches",
             why);
    return NULL;
  }
  struct sampler_numbers n;
  struct sampling *s = allocate(1, sizeof *s);
  s->sampler = sampler;
  s->wish = *wish;
  sampler_numbers(sampler, &n);
  s->timeline =
      recorder_timeline(recorder, wish->hertz ? second / wish->hertz : 0, flags_of(s, &n));
  generated_begin(&s->generated, pid);
  return s;
}

void sampling_poll(struct sampling *s) {
  if (!s)
    return;
  const struct sampler_sink sink = {take_record, take_mapping, s};
  struct sampler_numbers n;
  sampler_poll(s->sampler, &sink);
  sampler_numbers(s->sampler, &n);
  timeline_says(s->timeline, n.lost, flags_of(s, &n));
}

void sampling_names(struct sampling *s) {
  if (s)
    generated_name(&s->generated, take_name, s->timeline);
}

const char *sampling_says(const struct sampling *s) {
  struct sampler_numbers n;
  if (!s)
    return "";
  sampler_numbers(s->sampler, &n);
  const char *samples = s->wish.hertz ? turn_text(", %s samples", shown_count(n.samples)) : "";
  const char *switches =
      s->wish.switches ? turn_text(", %s switches", shown_count(n.switches)) : "";
  const char *lost = n.lost ? turn_text(" (%s lost)", shown_count(n.lost)) : "";
  return turn_text("%s%s%s%s", samples, switches, lost,
                   n.no_kernel && s->wish.hertz ? " of user space" : "");
}

void sampling_free(struct sampling *s) {
  if (!s)
    return;
  sampler_free(s->sampler);
  generated_free(&s->generated);
  free(s->none);
  free(s);
}
