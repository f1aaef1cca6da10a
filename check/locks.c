/* SPDX-License-Identifier: MIT */
/* Mutexes that calls take and free; see locks.h. */
#include "locks.h"

#include "flow.h"

#include "read/util.h"

#include <stdio.h>
#include <stdlib.h>

/* What a lock returns where it has taken the mutex. */
enum answer { NOTHING, ZERO, NOT_ZERO };

/* Locks that block a thread; those that libraries make for their coroutines are none. */
static const struct pair {
  const char *lock, *unlock;
  enum answer answer;
} pairs[] = {
    {"pthread_mutex_lock", "pthread_mutex_unlock", ZERO},
    {"pthread_mutex_trylock", "pthread_mutex_unlock", ZERO},
    {"pthread_mutex_timedlock", "pthread_mutex_unlock", ZERO},
    {"pthread_mutex_clocklock", "pthread_mutex_unlock", ZERO},
    {"pthread_rwlock_rdlock", "pthread_rwlock_unlock", ZERO},
    {"pthread_rwlock_wrlock", "pthread_rwlock_unlock", ZERO},
    {"pthread_rwlock_tryrdlock", "pthread_rwlock_unlock", ZERO},
    {"pthread_rwlock_trywrlock", "pthread_rwlock_unlock", ZERO},
    {"pthread_spin_lock", "pthread_spin_unlock", ZERO},
    {"pthread_spin_trylock", "pthread_spin_unlock", ZERO},
    {"mtx_lock", "mtx_unlock", ZERO},
    {"mtx_trylock", "mtx_unlock", ZERO},
    {"mtx_timedlock", "mtx_unlock", ZERO},
    {"uv_mutex_lock", "uv_mutex_unlock", NOTHING},
    {"uv_mutex_trylock", "uv_mutex_unlock", ZERO},
    {"uv_rwlock_rdlock", "uv_rwlock_rdunlock", NOTHING},
    {"uv_rwlock_wrlock", "uv_rwlock_wrunlock", NOTHING},
    {"uv_rwlock_tryrdlock", "uv_rwlock_rdunlock", ZERO},
    {"uv_rwlock_trywrlock", "uv_rwlock_wrunlock", ZERO},
    {"g_mutex_lock", "g_mutex_unlock", NOTHING},
    {"g_mutex_trylock", "g_mutex_unlock", NOT_ZERO},
    {"g_rec_mutex_lock", "g_rec_mutex_unlock", NOTHING},
    {"g_rec_mutex_trylock", "g_rec_mutex_unlock", NOT_ZERO},
    {"g_rw_lock_reader_lock", "g_rw_lock_reader_unlock", NOTHING},
    {"g_rw_lock_writer_lock", "g_rw_lock_writer_unlock", NOTHING},
    {"g_rw_lock_reader_trylock", "g_rw_lock_reader_unlock", NOT_ZERO},
    {"g_rw_lock_writer_trylock", "g_rw_lock_writer_unlock", NOT_ZERO},
    {"flockfile", "funlockfile", NOTHING},
    {"std::mutex::lock", "std::mutex::unlock", NOTHING},
    {"std::mutex::try_lock", "std::mutex::unlock", NOT_ZERO},
    {"std::recursive_mutex::lock", "std::recursive_mutex::unlock", NOTHING},
    {"std::recursive_mutex::try_lock", "std::recursive_mutex::unlock", NOT_ZERO},
    {"std::timed_mutex::lock", "std::timed_mutex::unlock", NOTHING},
    {"std::shared_mutex::lock", "std::shared_mutex::unlock", NOTHING},
    {"std::shared_mutex::try_lock", "std::shared_mutex::unlock", NOT_ZERO},
    {"std::shared_mutex::lock_shared", "std::shared_mutex::unlock_shared", NOTHING},
    {"g_mutex_locker_new", "g_mutex_locker_free", NOTHING},
    {"g_rec_mutex_locker_new", "g_rec_mutex_locker_free", NOTHING},
    {"std::lock_guard::lock_guard", "", NOTHING},
    {"std::unique_lock::unique_lock", "std::unique_lock::unlock", NOTHING},
    {"std::unique_lock::lock", "std::unique_lock::unlock", NOTHING},
    {"std::unique_lock::try_lock", "std::unique_lock::unlock", NOT_ZERO},
    {"std::shared_lock::shared_lock", "std::shared_lock::unlock", NOTHING},
    {"std::shared_lock::lock", "std::shared_lock::unlock", NOTHING},
    {"std::shared_lock::try_lock", "std::shared_lock::unlock", NOT_ZERO},
    {"std::scoped_lock::scoped_lock", "", NOTHING},
    {"std::unique_lock::owns_lock", "std::unique_lock::unlock", NOT_ZERO},
    {"std::unique_lock::operator bool", "std::unique_lock::unlock", NOT_ZERO},
    {"std::shared_lock::owns_lock", "std::shared_lock::unlock", NOT_ZERO},
    {"std::shared_lock::operator bool", "std::shared_lock::unlock", NOT_ZERO},
};
enum { PAIRS = sizeof pairs / sizeof *pairs, DEEPEST = 8 };

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

