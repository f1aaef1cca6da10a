/* SPDX-License-Identifier: MIT */
/*
 * Stacks in the format of speedscope: each measure of each process as a profile of its own, among
 * which one chooses there.
 */
#include "emit.h"
#include "formats.h"
#include "read/index.h"
#include "read/util.h"

#include <inttypes.h>
#include <stdlib.h>

struct frames {
  struct index index;
  size_t *number; /* what the index points to */
  size_t frames;
  size_t **of; /* by view and stack */
};

static void add_frame(struct frames *f, struct emit *e, const struct stack *s, size_t *number) {
  char *key = print_string("%s\n%s\n%" PRIu64, s->name, s->file ? s->file : "", s->line);
  const size_t *there = index_get(&f->index, print_string("%s", key));
  if (there) {
    *number = *there;
    free(key);
    return;
  }
  *number = f->frames++;
  index_put(&f->index, key, number);
  emit_row(e);
  emit_open(e, NULL, '{');
  emit_text(e, "name", s->name);
  if (s->file)
    emit_text(e, "file", s->file);
  if (s->line)
    emit_number(e, "line", s->line);
  emit_close(e, '}');
}

static void write_frames(struct frames *f, struct emit *e, const struct stacks *all, size_t views) {
  emit_open(e, "shared", '{');
  emit_open(e, "frames", '[');
  for (size_t i = 0; i < views; i++)
    for (size_t j = 0; j < all[i].stacks; j++)
      if (!all[i].stack[j].left_out)
        add_frame(f, e, &all[i].stack[j], &f->of[i][j]);
  emit_close(e, ']');
  emit_close(e, '}');
}

static void write_sample(struct emit *e, const struct stacks *all, size_t at, const size_t *of) {
  size_t frame[STACK_DEPTH], frames = 0;
  for (; at != SIZE_MAX; at = all->stack[at].parent)
    frame[frames++] = of[at];
  emit_open(e, NULL, '[');
  while (frames--)
    emit_number(e, NULL, frame[frames]);
  emit_close(e, ']');
}

static bool has(const struct stack *s, enum stack_measure measure) {
  return !s->left_out && s->self[measure];
}

static void write_profile(struct emit *e, const struct stacks *all, enum stack_measure measure,
                          const size_t *of) {
  uint64_t sum = 0;
  char *title = stacks_title(all->view);
  char *name = print_string("%s: %s", title, stack_measures[measure]);
  for (size_t i = 0; i < all->stacks; i++)
    if (has(&all->stack[i], measure))
      add_to(&sum, all->stack[i].self[measure]);
  emit_row(e);
  emit_open(e, NULL, '{');
  emit_text(e, "type", "sampled");
  emit_text(e, "name", name);
  emit_text(e, "unit", measure == STACK_CALLS ? "none" : "nanoseconds");
  emit_number(e, "startValue", 0);
  emit_number(e, "endValue", sum);
  emit_open(e, "samples", '[');
  for (size_t i = 0; i < all->stacks; i++)
    if (has(&all->stack[i], measure))
      write_sample(e, all, i, of);
  emit_close(e, ']');
  emit_open(e, "weights", '[');
  for (size_t i = 0; i < all->stacks; i++)
    if (has(&all->stack[i], measure))
      emit_number(e, NULL, all->stack[i].self[measure]);
  emit_close(e, ']');
  emit_close(e, '}');
  free(name);
  free(title);
}

void speedscope_write(const struct view *const *v, size_t views,
                      const struct format_options *options, FILE *out) {
  struct stacks *all = allocate(views + 1, sizeof *all);
  struct frames f = {.of = allocate(views + 1, sizeof *f.of)};
  size_t stacks = 0;
  struct emit e;
  for (size_t i = 0; i < views; i++) {
    all[i] = stacks_of(v[i], options->background);
    f.of[i] = allocate(all[i].stacks + 1, sizeof *f.of[i]);
    stacks += all[i].stacks;
  }
  index_new(&f.index, stacks);
  emit_begin(&e, out, NULL);
  emit_text(&e, "$schema", "https://www.speedscope.app/file-format-schema.json");
  emit_text(&e, "exporter", "aprof " APROF_VERSION);
  write_frames(&f, &e, all, views);
  emit_open(&e, "profiles", '[');
  for (size_t i = 0; i < views; i++)
    for (enum stack_measure m = 0; m < STACK_MEASURES; m++)
      if (m != STACK_CPU || v[i]->sampled.samples)
        write_profile(&e, &all[i], m, f.of[i]);
  emit_close(&e, ']');
  emit_end(&e);
  for (size_t i = 0; i < views; i++) {
    stacks_free(&all[i]);
    free(f.of[i]);
  }
  index_free(&f.index);
  free(f.of);
  free(all);
}
