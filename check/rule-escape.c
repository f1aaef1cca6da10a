/* SPDX-License-Identifier: MIT */
/* local-escapes: the address of a local that what comes later will use. */
#include "findings.h"
#include "flow.h"

#include "read/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_variable(const char *value) {
  return value[0] == '$' && value[1 + strspn(value + 1, "0123456789")] == 0;
}

/* What a variable is, that is set once. */
static const char *set_to(const struct ir_body *b, const char *value) {
  const char *found = NULL;
  if (!is_variable(value) || b->variable[strtol(value + 1, NULL, 10)].flags & IR_PARAMETER)
    return value;
  EACH_STEP (b, s)
    if (s->kind == IR_SET && !strcmp(s->to, value)) {
      if (found)
        return value;
      found = s->value;
    }
  return found && found[0] == '&' ? found : value;
}

/* "&$3", "&$3.member", an array "$3": the variable, which goes when its function returns. NULL: no
   such. */
static const struct ir_variable *local_at(const struct ir_body *b, const char *value, int *id) {
  value = program_place(b, set_to(b, value));
  bool array = is_variable(value) && strchr(b->variable[strtol(value + 1, NULL, 10)].type, '[');
  if ((!array && (value[0] != '&' || value[1] != '$')) || strstr(value, "->") || strchr(value, '*'))
    return NULL;
  *id = (int)strtol(value + 1 + !array, NULL, 10);
  const struct ir_variable *v = &b->variable[*id];
  return v->flags & (IR_KEPT | IR_THREAD | IR_REFERENCE) || (array && v->flags & IR_PARAMETER)
             ? NULL
             : v;
}

static const char *argument_at(const struct ir_step *s, int index) {
  long at = index < 0 ? (long)s->argument.count + index : index;
  return at >= 0 && (size_t)at < s->argument.count ? s->argument.text[at] : NULL;
}

static bool is_any_pointer(const char *type) {
  return !strcmp(type, "void *") || !strcmp(type, "gpointer");
}

/* The future may be over before the function is: it is ended, or the loop runs in here. */
static bool may_end_it(const struct ir_body *body, const struct ir_step *s) {
  static const char *const runs[] = {"run",  "loop",  "dispatch", "iteration", "wait", "poll",
                                     "join", "await", "sleep",    "yield",     NULL};
  if (s->kind == IR_ICALL)
    return true; /* who knows */
  if (s->kind != IR_CALL || !s->callee)
    return false;
  if (line_at(body, s, LANG_END) || step_awaits(body, s))
    return true;
  for (size_t i = 0; runs[i]; i++)
    if (strstr(s->callee->name, runs[i]))
      return true;
  for (size_t i = 0; i < judged_of(s->callee)->calls; i++)
    if (judged_of(s->callee)->call[i].verb == LANG_END)
      return true;
  return false;
}

static enum flow_visit find_end(void *of, const struct ir_step *s) {
  return may_end_it(of, s) ? FLOW_FOUND : FLOW_ON;
}

static enum flow_visit find_return(void *of, const struct ir_step *s) {
  if (s->kind == IR_RETURN)
    return FLOW_FOUND;
  return may_end_it(of, s) ? FLOW_STOP : FLOW_ON;
}

/* A wait for it may stand behind a condition that is false at once. */
static const struct ir_step *left_at(const struct ir_body *b, const struct ir_step *s, int id) {
  bool waits = false;
  char variable[32];
  snprintf(variable, sizeof variable, "$%d", id);
  for (size_t i = 0; i < b->blocks && !waits; i++)
    waits = value_has(b->block[i].branch, variable);
  return waits || flow_find(b, s, find_end, (void *)b) ? NULL
                                                       : flow_find(b, s, find_return, (void *)b);
}

/* Also where a condition of its line is not known: the data is the callback's all the same. */
static bool takes_callback(const struct ir_function *f) {
  const struct judged *j = judged_of(f);
  for (size_t i = 0; i < j->calls; i++)
    if (j->call[i].verb == LANG_CREATE && j->call[i].functions)
      return true;
  return false;
}

static void tell(struct program *p, const struct rule *rule, const struct ir_function *f,
                 const struct ir_step *s, const struct ir_step *end, const struct ir_variable *v,
                 bool key) {
  struct check_finding *found = finding_begin(p, rule, f->body->file, s->line, v->name);
  found->text = say(p,
                    key ? "'%s' goes when '%s' returns, and '%s' has begun what uses it later"
                        : "'%s' goes when '%s' returns, and the callback that '%s' is given uses "
                          "it later",
                    v->name, f->name, s->callee->name);
  finding_note(p, found, f->body->file, v->line, "'%s' is declared here, a local of '%s'", v->name,
               f->name);
  finding_note(p, found, f->body->file, end->line ? end->line : s->line,
               "'%s' returns here, and nothing has ended it", f->name);
  found->mend = "take memory that lives as long (malloc, a member of what the callback gets), and "
                "free it in the callback";
}

/* A line whose callback is a null pointer here: nobody is told of the end, and it begins all the
   same, if the call does not wait for it then (uv_fs_stat). */
static const struct lang_about *line_untold(const struct ir_body *b, const struct ir_step *s) {
  const struct judged *j = judged_of(s->callee);
  for (size_t i = 0; i < j->calls; i++) {
    const struct lang_about *about = &j->call[i];
    const char *callback =
        about->verb == LANG_CREATE && about->functions && about->function[0].kind == LANG_ARGUMENT
            ? argument_at(s, about->function[0].index)
            : NULL;
    if (callback && !strcmp(program_value(b, callback), "#0"))
      return line_at(b, s, LANG_BLOCKING) ? NULL : about;
  }
  return NULL;
}

