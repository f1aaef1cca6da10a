/* SPDX-License-Identifier: MIT */
/* mutex-over-await: a lock that a thread holds while its future waits. */
#include "findings.h"
#include "flow.h"
#include "locks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A lock that is held, and how it ends. */
struct held {
  struct program *program;
  const struct ir_body *body;
  struct lock lock;
  char guard[32]; /* the variable that unlocks at the end of its scope; empty: none */
  const int64_t *pending;
  size_t pendings;
};

/* Who cleans up by a function may free it: __attribute__((cleanup)), and pthread_cleanup_push(),
   which is an object in C++. */
static bool ends_scope(const struct held *h, const struct ir_step *s) {
  const struct ir_variable *v = &h->body->variable[strtoul(s->to + 1, NULL, 10)];
  if (!*h->guard && v->type && strstr(v->type, "__pthread_cleanup_class"))
    return true;
  return *h->guard ? !strcmp(s->to, h->guard) : v->cleanup && v->cleanup[0] != '~';
}

static bool is_pending(const struct held *h, const char *value) {
  for (size_t i = 0; value && value[0] == '#' && i < h->pendings; i++)
    if (strtoll(value + 1, NULL, 10) == h->pending[i])
      return true;
  return false;
}

static bool is_given(const struct ir_step *s, const char *guard) {
  for (size_t i = 0; *guard && i < s->argument.count; i++)
    if (value_has(s->argument.text[i], guard))
      return true;
  return false;
}

/* What it is known by has another name from here on, or is another one's: who frees it is not told
   by names any more. */
static bool is_let_go(const struct held *h, const struct ir_step *s) {
  const char *mutex = h->lock.mutex + (*h->lock.mutex == '&');
  char base[32];
  snprintf(base, sizeof base, "%.*s", (int)(1 + strspn(mutex + (*mutex == '$'), "0123456789")),
           mutex);
  if (*h->guard)
    return s->kind == IR_ADDRESS && !strcmp(s->to, h->guard);
  return *mutex == '$' && s->kind == IR_SET &&
         (!strcmp(s->to, base) || (s->value && !strcmp(s->value, base)));
}

static enum flow_visit visit(void *of, const struct ir_step *s) {
  struct held *h = of;
  if (s->kind == IR_SCOPE)
    return ends_scope(h, s) ? FLOW_STOP : FLOW_ON;
  if (is_let_go(h, s))
    return FLOW_STOP;
  if (s->kind == IR_RETURN) /* what a guard holds is free by then */
    return !*h->guard && is_pending(h, s->value) ? FLOW_FOUND : FLOW_STOP;
  if (s->targets)
    return step_awaits(h->body, s) ? FLOW_FOUND : FLOW_ON;
  if (s->kind != IR_CALL || !s->callee)
    return FLOW_ON;
  if (*h->guard ? is_given(s, h->guard) : lock_frees(h->body, s, h->lock.mutex, h->lock.unlock))
    return FLOW_STOP; /* a guard may be unlocked there, moved, swapped, let go */
  return step_awaits(h->body, s) ? FLOW_FOUND : FLOW_ON;
}

/* The variable that the call's result becomes, or that it is called of. */
static void find_guard(struct held *h, const struct ir_step *call) {
  char result[32];
  if (h->lock.again && !strncmp(h->lock.mutex, "&$", 2)) {
    snprintf(h->guard, sizeof h->guard, "%s", h->lock.mutex + 1);
    return;
  }
  snprintf(result, sizeof result, "!%d", call->id);
  EACH_STEP (h->body, s)
    if (s->kind == IR_SET && s->value && !strcmp(s->value, result) && s->to[0] == '$')
      snprintf(h->guard, sizeof h->guard, "%s", s->to);
}

static void tell(struct program *p, const struct rule *rule, const struct ir_function *f,
                 const struct ir_step *lock, const struct ir_step *await) {
  bool pending = await->kind == IR_RETURN;
  const char *what = pending ? "return" : step_function(await)->name;
  struct check_finding *found = finding_begin(p, rule, f->body->file, await->line, what);
  struct lock held;
  bool guard =
      lock_at(f->body, lock, &held) && (held.guard || held.told) && lock->callee->flags & IR_CXX;
  const char *holder = guard ? "a guard" : lock->callee->name;
  found->text = pending ? say(p, "'%s' waits, and keeps what '%s' locked", f->name, holder)
                        : say(p, "'%s' waits, and what '%s' locked stays so", what, holder);
  finding_note(p, found, f->body->file, lock->line,
               held.told ? "'%s' asks here, and it is held" : "'%s' locks it here", f->name);
  if (pending)
    finding_note(p, found, f->body->file, await->line,
                 "'%s' returns here, to be called again later", f->name);
  else
    finding_await(p, found, f, await);
  found->mend = "unlock before, and lock again behind it; or take a lock that coroutines wait for";
}

static void judge_lock(struct program *p, const struct rule *rule, struct ir_function *f,
                       const struct ir_step *s) {
  struct held h = {.program = p, .body = f->body};
  if (!lock_at(f->body, s, &h.lock))
    return;
  if (h.lock.guard || h.lock.again)
    find_guard(&h, s);
  if ((h.lock.guard || h.lock.again) && !*h.guard)
    return;
  const struct judged *j = judged_of(f);
  for (size_t i = 0; i < j->bodies && !h.pendings; i++) {
    h.pending = j->body[i].pending;
    h.pendings = j->body[i].pendings;
  }
  char result[32];
  snprintf(result, sizeof result, "!%d", s->id);
  struct fact taken = fact_of(result, h.lock.held, 0);
  const struct ir_step *found = flow_find_if(f->body, s, visit, &h, h.lock.asks ? &taken : NULL);
  if (found)
    tell(p, rule, f, s, found);
}

static void judge(struct program *p, const struct rule *rule) {
  EACH_FUNCTION (p, f)
    if (f->body && !(f->flags & IR_DAMAGED))
      EACH_LIVE_STEP (f->body, s)
        if (s->kind == IR_CALL && s->callee)
          judge_lock(p, rule, f, s);
}

const struct rule rule_mutex = {
    {"mutex-over-await", "a mutex that is locked while its future waits"}, judge};
