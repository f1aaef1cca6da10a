/* SPDX-License-Identifier: MIT */
/* Findings; see findings.h. */
#include "findings.h"

#include "read/util.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *say_all(struct program *p, const char *format, va_list args) {
  char *text = NULL;
  if (vasprintf(&text, format, args) < 0)
    abort();
  const char *kept = arena_text(&p->arena, text);
  free(text);
  return kept;
}

const char *say(struct program *p, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = say_all(p, format, args);
  va_end(args);
  return text;
}

struct check_finding *finding_begin(struct program *p, const struct rule *rule, const char *file,
                                    unsigned line, const char *word) {
  p->finding = ir_grow(p->finding, p->findings, sizeof *p->finding);
  struct check_finding *f = &p->finding[p->findings++];
  *f = (struct check_finding){.rule = rule->is.name, .at = {file, line}, .word = word};
  return f;
}

void finding_note(struct program *p, struct check_finding *f, const char *file, unsigned line,
                  const char *format, ...) {
  va_list args;
  va_start(args, format);
  struct check_note *path = ir_grow((void *)f->path, f->steps, sizeof *path);
  path[f->steps++] = (struct check_note){{file, line}, say_all(p, format, args)};
  f->path = path;
  va_end(args);
}

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

const char *call_through(struct program *p, const struct ir_step *s) {
  if (!s->value && !s->targets)
    return "";
  if (s->value && !strcmp(s->value, IR_CLEANUP))
    return ", at the end of its scope";
  if (!pointer_is_named(s))
    return s->targets ? say(p, ", one of %zu that it may be", s->targets) : ", as it is told to";
  return s->targets ? say(p, " through '%s', one of %zu", pointer_text(p, s), s->targets)
                    : say(p, " through '%s'", pointer_text(p, s));
}

void finding_why(struct program *p, struct check_finding *f, const struct ir_function *async) {
  const struct why *why = &judged_of(async)->why;
  if (!why->about) {
    finding_note(p, f, async->body->file, async->body->line,
                 "'%s' is asynchronous: it has a co_await", async->name);
    return;
  }
  const char *from = why->about->file ? say(p, "%s:%u", base_of(why->about->file), why->about->line)
                                      : "its attribute";
  if (why->in)
    finding_note(p, f, why->in->body->file, why->line,
                 "'%s' is asynchronous: '%s' is given it here (%s)", async->name, why->to, from);
  else
    finding_note(p, f, async->body->file, async->body->line, "'%s' is asynchronous: %s says '%s'",
                 async->name, from, why->about->text);
}

void finding_await(struct program *p, struct check_finding *f, const struct ir_function *in,
                   const struct ir_step *s) {
  for (int depth = 0; s && depth < 32; depth++) {
    const struct ir_function *callee = step_function(s);
    const struct judged *j = callee ? judged_of(callee) : NULL;
    bool last = !j || !j->await;
    finding_note(p, f, in->body->file, s->line, last ? "'%s' waits in '%s'%s" : "'%s' calls '%s'%s",
                 in->name, callee ? callee->name : "a call", call_through(p, s));
    in = callee;
    s = last ? NULL : j->await;
  }
}

static void unseen_add(struct check_unseen **list, size_t *count, const char *file, unsigned line,
                       const char *text) {
  *list = ir_grow(*list, *count, sizeof **list);
  (*list)[(*count)++] = (struct check_unseen){{file, line}, text};
}

void trouble_add(struct program *p, const char *file, unsigned line, const char *text) {
  unseen_add(&p->trouble, &p->troubles, file, line, text);
}

void pointer_add(struct program *p, const char *file, unsigned line, const char *text) {
  unseen_add(&p->pointer, &p->pointers, file, line, text);
}

/* -- what is meant --------------------------------------------------------------------- */

/* The line of the text, from 1; its length. */
static const char *line_of(const char *text, unsigned line, size_t *length) {
  for (; text && line > 1; line--) {
    text = strchr(text, '\n');
    text += text != NULL;
  }
  *length = text ? strcspn(text, "\n") : 0;
  return text;
}

/* "aprof: meant", or "aprof: meant(RULE, RULE...)", in a line. */
static bool says_meant(const char *text, size_t length, const char *rule) {
  static const char mark[] = "aprof: meant";
  const char *at = length ? memmem(text, length, mark, strlen(mark)) : NULL, *end = text + length;
  if (!at)
    return false;
  at += strlen(mark);
  if (at == end || *at != '(')
    return true;
  const char *close = memchr(at, ')', (size_t)(end - at));
  for (size_t size; close && at++ < close; at += size) {
    at += strspn(at, " ");
    size = strcspn(at, ",) ");
    if (size == strlen(rule) && !strncmp(at, rule, size))
      return true;
    size += strspn(at + size, " ");
  }
  return false;
}

/* A comment by itself speaks of the line below it. */
static bool is_comment(const char *text, size_t length) {
  while (length && (*text == ' ' || *text == '\t'))
    text++, length--;
  return length >= 2 && text[0] == '/' && (text[1] == '*' || text[1] == '/');
}

static bool is_meant(const char *source, const struct check_finding *f) {
  size_t length;
  const char *line = line_of(source, f->at.line, &length);
  if (line && says_meant(line, length, f->rule))
    return true;
  line = f->at.line > 1 ? line_of(source, f->at.line - 1, &length) : NULL;
  return line && is_comment(line, length) && says_meant(line, length, f->rule);
}

static int by_place(const void *a, const void *b) {
  const struct check_finding *x = a, *y = b;
  int files = strcmp(x->at.file, y->at.file), rules = strcmp(x->rule, y->rule);
  return files                      ? files
         : x->at.line != y->at.line ? (x->at.line > y->at.line) - (x->at.line < y->at.line)
         : rules                    ? rules
                                    : strcmp(x->text, y->text);
}

void findings_settle(struct program *p) {
  size_t kept = 0;
  char *source = NULL;
  const char *file = NULL;
  if (p->findings)
    qsort(p->finding, p->findings, sizeof *p->finding, by_place);
  for (size_t i = 0; i < p->findings; i++) {
    struct check_finding *f = &p->finding[i];
    if (!file || strcmp(file, f->at.file)) {
      free(source);
      source = read_text_file(file = f->at.file, (size_t)64 << 20, &(size_t){0});
    }
    if ((kept && !by_place(f, &p->finding[kept - 1])) || is_meant(source, f))
      continue;
    f->identity = say(p, "%s %s: %s", f->rule, f->at.file, f->text);
    p->finding[kept++] = *f;
  }
  p->findings = kept;
  free(source);
}
