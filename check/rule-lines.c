/* SPDX-License-Identifier: MIT */
/* binding-mismatch: a line of the program's own bindings that its code contradicts. */
#include "findings.h"

#include "read/util.h"

#include <ctype.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 4096, MOST_BYTES = 64 << 20 };

/* A line means this function, or its body. */
static bool is_about(const struct lang_about *list, size_t count, const struct lang_about *line) {
  for (size_t i = 0; i < count; i++)
    if (list[i].binding == line->binding)
      return true;
  return false;
}

static struct check_finding *begin(struct program *p, const struct rule *rule,
                                   const struct lang_about *line, const char *word) {
  return finding_begin(p, rule, line->file, line->line, word);
}

static void judge_arguments(struct program *p, const struct rule *rule,
                            const struct lang_about *line, const struct ir_function *f, bool body) {
  int count = (int)f->parameters.count + !!(f->flags & IR_MEMBER);
  bool open = strstr(f->signature, "...") || (!body && f->flags & IR_CXX && !f->parameters.count) ||
              (!f->parameters.count && strstr(f->signature, "()"));
  if (open || line->arguments <= count)
    return;
  char word[32];
  snprintf(word, sizeof word, "a%d", line->arguments - 1);
  struct check_finding *found = begin(p, rule, line, word);
  found->text = say(p, "'%s' has no a%d: it takes %d %s", f->name, line->arguments - 1, count,
                    count == 1 ? "argument" : "arguments");
  const char *file = f->body ? f->body->file : f->files.count ? f->files.text[0] : line->file;
  finding_note(p, found, file, f->body ? f->body->line : 0, "it is '%s'", f->signature);
  found->mend = "count arguments from a0, and those of a method from its object";
}

/* A namespace that its creates have. */
static bool is_created(const struct lang_about *lines, size_t count, const char *space) {
  for (size_t i = 0; i < count; i++)
    if ((lines[i].verb == LANG_CREATE || lines[i].verb == LANG_RUN ||
         lines[i].verb == LANG_ASYNC) &&
        !strcmp(lines[i].space, space))
      return true;
  return false;
}

static void judge_key(struct program *p, const struct rule *rule, const struct lang_about *lines,
                      size_t count, const struct lang_about *line) {
  if (!*line->space || !strcmp(line->space, "any") ||
      (line->verb != LANG_WAKE && line->verb != LANG_END && line->verb != LANG_LABEL) ||
      is_created(lines, count, line->space))
    return;
  const char *word = say(p, "%s:", line->space);
  struct check_finding *found = begin(p, rule, line, word);
  found->text = say(p, "no line makes a future whose key is in '%s'", word);
  found->mend = "take the key that its create line has, with what stands before the colon";
}

/* -- names that nothing has ------------------------------------------------------------------- */

/* Lines that mean no function that the program calls, defines or hands over. */
struct unmet {
  const struct lang_about *line[MOST_LINES];
  bool declared[MOST_LINES]; /* a file that the program reads has the word, as a header may */
  size_t count;
};
static struct unmet unmet;

static bool is_of_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static bool has_word(const char *text, const char *word) {
  size_t length = strlen(word);
  for (const char *at = text; (at = strstr(at, word)); at += length)
    if ((at == text || !is_of_word(at[-1])) && !is_of_word(at[length]))
      return true;
  return false;
}

static void look_into(const void *node, VISIT visit, int depth) {
  const char *path = *(const char *const *)node;
  char *text = NULL;
  (void)depth;
  if (visit == preorder || visit == endorder)
    return;
  for (size_t i = 0; i < unmet.count; i++) {
    if (unmet.declared[i] || (!text && !(text = read_text_file(path, MOST_BYTES, &(size_t){0}))))
      continue;
    const char *name = unmet.line[i]->name, *last = strrchr(name, ':');
    unmet.declared[i] = has_word(text, last ? last + 1 : name);
  }
  free(text);
}

static void tell_unmet(struct program *p, const struct rule *rule) {
  if (unmet.count)
    twalk(p->files, look_into);
  for (size_t i = 0; i < unmet.count; i++) {
    const struct lang_about *line = unmet.line[i];
    if (unmet.declared[i])
      continue;
    struct check_finding *found = begin(p, rule, line, line->name);
    found->text = say(p, "the program has no '%s' that this line could mean", line->name);
    found->mend =
        "mend the name (C++: ns::Class::method, or the mangled one), or take the line out";
  }
}

static void judge(struct program *p, const struct rule *rule) {
  static struct lang_about line[MOST_LINES];
  size_t count = lang_user_lines(p->lines, line, MOST_LINES);
  for (size_t i = 0; i < count; i++) {
    bool meant = false;
    judge_key(p, rule, line, count, &line[i]);
    EACH_FUNCTION (p, f) {
      const struct judged *j = judged_of(f);
      bool call = is_about(j->call, j->calls, &line[i]);
      bool body = is_about(j->body, j->bodies, &line[i]);
      meant |= call || body;
      if (call || body)
        judge_arguments(p, rule, &line[i], f, body);
    }
    if (!meant && line[i].names_function && !p->part)
      unmet.line[unmet.count++] = &line[i];
  }
  tell_unmet(p, rule);
}

const struct rule rule_lines = {
    {"binding-mismatch",
     "a line of the program's own bindings that matches nothing, or contradicts "
     "the code"},
    judge};
