/* SPDX-License-Identifier: MIT */
/* Paths as stacks; see stacks.h. */
#include "stacks.h"

#include "ask/ask.h"
#include "format.h"
#include "read/index.h"
#include "read/util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const stack_measures[] = {"wall", "exec", "waiting", "queued", "calls", "cpu", NULL};

static uint64_t known(uint64_t number) {
  return number == UNKNOWN ? 0 : number;
}

/* -- frames ------------------------------------------------------------------------------ */

/* "FILE:LINE" */
static void split_place(struct stack *s, const char *place) {
  const char *colon = place ? strrchr(place, ':') : NULL;
  bool split = colon && parse_number(colon + 1, &s->line);
  s->file = split   ? print_string("%.*s", (int)(colon - place), place)
            : place ? print_string("%s", place)
                    : NULL;
}

/* Of the function that it is a part of, in which it has a place of its own. */
static void make_span(struct stack *s) {
  s->name = print_string("%s", s->path->name);
  split_place(s, s->path->place);
  s->self[STACK_EXEC] = known(s->path->exec);
  s->self[STACK_CALLS] = s->path->calls;
}

static void make_function(struct stack *s, const struct view *v) {
  const struct view_function *f = s->function;
  const char *name = s->path->name && *s->path->name ? s->path->name : f ? f->name : "";
  bool apart = f && v->processes > 1 && f->process < v->processes;
  s->name = apart ? print_string("%s [%" PRId64 "]", *name ? name : "(unknown)",
                                 v->merged[f->process].pid)
                  : print_string("%s", *name ? name : "(unknown)");
  s->file = f && f->file ? print_string("%s", f->file) : NULL;
  s->line = f ? f->line : 0;
  s->self[STACK_EXEC] = known(s->path->exec);
  s->self[STACK_QUEUED] = known(s->path->queued);
  s->self[STACK_CALLS] = s->path->created;
}

/* Who returns and is called again later awaits nothing that has a name: that would be its own. */
static void make_wait(struct stack *s) {
  const char *place = s->path->place;
  s->is_wait = true;
  s->unnamed = !strcmp(s->path->kind, "return") || !s->path->name || !*s->path->name;
  s->name = s->unnamed && place ? print_string("waiting at %s", base_name(place))
            : s->unnamed        ? print_string("waiting")
                                : print_string("%s", s->path->name);
  split_place(s, place);
  s->self[STACK_WAITING] = known(s->path->waiting);
}

static void make(struct stacks *all, size_t i, bool background) {
  const struct view *v = all->view;
  struct stack *s = &all->stack[i];
  *s = (struct stack){.path = &v->path[i], .parent = v->path[i].parent};
  s->function = s->path->function < v->functions ? &v->function[s->path->function] : NULL;
  s->left_out =
      s->path->is_await && (!ask_waits_outside(s->path) || (s->path->background && !background));
  if (s->parent != SIZE_MAX && all->stack[s->parent].depth + 1 >= STACK_DEPTH)
    s->parent = all->stack[s->parent].parent;
  s->depth = s->parent == SIZE_MAX ? 0 : all->stack[s->parent].depth + 1;
  if (s->path->is_await)
    make_wait(s);
  else if (view_is_span(s->path))
    make_span(s);
  else
    make_function(s, v);
  s->self[STACK_CPU] = s->path->cpu;
  s->self[STACK_WALL] =
      plus(plus(s->self[STACK_EXEC], s->self[STACK_QUEUED]), s->self[STACK_WAITING]);
}

/* -- who calls from where ---------------------------------------------------------------- */

static char *call_key(const struct stack *s) {
  return print_string("%zu %s", s->path->parent, s->path->name ? s->path->name : "");
}

/* A function beneath another, and the only wait of that for one of its name. */
static void find_calls(struct stacks *all) {
  bool *several = allocate(all->stacks + 1, sizeof *several);
  struct index x;
  index_new(&x, all->stacks);
  for (size_t i = 0; i < all->stacks; i++) {
    const struct stack *s = &all->stack[i];
    if (!s->is_wait || ask_waits_outside(s->path))
      continue;
    const struct stack *before = index_get(&x, call_key(s));
    if (before)
      several[before - all->stack] = true;
    else
      index_put(&x, call_key(s), s);
  }
  for (size_t i = 0; i < all->stacks; i++) {
    struct stack *s = &all->stack[i];
    const struct stack *call = s->is_wait ? NULL : index_get(&x, call_key(s));
    s->call = call && !several[call - all->stack] ? call : NULL;
  }
  index_free(&x);
  free(several);
}

struct stacks stacks_of(const struct view *v, bool background) {
  struct stacks all = {.view = v, .stacks = v->paths};
  all.stack = allocate(v->paths + 1, sizeof *all.stack);
  for (size_t i = 0; i < v->paths; i++)
    make(&all, i, background);
  find_calls(&all);
  return all;
}

void stacks_free(struct stacks *all) {
  for (size_t i = 0; i < all->stacks; i++) {
    free(all->stack[i].name);
    free(all->stack[i].file);
  }
  free(all->stack);
}

char *stacks_title(const struct view *v) {
  return print_string("%s (%" PRId64 ")", v->process.name ? v->process.name : "all",
                      v->process.pid);
}
