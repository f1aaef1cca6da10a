/* SPDX-License-Identifier: MIT */
/* What is known of a unit, as text and back; see ir.h. A line per thing, fields by tabs. */
#include "ir.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

void *ir_grow(void *list, size_t count, size_t size) {
  bool full = count == 0 || (count >= 4 && !(count & (count - 1)));
  return full ? reallocate(list, count ? count * 2 : 4, size) : list;
}

/* -- writing --------------------------------------------------------------------------- */

/* A tab or a line's end in a name would be one of ours. */
static void put_text(FILE *out, const char *text) {
  for (; text && *text; text++)
    putc(*text == '\t' || *text == '\n' || *text == IR_SEPARATOR ? ' ' : *text, out);
}

static void put(FILE *out, const char *text) {
  putc('\t', out);
  put_text(out, text);
}

static void put_texts(FILE *out, const struct ir_texts *list) {
  putc('\t', out);
  for (size_t i = 0; i < list->count; i++) {
    fputs(i ? "\x1f" : "", out);
    put_text(out, list->text[i]);
  }
}

static void put_step(FILE *out, const struct ir_step *s) {
  fprintf(out, "%c\t%u\t%d", s->kind, s->line, s->id);
  put(out, s->to);
  put(out, s->value);
  put_texts(out, &s->argument);
  putc('\n', out);
}

static void put_body(FILE *out, const struct ir_body *b) {
  fprintf(out, "B\t%u\t%zu\t%zu", b->line, b->variables, b->blocks);
  put(out, b->file);
  putc('\n', out);
  for (const struct ir_variable *v = b->variable; v < b->variable + b->variables; v++) {
    fprintf(out, "V\t%u\t%u", v->flags, v->line);
    put(out, v->name);
    put(out, v->type);
    put(out, v->cleanup);
    putc('\n', out);
  }
  for (const struct ir_block *k = b->block; k < b->block + b->blocks; k++) {
    fprintf(out, "K\t%zu\t%zu\t%d\t%u", k->steps, k->nexts, k->many, k->line);
    put(out, k->branch);
    for (size_t i = 0; i < k->nexts; i++)
      fprintf(out, "\t%u", k->next[i]);
    putc('\n', out);
    for (size_t i = 0; i < k->steps; i++)
      put_step(out, &k->step[i]);
  }
}

void ir_write(const struct ir_unit *unit, FILE *out) {
  fprintf(out, "aprof-check\t%d\t%zu\t%zu", IR_FORMAT, unit->functions, unit->errors);
  put_texts(out, &unit->files);
  put_texts(out, &unit->opened);
  put_texts(out, &unit->problems);
  putc('\n', out);
  for (size_t i = 0; i < unit->functions; i++) {
    const struct ir_function *f = unit->function[i];
    fprintf(out, "F\t%u\t%d\t%d", f->flags, f->body != NULL, f->given);
    const char *texts[] = {f->key, f->name, f->qualified, f->symbol, f->signature};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
      put(out, texts[t]);
    put_texts(out, &f->files);
    put_texts(out, &f->types);
    put_texts(out, &f->fields);
    put_texts(out, &f->annotations);
    put_texts(out, &f->parameters);
    putc('\n', out);
    if (f->body)
      put_body(out, f->body);
  }
  fputs("end\n", out);
}

/* -- reading --------------------------------------------------------------------------- */

/* The rest of the text, and of the line that is taken apart. */
struct reader {
  struct arena *arena;
  char *rest, *line;
  bool broken;
};

static bool next_line(struct reader *r, char kind) {
  r->line = r->rest ? strsep(&r->rest, "\n") : NULL;
  r->broken |= !r->line || r->line[0] != kind || r->line[1] != '\t';
  if (!r->broken)
    r->line += 2;
  return !r->broken;
}

/* NULL of an empty one. */
static const char *text(struct reader *r) {
  const char *field = r->line ? strsep(&r->line, "\t") : NULL;
  r->broken |= !field;
  return field && *field ? field : NULL;
}

static unsigned long number(struct reader *r) {
  const char *field = text(r);
  return field ? strtoul(field, NULL, 10) : 0;
}

