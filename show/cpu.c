/* SPDX-License-Identifier: MIT */
/* Processor time beneath async functions; see cpu.h. */
#include "cpu.h"

#include "ask/story-cpu.h"
#include "ask/story-view.h"
#include "asked.h"
#include "format.h"
#include "outputs.h"
#include "read/util.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

enum { NAME = 46, NUMBER = 9, ROWS = 40, MOST = 1000 };
#define NONE SIZE_MAX

/* A tree of the paths that are meant. */
struct tree {
  const struct view *view;
  uint64_t *all;         /* by path: of it, and of all beneath */
  size_t *order, *first; /* by path: where its children stand in `order`; behind the last path: the
                            roots'. Each up to the next one's */
  bool *inside;
  uint64_t whole;
};

/* -- the tree ---------------------------------------------------------------------------- */

static bool is_native(const struct view_path *p) {
  return p->whose != VIEW_ASYNC;
}

static void mark(struct tree *t, const char *function) {
  for (size_t i = 0; i < t->view->paths; i++) {
    const struct view_path *p = &t->view->path[i];
    bool is = !function || (!p->is_await && !is_native(p) && !strcmp(p->name, function));
    t->inside[i] = is || (p->parent != NONE && t->inside[p->parent]);
  }
}

static void add_up(struct tree *t) {
  for (size_t i = t->view->paths; i-- > 0;) {
    const struct view_path *p = &t->view->path[i];
    t->all[i] += t->inside[i] ? p->cpu : 0;
    if (p->parent != NONE && t->inside[p->parent])
      t->all[p->parent] += t->all[i];
    else
      t->whole += t->all[i];
  }
}

/* The slot of what it stands beneath; NONE: nothing is to be told of it. */
static size_t slot_of(const struct tree *t, size_t i) {
  size_t parent = t->view->path[i].parent;
  return !t->all[i] ? NONE : parent != NONE && t->inside[parent] ? parent : t->view->paths;
}

static const struct tree *sorted; /* for qsort */

static int by_time(const void *a, const void *b) {
  size_t i = *(const size_t *)a, j = *(const size_t *)b;
  uint64_t x = sorted->all[i], y = sorted->all[j];
  return x != y ? (x > y ? -1 : 1) : i < j ? -1 : i > j;
}

static void sort(struct tree *t) {
  size_t paths = t->view->paths;
  for (size_t i = 0; i < paths; i++)
    if (slot_of(t, i) != NONE)
      t->first[slot_of(t, i) + 1]++;
  for (size_t i = 0; i <= paths; i++)
    t->first[i + 1] += t->first[i];
  size_t *at = allocate(paths + 1, sizeof *at);
  memcpy(at, t->first, (paths + 1) * sizeof *at);
  for (size_t i = 0; i < paths; i++)
    if (slot_of(t, i) != NONE)
      t->order[at[slot_of(t, i)]++] = i;
  sorted = t;
  for (size_t i = 0; i <= paths; i++)
    qsort(t->order + t->first[i], t->first[i + 1] - t->first[i], sizeof *t->order, by_time);
  free(at);
}

static struct tree tree_of(const struct view *v, const char *function) {
  struct tree t = {.view = v};
  t.all = allocate(v->paths + 1, sizeof *t.all);
  t.order = allocate(v->paths + 1, sizeof *t.order);
  t.first = allocate(v->paths + 2, sizeof *t.first);
  t.inside = allocate(v->paths + 1, sizeof *t.inside);
  mark(&t, function);
  add_up(&t);
  sort(&t);
  return t;
}

static void tree_free(struct tree *t) {
  free(t->all);
  free(t->order);
  free(t->first);
  free(t->inside);
}

/* -- its rows ------------------------------------------------------------------------------ */

struct rows {
  const struct tree *tree;
  FILE *out;
  struct emit *emit; /* or NULL: text */
  size_t left;
  uint64_t least;
};

static char *place_of(const struct view *v, const struct view_path *p) {
  const struct view_function *f =
      !p->place && p->function < v->functions ? &v->function[p->function] : NULL;
  return p->place       ? print_string("%s", base_name(p->place))
         : f && f->file ? print_string("%s", place_text(base_name(f->file), f->line))
                        : NULL;
}

