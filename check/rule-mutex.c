/* SPDX-License-Identifier: MIT */
/* mutex-over-await: a lock that a thread holds while its future waits. */
#include "findings.h"
#include "flow.h"

#include <stdlib.h>
#include <string.h>

/* Locks that block a thread; those that libraries make for their coroutines are none. */
static const struct {
  const char *lock, *unlock;
} pairs[] = {
    {"pthread_mutex_lock", "pthread_mutex_unlock"},
    {"pthread_rwlock_rdlock", "pthread_rwlock_unlock"},
    {"pthread_rwlock_wrlock", "pthread_rwlock_unlock"},
    {"pthread_spin_lock", "pthread_spin_unlock"},
    {"mtx_lock", "mtx_unlock"},
    {"uv_mutex_lock", "uv_mutex_unlock"},
    {"uv_rwlock_rdlock", "uv_rwlock_rdunlock"},
    {"uv_rwlock_wrlock", "uv_rwlock_wrunlock"},
    {"g_mutex_lock", "g_mutex_unlock"},
    {"g_rec_mutex_lock", "g_rec_mutex_unlock"},
    {"g_rw_lock_reader_lock", "g_rw_lock_reader_unlock"},
    {"g_rw_lock_writer_lock", "g_rw_lock_writer_unlock"},
    {"std::mutex::lock", "std::mutex::unlock"},
    {"std::recursive_mutex::lock", "std::recursive_mutex::unlock"},
    {"std::shared_mutex::lock", "std::shared_mutex::unlock"},
    {"g_mutex_locker_new", "g_mutex_locker_free"},
    {"std::lock_guard::lock_guard", ""},
    {"std::unique_lock::unique_lock", "std::unique_lock::unlock"},
    {"std::scoped_lock::scoped_lock", ""},
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

/* "std::lock_guard<std::mutex>::lock_guard" is std::lock_guard::lock_guard. */
static bool is_named(const struct ir_function *f, const char *name) {
  const char *at = f->qualified ? f->qualified : f->name;
  int depth = 0;
  for (; *at; at++) {
    depth += *at == '<';
    if (!depth && *at != *name++)
      return false;
    depth -= *at == '>';
  }
  return !*name;
}

static int pair_of(const struct ir_function *f) {
  for (int i = 0; f && i < PAIRS; i++)
    if (is_named(f, pairs[i].lock))
      return i;
  return -1;
}

static bool unlocks(const struct ir_function *f) {
  for (int i = 0; i < PAIRS; i++)
    if (*pairs[i].unlock && is_named(f, pairs[i].unlock))
      return true;
  return false;
}

/* A lock that is held, and how it ends. */
struct held {
  struct program *program;
  const struct ir_body *body;
  const char *unlock, *mutex;
  char guard[32]; /* the variable that unlocks at the end of its scope; empty: none */
  const int64_t *pending;
  size_t pendings;
};

/* Some mutex is unlocked in there: it may be this one. */
static bool may_unlock(const struct ir_function *f, int depth) {
  if (!f || unlocks(f))
    return f != NULL;
  if (!f->body || depth > 4)
    return false;
  EACH_STEP (f->body, s)
    if (s->kind == IR_CALL && s->callee != f && may_unlock(s->callee, depth + 1))
      return true;
  return false;
}

static bool ends_scope(const struct held *h, const struct ir_step *s) {
  const struct ir_variable *v = &h->body->variable[strtoul(s->to + 1, NULL, 10)];
  return *h->guard ? !strcmp(s->to, h->guard) : v->cleanup && strcmp(v->cleanup, "~");
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

static enum flow_visit visit(void *of, const struct ir_step *s) {
  struct held *h = of;
  if (s->kind == IR_SCOPE)
    return ends_scope(h, s) ? FLOW_STOP : FLOW_ON;
  if (s->kind == IR_RETURN) /* what a guard holds is free by then */
    return !*h->guard && is_pending(h, s->value) ? FLOW_FOUND : FLOW_STOP;
  if (s->kind == IR_ICALL && !s->callee)
    return FLOW_ON;
  if (s->kind != IR_CALL || !s->callee)
    return FLOW_ON;
  if (unlocks(s->callee)) {
    bool same = is_named(s->callee, h->unlock) && s->argument.count &&
                (!strcmp(s->argument.text[0], h->mutex) || strchr(h->mutex, '?'));
    bool guard = *h->guard && s->argument.count && value_has(s->argument.text[0], h->guard);
    return same || guard ? FLOW_STOP : FLOW_ON;
  }
  if (is_given(s, h->guard))
    return FLOW_STOP; /* it may be moved, swapped, let go */
  if (program_awaits(s->callee) || line_at(h->body, s, LANG_AWAIT))
    return FLOW_FOUND;
  return may_unlock(s->callee, 0) ? FLOW_STOP : FLOW_ON;
}

/* The variable that the call's result becomes. */
static void find_guard(struct held *h, const struct ir_step *call) {
  char result[32];
  snprintf(result, sizeof result, "!%d", call->id);
  EACH_STEP (h->body, s)
    if (s->kind == IR_SET && s->value && !strcmp(s->value, result) && s->to[0] == '$')
      snprintf(h->guard, sizeof h->guard, "%s", s->to);
}

static void tell(struct program *p, const struct rule *rule, const struct ir_function *f,
                 const struct ir_step *lock, const struct ir_step *await) {
  bool pending = await->kind == IR_RETURN;
  const char *what = pending ? "return" : await->callee->name;
  struct check_finding *found = finding_begin(p, rule, f->body->file, await->line, what);
  const char *holder = *pairs[pair_of(lock->callee)].unlock ? lock->callee->name : "a guard";
  found->text = pending ? say(p, "'%s' waits, and keeps what '%s' locked", f->name, holder)
                        : say(p, "'%s' waits, and what '%s' locked stays so", what, holder);
  finding_note(p, found, f->body->file, lock->line, "'%s' locks it here", f->name);
  if (pending)
    finding_note(p, found, f->body->file, await->line,
                 "'%s' returns here, to be called again later", f->name);
  else
    finding_await(p, found, f, await);
  found->mend = "unlock before, and lock again behind it; or take a lock that coroutines wait for";
}

static void judge_lock(struct program *p, const struct rule *rule, struct ir_function *f,
                       const struct ir_step *s) {
  int pair = pair_of(s->callee);
  if (pair < 0)
    return;
  struct held h = {.program = p,
                   .body = f->body,
                   .unlock = pairs[pair].unlock,
                   .mutex = s->argument.count ? s->argument.text[0] : "?"};
  bool guard = (!strncmp(pairs[pair].lock, "std::lock_guard", 15) ||
                !strncmp(pairs[pair].lock, "std::unique", 11) ||
                !strncmp(pairs[pair].lock, "std::scoped", 11) ||
                !strcmp(pairs[pair].lock, "g_mutex_locker_new"));
  if (guard)
    find_guard(&h, s);
  if (guard && !*h.guard)
    return;
  if (!strncmp(pairs[pair].lock, "std::unique", 11) && s->argument.count != 1)
    return; /* std::defer_lock, std::try_to_lock: it may not hold it */
  const struct judged *j = judged_of(f);
  for (size_t i = 0; i < j->bodies && !h.pendings; i++) {
    h.pending = j->body[i].pending;
    h.pendings = j->body[i].pendings;
  }
  const struct ir_step *found = flow_find(f->body, s, visit, &h);
  if (found)
    tell(p, rule, f, s, found);
}

static void judge(struct program *p, const struct rule *rule) {
  EACH_FUNCTION (p, f)
    if (f->body)
      EACH_LIVE_STEP (f->body, s)
        if (s->kind == IR_CALL && s->callee)
          judge_lock(p, rule, f, s);
}

const struct rule rule_mutex = {
    {"mutex-over-await", "a mutex that is locked while its future waits"}, judge};
