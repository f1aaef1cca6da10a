/* SPDX-License-Identifier: MIT */
/* aprof bindings: what bindings files say, and what is wrong with them, without a compiler. */
#include "arguments.h"
#include "cli.h"
#include "lang/lang.h"
#include "read/names.h"
#include "read/util.h"
#include "show/emit.h"

#include <stdlib.h>

struct request {
  bool json, words;
};

static const struct option_row options[] = {
    {"json", 0, OPTION_FLAG, offsetof(struct request, json), .text = "Print JSON"},
    {"words", 0, OPTION_FLAG, offsetof(struct request, words),
     .text = "List the words of the grammar instead"},
    {0}};

static const char *fault_of(const struct arguments *a) {
  const struct request *request = a->context;
  return !a->words == request->words ? NULL
         : request->words            ? "--words takes no file"
                                     : "which files of bindings?";
}

/* -- for people ------------------------------------------------------------------------- */

/* Bytes that a terminal would obey stand as ?. */
static void print_text(FILE *out, const char *text) {
  char *clean = print_string("%s", text);
  clean_text(clean);
  for (size_t i = 0; text[i]; i++)
    if (text[i] == '\t')
      clean[i] = '\t';
  fputs(clean, out);
  free(clean);
}

/* The line and a caret below it; a tab stays one, so that the caret stands in place. */
static void print_caret(const struct lang_error *e) {
  unsigned column = 1, width = e->width;
  fprintf(stderr, "%5u | ", e->line);
  print_text(stderr, e->source);
  fputs("\n      | ", stderr);
  for (; column < e->column && e->source[column - 1]; column++)
    putc(e->source[column - 1] == '\t' ? '\t' : ' ', stderr);
  putc('^', stderr);
  for (; width > 1 && e->source[column - 1] && e->source[column]; width--, column++)
    putc('~', stderr);
  putc('\n', stderr);
}

static void print_error(const struct lang_error *e) {
  fputs(e->file, stderr);
  if (e->line)
    fprintf(stderr, ":%u:%u", e->line, e->column);
  fprintf(stderr, ": %s: ", e->note ? "note" : "error");
  print_text(stderr, e->text);
  putc('\n', stderr);
  if (e->line)
    print_caret(e);
  if (*e->remedy)
    fprintf(stderr, "%s:%u:%u: note: %s\n", e->file, e->line, e->column, e->remedy);
}

static void print_file(const char *path, const struct lang_file *file) {
  for (size_t i = 0; i < file->lines; i++) {
    printf("%s:%u: ", path, file->line[i].line);
    print_text(stdout, file->line[i].text);
    fputs("\n    ", stdout);
    print_text(stdout, file->line[i].meaning);
    putc('\n', stdout);
  }
  fflush(stdout);
  for (size_t i = 0; i < file->errors; i++)
    print_error(&file->error[i]);
}

static void print_words(void) {
  const struct lang_word *word;
  for (size_t row = 0; (word = lang_word(row)); row++) {
    const char *between = word->kind[0] == 'p' ? ":" : word->bare ? "[=" : "=";
    printf("%s %s%s%s%s\n    %s%s%s\n", word->kind, word->name, word->form ? between : "",
           word->form ? word->form : "", word->form && word->bare ? "]" : "", word->text,
           word->goes_with ? "; goes with: " : "", word->goes_with ? word->goes_with : "");
  }
}

/* -- for programs ------------------------------------------------------------------------- */

static void emit_file(struct emit *e, const char *path, const struct lang_file *file) {
  emit_open(e, NULL, '{');
  emit_text(e, "file", path);
  emit_open(e, "lines", '[');
  for (size_t i = 0; i < file->lines; i++) {
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_number(e, "line", file->line[i].line);
    emit_text(e, "text", file->line[i].text);
    emit_text(e, "meaning", file->line[i].meaning);
    emit_close(e, '}');
  }
  emit_close(e, ']');
  emit_open(e, "errors", '[');
  for (size_t i = 0; i < file->errors; i++) {
    const struct lang_error *error = &file->error[i];
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_text(e, "file", error->file);
    emit_maybe(e, "line", error->line, error->line);
    emit_maybe(e, "column", error->column, error->column);
    emit_bool(e, "note", error->note);
    emit_text(e, "text", error->text);
    emit_text(e, "remedy", *error->remedy ? error->remedy : NULL);
    emit_close(e, '}');
  }
  emit_close(e, ']');
  emit_close(e, '}');
}

static void emit_words(struct emit *e) {
  const struct lang_word *word;
  emit_open(e, "words", '[');
  for (size_t row = 0; (word = lang_word(row)); row++) {
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_text(e, "kind", word->kind);
    emit_text(e, "name", word->name);
    emit_text(e, "form", word->form);
    emit_bool(e, "bare", word->bare);
    emit_text(e, "goes_with", word->goes_with);
    emit_text(e, "text", word->text);
    emit_close(e, '}');
  }
  emit_close(e, ']');
}

int cmd_bindings(int argc, char **argv) {
  struct request request = {0};
  struct emit *e = NULL;
  int status = CLI_OK;
  struct arguments a = {
      .usage = "FILE...",
      .about = "Checks bindings files without a compiler, and prints what each line means.\v"
               "Errors are printed as a compiler would. aprof-bindings(5) has the grammar.",
      .table = {{options, &request}},
      .most = SIZE_MAX,
      .fault = fault_of,
      .context = &request};
  arguments_parse(&a, argc, argv);
  if (request.json) {
    e = allocate(1, sizeof *e);
    emit_begin(e, stdout, NULL);
  }
  if (request.words && e)
    emit_words(e);
  else if (request.words)
    print_words();
  else if (e)
    emit_open(e, "files", '[');
  for (size_t i = 0; i < a.words; i++) {
    struct lang_file *file = lang_file_read(a.word[i]);
    if (file->errors)
      status = CLI_FAILED;
    if (e)
      emit_file(e, a.word[i], file);
    else
      print_file(a.word[i], file);
    lang_file_free(file);
  }
  if (e) {
    if (!request.words)
      emit_close(e, ']');
    emit_end(e);
  }
  free(e);
  return status;
}