static const struct pair *pair_of(const struct ir_function *f) {
  for (const struct pair *p = pairs; p < pairs + PAIRS; p++)
    if (is_named(f, p->lock))
      return p;
  return NULL;
}

/* A guard that exists says that it holds it. */
static bool tells(const struct pair *p) {
  return strstr(p->lock, "::owns_lock") || strstr(p->lock, "::operator bool");
}

/* A guard that exists takes it, or has. */
static bool is_again(const struct pair *p) {
  return strstr(p->lock, "_lock::lock") || strstr(p->lock, "_lock::try_lock") || tells(p);
}

/* What it makes holds the mutex. */
static bool is_object(const struct pair *p) {
  return strstr(p->lock, "_lock::") || strstr(p->lock, "lock_guard::") ||
         strstr(p->lock, "_locker_new");
}

/* A guard that is given what was locked before. */
static bool adopts(const struct ir_body *b, const struct ir_step *s) {
  const struct pair *p = pair_of(s->callee);
  const struct ir_step *how =
      p && is_object(p) && s->argument.count == 2 ? body_call(b, s->argument.text[1]) : NULL;
  return how && how->callee && !strcmp(how->callee->name, "adopt_lock_t");
}

static bool unlocks(const struct ir_function *f) {
  for (const struct pair *p = pairs; p < pairs + PAIRS; p++)
    if (*p->unlock && is_named(f, p->unlock))
      return true;
  return false;
}

static const char *first_of(const struct ir_body *b, const struct ir_step *s) {
  return s->argument.count ? program_place(b, s->argument.text[0]) : "?";
}

/* -- what a function does to the mutexes of its caller ------------------------------------------
 */

/* A mutex, as the function itself names it. */
struct known_mutex {
  const char *name, *unlock;
};

struct ir_locks {
  struct known_mutex *takes, *frees;
  size_t taken, freed;
  bool guard; /* it makes an object that holds it */
};

static const struct ir_locks *locks_of(struct ir_function *, int depth);

/* What the argument is that a name of the callee begins with, and what stands behind that. */
static const char *argument_of(const struct ir_step *s, const char *name, const char **rest) {
  bool member = s->callee->flags & IR_MEMBER && !(s->callee->flags & IR_MAKES);
  size_t at = 0;
  if (!strncmp(name, "this", 4)) {
    *rest = name + 4;
    return member && s->argument.count ? s->argument.text[0] : NULL;
  }
  char *end;
  at = strtoul(name + 1, &end, 10);
  *rest = end;
  if (!(s->callee->body->variable[at].flags & IR_PARAMETER))
    return NULL;
  at += member;
  return at < s->argument.count ? s->argument.text[at] : NULL;
}

/* The name of a callee's mutex, as the caller has it: "&$0->m" of f(&table) is "&table.m". */
static const char *name_in_call(const struct ir_step *s, const char *name) {
  const char *bare = name + (*name == '&'), *rest, *argument;
  if (*bare == '@')
    return name;
  if (*bare != '$' && strncmp(bare, "this", 4))
    return "?";
  argument = argument_of(s, bare, &rest);
  if (!argument || strpbrk(argument, "?! ") || strpbrk(rest, "?! "))
    return "?";
  if (!strncmp(rest, "->[", 3))
    return "?";
  if (!*rest)
    return bare == name ? argument : "?";
  if (strncmp(rest, "->", 2) || bare == name)
    return "?";
  return *argument == '&' ? print_string("%s.%s", argument, rest + 2)
                          : print_string("&%s%s", argument, rest);
}

static const char *name_here(const struct ir_body *b, const struct ir_step *s, const char *name) {
  return program_place(b, name_in_call(s, name));
}

