/* SPDX-License-Identifier: MIT */
/* stackless-local: a local of a function that is called again, used behind a wait. */
#include "findings.h"
#include "flow.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* Where a stackless function goes on: a label of its first choice that is come to from above, too.
 */
struct resume {
  struct ir_function *function;
  unsigned label;
  const bool *behind, *onward; /* of each block: the choice leads there; it leads to the label */
};

static enum flow_visit find_first(void *of, const struct ir_step *s) {
  const char *variable = of;
  if (step_has(s, variable) && s->kind != IR_SCOPE)
    return s->kind == IR_ADDRESS ? FLOW_STOP : FLOW_FOUND;
  return (s->kind == IR_SET && !strcmp(s->to, variable)) ? FLOW_STOP : FLOW_ON;
}

/* From which blocks the choice leads there. */
static bool *behind_choice(const struct ir_body *b, unsigned choice) {
  bool *behind = allocate(b->blocks + 1, sizeof *behind);
  for (size_t n = 0; n < b->block[choice].nexts; n++) {
    if (behind[b->block[choice].next[n]])
      continue;
    bool *seen = flow_reached(b, b->block[choice].next[n], FLOW_NO_EDGE, 0);
    for (size_t i = 0; i < b->blocks; i++)
      behind[i] |= seen[i];
    free(seen);
  }
  return behind;
}

/* A step that sets the variable, on a way from the choice to the label; NULL, too, where it has a
   value each time before the choice. */
static const struct ir_step *set_between(const struct resume *r, const char *variable) {
  const struct ir_body *b = r->function->body;
  const struct ir_step *found = NULL;
  for (unsigned i = 0; i < b->blocks; i++)
    for (const struct ir_step *s = b->block[i].step; s < b->block[i].step + b->block[i].steps;
         s++) {
      if (s->kind != IR_SET || strcmp(s->to, variable))
        continue;
      if (!r->behind[i])
        return NULL;
      if (r->onward[i] && !b->block[i].apart && !found)
        found = s;
    }
  return found;
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
  char variable[32];
  for (size_t i = 0; i < b->variables; i++) {
    const struct ir_variable *v = &b->variable[i];
    if (v->flags & (IR_PARAMETER | IR_KEPT | IR_THREAD | IR_REFERENCE))
      continue;
    snprintf(variable, sizeof variable, "$%zu", i);
    const struct ir_step *use = flow_find_at(b, r->label, find_first, variable);
    const struct ir_step *set = use ? set_between(r, variable) : NULL;
    if (set)
      tell(p, rule, r, v, set, use);
  }
}

/* The first choice among labels that the entry comes to, before anything waits. */
static int first_choice(const struct ir_body *b) {
  unsigned at = 0;
  for (size_t steps = 0; steps <= b->blocks; steps++) {
    if (b->block[at].many)
      return (int)at;
    if (b->block[at].nexts == 0)
      return -1;
    at = b->block[at].next[0];
  }
  return -1;
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
                         unsigned choice) {
  bool *behind = behind_choice(f->body, choice), *fallen = fallen_into(f->body, choice);
  for (size_t i = 0; i < f->body->block[choice].nexts; i++) {
    unsigned label = f->body->block[choice].next[i];
    if (!fallen[label])
      continue;
    bool *onward = flow_leading(f->body, label);
    judge_label(p, rule, &(struct resume){f, label, behind, onward});
    free(onward);
  }
  free(behind);
  free(fallen);
}

static void judge(struct program *p, const struct rule *rule) {
  EACH_FUNCTION (p, f) {
    int choice = f->body && is_stackless(f) ? first_choice(f->body) : -1;
    if (choice >= 0)
      judge_choice(p, rule, f, (unsigned)choice);
  }
}

const struct rule rule_stackless = {
    {"stackless-local", "a local of a stackless function, used behind a place where it waits"},
    judge};
