/* SPDX-License-Identifier: MIT */
/* The functions of all units become one program; see program.h. */
#include "program.h"

#include "read/util.h"

#include <search.h>
#include <string.h>

static int by_key(const void *a, const void *b) {
  return strcmp(((const struct ir_function *)a)->key, ((const struct ir_function *)b)->key);
}

typedef int comparison(const void *, const void *);

struct ir_function *program_function(struct program *p, const char *key) {
  struct ir_function **found = tfind(&(struct ir_function){.key = key}, &p->by_key, by_key);
  return found ? *found : NULL;
}

static void add_texts(struct ir_texts *to, const struct ir_texts *from) {
  for (size_t i = 0; i < from->count; i++) {
    bool known = false;
    for (size_t k = 0; k < to->count && !known; k++)
      known = !strcmp(to->text[k], from->text[i]);
    if (known)
      continue;
    const char **all = allocate(to->count + 1, sizeof *all);
    if (to->count)
      memcpy(all, to->text, to->count * sizeof *all);
    all[to->count++] = from->text[i];
    to->text = all;
  }
}

/* Another unit's view of the same function. */
static void merge(struct ir_function *to, const struct ir_function *from) {
  if (!to->body)
    to->body = from->body;
  to->flags |= from->flags & (IR_NORETURN | IR_DAMAGED);
  to->given |= from->given;
  add_texts(&to->files, &from->files);
  add_texts(&to->types, &from->types);
  add_texts(&to->fields, &from->fields);
  add_texts(&to->annotations, &from->annotations);
}

void program_add(struct program *p, struct ir_unit *unit) {
  static struct ir_function **last;
  if (!p->first)
    last = &p->first;
  for (size_t i = 0; i < unit->functions; i++) {
    struct ir_function *f = unit->function[i],
                       *known = *(struct ir_function **)tsearch(f, &p->by_key, by_key);
    if (known != f) {
      merge(known, f);
      continue;
    }
    p->functions++;
    *last = f;
    last = &f->next;
  }
  for (size_t i = 0; i < unit->opened.count; i++) { /* twice is no matter */
    p->opened.text = ir_grow(p->opened.text, p->opened.count, sizeof(char *));
    p->opened.text[p->opened.count++] = unit->opened.text[i];
  }
  for (size_t i = 0; i < unit->files.count; i++)
    if (*(const char **)tsearch(unit->files.text[i], &p->files, (comparison *)strcmp) ==
        unit->files.text[i])
      lang_set_reads(p->lines, unit->files.text[i]);
}

/* -- lines --------------------------------------------------------------------------------- */

enum { MOST_LINES = 64 };

static struct lang_about *keep(struct program *p, const struct lang_about *about, size_t count) {
  struct lang_about *kept = arena_get(&p->arena, count + 1, sizeof *kept);
  return memcpy(kept, about, count * sizeof *kept);
}

/* It says nothing about futures. */
static bool is_aside(const struct lang_about *about) {
  return about->verb == LANG_SPAN || about->verb == LANG_LABEL;
}

/* What the C++ library's own are in C: lines about these hold for them. */
static const struct wrapper {
  const char *name, *of;
  const char *header[1];
} wrappers[] = {
    {"std::this_thread::sleep_for", "nanosleep", {"/usr/include/time.h"}},
    {"std::this_thread::sleep_until", "nanosleep", {"/usr/include/time.h"}},
    {"std::thread::join", "pthread_join", {"/usr/include/pthread.h"}},
    {"std::jthread::join", "pthread_join", {"/usr/include/pthread.h"}},
    {"std::condition_variable::wait", "pthread_cond_wait", {"/usr/include/pthread.h"}},
    {"std::condition_variable::wait_for", "pthread_cond_wait", {"/usr/include/pthread.h"}},
    {"std::condition_variable::wait_until", "pthread_cond_wait", {"/usr/include/pthread.h"}},
    {"std::future::get", "pthread_cond_wait", {"/usr/include/pthread.h"}},
    {"std::shared_future::get", "pthread_cond_wait", {"/usr/include/pthread.h"}},
    {"std::__basic_future::wait", "pthread_cond_wait", {"/usr/include/pthread.h"}},
    {"std::condition_variable_any::wait", "pthread_cond_wait", {"/usr/include/pthread.h"}},
    {"std::latch::wait", "pthread_cond_wait", {"/usr/include/pthread.h"}},
    {"std::latch::arrive_and_wait", "pthread_cond_wait", {"/usr/include/pthread.h"}},
    {"std::barrier::arrive_and_wait", "pthread_cond_wait", {"/usr/include/pthread.h"}},
    {"std::counting_semaphore::acquire", "pthread_cond_wait", {"/usr/include/pthread.h"}},
};

/* The functions of C that lines name are no methods, and of no namespace. */
static bool is_of_c_alone(const struct lang_about *about) {
  const char *slash = about->file ? strrchr(about->file, '/') : NULL;
  return about->verb == LANG_BLOCKING && slash && !strcmp(slash + 1, "blocking.aprof");
}

static bool name_wrapped(const struct ir_function *f, struct lang_function *names) {
  for (size_t i = 0; f->flags & IR_CXX && i < sizeof wrappers / sizeof *wrappers; i++)
    if (f->qualified && !strcmp(f->qualified, wrappers[i].name)) {
      names->name = names->qualified = names->symbol = wrappers[i].of;
      names->file = (const char **)wrappers[i].header;
      names->files = 1;
      names->namesake = false;
      return true;
    }
  return false;
}

