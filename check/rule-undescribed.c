/* SPDX-License-Identifier: MIT */
/* undescribed-callback: a callback for a function that no line is about, of a header whose others
   have lines of the program's own. */
#include "findings.h"

#include <string.h>

enum { MOST_FILES = 4096 };

struct files {
  const char *file[MOST_FILES];
  const struct lang_about *line[MOST_FILES]; /* about a function that it declares */
  size_t count;
};

static const struct lang_about *line_in(const struct files *files, const char *file) {
  for (size_t i = 0; i < files->count; i++)
    if (!strcmp(files->file[i], file))
      return files->line[i];
  return NULL;
}

/* A header, which is no source of the program. */
static bool is_header(const char *file) {
  const char *dot = strrchr(file, '.');
  return dot && dot[1] == 'h';
}

static void note_files(struct program *p, struct files *files) {
  EACH_FUNCTION (p, f) {
    const struct judged *j = judged_of(f);
    const struct lang_about *own = NULL;
    for (size_t i = 0; i < j->calls && !own; i++)
      own = j->call[i].library || j->call[i].verb != LANG_CREATE ? NULL : &j->call[i];
    for (size_t i = 0; own && i < f->files.count && files->count < MOST_FILES; i++)
      if (is_header(f->files.text[i]) && !line_in(files, f->files.text[i])) {
        files->file[files->count] = f->files.text[i];
        files->line[files->count++] = own;
      }
  }
}

static void judge_call(struct program *p, const struct rule *rule, const struct files *files,
                       const struct ir_function *f, const struct ir_step *s) {
  const struct ir_function *callee = s->callee, *given = NULL;
  const struct lang_about *other = NULL;
  if (judged_of(callee)->tells_call || callee->body)
    return;
  for (size_t i = 0; i < callee->files.count && !other; i++)
    other = line_in(files, callee->files.text[i]);
  for (size_t i = 0; other && i < s->argument.count && !given; i++)
    given = program_function_of(p, f->body, s->argument.text[i]);
  if (!given)
    return;
  struct check_finding *found = finding_begin(p, rule, f->body->file, s->line, callee->name);
  found->text = say(p, "'%s' is given the callback '%s', and no line says what that means",
                    callee->name, given->name);
  if (other->file)
    finding_note(p, found, other->file, other->line, "another function of its header has a line");
  finding_note(p, found, callee->files.text[0], 0, "'%s' is '%s'", callee->name, callee->signature);
  found->mend = "write its line (`create call:' with fn=); if it calls back before it returns, say "
                "that it is meant";
}

static void judge(struct program *p, const struct rule *rule) {
  static struct files files;
  note_files(p, &files);
  EACH_FUNCTION (p, f)
    if (f->body)
      EACH_LIVE_STEP (f->body, s)
        if (s->kind == IR_CALL && s->callee)
          judge_call(p, rule, &files, f, s);
}

const struct rule rule_undescribed = {
    {"undescribed-callback",
     "a callback for a function without a line, whose header's others have some"},
    judge};
