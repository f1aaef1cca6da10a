/* SPDX-License-Identifier: MIT */
/* thread-local-over-await: the address of what each thread has of its own, kept while it may
 * change. */
#include "findings.h"
#include "flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kept {
  const struct ir_body *body;
  const struct ir_step *set;
  const char *variable; /* or a place, "$3->f" */
  bool reference;       /* setting it is setting what it refers to */
};

static bool is_set_anew(const struct kept *k, const struct ir_step *s) {
  return s == k->set || (s->kind == IR_SET && !k->reference && !strcmp(s->to, k->variable));
}

static enum flow_visit find_await(void *of, const struct ir_step *s) {
  const struct kept *k = of;
  if (is_set_anew(k, s))
    return FLOW_STOP;
  return step_awaits(k->body, s) ? FLOW_FOUND : FLOW_ON;
}

static enum flow_visit find_use(void *of, const struct ir_step *s) {
  const struct kept *k = of;
  bool place = strpbrk(k->variable, ".>") != NULL;
  if (is_set_anew(k, s))
    return FLOW_STOP;
  if (k->reference && s->kind == IR_SET && value_has(s->to, k->variable))
    return FLOW_FOUND;
  if (k->reference && (s->kind == IR_CALL || s->kind == IR_ICALL) && step_has(s, k->variable))
    return step_cleans(s) ? FLOW_ON : FLOW_FOUND;
  return place ? step_has(s, k->variable) ? FLOW_FOUND : FLOW_ON
         : s->kind == IR_USE && !strcmp(s->to, k->variable) ? FLOW_FOUND
                                                            : FLOW_ON;
}

static const char *own_of(const struct ir_body *b, const char *value, int depth);

/* "&!7->m", "&!7.m": a member of what a call has returned the address of. */
static bool is_inside(const char *value) {
  if (!value || value[0] != '&' || value[1] != '!')
    return false;
  const char *rest = value + 2 + strspn(value + 2, "0123456789");
  rest += strncmp(rest, "->", 2) ? 0 : 2;
  return !strstr(rest, "->") && !strpbrk(rest, "?*[ ");
}

/* A variable that is such an address, and nothing else. */
static const char *own_in(const struct ir_body *b, const char *variable, int depth) {
  const char *all = NULL;
  if (b->variable[strtoul(variable + 1, NULL, 10)].flags & (IR_PARAMETER | IR_KEPT | IR_THREAD))
    return NULL;
  EACH_STEP (b, s) {
    const char *own =
        s->kind == IR_SET && !strcmp(s->to, variable) ? own_of(b, s->value, depth + 1) : all;
    if (s->kind == IR_SET && !strcmp(s->to, variable) && !own)
      return NULL;
    all = own;
  }
  return all;
}

/* "&@thread:name", a variable of the function that each thread has, or the call that &errno is. */
static const char *own_of(const struct ir_body *b, const char *value, int depth) {
  if (value && value[0] == '&' && value[1] == '$')
    value = program_place(b, value);
  if (value && !strncmp(value, "&@thread:", 9))
    return strchr(value, '*') || strstr(value, "->") ? NULL : value + 9;
  if (value && value[0] == '&' && value[1] == '$' && !strstr(value, "->")) {
    const struct ir_variable *v = &b->variable[strtoul(value + 2, NULL, 10)];
    return v->flags & IR_THREAD ? v->name : NULL;
  }
  if (value && value[0] == '$' && !strpbrk(value, "->.[ ") && depth < 4)
    return own_in(b, value, depth);
  if (value && !strncmp(value, "&*!", 3)) /* what errno is */
    value += 2;
  else if (is_inside(value))
    value++;
  const struct ir_step *call = body_call(b, value);
  const struct ir_function *f = call ? call->callee : NULL;
  if (f && !strcmp(f->name, "__errno_location"))
    return "errno";
  const char *all = NULL; /* a function that returns such an address, and no other */
  if (f && f->body && depth < 4)
    EACH_STEP (f->body, s) {
      const char *own =
          s->kind == IR_RETURN && s->value ? own_of(f->body, s->value, depth + 1) : NULL;
      if (s->kind == IR_RETURN && s->value && (!own || (all && strcmp(all, own))))
        return NULL;
      all = own ? own : all;
    }
  return all;
}

static void judge_set(struct program *p, const struct rule *rule, const struct ir_function *f,
                      const struct ir_step *set) {
  const char *own = set->kind == IR_SET ? own_of(f->body, set->value, 0) : NULL;
  if (!own || set->to[0] != '$' || strchr(set->to, '['))
    return;
  const struct ir_variable *v = &f->body->variable[strtoul(set->to + 1, NULL, 10)];
  struct kept k = {f->body, set, set->to, v->flags & IR_REFERENCE && !strpbrk(set->to, ".>")};
  const struct ir_step *await = flow_find(f->body, set, find_await, &k);
  const struct ir_step *use = await ? flow_find(f->body, await, find_use, &k) : NULL;
  if (!use)
    return;
  const char *rest = strpbrk(set->to, "-."), *name = say(p, "%s%s", v->name, rest ? rest : "");
  struct check_finding *found = finding_begin(p, rule, f->body->file, use->line, v->name);
  found->text =
      say(p, "'%s' is the address of '%s' of the thread before; '%s' may go on in another", name,
          own, f->name);
  finding_note(p, found, f->body->file, set->line, "the address of '%s' is taken here", own);
  finding_await(p, found, f, await);
  found->mend = "take the address again behind the await, or keep the value in its place";
}

static void judge(struct program *p, const struct rule *rule) {
  EACH_FUNCTION (p, f)
    if (f->body)
      EACH_LIVE_STEP (f->body, s)
        judge_set(p, rule, f, s);
}

const struct rule rule_thread = {
    {"thread-local-over-await",
     "the address of errno or a thread-local variable, kept over an await"},
    judge};
