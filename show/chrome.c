/* SPDX-License-Identifier: MIT */
/*
 * Stacks as events of Chrome's trace viewer, for tools that know nothing else.
 *
 * What is shown are totals: a frame is as long as all time of its futures and of those beneath,
 * and they lie side by side, the earliest seen first. When something happened is not told; the
 * names of the rows and "otherData" say so. A process is one there, each of its measures a thread.
 */
#include "emit.h"
#include "formats.h"
#include "read/util.h"

#include <stdlib.h>

/* Times of events are in microseconds, with three digits for the rest. */
static void emit_time(struct emit *e, const char *name, uint64_t ns) {
  emit_float(e, name, (double)ns / 1e3, 3);
}

static void name_row(struct emit *e, const char *what, size_t process, size_t thread,
                     const char *name) {
  emit_row(e);
  emit_open(e, NULL, '{');
  emit_text(e, "ph", "M");
  emit_text(e, "name", what);
  emit_number(e, "pid", process);
  emit_number(e, "tid", thread);
  emit_open(e, "args", '{');
  emit_text(e, "name", name);
  emit_close(e, '}');
  emit_close(e, '}');
}

static void write_event(struct emit *e, const struct stack *s, size_t process, size_t thread,
                        uint64_t start, uint64_t length) {
  emit_row(e);
  emit_open(e, NULL, '{');
  emit_text(e, "ph", "X");
  emit_text(e, "name", s->name);
  emit_text(e, "cat", s->is_wait ? "wait" : "function");
  emit_number(e, "pid", process);
  emit_number(e, "tid", thread);
  emit_time(e, "ts", start);
  emit_time(e, "dur", length);
  emit_open(e, "args", '{');
  emit_place(e, "place", s->file, s->line);
  emit_number(e, s->is_wait ? "waits" : "futures", s->is_wait ? s->path->count : s->path->created);
  emit_close(e, '}');
  emit_close(e, '}');
}

/* Parents come before what lies beneath them: from below for lengths, from above for places. */
static void write_measure(struct emit *e, const struct stacks *all, enum stack_measure measure,
                          size_t process) {
  uint64_t *length = allocate(all->stacks + 1, sizeof *length);
  uint64_t *next = allocate(all->stacks + 1, sizeof *next), roots = 0;
  for (size_t i = all->stacks; i--;) {
    const struct stack *s = &all->stack[i];
    add_to(&length[i], s->left_out ? 0 : s->self[measure]);
    if (s->parent != SIZE_MAX)
      add_to(&length[s->parent], length[i]);
  }
  for (size_t i = 0; i < all->stacks; i++) {
    const struct stack *s = &all->stack[i];
    uint64_t *place = s->parent == SIZE_MAX ? &roots : &next[s->parent];
    next[i] = *place;
    add_to(place, length[i]);
    if (length[i])
      write_event(e, s, process, measure + 1, next[i], length[i]);
  }
  free(next);
  free(length);
}

void chrome_write(const struct view *const *v, size_t views, const struct format_options *options,
                  FILE *out) {
  struct emit e;
  emit_begin(&e, out, NULL);
  emit_text(&e, "displayTimeUnit", "ns");
  emit_open(&e, "otherData", '{');
  emit_text(&e, "made_by", "aprof " APROF_VERSION);
  emit_text(&e, "shows", "totals of futures by path, side by side: how long, not when");
  emit_close(&e, '}');
  emit_open(&e, "traceEvents", '[');
  for (size_t i = 0; i < views; i++) {
    struct stacks all = stacks_of(v[i], options->background);
    char *title = stacks_title(v[i]);
    name_row(&e, "process_name", i + 1, 0, title);
    for (enum stack_measure m = STACK_WALL; m < STACK_CALLS; m++) {
      char *row = print_string("%s, in total (no time line)", stack_measures[m]);
      name_row(&e, "thread_name", i + 1, m + 1, row);
      write_measure(&e, &all, m, i + 1);
      free(row);
    }
    free(title);
    stacks_free(&all);
  }
  emit_close(&e, ']');
  emit_end(&e);
}
