/* SPDX-License-Identifier: MIT */
/* How a program uses a library; see suggest-use.h. */
#include "suggest-use.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

static void add(struct uses *u, enum use_what what, const struct ir_function *in,
                const struct ir_step *s, const char *other, size_t at) {
  u->use = ir_grow(u->use, u->uses, sizeof *u->use);
  u->use[u->uses++] = (struct use){what, s->callee->name, other, (int)at, in->body->file, s->line};
}

/* The call that a variable has its value from, if it has one only. */
static const struct ir_step *maker_of(const struct ir_body *b, const char *value) {
  const struct ir_step *found = body_call(b, value);
  if (value[0] != '$' || strpbrk(value, "->.["))
    return strpbrk(value, "->.[") ? NULL : found;
  EACH_STEP (b, s)
    if (s->kind == IR_SET && !strcmp(s->to, value) && body_call(b, s->value)) {
      if (found)
        return NULL;
      found = body_call(b, s->value);
    }
  return found;
}

static void note_call(struct uses *u, struct program *p, const struct ir_function *in,
                      const struct ir_step *s) {
  add(u, USE_CALL, in, s, NULL, 0);
  for (size_t i = 0; i < s->argument.count; i++) {
    const struct ir_function *given = program_function_of(p, in->body, s->argument.text[i]);
    const struct ir_step *maker = maker_of(in->body, s->argument.text[i]);
    if (given)
      add(u, USE_PASSED, in, s, given->name, i);
    if (maker && maker->callee && !maker->callee->body)
      add(u, USE_RESULT, in, s, maker->callee->name, i);
  }
}

/* "type.member@HEADER" */
static void note_members(struct uses *u, const struct ir_function *f) {
  for (size_t i = 0; i < f->fields.count; i++) {
    const char *place = f->fields.text[i], *file = strchr(place, '@'), *dot = strchr(place, '.');
    if (!file || !dot || dot > file || dot == place || !file[1])
      continue;
    u->member = ir_grow(u->member, u->members, sizeof *u->member);
    u->member[u->members++] = (struct member_use){
        print_string("%.*s", (int)(dot - place), place),
        print_string("%.*s", (int)(file - dot - 1), dot + 1), file + 1, f->name};
  }
}

bool uses_read(struct uses *u, const struct check_request *r) {
  struct program *p = allocate(1, sizeof *p);
  struct program_size size;
  if (!program_read(p, r, &size))
    return false;
  program_link(p);
  EACH_FUNCTION (p, f)
    if (f->name)
      note_members(u, f);
  EACH_FUNCTION (p, f)
    if (f->body)
      EACH_STEP (f->body, s)
        if (s->kind == IR_CALL && s->callee && !s->callee->body)
          note_call(u, p, f, s);
  for (size_t i = 0; i < p->troubles; i++)
    complain("not all seen: %s: %s", p->trouble[i].at.file, p->trouble[i].text);
  if (size.units && p->unread == size.units)
    return false;
  return true;
}

const struct use *use_of(const struct uses *u, enum use_what what, const char *function, int at) {
  for (size_t i = 0; i < u->uses; i++)
    if (u->use[i].what == what && (at < 0 || u->use[i].at == at) &&
        !strcmp(u->use[i].function, function))
      return &u->use[i];
  return NULL;
}