static void put_row(struct rows *r, const struct view_path *p, uint64_t all, int depth) {
  static const char *const whose[] = {NULL, "program", "library", "generated", "kernel", "unknown"};
  char *place = place_of(r->tree->view, p);
  if (r->emit) {
    emit_row(r->emit);
    emit_open(r->emit, NULL, '{');
    emit_number(r->emit, "depth", (uint64_t)depth);
    emit_text(r->emit, "name", p->name);
    emit_text(r->emit, "at", place);
    emit_text(r->emit, "native", whose[p->whose]);
    emit_number(r->emit, "cpu_ns", all);
    emit_number(r->emit, "self_ns", p->cpu);
    emit_close(r->emit, '}');
  } else {
    int indent = depth < 12 ? 2 * depth : 24;
    fprintf(r->out, "%*s", indent, "");
    print_left(r->out, cut_left(p->name, (size_t)(NAME - 1 - indent)), NAME - indent);
    print_right(r->out, shown_share(all, r->tree->whole), NUMBER);
    print_right(r->out, p->cpu ? shown_share(p->cpu, r->tree->whole) : "-", NUMBER);
    fprintf(r->out, "%s%s\n", place ? " " : "",
            place ? cut_left(place, 80 - NAME - 2 * NUMBER - 1) : "");
  }
  free(place);
}

static void put_children(struct rows *r, size_t slot, int depth) {
  const struct tree *t = r->tree;
  for (size_t i = t->first[slot]; i < t->first[slot + 1] && r->left; i++) {
    size_t path = t->order[i];
    if (t->all[path] < r->least)
      return;
    r->left--;
    put_row(r, &t->view->path[path], t->all[path], depth);
    put_children(r, path, depth + 1);
  }
}

/* -- as text, as JSON ---------------------------------------------------------------------- */

static void print(const struct story *s, const struct tree *t, const char *about, FILE *out) {
  struct rows r = {.tree = t, .out = out, .left = ROWS, .least = t->whole / 100};
  uint64_t each = t->view->sampled.each;
  fprintf(out, "%s: %s on a processor, by %s samples\n\n", about, shown_time(t->whole),
          shown_count(each ? t->whole / each : 0));
  print_left(out, "", NAME);
  print_right(out, "all", NUMBER);
  print_right(out, "own", NUMBER);
  fputc('\n', out);
  put_children(&r, t->view->paths, 0);
  if (t->view->sampled.user_only)
    fputs("\nThe kernel lets only user space be sampled.\n", out);
  asked_print_source(s, out);
}

static void write_json(const struct story *s, const struct tree *t, const char *kind,
                       const char *function, FILE *out) {
  struct emit e;
  struct rows r = {.tree = t, .emit = &e, .left = MOST, .least = t->whole / 1000};
  emit_begin(&e, out, "aprof.cpu/1");
  asked_emit_source(&e, s);
  emit_text(&e, "kind", kind);
  emit_text(&e, "function", function);
  emit_number(&e, "cpu_ns", t->whole);
  asked_emit_samples(&e, &t->view->sampled);
  emit_list(&e, "rows");
  put_children(&r, t->view->paths, 0);
  emit_close(&e, ']');
  emit_end(&e);
}

/* Whether they are whole does not matter: a sample is of a moment. */
static bool *meant_of(const struct story *s, const char *kind) {
  bool *meant = kind ? allocate(s->requests_count + 1u, sizeof *meant) : NULL;
  for (uint32_t i = 0; kind && i < s->requests_count; i++)
    meant[i] = !strcmp(s->requests[i].kind, kind);
  return meant;
}

int show_cpu(const struct story *s, const char *kind, const char *function, bool json, FILE *out) {
  if (!ask_has_samples(s))
    return OUTPUT_FAILED;
  bool *meant = meant_of(s, kind);
  struct view *v = ask_story_view(s, meant, s->process);
  ask_story_cpu(v, s, meant, NULL);
  struct tree t = tree_of(v, function);
  char *about = print_string("%s%s%s", kind ? kind : "", kind && function ? ", " : "",
                             function ? function
                             : kind   ? ""
                                      : "all that ran");
  if (t.whole && json)
    write_json(s, &t, kind, function, out);
  else if (t.whole)
    print(s, &t, about, out);
  else
    complain("%s was on no processor when samples were taken", about);
  int status = t.whole ? 0 : OUTPUT_FAILED;
  free(about);
  tree_free(&t);
  view_free(v);
  free(meant);
  return status;
}
