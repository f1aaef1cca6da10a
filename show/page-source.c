/* SPDX-License-Identifier: MIT */
/* Lines of sources in the document; see page.h. */
#include "page.h"
#include "read/names.h"
#include "read/util.h"
#include "source.h"

#include <stdlib.h>
#include <string.h>

/* Lines around a mark; bytes of one; lines of all files. */
enum { CONTEXT = 4, LONGEST = 400, MOST_LINES = 20000 };

static bool is_near(const struct mark *mark, size_t marks, size_t *at, uint64_t line) {
  while (*at < marks && mark[*at].line + CONTEXT < line)
    ++*at;
  return *at < marks && mark[*at].line <= line + CONTEXT;
}

/* What JSON takes: cut, of UTF-8, without tabs. */
static char *line_text(const char *line) {
  enum { TAB = 8 };
  char *text = allocate(LONGEST + 1, 1), *to = text;
  for (; *line && *line != '\n' && *line != '\r' && to < text + LONGEST; line++)
    if (*line == '\t')
      do
        *to++ = ' ';
      while ((to - text) % TAB && to < text + LONGEST);
    else
      *to++ = *line;
  *to = 0;
  clean_text(text);
  return text;
}

static void emit_lines(struct emit *e, FILE *source, const struct mark *mark, size_t marks,
                       size_t *lines) {
  char *line = NULL;
  size_t room = 0, at = 0;
  emit_open(e, "lines", '[');
  for (uint64_t number = 1; getline(&line, &room, source) >= 0; number++) {
    if (!is_near(mark, marks, &at, number) || *lines >= MOST_LINES)
      continue;
    char *text = line_text(line);
    ++*lines;
    emit_open(e, NULL, '[');
    emit_number(e, NULL, number);
    emit_text(e, NULL, text);
    emit_close(e, ']');
    free(text);
  }
  emit_close(e, ']');
  free(line);
}

void page_emit_sources(struct emit *e, const struct view *v, const struct page_options *o,
                       const char *directory) {
  size_t files, lines = 0;
  const char **file = ask_all_files(v, &files);
  emit_list(e, "sources");
  for (size_t i = 0; i < files; i++) {
    char *whole = print_string("%s%s", *file[i] == '/' ? "" : directory, file[i]), *path = NULL;
    const char *const names[] = {whole, NULL};
    /* Names are the profile's: what is no source stays where it is. */
    bool wanted = !o->no_source && source_is_named(file[i]);
    FILE *source = wanted ? source_open(names, o->source, &path) : NULL;
    size_t marks;
    struct mark *mark = ask_marks(v, file[i], &marks);
    if (marks) {
      emit_row(e);
      emit_open(e, NULL, '{');
      emit_text(e, "file", file[i]);
      emit_bool(e, "readable", source != NULL);
      emit_bool(e, "newer", source && source_is_newer(v, source));
      source_emit_marks(e, mark, marks);
      if (source)
        emit_lines(e, source, mark, marks, &lines);
      else
        emit_null(e, "lines");
      emit_close(e, '}');
    }
    if (source)
      fclose(source);
    free(mark);
    free(path);
    free(whole);
  }
  emit_close(e, ']');
  free(file);
}
