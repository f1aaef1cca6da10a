/* SPDX-License-Identifier: MIT */
/* future-dropped: a future that is made, and on some way neither awaited, ended nor handed on; and
   a stackless one whose state goes before it is over. */
#include "findings.h"
#include "flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The future is in a variable. */
struct kept {
  char variable[64], result[32];
  char whole[32]; /* the variable that this is a member of, or itself */
};

static bool is_given(const struct ir_step *s, const char *part) {
  return s->kind != IR_USE && s->kind != IR_ADDRESS && !step_cleans(s) && step_has(s, part);
}

static enum flow_visit visit(void *of, const struct ir_step *s) {
  const struct kept *k = of;
  if (s->kind == IR_SET && !strcmp(s->to, k->variable))
    return s->value && !strcmp(s->value, k->result) ? FLOW_ON
           : value_has(s->value, k->variable)       ? FLOW_STOP
                                                    : FLOW_FOUND;
  if (s->kind == IR_SET && *k->whole && value_has(s->to, k->whole) &&
      !value_has(s->value, k->whole))
    return FLOW_ON; /* another member of it */
  if (s->kind == IR_ADDRESS && !strcmp(s->to, k->whole))
    return FLOW_STOP;
  if (is_given(s, *k->variable ? k->whole : k->result))
    return FLOW_STOP;
  return s->kind == IR_RETURN ? FLOW_FOUND : FLOW_ON;
}

/* The local that the call's result becomes; false: it goes elsewhere. */
static bool find_kept(const struct ir_body *b, const struct ir_step *call, bool object,
                      struct kept *k) {
  bool used = false;
  snprintf(k->result, sizeof k->result, "!%d", call->id);
  EACH_STEP (b, s) {
    if (s->kind == IR_SET && s->value && !strcmp(s->value, k->result) && s->to[0] == '$' &&
        !strpbrk(s->to, "->[") && strlen(s->to) < sizeof k->variable) {
      snprintf(k->variable, sizeof k->variable, "%s", s->to);
      snprintf(k->whole, sizeof k->whole, "%.*s", (int)strcspn(s->to, "."), s->to);
      const struct ir_variable *v = &b->variable[strtoul(s->to + 1, NULL, 10)];
      if (v->flags & IR_POINTER && strchr(s->to, '.'))
        return false;
      return !(v->flags & (IR_KEPT | IR_THREAD | IR_REFERENCE | IR_PARAMETER)) &&
             (!v->cleanup || (object && v->cleanup[0] == '~') ||
              (strchr(s->to, '.') && !strcmp(v->cleanup, "~"))); /* no destructor ends it */
    }
    used |= step_has(s, k->result);
  }
  for (size_t i = 0; i < b->blocks; i++)
    used |= value_has(b->block[i].branch, k->result);
  return !used;
}

/* The call makes one; or its function does, and only returns it. */
enum makes { MAKES_NONE, MAKES_LAZY, MAKES_INERT };

/* Nobody waits for what it would have made. */
static bool is_generator(const struct ir_function *f) {
  if (f->body)
    EACH_STEP (f->body, s)
      if (s->callee && !strcmp(s->callee->name, "co_yield"))
        return true;
  return false;
}

/* A variable that a call's result becomes, and that nothing but conditions and returns read: the
   result. */
static const char *only_returned(const struct ir_body *b, const char *value) {
  const char *set = program_call(b, value);
  if (set == value)
    return value;
  EACH_STEP (b, s)
    if (s->kind != IR_USE && s->kind != IR_RETURN && (s->kind != IR_SET || s->value != set) &&
        step_has(s, value))
      return value;
  return set;
}

static enum makes makes_of(const struct ir_body *b, const struct ir_step *s, int depth) {
  const struct lang_about *about = line_at(b, s, LANG_CREATE);
  const struct ir_body *theirs = s->callee->body;
  enum makes all = MAKES_NONE;
  if (s->callee->flags & IR_LAZY) /* its result does nothing until it is awaited */
    return is_generator(s->callee) ? MAKES_NONE : MAKES_LAZY;
  if (about)
    return about->has_key && about->key.kind == LANG_RESULT && about->inert ? MAKES_INERT
                                                                            : MAKES_NONE;
  if (!theirs || depth > 3 || !is_plain(s->callee) || s->callee->flags & IR_STACKLESS)
    return MAKES_NONE;
  EACH_STEP (theirs, r) {
    if (r->kind != IR_RETURN || !r->value || !strcmp(r->value, "#0"))
      continue;
    const struct ir_step *call = body_call(theirs, only_returned(theirs, r->value));
    all = call && call->callee ? makes_of(theirs, call, depth + 1) : MAKES_NONE;
    if (!all)
      break;
  }
  return all;
}

