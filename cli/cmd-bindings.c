/* SPDX-License-Identifier: MIT */
/* aprof bindings: what bindings files say, and what is wrong with them, without a compiler. */
#include "cli.h"
#include "lang/lang.h"
#include "show/emit.h"

#include <argp.h>
#include <stdlib.h>

struct request {
  bool json, words;
  char **path;
  size_t paths;
};

enum { OPTION_JSON = 256, OPTION_WORDS };

static const struct argp_option options[] = {
    {"json", OPTION_JSON, NULL, 0, "Print JSON", 0},
    {"words", OPTION_WORDS, NULL, 0, "List the words of the grammar instead", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct request *request = state->input;
  (void)arg;
  switch (key) {
  case OPTION_JSON:
    request->json = true;
    return 0;
  case OPTION_WORDS:
    request->words = true;
    return 0;
  case ARGP_KEY_ARGS:
    request->path = state->argv + state->next;
    request->paths = (size_t)(state->argc - state->next);
    return 0;
  case ARGP_KEY_END:
    if (!request->paths == !request->words)
      argp_error(state, request->words ? "--words takes no file" : "which files of bindings?");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    options,
    parse,
    "FILE...",
    "Checks bindings files without a compiler, and prints what each line means.\v"
    "Errors are printed as a compiler would. The grammar is told by aprof-bindings(5).",
    NULL,
    NULL,
    NULL};

/* -- for people ------------------------------------------------------------------------- */

/* The line and a caret below it; a tab stays one, so that the caret stands in place. */
static void print_caret(const struct lang_error *e) {
  unsigned column = 1, width = e->width;
  fprintf(stderr, "%5u | %s\n      | ", e->line, e->source);
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
  fprintf(stderr, ": %s: %s\n", e->note ? "note" : "error", e->text);
  if (e->line)
    print_caret(e);
  if (*e->remedy)
    fprintf(stderr, "%s:%u:%u: note: %s\n", e->file, e->line, e->column, e->remedy);
}

static void print_file(const char *path, const struct lang_file *file) {
  for (size_t i = 0; i < file->lines; i++)
    printf("%s:%u: %s\n    %s\n", path, file->line[i].line, file->line[i].text,
           file->line[i].meaning);
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
  argp_parse(&argp, argc, argv, 0, NULL, &request);
  if (request.json) {
    e = allocate(1, sizeof *e);
    emit_begin(e, stdout);
    emit_open(e, NULL, '{');
  }
  if (request.words && e)
    emit_words(e);
  else if (request.words)
    print_words();
  else if (e)
    emit_open(e, "files", '[');
  for (size_t i = 0; i < request.paths; i++) {
    struct lang_file *file = lang_file_read(request.path[i]);
    if (file->errors)
      status = CLI_FAILED;
    if (e)
      emit_file(e, request.path[i], file);
    else
      print_file(request.path[i], file);
    lang_file_free(file);
  }
  if (e) {
    if (!request.words)
      emit_close(e, ']');
    emit_close(e, '}');
    emit_end(e);
  }
  free(e);
  return status;
}