/* The key that the call begins something with; NULL: it is none of its arguments. */
static const char *key_at(const struct ir_body *b, const struct ir_step *s) {
  const struct lang_about *about = line_at(b, s, LANG_CREATE);
  if (!about)
    about = line_untold(b, s);
  return about && about->functions && about->has_key && about->key.kind == LANG_ARGUMENT
             ? argument_at(s, about->key.index)
             : NULL;
}

/* The parameter, or what lies in the object that it points to. */
static bool is_of(const char *value, const char *parameter) {
  size_t length = strlen(parameter);
  return !strcmp(value, parameter) ||
         (value[0] == '&' && !strncmp(value + 1, parameter, length) &&
          !strncmp(value + 1 + length, "->", 2) && !strstr(value + length + 3, "->"));
}

/* What a callback is given. */
static bool is_data(const struct ir_function *f, size_t at) {
  return at < f->parameters.count && is_any_pointer(f->parameters.text[at]);
}

/* A plain function that begins something with what it is given there: the call that does. */
static const struct ir_step *begins_with(const struct ir_function *f, size_t at, int depth) {
  char parameter[32];
  if (!f->body || !is_plain(f) || f->flags & IR_MEMBER || depth > 3)
    return NULL;
  snprintf(parameter, sizeof parameter, "$%zu", at);
  EACH_LIVE_STEP (f->body, s) {
    if (s->kind != IR_CALL || !s->callee)
      continue;
    const char *key = key_at(f->body, s);
    bool begins = key && is_of(program_place(f->body, key), parameter);
    bool data = takes_callback(s->callee);
    for (size_t i = 0; !key && i < s->argument.count; i++)
      begins |= is_of(program_place(f->body, s->argument.text[i]), parameter) &&
                (data ? is_data(s->callee, i) : begins_with(s->callee, i, depth + 1) != NULL);
    if (begins)
      return flow_find(f->body, s, find_end, (void *)f->body) ? NULL : s;
  }
  return NULL;
}

static void judge_passed(struct program *p, const struct rule *rule, const struct ir_function *f,
                         const struct ir_step *s) {
  for (size_t i = 0; i < s->argument.count; i++) {
    int id;
    const struct ir_variable *v = local_at(f->body, s->argument.text[i], &id);
    const struct ir_step *end = v && begins_with(s->callee, i, 0) ? left_at(f->body, s, id) : NULL;
    if (end)
      tell(p, rule, f, s, end, v, true);
  }
}

static void judge_call(struct program *p, const struct rule *rule, const struct ir_function *f,
                       const struct ir_step *s) {
  int id;
  bool key = false;
  const char *first = key_at(f->body, s);
  const struct ir_variable *v = first ? local_at(f->body, first, &id) : NULL;
  key = v != NULL;
  for (size_t i = 0; !v && i < s->argument.count; i++)
    if (is_data(s->callee, i))
      v = local_at(f->body, s->argument.text[i], &id);
  if (!v)
    return;
  const struct ir_step *end = left_at(f->body, s, id);
  if (end)
    tell(p, rule, f, s, end, v, key);
}

/* A call that begins something with this object. */
struct begun {
  const struct ir_body *body;
  const char *object, *place; /* place: the member that the address is put into */
};

static enum flow_visit find_begun(void *of, const struct ir_step *s) {
  const struct begun *g = of;
  if (s->kind == IR_SET && (!strcmp(s->to, g->object) || !strcmp(s->to, g->place)))
    return FLOW_STOP;
  const struct lang_about *about = s->callee ? line_at(g->body, s, LANG_CREATE) : NULL;
  for (size_t i = 0; about && about->functions && i < s->argument.count; i++)
    if (!strcmp(s->argument.text[i], g->object))
      return FLOW_FOUND;
  return FLOW_ON;
}

/* request->data = &local */
static void judge_member(struct program *p, const struct rule *rule, const struct ir_function *f,
                         const struct ir_step *s) {
  int id;
  const char *arrow = strstr(s->to, "->");
  const struct ir_variable *v = arrow && s->value ? local_at(f->body, s->value, &id) : NULL;
  if (!v)
    return;
  char *object = print_string("%.*s", (int)(arrow - s->to), s->to);
  struct begun g = {f->body, object, s->to};
  const struct ir_step *call = flow_find(f->body, s, find_begun, &g);
  const struct ir_step *end = call ? left_at(f->body, call, id) : NULL;
  if (end) {
    struct ir_step at = *call;
    at.line = s->line;
    tell(p, rule, f, &at, end, v, false);
  }
  free(object);
}

/* In callbacks and what they call, which run no loop: main() may wait in its own. */
static void judge(struct program *p, const struct rule *rule) {
  EACH_FUNCTION (p, f) {
    if (!f->body || !f->reached || f->flags & IR_DAMAGED)
      continue;
    EACH_LIVE_STEP (f->body, s) {
      if (s->callee && takes_callback(s->callee))
        judge_call(p, rule, f, s);
      else if (s->callee && s->callee->body)
        judge_passed(p, rule, f, s);
      else if (s->kind == IR_SET)
        judge_member(p, rule, f, s);
    }
  }
}

const struct rule rule_escape = {
    {"local-escapes", "the address of a local, given to what uses it when the function is over"},
    judge};
