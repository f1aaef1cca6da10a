/* SPDX-License-Identifier: MIT */
/* Output: the source, with what it cost in the margin; see outputs.h. */
#include "ask/annotate.h"
#include "emit.h"
#include "format.h"
#include "outputs.h"
#include "read/governed.h"
#include "read/util.h"
#include "source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CELLS = 4, CELL = 6, LINE = 6, MARGIN = CELLS * CELL + LINE + 1, CONTEXT = 2, TAB = 8 };
/* A hold of less needs no line of its own. */
enum { NOTABLE_HOLD = 1000000 };

struct annotate {
  const char *source, *directory;
  bool all;
};

/* -- the file ---------------------------------------------------------------------- */

static char *list_of(const char *const *file, size_t files) {
  char *list = print_string("%s", "");
  for (size_t i = 0; i < files && i < 8; i++) {
    char *longer = print_string("%s%s%s", list, i ? ", " : "", file[i]);
    free(list);
    list = longer;
  }
  if (files <= 8)
    return list;
  char *more = print_string("%s and %zu more", list, files - 8);
  free(list);
  return more;
}

/* Its name in the view, borrowed of it; NULL after a message. */
static const char *file_of(const struct view *v, const char *source) {
  size_t files;
  const char **file = ask_files(v, source, &files);
  const char *found = files == 1 ? file[0] : NULL;
  char *list = NULL;
  if (files > 1) {
    list = list_of(file, files);
    complain("%s may be %s: give more of its path", source, list);
  } else if (!files) {
    free(file);
    file = ask_all_files(v, &files);
    list = list_of(file, files);
    complain("%s has no async function, await or create in %s; %s%s", v->what, source,
             files ? "it has in " : "nor in any other file", list);
  }
  free(list);
  free(file);
  return found;
}

/* -- text ---------------------------------------------------------------------------- */

static void print_text(const char *text, size_t width, FILE *out) {
  char *line = allocate(TAB * strlen(text) + 1, 1), *to = line;
  for (; *text && *text != '\n' && *text != '\r'; text++)
    if (*text == '\t')
      do
        *to++ = ' ';
      while ((size_t)(to - line) % TAB);
    else
      *to++ = (unsigned char)*text < ' ' ? ' ' : *text;
  *to = 0;
  fprintf(out, "%s\n", cut_right(line, width));
  free(line);
}

static void print_cells(const struct mark *m, FILE *out) {
  const char *cell[] = {
      m->count == UNKNOWN ? "" : shown_count(m->count),
      m->exec == UNKNOWN ? "" : shown_mark(LACKS(m->lacks, function, exec), shown_short(m->exec)),
      m->waiting == UNKNOWN ? ""
                            : shown_mark(LACKS(m->lacks, await, waiting), shown_short(m->waiting)),
      m->worst == UNKNOWN
          ? ""
          : shown_mark(LACKS(m->lacks, function, slice_max), shown_short(m->worst))};
  for (size_t i = 0; i < sizeof cell / sizeof *cell; i++)
    print_right(out, cell[i], CELL);
}

/* A sentence, as many lines as it takes. */
static void print_words(const char *text, FILE *out) {
  enum { ROOM = FORMAT_WIDTH - MARGIN - 2 };
  for (const char *mark = "^"; *text; mark = " ") {
    size_t length = strlen(text), take = length;
    if (length > ROOM)
      for (take = ROOM; take > ROOM / 2 && text[take] != ' ';)
        take--;
    if (*mark == ' ')
      fprintf(out, "%*s", MARGIN, "");
    fprintf(out, "%s %.*s\n", mark, (int)take, text);
    text += take;
    text += *text == ' ';
  }
}

/* Beneath its line: what stands in it already is the first. */
static void print_marks(const struct mark *mark, size_t marks, FILE *out) {
  for (size_t i = 0; i < marks; i++) {
    bool hold = mark[i].what == MARK_HOLD, check = mark[i].what == MARK_CHECK;
    if (hold ? mark[i].worst < NOTABLE_HOLD : !check && !i)
      continue;
    char *text = source_mark_text(&mark[i]);
    style_set(out, hold || check ? STYLE_ALARM : STYLE_PLAIN);
    print_cells(&mark[i], out);
    style_set(out, STYLE_FAINT);
    fprintf(out, "%*s ", LINE, "");
    if (check)
      print_words(text, out);
    else
      fprintf(out, "^ %s\n", cut_middle(text, FORMAT_WIDTH - MARGIN - 2));
    style_set(out, STYLE_PLAIN);
    free(text);
  }
}

/* Lines near no mark are left out, unless all are asked for. */
static bool is_near(const struct mark *mark, size_t marks, size_t at, uint64_t line) {
  bool after = at && line <= mark[at - 1].line + CONTEXT;
  return after || (at < marks && mark[at].line <= line + CONTEXT);
}