static void judge(struct program *p, struct ir_function *f) {
  struct lang_about call[MOST_LINES * 2], body[MOST_LINES * 2], one;
  struct judged *j = arena_get(&p->arena, 1, sizeof *j);
  const struct ir_function *of_c = f->flags & IR_C_NAME ? NULL : program_function(p, f->name);
  struct lang_function names = {.name = f->name,
                                .qualified = f->qualified,
                                .symbol = f->symbol,
                                .signature = f->signature,
                                .file = f->files.text,
                                .files = f->files.count,
                                .type = f->types.text,
                                .types = f->types.count,
                                .namesake = of_c && of_c->flags & IR_C_NAME};
  bool wraps = name_wrapped(f, &names), of_cxx = f->qualified && strstr(f->qualified, "::");
  for (size_t i = 0; i < f->annotations.count; i++)
    if (lang_attribute(p->lines, f->annotations.text[i], &one) && j->calls < MOST_LINES &&
        j->bodies < MOST_LINES) {
      if (one.of_body)
        body[j->bodies++] = one;
      else
        call[j->calls++] = one;
    }
  if (!(f->flags & IR_LAMBDA)) {
    size_t own = j->calls, found = lang_calls(p->lines, &names, call + own, MOST_LINES);
    for (size_t i = own; i < own + found; i++)
      if (wraps || !of_cxx || !is_of_c_alone(&call[i]))
        call[j->calls++] = call[i];
    j->bodies += lang_bodies(p->lines, &names, body + j->bodies, MOST_LINES);
  }
  j->call = keep(p, call, j->calls);
  j->body = keep(p, body, j->bodies);
  for (size_t i = 0; i < j->calls; i++)
    j->tells_call |= !is_aside(&call[i]);
  for (size_t i = 0; i < j->bodies; i++) {
    const struct lang_about *about = &j->body[i];
    j->tells_body |= !is_aside(about);
    if (about->verb != LANG_ASYNC && about->verb != LANG_RUN)
      continue;
    j->worker |= about->worker;
    if (!about->worker && !j->async) {
      j->async = true;
      j->why = (struct why){.about = about};
    }
  }
  if (f->flags & IR_COROUTINE && !j->async && !j->worker) {
    j->async = true;
    j->why = (struct why){0};
  }
  f->judged = j;
}

/* -- callbacks --------------------------------------------------------------------------------- */

/* A member of a struct whose address was given: what was last put there, in this body. */
static const char *member_given(const struct ir_body *b, const char *argument, const char *member) {
  const char *found = NULL;
  if (argument[0] != '&')
    return NULL;
  size_t length = strlen(argument + 1);
  EACH_STEP (b, s)
    if (s->kind == IR_SET && s->to && !strncmp(s->to, argument + 1, length) &&
        s->to[length] == '.' && !strcmp(s->to + length + 1, member))
      found = s->value;
  return found;
}

static const char *argument_at(const struct ir_step *s, int index) {
  long at = index < 0 ? (long)s->argument.count + index : index;
  return at >= 0 && (size_t)at < s->argument.count ? s->argument.text[at] : NULL;
}

/* The value that the line names: a function, or what it may be in. */
static const char *given_at(const struct ir_body *b, const struct ir_step *s,
                            const struct lang_argument *a) {
  const char *value = argument_at(s, a->index);
  if (value && a->kind == LANG_MEMBER)
    return member_given(b, value, a->member);
  return a->kind == LANG_ARGUMENT ? value : NULL;
}

static void note_callback(struct ir_function *f, const struct lang_about *line,
                          const struct ir_function *in, const struct ir_step *s) {
  struct judged *given = f->judged;
  given->worker |= line->run_worker;
  if (given->async || line->run_worker)
    return;
  given->async = true;
  given->why = (struct why){line, in, s->callee->name, s->line};
}

/* The function itself, or all that the program hands to who calls here. */
static void note_callbacks(struct program *p, const struct ir_function *in, struct ir_step *s) {
  const struct judged *j = judged_of(s->callee);
  for (size_t i = 0; i < j->calls; i++)
    for (size_t k = 0; j->call[i].verb == LANG_CREATE && k < j->call[i].functions; k++) {
      const char *value = given_at(in->body, s, &j->call[i].function[k]);
      struct ir_function *f = value ? program_function_of(p, in->body, value) : NULL, **list;
      size_t count = value && !f ? program_given(p, in, value, &list) : 0;
      if (f)
        note_callback(f, &j->call[i], in, s);
      for (size_t n = 0; n < count; n++)
        note_callback(list[n], &j->call[i], in, s);
    }
}

/* -- awaits ------------------------------------------------------------------------------------ */

/* A stackless one gives up its stack where it waits: who calls it does not. */
static bool keeps_stack(const struct ir_function *f) {
  const struct judged *j = judged_of(f);
  for (size_t i = 0; i < j->bodies; i++)
    if (j->body[i].pendings)
      return false;
  return !(f->flags & IR_STACKLESS);
}

static bool note_awaits(struct ir_function *f) {
  struct judged *j = f->judged;
  if (j->awaits || !f->body || !keeps_stack(f))
    return false;
  EACH_LIVE_STEP (f->body, s) {
    if (step_awaits(f->body, s)) {
      j->await = s;
      return j->awaits = true;
    }
  }
  return false;
}

void program_await(struct program *p) {
  for (bool more = true; more;) {
    more = false;
    EACH_FUNCTION (p, f)
      more |= note_awaits(f);
  }
}

void program_link(struct program *p) {
  program_point(p);
  EACH_FUNCTION (p, f)
    judge(p, f);
  EACH_FUNCTION (p, f)
    if (f->body)
      EACH_STEP (f->body, s) {
        if (s->kind == IR_CALL)
          s->callee = program_function(p, s->to);
        if (s->callee)
          note_callbacks(p, f, s);
      }
}
