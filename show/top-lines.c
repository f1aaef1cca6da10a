/* SPDX-License-Identifier: MIT */
/* Lines of pages that are no table; see top.h. */
#include "format.h"
#include "read/util.h"
#include "top.h"

enum { NAME_SHARE = 3, NUMBER = 8, NARROW_NAME = 36, WIDE = 100 };

static int name_width(const struct sheet *s) {
  return s->width > WIDE ? (int)s->width / NAME_SHARE : NARROW_NAME;
}

void top_title(struct sheet *s, const char *title, const char *columns) {
  sheet_row(s, print_string("%s", ""), NULL);
  sheet_row(s, print_string(SHEET_TITLE "%-*s" SHEET_FAINT "%s", name_width(s), title, columns),
            NULL);
}

void top_line(struct sheet *s, const char *what, const char *const *number, size_t count,
              const void *of) {
  char *line = NULL;
  size_t length;
  int width = name_width(s);
  FILE *out = open_memstream(&line, &length);
  print_left(out, cut_middle(what, (size_t)width - 1), width);
  for (size_t i = 0; i < count; i++)
    print_right(out, number[i], NUMBER);
  fclose(out);
  sheet_row(s, line, of);
}
