/* SPDX-License-Identifier: MIT */
/* stackless-local: a local of a function that is called again, used behind a wait. */
#include "findings.h"
#include "flow.h"

#include "read/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a stackless function goes on: a label of its first choice. */
struct resume {
  struct ir_function *function;
  unsigned label;
  bool fallen;                 /* it is come to from above, too */
  const bool *behind, *onward; /* of each block: the choice leads there; it leads to the label */
};

/* It, a member or an element of it becomes something. */
static bool sets(const struct ir_step *s, const char *variable) {
  size_t length = strlen(variable);
  return s->kind == IR_SET && !strncmp(s->to, variable, length) && !strstr(s->to, "->") &&
         (!s->to[length] || s->to[length] == '.' || s->to[length] == '[');
}

/* Its block, and that of a condition just before: "if it has begun, go on at ...". */
struct choice {
  unsigned at, asked;
};

/* A local, and what is asked of it. */
struct asked {
  char name[32];
  bool array; /* a function that is given it as a whole may fill it */
};

static bool is_given(const struct ir_step *s, const char *variable) {
  for (size_t i = 0; i < s->argument.count; i++)
    if (!strcmp(s->argument.text[i], variable))
      return true;
  return false;
}

/* What it is given there it only reads: by its type, or by its body, which hands it on to nobody.
 */
static bool only_reads(const struct ir_function *f, size_t at) {
  const char *type = at < f->parameters.count ? f->parameters.text[at] : "";
  char parameter[32], behind[40], all[40];
  bool reads = false;
  if (!strncmp(type, "const ", 6) && strchr(type, '*') && strchr(type, '*') == strrchr(type, '*'))
    return true;
  if (!f->body || f->flags & IR_MEMBER)
    return false;
  snprintf(parameter, sizeof parameter, "$%zu", at);
  snprintf(behind, sizeof behind, "%s->", parameter);
  snprintf(all, sizeof all, "*%s", parameter);
  EACH_STEP (f->body, s) {
    if ((s->kind == IR_CALL || s->kind == IR_ICALL || s->kind == IR_RETURN) &&
        (is_given(s, parameter) || (s->value && !strcmp(s->value, parameter))))
      return false;
    if (s->kind == IR_SET &&
        (!strncmp(s->to, behind, strlen(behind)) || !strcmp(s->to, all) ||
         !strcmp(s->to, parameter) || (s->value && !strcmp(s->value, parameter))))
      return false;
    reads |= s->kind == IR_USE && !strcmp(s->to, parameter);
  }
  return reads;
}

/* Of a call that is given the local's address, or an array: it may set it, or reads it. */
static enum flow_visit visit_given(const struct asked *v, const struct ir_step *s) {
  for (size_t i = 0; i < s->argument.count; i++) {
    const char *value = s->argument.text[i];
    if (!strcmp(value + (*value == '&'), v->name) && (*value == '&' || v->array))
      return s->callee && only_reads(s->callee, i) ? FLOW_FOUND : FLOW_STOP;
  }
  return FLOW_ON;
}

static enum flow_visit find_first(void *of, const struct ir_step *s) {
  const struct asked *v = of;
  bool use = s->kind == IR_USE && v->array;
  if (s->kind == IR_SCOPE || s->kind == IR_ADDRESS || step_cleans(s) || use)
    return FLOW_ON; /* what becomes of the address, or the array, the next step tells */
  if (sets(s, v->name))
    return value_has(s->value, v->name) ? FLOW_FOUND : FLOW_STOP;
  if (s->kind == IR_SET && s->value && s->value[0] == '&' && value_has(s->value, v->name))
    return FLOW_STOP;
  enum flow_visit given = visit_given(v, s);
  return given != FLOW_ON ? given : step_has(s, v->name) ? FLOW_FOUND : FLOW_ON;
}

/* From which blocks the choice leads there. */
static void add_behind(const struct ir_body *b, unsigned from, bool *behind) {
  for (size_t n = 0; n < b->block[from].nexts; n++) {
    if (behind[b->block[from].next[n]])
      continue;
    bool *seen = flow_reached(b, b->block[from].next[n], FLOW_NO_EDGE, 0);
    for (size_t i = 0; i < b->blocks; i++)
      behind[i] |= seen[i];
    free(seen);
  }
}

static bool *behind_choice(const struct ir_body *b, const struct choice *choice) {
  bool *behind = allocate(b->blocks + 1, sizeof *behind);
  add_behind(b, choice->asked, behind);
  behind[choice->at] = false;
  add_behind(b, choice->at, behind);
  return behind;
}

/* A step that sets the variable, on a way from the choice to the label. Where it has a value each
   time before the choice, that is often what is meant: what is measured anew with each call, or a
   mark of this one (PT_YIELD_FLAG). Only a constant that a value of another kind follows is not. */