static void print_source(const struct annotate *o, FILE *source, const struct mark *mark,
                         size_t marks, FILE *out) {
  static const char *const title[] = {"count", "exec", "wait", "worst"};
  char *line = NULL;
  size_t room = 0, at = 0;
  bool skipped = false;
  for (size_t i = 0; i < sizeof title / sizeof *title; i++)
    print_right(out, title[i], CELL);
  print_right(out, "line", LINE);
  fputc('\n', out);
  for (uint64_t number = 1; getline(&line, &room, source) >= 0; number++) {
    size_t here = at;
    while (here < marks && mark[here].line == number)
      here++;
    if (!o->all && here == at && !is_near(mark, marks, at, number)) {
      skipped = true;
      continue;
    }
    if (skipped)
      fprintf(out, "%*s...\n", MARGIN, "");
    skipped = false;
    if (here > at && mark[at].what < MARK_HOLD)
      print_cells(&mark[at], out);
    else
      fprintf(out, "%*s", CELLS * CELL, "");
    fprintf(out, "%*llu ", LINE, (unsigned long long)number);
    print_text(line, FORMAT_WIDTH - MARGIN, out);
    print_marks(mark + at, here - at, out);
    at = here;
  }
  free(line);
  if (at < marks)
    fprintf(out, "%zu marks lie behind its end: this is another version of the file\n", marks - at);
}

static int print(struct view *v, const void *options, FILE *out) {
  const struct annotate *o = options;
  const char *file = file_of(v, o->source);
  char *path = NULL;
  const char *const direct[] = {o->source, file, NULL};
  FILE *source = file ? source_open(direct, o->directory, &path) : NULL;
  size_t marks;
  if (file && !source)
    complain("cannot read %s%s%s: %s; --source DIR says where the sources are", file,
             o->directory ? " below " : "", o->directory ? o->directory : "", strerror(errno));
  if (!source)
    return OUTPUT_FAILED;
  struct mark *mark = ask_marks(v, file, &marks);
  style_choose(out);
  style_set(out, STYLE_TITLE);
  fprintf(out, "%s\n", cut_left(path, FORMAT_WIDTH));
  style_set(out, STYLE_PLAIN);
  if (source_is_newer(v, source))
    fprintf(out, "newer than the process's start: lines may have moved since it was built\n");
  print_source(o, source, mark, marks, out);
  free(mark);
  free(path);
  fclose(source);
  return 0;
}

/* -- JSON ---------------------------------------------------------------------------- */

static int write_json(struct view *v, const void *options, FILE *out) {
  const struct annotate *o = options;
  const char *file = file_of(v, o->source);
  struct emit e;
  size_t marks;
  if (!file)
    return OUTPUT_FAILED;
  struct mark *mark = ask_marks(v, file, &marks);
  emit_begin(&e, out, "aprof.annotate/1");
  emit_text(&e, "file", file);
  source_emit_marks(&e, mark, marks);
  emit_end(&e);
  free(mark);
  return 0;
}

/* -- as an output ---------------------------------------------------------------------- */

/* A directory named as such, too: it can be no target, and `fault' has a word for it. */
static bool is_source(const char *word) {
  const char *slash = strrchr(word, '/');
  bool directory = !strcmp(word, ".") || !strcmp(word, "..") || (slash && !slash[1]);
  return directory || source_is_named(word);
}

static char *take_source(void *options, const char *text) {
  struct annotate *o = options;
  if (o->source)
    return print_string("one file at a time; '%s' is another", o->source);
  o->source = text;
  return NULL;
}

static const char *fault(const void *options, size_t targets, bool json) {
  const char *source = ((const struct annotate *)options)->source;
  struct stat status;
  (void)targets;
  (void)json;
  if (!source)
    return "which source? Give a file, as in `aprof annotate server server.c'";
  return stat(source, &status) == 0 && S_ISDIR(status.st_mode)
             ? "the source is a directory: give one file of it, as in `aprof annotate server "
               "src/server.c'; --source DIR says where sources are"
             : NULL;
}

static const struct option_row own[] = {
    {"file", 'f', OPTION_OWN, 0, "SRC",
     .text = "The source, which needs no -f where it ends as sources of C and C++ do",
     .take = take_source, .also = is_source},
    {"source", 's', OPTION_TEXT, offsetof(struct annotate, directory), "DIR",
     .text = "Look for it below DIR, where it is not where it was compiled"},
    {"all", 0, OPTION_FLAG, offsetof(struct annotate, all),
     .text = "Show all lines, and not those near a mark only"},
    {0}};

static const struct annotate defaults;

const struct output output_annotate = {
    .name = "annotate",
    .summary = "the source, with what its lines cost in the margin",
    .about = "Shows the lines of a source file where a function begins, waits, makes another, "
             "blocks or holds the loop, with what that took: how often, time that it ran (exec), "
             "time that was waited there, and the longest hold.",
    .words = "SRC",
    .has_check = true,
    .targets = OUTPUT_ONE,
    .option = own,
    .size = sizeof(struct annotate),
    .defaults = &defaults,
    .fault = fault,
    .text = print,
    .json = write_json};
