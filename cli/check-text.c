/* SPDX-License-Identifier: MIT */
/* Findings for people; see check-text.h. */
#include "check-text.h"

#include "check-source.h"

#include <stdlib.h>
#include <string.h>

/* A tab stays one, so that the caret stands in place. */
static void print_caret(const char *line, unsigned number, size_t column, size_t width, FILE *out) {
  fprintf(out, "%5u | %s\n      | ", number, line);
  for (size_t i = 0; i < column; i++)
    putc(line[i] == '\t' ? '\t' : ' ', out);
  putc('^', out);
  for (size_t i = 1; i < width; i++)
    putc('~', out);
  putc('\n', out);
}

static void print_finding(const struct check_finding *f, struct source *source, FILE *out) {
  size_t width = 0, column = 0;
  char *line = source_line(source, &f->at);
  if (line)
    column = source_column(line, f->word, &width);
  fprintf(out, "%s:%u:%zu: warning: %s [%s]\n", f->at.file, f->at.line, column + 1, f->text,
          f->rule);
  if (line)
    print_caret(line, f->at.line, column, width, out);
  for (size_t i = 0; i < f->steps; i++)
    if (f->path[i].at.line)
      fprintf(out, "%s:%u: note: %s\n", f->path[i].at.file, f->path[i].at.line, f->path[i].text);
    else
      fprintf(out, "%s: note: %s\n", f->path[i].at.file, f->path[i].text);
  fprintf(out, "%s:%u: note: to mend it, %s\n", f->at.file, f->at.line, f->mend);
  free(line);
}

void check_print(const struct check_result *r, FILE *out) {
  struct source source = {0};
  for (size_t i = 0; i < r->findings; i++)
    print_finding(&r->finding[i], &source, out);
  free(source.text);
}

static void print_place(const struct check_unseen *u, FILE *out) {
  fprintf(out, "%s", u->at.file);
  if (u->at.line)
    fprintf(out, ":%u", u->at.line);
}

void check_print_unseen(const struct check_result *r, bool all, FILE *out) {
  enum { FEW = 3 };
  for (size_t i = 0; i < r->troubles; i++) {
    if (i == FEW && !all) {
      fprintf(out, "aprof check: and %zu more units; --unseen lists all\n", r->troubles - i);
      break;
    }
    fputs("aprof check: not all seen: ", out);
    print_place(&r->trouble[i], out);
    fprintf(out, ": %s\n", r->trouble[i].text);
  }
  if (!r->pointers)
    return;
  fprintf(out, "aprof check: not followed: %zu %s from asynchronous code through pointers%s\n",
          r->pointers, r->pointers == 1 ? "call" : "calls", all ? ":" : "; --unseen lists them");
  for (size_t i = 0; i < r->pointers && all; i++) {
    fputs("  ", out);
    print_place(&r->pointer[i], out);
    fprintf(out, ": %s\n", r->pointer[i].text);
  }
}
