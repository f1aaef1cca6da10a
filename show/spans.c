/* SPDX-License-Identifier: MIT */
/* The spans of a process, as text in 80 columns and as JSON; see spans.h. */
#include "spans.h"

#include "emit.h"
#include "format.h"
#include "read/util.h"
#include "totals.h"

#include <inttypes.h>

enum { NAME_WIDTH = 24, PLACE_WIDTH = 19, WORD_WIDTH = 8, NUMBER_WIDTH = 7 };

void spans_print(const struct view *v, FILE *out) {
  style_choose(out);
  if (!v->spans) {
    fprintf(out, "%s %" PRId64 " has come to no span\n", cut_middle(v->process.name, 40),
            v->process.pid);
    return;
  }
  style_set(out, STYLE_TITLE);
  print_left(out, "span", NAME_WIDTH);
  print_left(out, "where", PLACE_WIDTH);
  print_left(out, "tier", WORD_WIDTH);
  print_left(out, "detail", WORD_WIDTH - 1);
  print_right(out, "calls", NUMBER_WIDTH);
  print_right(out, "exec", NUMBER_WIDTH);
  print_right(out, "outside", NUMBER_WIDTH + 1);
  style_set(out, STYLE_PLAIN);
  fputc('\n', out);
  for (size_t i = 0; i < v->spans; i++) {
    const struct view_span *s = &v->span[i];
    const char *place = place_text(base_name(s->file), s->line);
    print_left(out, cut_middle(s->name, NAME_WIDTH - 1), NAME_WIDTH);
    print_left(out, cut_middle(place, PLACE_WIDTH - 1), PLACE_WIDTH);
    print_left(out, s->tier ? cut_middle(s->tier, WORD_WIDTH - 1) : "-", WORD_WIDTH);
    print_left(out, s->detail, WORD_WIDTH - 2);
    print_right(out, shown_count(s->calls), NUMBER_WIDTH);
    print_right(out, shown_short(s->exec), NUMBER_WIDTH);
    print_right(out, shown_short(s->other), NUMBER_WIDTH + 1);
    fputc('\n', out);
  }
}

void spans_json(const struct view *v, FILE *out) {
  struct emit e;
  emit_begin(&e, out, "aprof.spans/1");
  emit_members(&e, &layout_process, &v->process, "pid name");
  emit_total(&e, v, "spans");
  emit_end(&e);
}
