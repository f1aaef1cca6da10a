/* SPDX-License-Identifier: MIT */
/*
 * Stacks as a profile of callgrind, for callgrind_annotate and KCachegrind.
 *
 * A function's line has what its futures ran and were queued, that of an await what they waited in
 * it; a call has what all beneath it took. One that is beneath itself is another function there,
 * NAME'2, as callgrind tells recursion apart, so that no time counts twice. A process is an object,
 * and a function that calls all that nothing else does: readers take what a function is called for
 * as all that it did. What is said twice of a place adds up, so each path is told as it is met.
 */
#include "formats.h"
#include "read/index.h"
#include "read/util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const enum stack_measure events[] = {STACK_EXEC, STACK_WAITING, STACK_QUEUED, STACK_CALLS};
enum { EVENTS = sizeof events / sizeof *events };

struct amounts {
  uint64_t of[EVENTS];
};

struct writer {
  FILE *out;
  struct index names; /* to the number of each, in `number` */
  uint64_t *number, numbers;
  const char *object;
  struct amounts *all; /* by stack: with what is beneath */
  unsigned *again;     /* by stack: how often it is among those above it, and itself */
};

/* "fn=(3) name": with its name the first time, so that no name is taken for something else. */
static void write_name(struct writer *w, const char *what, char kind, const char *name) {
  char *key = print_string("%c%s", kind, name);
  const uint64_t *there = index_get(&w->names, print_string("%s", key));
  if (there) {
    fprintf(w->out, "%s=(%" PRIu64 ")\n", what, *there);
    free(key);
    return;
  }
  uint64_t *number = &w->number[w->numbers];
  *number = ++w->numbers;
  index_put(&w->names, key, number);
  fprintf(w->out, "%s=(%" PRIu64 ") %s\n", what, *number, *name ? name : "???");
}

static void write_function(struct writer *w, const struct stack *s, unsigned again, bool called) {
  char *name = again > 1 ? print_string("%s'%u", s->name, again) : print_string("%s", s->name);
  write_name(w, called ? "cob" : "ob", 'o', w->object);
  write_name(w, called ? "cfi" : "fl", 'f', s->file ? s->file : "???");
  write_name(w, called ? "cfn" : "fn", 'n', name);
  free(name);
}

static void write_line(const struct writer *w, uint64_t line, const struct amounts *a) {
  fprintf(w->out, "%" PRIu64, line);
  for (size_t i = 0; i < EVENTS; i++)
    fprintf(w->out, " %" PRIu64, a->of[i]);
  fputc('\n', w->out);
}

static struct amounts self_of(const struct stack *s) {
  struct amounts a = {{0}};
  for (size_t i = 0; i < EVENTS && !s->left_out; i++)
    a.of[i] = s->self[events[i]];
  return a;
}

static void add(struct amounts *to, const struct amounts *more) {
  for (size_t i = 0; i < EVENTS; i++)
    add_to(&to->of[i], more->of[i]);
}

static bool is_same(const struct stack *a, const struct stack *b) {
  return !strcmp(a->name, b->name) && !strcmp(a->file ? a->file : "", b->file ? b->file : "");
}

static unsigned times_above(const struct stacks *all, size_t at) {
  unsigned times = 1;
  for (size_t up = all->stack[at].parent; up != SIZE_MAX; up = all->stack[up].parent)
    times += is_same(&all->stack[at], &all->stack[up]);
  return times;
}

/* The line, which may be of another file, in the function of the stack above. */
static void write_wait(struct writer *w, const struct stacks *all, const struct stack *s) {
  const struct stack *who = &all->stack[s->parent];
  struct amounts self = self_of(s);
  write_function(w, who, w->again[s->parent], false);
  if (s->file && (!who->file || strcmp(s->file, who->file)))
    write_name(w, "fi", 'f', s->file);
  write_line(w, s->line, &self);
}

static void write_call(struct writer *w, const struct stacks *all, size_t at) {
  const struct stack root = {.name = (char *)w->object}, *s = &all->stack[at];
  const struct stack *who = s->parent == SIZE_MAX ? &root : &all->stack[s->parent];
  write_function(w, who, who == &root ? 1 : w->again[s->parent], false);
  write_function(w, s, w->again[at], true);
  fprintf(w->out, "calls=%" PRIu64 " %" PRIu64 "\n", s->self[STACK_CALLS], s->line);
  write_line(w, s->call && s->call->line ? s->call->line : who->line, &w->all[at]);
}

static void write_view(struct writer *w, const struct stacks *all) {
  char *title = stacks_title(all->view);
  w->object = title;
  w->all = allocate(all->stacks + 1, sizeof *w->all);
  w->again = allocate(all->stacks + 1, sizeof *w->again);
  for (size_t i = all->stacks; i--;) {
    struct amounts self = self_of(&all->stack[i]);
    add(&w->all[i], &self);
    if (all->stack[i].parent != SIZE_MAX)
      add(&w->all[all->stack[i].parent], &w->all[i]);
  }
  for (size_t i = 0; i < all->stacks; i++) {
    const struct stack *s = &all->stack[i];
    struct amounts self = self_of(s);
    if (s->left_out)
      continue;
    if (s->is_wait) {
      write_wait(w, all, s);
      continue;
    }
    w->again[i] = times_above(all, i);
    write_function(w, s, w->again[i], false);
    write_line(w, s->line, &self);
    write_call(w, all, i);
  }
  free(w->again);
  free(w->all);
  free(title);
}

static void write_head(const struct writer *w, const struct stacks *all, size_t views) {
  struct amounts sum = {{0}};
  for (size_t i = 0; i < views; i++)
    for (size_t j = 0; j < all[i].stacks; j++) {
      struct amounts self = self_of(&all[i].stack[j]);
      add(&sum, &self);
    }
  fputs("# callgrind format\nversion: 1\ncreator: aprof " APROF_VERSION "\n", w->out);
  for (size_t i = 0; i < views; i++)
    fprintf(w->out, "%s %s", i ? "," : "cmd:", all[i].view->process.name);
  fputs("\npositions: line\nevent: Exec : ns that futures ran\n"
        "event: Waiting : ns that they waited\nevent: Queued : ns that they were ready\n"
        "event: Calls : futures made\nevents: Exec Waiting Queued Calls\nsummary:",
        w->out);
  for (size_t i = 0; i < EVENTS; i++)
    fprintf(w->out, " %" PRIu64, sum.of[i]);
  fputs("\n\n", w->out);
}

void callgrind_write(const struct view *const *v, size_t views,
                     const struct format_options *options, FILE *out) {
  struct stacks *all = allocate(views + 1, sizeof *all);
  struct writer w = {.out = out};
  size_t names = 1;
  for (size_t i = 0; i < views; i++) {
    all[i] = stacks_of(v[i], options->background);
    names += 2 * all[i].stacks + 3;
  }
  index_new(&w.names, names);
  w.number = allocate(names, sizeof *w.number);
  write_head(&w, all, views);
  for (size_t i = 0; i < views; i++) {
    write_view(&w, &all[i]);
    stacks_free(&all[i]);
  }
  index_free(&w.names);
  free(w.number);
  free(all);
}
