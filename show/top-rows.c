/* SPDX-License-Identifier: MIT */
/* The rows of the table: kinds of requests with their tiers and functions, and functions alone;
   their numbers, and in which order they come. See top.h. */
#include "ask/requests.h"
#include "read/util.h"
#include "top.h"

#include <stdlib.h>
#include <string.h>

const char *const top_sorts[] = {"exec", "rate", "queued", "waiting", "p50",
                                 "p99",  "live", "name",   NULL};
enum { BY_EXEC, BY_RATE, BY_QUEUED, BY_WAITING, BY_P50, BY_P99, BY_LIVE, BY_NAME };

/* -- numbers ------------------------------------------------------------------------------ */

static uint64_t known_point(const struct distribution *d, uint64_t value) {
  return d->count ? value : UNKNOWN;
}

/* The longest of a window that is not new is not longer than the highest bucket that grew. */
static uint64_t worst_of(uint64_t max, const struct distribution *d, bool *edge) {
  *edge = max == UNKNOWN && d->count;
  return *edge ? d->max : max;
}

static void number_function(struct top_numbers *n, const struct view *v, const struct top_row *r) {
  const struct view_function *f = r->function;
  unsigned lacks = f->lacks;
  *n = (struct top_numbers){
      .ended = top_ended(f),
      .runs = f->slices,
      .exec = f->exec == UNKNOWN ? TOP_UNKNOWN : f->exec,
      .exec_each = top_per_call(v, f, f->exec),
      .queued_each = top_per_call(v, f, f->queued),
      .waiting_each = top_per_call(v, f, f->waiting),
      .p50 = r->is_part ? TOP_UNKNOWN : known_point(&f->wall_of, f->wall_of.p50),
      .p99 = r->is_part ? TOP_UNKNOWN : known_point(&f->wall_of, f->wall_of.p99),
      .live = f->live,
      .lacks_exec = LACKS(lacks, function, exec),
      .lacks_queued = LACKS(lacks, function, queued),
      .lacks_waiting = LACKS(lacks, function, waiting),
      .lacks_points = LACKS(lacks, function, wall_of),
      .lacks_worst = LACKS(lacks, function, slice_max)};
  n->worst = r->is_part ? TOP_UNKNOWN : worst_of(f->slice_max, &f->slice_of, &n->is_edge);
}

static void number_kind(struct top_numbers *n, const struct view *v, const struct view_kind *k) {
  unsigned lacks = view_lacks(v, v->shed);
  *n = (struct top_numbers){.ended = k->count,
                            .runs = UNKNOWN,
                            .exec = k->exec.sum,
                            .exec_each = ask_each(k->exec.sum, k->count),
                            .queued_each = ask_each(k->queued.sum, k->count),
                            .waiting_each = ask_each(k->waiting.sum, k->count),
                            .p50 = known_point(&k->wall.of, k->wall.of.p50),
                            .p99 = known_point(&k->wall.of, k->wall.of.p99),
                            .live = k->live,
                            .lacks_exec = LACKS(lacks, kind, exec.sum),
                            .lacks_queued = LACKS(lacks, kind, queued.sum),
                            .lacks_waiting = LACKS(lacks, kind, waiting.sum),
                            .lacks_points = LACKS(lacks, kind, wall.of),
                            .lacks_worst = LACKS(lacks, kind, wall.max)};
  n->worst = worst_of(k->wall.max, &k->wall.of, &n->is_edge);
}

/* Of the requests that were in it. */
static void number_tier(struct top_numbers *n, const struct view *v, const struct view_tier *t) {
  unsigned lacks = view_lacks(v, v->shed);
  *n = (struct top_numbers){.ended = t->count,
                            .runs = UNKNOWN,
                            .exec = t->exec.sum,
                            .exec_each = ask_each(t->exec.sum, t->count),
                            .queued_each = UNKNOWN,
                            .waiting_each = ask_each(t->waiting.sum, t->count),
                            .p50 = known_point(&t->wall.of, t->wall.of.p50),
                            .p99 = known_point(&t->wall.of, t->wall.of.p99),
                            .live = UNKNOWN,
                            .lacks_exec = LACKS(lacks, tier, exec.sum),
                            .lacks_waiting = LACKS(lacks, tier, waiting.sum),
                            .lacks_points = LACKS(lacks, tier, wall.of),
                            .lacks_worst = LACKS(lacks, tier, wall.max)};
  n->worst = worst_of(t->wall.max, &t->wall.of, &n->is_edge);
}

void top_number(struct top_numbers *n, const struct view *v, const struct top_row *r) {
  if (r->function)
    number_function(n, v, r);
  else if (r->tier)
    number_tier(n, v, r->tier);
  else
    number_kind(n, v, r->kind);
}

/* -- their order ------------------------------------------------------------------------------ */

static double value_of(const struct view *v, const struct top_row *r, int by) {
  struct top_numbers n;
  top_number(&n, v, r);
  const uint64_t value[] = {[BY_EXEC] = n.exec,
                            [BY_RATE] = n.ended,
                            [BY_QUEUED] = n.queued_each,
                            [BY_WAITING] = n.waiting_each,
                            [BY_P50] = n.p50,
                            [BY_P99] = n.p99,
                            [BY_LIVE] = n.live,
                            [BY_NAME] = 0};
  return value[by] >= TOP_UNKNOWN ? -1 : (double)value[by];
}

static const char *name_of(const struct top_row *r) {
  return r->function ? r->function->name : r->tier ? r->tier->name : r->kind->kind;
}

struct ranked {
  struct top_row row;
  double value;
  size_t at; /* where it stood */
};