static void note(struct known_mutex **list, size_t *count, const char *name, const char *unlock) {
  for (size_t i = 0; i < *count; i++)
    if (!strcmp((*list)[i].name, name))
      return;
  *list = ir_grow(*list, *count, sizeof **list);
  (*list)[(*count)++] = (struct known_mutex){name, unlock};
}

/* A walk from one of its calls, or from its entry. */
struct question {
  const struct ir_body *body;
  const char *mutex, *unlock;
  int depth;
};

static bool takes(const struct question *, const struct ir_step *);
static bool frees(const struct question *, const struct ir_step *);

static enum flow_visit until_freed(void *of, const struct ir_step *s) {
  const struct question *q = of;
  if (s->kind == IR_RETURN)
    return FLOW_STOP;
  return s->kind == IR_CALL && s->callee && frees(q, s) ? FLOW_FOUND : FLOW_ON;
}

static enum flow_visit until_end(void *of, const struct ir_step *s) {
  const struct question *q = of;
  if (s->kind == IR_RETURN)
    return FLOW_FOUND;
  return s->kind == IR_CALL && s->callee && takes(q, s) ? FLOW_STOP : FLOW_ON;
}

static enum flow_visit until_taken(void *of, const struct ir_step *s) {
  const struct question *q = of;
  if (s->kind != IR_CALL || !s->callee)
    return FLOW_ON;
  if (takes(q, s))
    return FLOW_STOP;
  return frees(q, s) ? FLOW_FOUND : FLOW_ON;
}

static bool takes(const struct question *q, const struct ir_step *s) {
  const struct pair *p = pair_of(s->callee);
  if (p)
    return !strcmp(first_of(q->body, s), q->mutex);
  const struct ir_locks *l = locks_of(s->callee, q->depth + 1);
  for (size_t i = 0; l && i < l->taken; i++)
    if (!strcmp(name_here(q->body, s, l->takes[i].name), q->mutex))
      return true;
  return false;
}

/* The variable at its begin, which is a pointer there: "$3", "&$3->m". 0: there is none. */
static size_t pointer_in(const char *mutex, const char **variable) {
  const char *bare = mutex + (*mutex == '&');
  size_t length = *bare == '$' ? 1 + strspn(bare + 1, "0123456789") : 0;
  *variable = bare;
  return length && (bare == mutex || !strncmp(bare + length, "->", 2)) ? length : 0;
}

/* A mutex that is named by a pointer which gets one value or another is any of these. */
static bool may_become(const struct ir_body *b, const char *mutex, const char *other) {
  const char *variable, *rest;
  size_t length = pointer_in(mutex, &variable);
  if (!length || b->variable[strtoul(variable + 1, NULL, 10)].flags & IR_PARAMETER)
    return false;
  rest = variable + length;
  EACH_STEP (b, s) {
    if (s->kind != IR_SET || !s->value || strlen(s->to) != length ||
        memcmp(s->to, variable, length))
      continue;
    if (strpbrk(s->value, "?! *["))
      return true;
    char *is = *s->value == '&' && *rest ? print_string("%s.%s", s->value, rest + 2)
                                         : print_string("%s%s%s", *rest ? "&" : "", s->value, rest);
    bool same = !strcmp(program_place(b, is), other);
    free(is);
    if (same)
      return true;
  }
  return false;
}

static bool may_be(const struct ir_body *b, const char *one, const char *other) {
  return !strcmp(one, other) || strchr(one, '?') || strchr(other, '?') ||
         may_become(b, one, other) || may_become(b, other, one);
}

static bool frees(const struct question *q, const struct ir_step *s) {
  if (adopts(q->body, s)) /* it does, at the end of its scope */
    return may_be(q->body, first_of(q->body, s), q->mutex);
  if (unlocks(s->callee))
    return (!q->unlock || is_named(s->callee, q->unlock)) &&
           may_be(q->body, first_of(q->body, s), q->mutex);
  const struct ir_locks *l = locks_of(s->callee, q->depth + 1);
  for (size_t i = 0; l && i < l->freed; i++)
    if (may_be(q->body, name_here(q->body, s, l->frees[i].name), q->mutex))
      return true;
  return false;
}

/* It returns the guard that the call makes. */
static bool returns_it(const struct ir_function *f, const struct ir_step *call) {
  EACH_STEP (f->body, s)
    if (s->kind == IR_RETURN && s->value) {
      const struct ir_step *made = body_call(f->body, program_call(f->body, s->value));
      if (made == call)
        return true;
    }
  return false;
}

