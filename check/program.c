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
