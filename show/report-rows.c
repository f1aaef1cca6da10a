/* SPDX-License-Identifier: MIT */
/* Sentences, and tables of what happened on a path, a line each; see report.h. */
#include "report.h"

#include "format.h"
#include "read/util.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_WIDTH = 52, COLUMN_WIDTH = 7 };

/* Length of the piece at `text` that stays on one line: a word, a number with its unit. */
static size_t piece_length(const char *text) {
  static const char *const units[] = {"ns", "us", "ms", "s", "h", "d", "%"};
  size_t length = strcspn(text, " ");
  if (!length || text[length] != ' ' || !isdigit((unsigned char)text[length - 1]))
    return length;
  const char *next = text + length + 1;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    size_t unit = strlen(units[i]);
    if (!strncmp(next, units[i], unit) && !isalpha((unsigned char)next[unit]))
      return length + 1 + strcspn(next, " ");
  }
  return length;
}

/* Breaks at spaces, from `column` on; the lines after the first are indented. */
void report_print_wrapped(FILE *out, const char *text, size_t column) {
  const size_t indent = REPORT_INDENT;
  bool first = true;
  while (*text) {
    size_t word = piece_length(text);
    char piece[512];
    snprintf(piece, sizeof piece, "%.*s", (int)(word < 511 ? word : 511), text);
    const char *shown = cut_middle(piece, FORMAT_WIDTH - (first ? column : indent));
    size_t width = shown_width(shown);
    if (!first && column + 1 + width > FORMAT_WIDTH) {
      fprintf(out, "\n%*s", (int)indent, "");
      column = indent;
    } else if (!first) {
      fputc(' ', out);
      column++;
    }
    fputs(shown, out);
    column += width;
    first = false;
    text += word;
    text += strspn(text, " ");
  }
  fputc('\n', out);
}

void report_title(const char *title, const char *const *columns, FILE *out) {
  fputc('\n', out);
  style_set(out, STYLE_TITLE);
  print_left(out, title, PATH_WIDTH);
  for (size_t i = 0; i <= REPORT_TIMES && columns[i]; i++)
    print_right(out, columns[i], COLUMN_WIDTH);
  style_set(out, STYLE_PLAIN);
  fputc('\n', out);
}

/* "root > ... > last  file.c:7", without the first `elided` steps behind the root. */
static char *path_text(const struct report_row *row, size_t elided, const char *place) {
  char *text = print_string("%s", "");
  for (size_t i = 0; i < row->steps; i++) {
    bool left_out = elided && i >= 1 && i <= elided;
    if (left_out && i > 1)
      continue;
    char *longer = print_string("%s%s%s", text, i ? " > " : "", left_out ? "..." : row->step[i]);
    free(text);
    text = longer;
  }
  char *whole = print_string("%s%s%s", text, place && *text ? "  " : "", place ? place : "");
  free(text);
  return whole;
}

/* Both ends say who waits and for what, so a directory is left out first, then what stands
   between. */
static char *fitting(const struct report_row *row, size_t width) {
  char *text = path_text(row, 0, row->place);
  const char *place = base_name(row->place);
  for (size_t elided = 0; shown_width(text) > width && (!elided || elided + 1 < row->steps);
       elided++) {
    free(text);
    text = path_text(row, elided, place);
  }
  if (shown_width(text) > width && place) { /* what is left: two names */
    free(text);
    size_t behind = shown_width(place) + 2;
    char *names = path_text(row, row->steps > 2 ? row->steps - 2 : 0, NULL);
    text = behind + 8 < width ? print_string("%s  %s", cut_middle(names, width - behind), place)
                              : print_string("%s", names);
    free(names);
  }
  return text;
}

void report_print_row(const struct view *v, const struct report_row *row, FILE *out) {
  char *path = fitting(row, PATH_WIDTH - 1);
  print_left(out, cut_middle(path, PATH_WIDTH - 1), PATH_WIDTH);
  free(path);
  print_right(out, shown_mark(row->counts_lack, shown_count(row->count)), COLUMN_WIDTH);
  for (int i = 0; i < REPORT_TIMES && !row->only_count; i++) {
    uint64_t ns = row->time[i]; /* the first is a sum */
    print_right(out, shown_mark(row->lacks[i], i ? shown_short_in(v, ns) : shown_short(ns)),
                COLUMN_WIDTH);
  }
  fputc('\n', out);
}

void report_print_more(size_t all, size_t shown, FILE *out) {
  if (all > shown)
    fprintf(out, "and %zu more (--top 0 shows all)\n", all - shown);
}
