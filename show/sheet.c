/* SPDX-License-Identifier: MIT */
/* Lines of a screen; see sheet.h. */
#include "sheet.h"

#include "format.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

enum { INDENT = 2 };

void sheet_release(struct sheet *s) {
  for (size_t i = 0; i < s->heads; i++)
    free(s->head[i]);
  for (size_t i = 0; i < s->rows; i++)
    free(s->row[i].text);
  free(s->head);
  free(s->row);
  free(s->title);
  free(s->foot);
  if (s->held)
    s->release(s->held);
}

void sheet_head(struct sheet *s, char *text) {
  s->head = reallocate(s->head, s->heads + 1, sizeof *s->head);
  s->head[s->heads++] = text;
}

void sheet_row(struct sheet *s, char *text, const void *of) {
  s->row = reallocate(s->row, s->rows + 1, sizeof *s->row);
  s->row[s->rows++] = (struct sheet_row){text, of};
}

void sheet_rows(struct sheet *s, const void *const *of, size_t count) {
  s->row = reallocate(s->row, s->rows + count + !count, sizeof *s->row);
  for (size_t i = 0; i < count; i++)
    s->row[s->rows++] = (struct sheet_row){NULL, of[i]};
}

/* Bytes of the text that go into so many columns, to a space where there is one. */
static size_t fitting(const char *text, size_t width) {
  size_t best = 0, columns = 0, i = 0;
  for (; text[i]; i++) {
    if (((unsigned char)text[i] & 0xc0) != 0x80 && columns++ == width)
      return best ? best : i;
    if (text[i] == ' ')
      best = i;
  }
  return i;
}

void sheet_wrapped(struct sheet *s, const char *label, const char *text, const void *of) {
  size_t used = shown_width(label);
  for (bool first = true; first || *text; first = false) {
    size_t left = s->width > used + 12 ? s->width - used : 12, bytes = fitting(text, left);
    char *line = first ? print_string(SHEET_ALARM "%s" SHEET_PLAIN "%.*s", label, (int)bytes, text)
                       : print_string("%*s%.*s", INDENT, "", (int)bytes, text);
    sheet_row(s, line, of);
    text += bytes;
    text += strspn(text, " ");
    used = INDENT;
  }
}

char *sheet_text(const struct sheet *s, size_t row) {
  return s->row[row].text ? print_string("%s", s->row[row].text) : s->make(s, s->row[row].of);
}

size_t sheet_room(const struct sheet *s, size_t lines) {
  size_t used = s->heads + (s->title != NULL) + (s->foot != NULL);
  return lines > used ? lines - used : 0;
}

/* -- as text -------------------------------------------------------------------------- */

static void print_line(const char *text, FILE *out) {
  static const enum style styles[SHEET_STYLES] = {
      [2] = STYLE_TITLE, [3] = STYLE_FAINT, [4] = STYLE_ALARM};
  size_t end = strlen(text);
  while (end && (text[end - 1] == ' ' || (unsigned char)text[end - 1] < SHEET_STYLES))
    end--;
  for (size_t i = 0; i < end; i++)
    if ((unsigned char)text[i] < SHEET_STYLES)
      style_set(out, styles[(unsigned char)text[i]]);
    else
      fputc(text[i], out);
  style_set(out, STYLE_PLAIN);
  fputc('\n', out);
}

void sheet_print(const struct sheet *s, size_t most, FILE *out) {
  for (size_t i = 0; i < s->heads; i++)
    print_line(s->head[i], out);
  if (s->title) {
    style_set(out, STYLE_FAINT);
    print_line(s->title, out);
  }
  for (size_t i = 0; i < s->rows && (!most || i < most); i++) {
    char *text = sheet_text(s, i);
    print_line(text, out);
    free(text);
  }
  if (most && s->rows > most)
    fprintf(out, "and %zu more: --top 0\n", s->rows - most);
}
