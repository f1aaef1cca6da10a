/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks: a line for each, frames from the root on with semicolons between, and a number
 * behind the last space. flamegraph.pl, speedscope and many others read it.
 */
#include "formats.h"
#include "read/util.h"

#include <inttypes.h>
#include <stdlib.h>

/* Nothing in a line may look like its end or a frame's. */
static void write_name(const char *name, FILE *out) {
  for (; *name; name++)
    fputc(*name == ';' ? ':' : *name == '\n' ? ' ' : *name, out);
}

static void write_frames(const struct stacks *all, size_t at, FILE *out) {
  size_t frame[STACK_DEPTH], frames = 0;
  for (; at != SIZE_MAX; at = all->stack[at].parent)
    frame[frames++] = at;
  while (frames--) {
    write_name(all->stack[frame[frames]].name, out);
    fputc(frames ? ';' : ' ', out);
  }
}

void folded_write(const struct view *const *v, size_t views, const struct format_options *options,
                  FILE *out) {
  for (size_t i = 0; i < views; i++) {
    struct stacks all = stacks_of(v[i], options->background);
    char *title = stacks_title(v[i]);
    for (size_t j = 0; j < all.stacks; j++) {
      const struct stack *s = &all.stack[j];
      if (s->left_out || !s->self[options->measure])
        continue;
      if (views > 1) {
        write_name(title, out);
        fputc(';', out);
      }
      write_frames(&all, j, out);
      fprintf(out, "%" PRIu64 "\n", s->self[options->measure]);
    }
    stacks_free(&all);
    free(title);
  }
}