static int by_name(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  int order = strcmp(name_of(&x->row), name_of(&y->row));
  return order ? order : x->at < y->at ? -1 : x->at > y->at;
}

static int by_value(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  if (x->value != y->value)
    return x->value > y->value ? -1 : 1;
  return x->at < y->at ? -1 : x->at > y->at;
}

static void sort(const struct top_look *look, const struct view *v, struct top_row *row,
                 size_t count) {
  struct ranked *ranked = allocate(count + 1, sizeof *ranked);
  for (size_t i = 0; i < count; i++)
    ranked[i] = (struct ranked){row[i], value_of(v, &row[i], look->sort), i};
  qsort(ranked, count, sizeof *ranked, look->sort == BY_NAME ? by_name : by_value);
  for (size_t i = 0; i < count; i++)
    row[i] = ranked[look->reverse ? count - 1 - i : i].row;
  free(ranked);
}

/* -- which there are ----------------------------------------------------------------------------
 */

char *top_key(const struct view_function *f) {
  return print_string("%s\n%llu\n%s", f->file ? base_name(f->file) : "",
                      (unsigned long long)f->line, f->name);
}

char *top_kind_key(const struct view_kind *k) {
  return print_string("%s\n%s\n%llu\n%s", k->kind, k->file ? base_name(k->file) : "",
                      (unsigned long long)k->line, k->function);
}

char *top_row_key(const struct top_row *r) {
  char *kind = r->kind ? top_kind_key(r->kind) : print_string("%s", ""),
       *function = r->function ? top_key(r->function) : print_string("%s", ""),
       *key = print_string("%s\t%s\t%s", kind, r->tier ? r->tier->name : "", function);
  free(kind);
  free(function);
  return key;
}

/* What moved in the window, or lives. */
static bool is_there(const struct view_function *f) {
  return f->live || f->created || f->slices || f->waiting || top_ended(f);
}

static bool passes(const char *filter, const char *name, const char *file) {
  return !*filter || strcasestr(name, filter) || (file && strcasestr(file, filter));
}

static bool is_open(const struct top_look *look, const struct view_kind *k) {
  char *key = top_kind_key(k);
  bool turned = false;
  for (size_t i = 0; i < TOP_TURNED && look->turned[i]; i++)
    turned |= !strcmp(look->turned[i], key);
  free(key);
  return look->open != turned;
}

static void add_row(struct top_table *all, struct top_row row) {
  if (all->count == all->room) {
    all->room = all->room ? 2 * all->room : 64;
    all->row = reallocate(all->row, all->room, sizeof *all->row);
  }
  all->row[all->count++] = row;
}

/* Functions beneath that root, or beneath none. */
static void add_functions(struct top_table *all, const struct top_look *look, const struct view *v,
                          struct top_row like, const struct view_function *root,
                          const char *filter) {
  size_t from = all->count;
  for (size_t i = 0; i < all->beneath.functions; i++) {
    const struct beneath_function *b = &all->beneath.function[i];
    if (b->root != root || !is_there(&b->part) || !passes(filter, b->whole->name, b->whole->file))
      continue;
    like.function = &b->part;
    like.is_part = !b->is_whole;
    add_row(all, like);
  }
  sort(look, v, all->row + from, all->count - from);
}

static void add_kind(struct top_table *all, const struct top_look *look, const struct view *v,
                     const struct view_kind *k) {
  bool named = passes(look->filter, k->kind, NULL), is_shown_open = is_open(look, k);
  const struct view_function *root = ask_root_of(v, k);
  size_t at = all->count;
  add_row(all, (struct top_row){.kind = k, .is_open = is_shown_open});
  for (size_t i = 0; named && is_shown_open && i < k->tiers; i++)
    add_row(all, (struct top_row){.kind = k, .tier = &k->tier[i]});
  if (root)
    add_functions(all, look, v, (struct top_row){.kind = k, .kinds = ask_kinds_of_root(v, root)},
                  root, named ? "" : look->filter);
  bool any = named || all->count > at + 1;
  if (!any || !is_shown_open)
    all->count = at + any;
}

static void add_kinds(struct top_table *all, const struct top_look *look, const struct view *v) {
  struct top_row *kind = allocate(v->kinds + 1, sizeof *kind);
  size_t count = 0;
  for (size_t i = 0; i < v->kinds; i++)
    if (ask_is_active(&v->kind[i]) && ask_is_meant(&look->requests, &v->kind[i]))
      kind[count++] = (struct top_row){.kind = &v->kind[i]};
  sort(look, v, kind, count);
  for (size_t i = 0; i < count; i++)
    add_kind(all, look, v, kind[i].kind);
  free(kind);
}

static bool has_kinds(const struct view *v) {
  for (size_t i = 0; i < v->kinds; i++)
    if (ask_is_active(&v->kind[i]))
      return true;
  return false;
}

struct top_table *top_rows(const struct top_look *look, const struct view *v) {
  struct top_table *all = allocate(1, sizeof *all);
  bool filtered = look->requests.kind || look->requests.tier;
  all->by_kind = filtered || (!look->flat && has_kinds(v));
  if (all->by_kind) {
    all->beneath = ask_beneath(v);
    add_kinds(all, look, v);
    if (!filtered)
      add_functions(all, look, v, (struct top_row){0}, NULL, look->filter);
    return all;
  }
  for (size_t i = 0; i < v->functions; i++)
    if (is_there(&v->function[i]) && passes(look->filter, v->function[i].name, v->function[i].file))
      add_row(all, (struct top_row){.function = &v->function[i]});
  sort(look, v, all->row, all->count);
  return all;
}

void top_table_free(void *rows) {
  struct top_table *all = rows;
  ask_beneath_free(&all->beneath);
  free(all->row);
  free(all);
}