/* How many of something follow: no more than the text can hold. */
static size_t count_of(struct reader *r) {
  size_t count = number(r);
  r->broken |= count > (r->rest ? strlen(r->rest) : 0) + 64;
  return r->broken ? 0 : count;
}

static struct ir_texts texts(struct reader *r) {
  struct ir_texts list = {0};
  char *all = (char *)text(r);
  if (!all)
    return list;
  size_t parts = 1;
  for (const char *c = all; *c; c++)
    parts += *c == IR_SEPARATOR;
  list.text = arena_get(r->arena, parts, sizeof *list.text);
  while (all)
    list.text[list.count++] = strsep(&all, "\x1f");
  return list;
}

static void read_step(struct reader *r, struct ir_step *s) {
  s->kind = r->rest ? (enum ir_kind) * r->rest : 0;
  if (!next_line(r, (char)s->kind))
    return;
  s->line = (unsigned)number(r);
  s->id = (int)number(r);
  s->to = text(r);
  s->value = text(r);
  s->argument = texts(r);
}

static void read_block(struct reader *r, const struct ir_body *body, struct ir_block *k) {
  if (!next_line(r, 'K'))
    return;
  k->steps = number(r);
  k->nexts = number(r);
  k->many = number(r);
  k->line = (unsigned)number(r);
  k->branch = text(r);
  k->next = arena_get(r->arena, k->nexts + 1, sizeof *k->next);
  for (size_t i = 0; i < k->nexts && !r->broken; i++) {
    k->next[i] = (unsigned)number(r);
    r->broken |= k->next[i] >= body->blocks;
  }
  k->step = arena_get(r->arena, k->steps + 1, sizeof *k->step);
  for (size_t i = 0; i < k->steps && !r->broken; i++)
    read_step(r, &k->step[i]);
}

static struct ir_body *read_body(struct reader *r) {
  struct ir_body *b = arena_get(r->arena, 1, sizeof *b);
  if (!next_line(r, 'B'))
    return NULL;
  b->line = (unsigned)number(r);
  b->variables = number(r);
  b->blocks = number(r);
  b->file = text(r);
  if (!b->file || r->broken)
    return NULL;
  b->variable = arena_get(r->arena, b->variables + 1, sizeof *b->variable);
  for (size_t i = 0; i < b->variables && next_line(r, 'V'); i++) {
    struct ir_variable *v = &b->variable[i];
    v->flags = (unsigned)number(r);
    v->line = (unsigned)number(r);
    v->name = text(r);
    v->type = text(r);
    v->cleanup = text(r);
  }
  b->block = arena_get(r->arena, b->blocks + 1, sizeof *b->block);
  for (size_t i = 0; i < b->blocks && !r->broken; i++)
    read_block(r, b, &b->block[i]);
  return b;
}

static struct ir_function *read_function(struct reader *r) {
  struct ir_function *f = arena_get(r->arena, 1, sizeof *f);
  if (!next_line(r, 'F'))
    return NULL;
  f->flags = (unsigned)number(r);
  bool has_body = number(r);
  f->given = number(r);
  f->key = text(r);
  f->name = text(r);
  f->qualified = text(r);
  f->symbol = text(r);
  f->signature = text(r);
  f->files = texts(r);
  f->types = texts(r);
  f->fields = texts(r);
  f->annotations = texts(r);
  f->parameters = texts(r);
  r->broken |= !f->key || !f->name;
  f->body = has_body && !r->broken ? read_body(r) : NULL;
  return f;
}

bool ir_read(struct ir_unit *unit, struct arena *arena, char *whole) {
  struct reader r = {.arena = arena, .rest = whole};
  size_t length = strlen(whole);
  memset(unit, 0, sizeof *unit);
  if (length < 5 || strcmp(whole + length - 5, "\nend\n"))
    return false;
  r.line = strsep(&r.rest, "\n");
  const char *mark = text(&r);
  if (!mark || strcmp(mark, "aprof-check") || number(&r) != IR_FORMAT)
    return false;
  size_t functions = count_of(&r);
  unit->errors = number(&r);
  unit->files = texts(&r);
  unit->opened = texts(&r);
  unit->problems = texts(&r);
  unit->function = arena_get(arena, functions + 1, sizeof *unit->function);
  while (!r.broken && unit->functions < functions)
    unit->function[unit->functions++] = read_function(&r);
  return !r.broken;
}
