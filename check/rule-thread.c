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
  const char *variable;
  const struct ir_step *await;
};

static bool is_await(const struct ir_body *b, const struct ir_step *s) {
  return step_awaits(b, s);
}

static enum flow_visit find_await(void *of, const struct ir_step *s) {
  const struct kept *k = of;
  if (s->kind == IR_SET && !strcmp(s->to, k->variable))
    return FLOW_STOP;
  return is_await(k->body, s) ? FLOW_FOUND : FLOW_ON;
}

static enum flow_visit find_use(void *of, const struct ir_step *s) {
  const struct kept *k = of;
  if (s->kind == IR_SET && !strcmp(s->to, k->variable))
    return FLOW_STOP;
  return s->kind == IR_USE && !strcmp(s->to, k->variable) ? FLOW_FOUND : FLOW_ON;
}

/* "&@thread:name", or the call that &errno is. */
static const char *own_of(const struct ir_body *b, const char *value, int depth) {
  if (value && !strncmp(value, "&@thread:", 9))
    return value + 9;
  if (value && !strncmp(value, "&*!", 3)) /* what errno is */
    value += 2;
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
  if (!own || set->to[0] != '$' || strpbrk(set->to, "->.["))
    return;
  struct kept k = {.body = f->body, .variable = set->to};
  const struct ir_step *await = flow_find(f->body, set, find_await, &k);
  const struct ir_step *use = await ? flow_find(f->body, await, find_use, &k) : NULL;
  if (!use)
    return;
  const char *name = f->body->variable[strtoul(set->to + 1, NULL, 10)].name;
  struct check_finding *found = finding_begin(p, rule, f->body->file, use->line, name);
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