/* Taken on each way to the end, and not freed on any. */
static void note_taken(struct ir_function *f, struct ir_locks *l, const struct ir_step *s,
                       const char *name, const char *unlock, int depth) {
  struct question q = {f->body, name, unlock, depth};
  if (!strchr(name, '?') && !flow_find(f->body, s, until_freed, &q) &&
      !flow_find_at(f->body, 0, until_end, &q))
    note(&l->takes, &l->taken, name, unlock);
}

static void note_freed(struct ir_function *f, struct ir_locks *l, const char *name,
                       const char *unlock, int depth) {
  struct question q = {f->body, name, unlock, depth};
  if (flow_find_at(f->body, 0, until_taken, &q))
    note(&l->frees, &l->freed, name, unlock);
}

static void note_call(struct ir_function *f, struct ir_locks *l, const struct ir_step *s,
                      int depth) {
  const struct pair *p = pair_of(s->callee);
  const struct ir_locks *theirs = NULL;
  if (p) {
    bool asks = strstr(p->lock, "try") || strstr(p->lock, "timed") || strstr(p->lock, "clocklock");
    if (!asks && !is_object(p))
      note_taken(f, l, s, first_of(f->body, s), p->unlock, depth);
    else if (is_object(p) && !is_again(p) && s->argument.count == 1 && returns_it(f, s)) {
      note(&l->takes, &l->taken, first_of(f->body, s), p->unlock);
      l->guard = true;
    }
  } else if (unlocks(s->callee)) {
    note_freed(f, l, first_of(f->body, s), s->callee->qualified, depth);
  } else if (s->callee != f) {
    theirs = locks_of(s->callee, depth + 1);
  }
  for (size_t i = 0; theirs && i < theirs->taken; i++)
    note_taken(f, l, s, name_here(f->body, s, theirs->takes[i].name), theirs->takes[i].unlock,
               depth);
  for (size_t i = 0; theirs && i < theirs->freed; i++)
    note_freed(f, l, name_here(f->body, s, theirs->frees[i].name), theirs->frees[i].unlock, depth);
}

/* NULL: nothing, or too deep to tell. */
static const struct ir_locks *locks_of(struct ir_function *f, int depth) {
  if (f->locks || !f->body || depth > DEEPEST || f->flags & IR_SYSTEM)
    return f->locks;
  struct ir_locks *l = allocate(1, sizeof *l);
  f->locks = l; /* one that calls itself finds nothing */
  EACH_STEP (f->body, s)
    if (s->kind == IR_CALL && s->callee)
      note_call(f, l, s, depth);
  l->guard |= l->taken && f->flags & IR_MAKES;
  return l;
}

/* -- at a call --------------------------------------------------------------------------------- */

static bool of_pair(const struct ir_body *b, const struct ir_step *s, const struct pair *p,
                    struct lock *lock) {
  bool cxx = !strncmp(p->lock, "std::", 5);
  *lock = (struct lock){.mutex = first_of(b, s), .unlock = p->unlock};
  lock->again = is_again(p);
  lock->guard = is_object(p) && !lock->again;
  if (lock->guard && cxx && !strstr(p->lock, "scoped") && s->argument.count != 1 && !adopts(b, s))
    return false; /* std::defer_lock, std::try_to_lock: it may not hold it */
  lock->told = tells(p);
  lock->asks = p->answer != NOTHING;
  lock->held = p->answer == ZERO ? FACT_IS : FACT_IS_NOT;
  return true;
}

bool lock_at(const struct ir_body *b, const struct ir_step *s, struct lock *lock) {
  const struct pair *p = pair_of(s->callee);
  if (p)
    return of_pair(b, s, p, lock);
  const struct ir_locks *l = locks_of(s->callee, 0);
  if (!l || !l->taken)
    return false;
  *lock = (struct lock){
      .mutex = name_here(b, s, l->takes[0].name), .unlock = l->takes[0].unlock, .guard = l->guard};
  if (s->callee->name[0] == '~') /* none of its own, which goes with it */
    lock->mutex = "?";
  return true;
}

bool lock_frees(const struct ir_body *b, const struct ir_step *s, const char *mutex,
                const char *unlock) {
  return frees(&(struct question){b, mutex, unlock, 0}, s);
}
