/* SPDX-License-Identifier: MIT */
/* What rules ask of a program; see program.h. */
#include "program.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* -- values -------------------------------------------------------------------------------- */

/* A variable that is set once, and nowhere else can be: what it is set to. */
const char *program_value(const struct ir_body *b, const char *value) {
  const char *set = NULL;
  if (!b || value[0] != '$' || strpbrk(value, "->.[ "))
    return value;
  const struct ir_variable *v = &b->variable[strtoul(value + 1, NULL, 10)];
  if (v->flags & (IR_PARAMETER | IR_KEPT | IR_THREAD | IR_REFERENCE))
    return value;
  EACH_STEP (b, s) {
    if (!s->to || strcmp(s->to, value))
      continue;
    if (s->kind == IR_ADDRESS || (s->kind == IR_SET && set))
      return value;
    if (s->kind == IR_SET)
      set = s->value;
  }
  return set && (set[0] == '#' || set[0] == '%') ? set : value;
}

/* What the variable at the begin of a name is set to, once, and nowhere else can be; NULL. */
static const char *set_once(const struct ir_body *b, const char *variable, size_t length) {
  const char *set = NULL;
  const struct ir_variable *v = &b->variable[strtoul(variable + 1, NULL, 10)];
  if (v->flags & (IR_PARAMETER | IR_KEPT | IR_THREAD))
    return NULL;
  EACH_STEP (b, s) {
    if (!s->to || strlen(s->to) != length || memcmp(s->to, variable, length))
      continue;
    bool is_set = s->kind == IR_SET;
    if ((s->kind == IR_ADDRESS && !(v->flags & IR_REFERENCE)) || (is_set && set))
      return NULL;
    set = is_set ? s->value : set;
  }
  return set;
}

const char *program_call(const struct ir_body *b, const char *value) {
  bool plain = value[0] == '$' && !strpbrk(value, "->.[ ");
  const char *set = plain ? set_once(b, value, strlen(value)) : NULL;
  return set && set[0] == '!' ? set : value;
}

static bool is_name(const char *value) {
  const char *bare = value + (*value == '&');
  return (*bare == '$' || *bare == '@' || !strncmp(bare, "this", 4)) && !strpbrk(value, "?! *[");
}

const char *program_place(const struct ir_body *b, const char *value) {
  for (int depth = 0; b && depth < 4; depth++) {
    bool address = *value == '&';
    const char *bare = value + address, *set;
    size_t length = *bare == '$' ? 1 + strspn(bare + 1, "0123456789") : 0;
    const char *rest = bare + length;
    if (!length || strpbrk(value, "?! *[") || !(set = set_once(b, bare, length)) || !is_name(set))
      break;
    bool refers = b->variable[strtoul(bare + 1, NULL, 10)].flags & IR_REFERENCE;
    if (refers && *set == '&' && address) /* &r, &r.m */
      value = print_string("%s%s", set, rest);
    else if (!refers && !*rest && !address)
      value = set;
    else if (!refers && !strncmp(rest, "->", 2))
      value = *set == '&' ? print_string("%s%s.%s", address ? "&" : "", set + 1, rest + 2)
                          : print_string("%s%s%s", address ? "&" : "", set, rest);
    else
      break;
  }
  return value;
}

struct ir_function *program_function_of(struct program *p, const struct ir_body *b,
                                        const char *value) {
  value = program_value(b, value);
  return value[0] == '%' ? program_function(p, value + 1) : NULL;
}

struct ir_step *body_call(const struct ir_body *body, const char *value) {
  struct ir_body *b = (struct ir_body *)body;
  if (!value || value[0] != '!')
    return NULL;
  if (!b->call) {
    EACH_STEP (b, s)
      if ((s->kind == IR_CALL || s->kind == IR_ICALL) && s->id >= (int)b->calls)
        b->calls = (size_t)s->id + 1;
    b->call = allocate(b->calls + 1, sizeof *b->call);
    EACH_STEP (b, s)
      if ((s->kind == IR_CALL || s->kind == IR_ICALL) && s->id >= 0)
        b->call[s->id] = s;
  }
  size_t id = strtoul(value + 1, NULL, 10);
  return id < b->calls ? b->call[id] : NULL;
}

/* -- lines at calls -------------------------------------------------------------------------- */

struct call {
  const struct ir_body *body;
  const struct ir_step *step;
};

/* A function, or a text, has an address. */
static bool constant_of(const void *of, int index, int64_t *value) {
  const struct call *call = of;
  size_t count = call->step->argument.count;
  long at = index < 0 ? (long)count + index : index;
  if (at < 0 || (size_t)at >= count)
    return false;
  const char *text = program_value(call->body, call->step->argument.text[at]);
  if (strchr(text, ' '))
    return false;
  *value = text[0] == '#' ? strtoll(text + 1, NULL, 10) : 1;
  return text[0] == '#' || text[0] == '%' || text[0] == '"';
}

const struct lang_about *line_at(const struct ir_body *body, const struct ir_step *s,
                                 enum lang_verb verb) {
  struct call call = {body, s};
  const struct judged *j = s->callee ? judged_of(s->callee) : NULL;
  for (size_t i = 0; j && i < j->calls; i++)
    if (j->call[i].verb == verb && lang_when(&j->call[i], constant_of, &call) == LANG_YES)
      return &j->call[i];
  return NULL;
}

bool step_awaits(const struct ir_body *body, const struct ir_step *s) {
  bool all = s->targets > 0;
  for (size_t i = 0; i < s->targets && all; i++)
    all = program_awaits(s->target[i]);
  return s->callee ? program_awaits(s->callee) || line_at(body, s, LANG_AWAIT) : all;
}

bool is_plain(const struct ir_function *f) {
  const struct judged *j = judged_of(f);
  return !j->tells_call && !j->tells_body && !j->async && !j->worker;
}