static const struct ir_step *set_between(const struct resume *r, const struct asked *v) {
  const struct ir_body *b = r->function->body;
  const char *variable = v->name;
  const struct ir_step *found = NULL;
  bool before = false, anew = false, number = false;
  for (unsigned i = 0; i < b->blocks; i++)
    for (const struct ir_step *s = b->block[i].step; s < b->block[i].step + b->block[i].steps;
         s++) {
      bool filled = v->array && visit_given(v, s) == FLOW_STOP;
      if (!sets(s, variable) && !filled && (s->kind != IR_ADDRESS || strcmp(s->to, variable)))
        continue;
      before |= !r->behind[i];
      anew |= !r->behind[i] && (s->kind != IR_SET || !strchr("#\"", s->value[0]));
      number |= r->behind[i] && s->kind == IR_SET && s->value[0] == '#';
      if (r->behind[i] && (r->onward[i] || !r->fallen) && !b->block[i].apart && !found)
        found = s;
    }
  return before && (number || anew || !r->fallen) ? NULL : found;
}

static void tell(struct program *p, const struct rule *rule, const struct resume *r,
                 const struct ir_variable *v, const struct ir_step *set,
                 const struct ir_step *use) {
  const struct ir_function *f = r->function;
  struct check_finding *found = finding_begin(p, rule, f->body->file, use->line, v->name);
  found->text =
      say(p, "'%s' has lost its value: '%s' has been called again since", v->name, f->name);
  finding_note(p, found, f->body->file, set->line, "'%s' is set here", v->name);
  finding_note(p, found, f->body->file, f->body->block[r->label].line,
               "'%s' goes on here when it is called again", f->name);
  finding_note(p, found, f->body->file, use->line, "and '%s' is used here", v->name);
  found->mend = "keep it where the function's state is, or make it static if there is one only";
}

static void judge_label(struct program *p, const struct rule *rule, const struct resume *r) {
  struct ir_body *b = r->function->body;
  for (size_t i = 0; i < b->variables; i++) {
    const struct ir_variable *v = &b->variable[i];
    if (v->flags & (IR_PARAMETER | IR_KEPT | IR_THREAD | IR_REFERENCE))
      continue;
    struct asked asked = {.array = v->type && strchr(v->type, '[')};
    snprintf(asked.name, sizeof asked.name, "$%zu", i);
    const struct ir_step *use = flow_find_at(b, r->label, find_first, &asked);
    const struct ir_step *set = use ? set_between(r, &asked) : NULL;
    if (set)
      tell(p, rule, r, v, set, use);
  }
}

/* The first choice among labels that the entry comes to, before anything waits. */
static bool first_choice(const struct ir_body *b, struct choice *choice) {
  unsigned at = 0, before = 0;
  for (size_t steps = 0; steps <= b->blocks; steps++) {
    if (b->block[at].many) {
      bool asks = !b->block[at].branch && b->block[before].nexts == 2;
      *choice = (struct choice){at, asks ? before : at};
      return true;
    }
    if (b->block[at].nexts == 0)
      return false;
    before = at;
    at = b->block[at].next[0];
  }
  return false;
}

/* Of each block, whether the entry comes to it from another one than the choice. */
static bool *fallen_into(const struct ir_body *b, unsigned choice) {
  bool *seen = flow_reached(b, 0, FLOW_NO_EDGE, 0), *fallen = allocate(b->blocks + 1, 1);
  for (unsigned i = 0; i < b->blocks; i++)
    for (size_t n = 0; n < b->block[i].nexts && seen[i] && i != choice; n++)
      fallen[b->block[i].next[n]] = true;
  free(seen);
  return fallen;
}

static bool is_stackless(const struct ir_function *f) {
  const struct judged *j = judged_of(f);
  for (size_t i = 0; i < j->bodies; i++)
    if (j->body[i].pendings)
      return true;
  return false;
}

static void judge_choice(struct program *p, const struct rule *rule, struct ir_function *f,
                         const struct choice *choice) {
  bool *behind = behind_choice(f->body, choice), *fallen = fallen_into(f->body, choice->at);
  for (size_t i = 0; i < f->body->block[choice->at].nexts; i++) {
    unsigned label = f->body->block[choice->at].next[i];
    bool *onward = flow_leading(f->body, label);
    judge_label(p, rule, &(struct resume){f, label, fallen[label], behind, onward});
    free(onward);
  }
  free(behind);
  free(fallen);
}

static void judge(struct program *p, const struct rule *rule) {
  EACH_FUNCTION (p, f) {
    struct choice choice;
    if (f->body && !(f->flags & IR_DAMAGED) && is_stackless(f) && first_choice(f->body, &choice))
      judge_choice(p, rule, f, &choice);
  }
}

const struct rule rule_stackless = {
    {"stackless-local", "a local of a stackless function, used behind a place where it waits"},
    judge};