static void judge_create(struct program *p, const struct rule *rule, struct ir_function *f,
                         const struct ir_step *s) {
  enum makes makes = makes_of(f->body, s, 0);
  struct kept k = {0};
  if (makes == MAKES_NONE || !find_kept(f->body, s, makes == MAKES_LAZY, &k))
    return;
  struct fact made = fact_of(k.result, FACT_IS_NOT, 0);
  const struct ir_step *end = flow_find_if(f->body, s, visit, &k, &made);
  if (!end)
    return;
  const char *name = s->callee->name;
  struct check_finding *found = finding_begin(p, rule, f->body->file, s->line, name);
  found->text = *k.variable ? say(p, "the future that '%s' makes is lost on a way through '%s'",
                                  name, f->name)
                            : say(p, "the future that '%s' makes is lost at once", name);
  finding_note(p, found, f->body->file, s->line, "'%s' makes it here", f->name);
  if (*k.variable)
    finding_note(
        p, found, f->body->file, end->line,
        end->kind == IR_SET
            ? "'%s' gives '%s' another value here, and it was not awaited, ended, handed on"
            : "'%s' returns here, and '%s' was neither awaited, ended nor handed on",
        f->name, f->body->variable[strtoul(k.variable + 1, NULL, 10)].name);
  found->mend = "await it, end it, or hand it on, also where the function returns early";
}

/* -- stackless ones ------------------------------------------------------------------------ */

static bool is_again(const struct ir_body *b, const struct ir_step *s) {
  unsigned at = 0;
  while (s < b->block[at].step || s >= b->block[at].step + b->block[at].steps)
    at++;
  bool again = false;
  for (size_t i = 0; i < b->block[at].nexts && !again; i++) {
    bool *seen = flow_reached(b, b->block[at].next[i], FLOW_NO_EDGE, 0);
    again = seen[at];
    free(seen);
  }
  return again;
}

static bool is_used(const struct ir_body *b, const struct ir_step *call) {
  char result[32];
  snprintf(result, sizeof result, "!%d", call->id);
  EACH_STEP (b, s)
    if (step_has(s, result))
      return true;
  for (size_t i = 0; i < b->blocks; i++)
    if (value_has(b->block[i].branch, result))
      return true;
  return false;
}

static const struct lang_about *pending_line(const struct ir_function *f) {
  const struct judged *j = judged_of(f);
  for (size_t i = 0; i < j->bodies; i++)
    if (j->body[i].pendings && j->body[i].has_key && j->body[i].key.kind == LANG_ARGUMENT)
      return &j->body[i];
  return NULL;
}

static void judge_stackless(struct program *p, const struct rule *rule, struct ir_function *f,
                            const struct ir_step *s) {
  const struct lang_about *about = pending_line(s->callee);
  size_t at = about ? (size_t)about->key.index : 0;
  const char *state = about && at < s->argument.count ? s->argument.text[at] : "";
  if (state[0] != '&' || state[1] != '$' || strpbrk(state, "->[") || is_used(f->body, s) ||
      is_again(f->body, s))
    return;
  const struct ir_variable *v = &f->body->variable[strtoul(state + 2, NULL, 10)];
  if (v->flags & (IR_KEPT | IR_THREAD | IR_REFERENCE))
    return;
  EACH_STEP (f->body, t) /* it is called with it a second time */
    if (t != s && t->callee == s->callee && t->argument.count > at &&
        !strcmp(t->argument.text[at], state))
      return;
  struct check_finding *found = finding_begin(p, rule, f->body->file, s->line, s->callee->name);
  found->text =
      say(p, "'%s' may have to be called again, and nobody asks; its state '%s' goes with '%s'",
          s->callee->name, v->name, f->name);
  finding_note(p, found, f->body->file, v->line, "'%s' is declared here, a local of '%s'", v->name,
               f->name);
  finding_note(p, found, f->body->file, s->line, "what '%s' returns is not looked at",
               s->callee->name);
  found->mend = "call it until it says that it has ended, with a state that lives as long";
}

static void judge(struct program *p, const struct rule *rule) {
  EACH_FUNCTION (p, f)
    if (f->body && !(f->flags & IR_DAMAGED))
      EACH_LIVE_STEP (f->body, s)
        if (s->kind == IR_CALL && s->callee) {
          judge_create(p, rule, f, s);
          judge_stackless(p, rule, f, s);
        }
}

const struct rule rule_dropped = {
    {"future-dropped",
     "a future that is made, and on some way neither awaited, ended nor handed on"},
    judge};
