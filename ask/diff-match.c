/* SPDX-License-Identifier: MIT */
/*
 * Functions and awaits of several runs, matched; see diff.h.
 *
 * Lines move, directories do, files are renamed. So what is called the same is sought in the same
 * file, then in one of that name anywhere, then wherever else there is one alone; several of a
 * name and a file are taken in the order of their lines.
 */
#include "diff.h"
#include "read/util.h"
#include "sentence.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What is sought, on one of two lists. */
struct item {
  char *key;
  const char *file;
  uint64_t line, column;
  size_t index;
  bool known; /* of the list that is there; else of the one that comes */
};

static int by_key(const void *a, const void *b) {
  const struct item *x = a, *y = b;
  int order = strcmp(x->key, y->key);
  if (!order && x->known != y->known)
    return x->known ? -1 : 1;
  if (!order && x->file && y->file)
    order = strcmp(x->file, y->file);
  if (!order && x->line != y->line)
    order = x->line < y->line ? -1 : 1;
  if (!order && x->column != y->column)
    order = x->column < y->column ? -1 : 1;
  return order ? order : x->index < y->index ? -1 : x->index > y->index;
}

enum pass { IN_FILE, IN_NAME, ALONE, PASSES };

static const char *file_key(enum pass pass, const char *file) {
  return !file || pass == ALONE ? "" : pass == IN_FILE ? file : base_name(file);
}

/* Pairs the nth of one list with the nth of the other, within a key. `to` of each that comes:
   which of those known, or SIZE_MAX as it was. */
static void pair(struct item *item, size_t items, bool alone, size_t *to, bool *taken) {
  if (items)
    qsort(item, items, sizeof *item, by_key);
  for (size_t i = 0, end; i < items; i = end) {
    size_t known = 0;
    for (end = i; end < items && !strcmp(item[end].key, item[i].key); end++)
      known += item[end].known;
    size_t coming = end - i - known;
    for (size_t j = 0; j < known && j < coming && (!alone || (known == 1 && coming == 1)); j++) {
      to[item[i + known + j].index] = item[i + j].index;
      taken[item[i + j].index] = true;
    }
  }
  for (size_t i = 0; i < items; i++)
    free(item[i].key);
}

/* -- rows ---------------------------------------------------------------------------- */

static struct diff_row *add_row(struct diff *d) {
  if (d->rows == d->room) {
    d->room = d->room ? 2 * d->room : 256;
    d->row = reallocate(d->row, d->room, sizeof *d->row);
  }
  struct diff_row *row = &d->row[d->rows];
  *row = (struct diff_row){.function = d->rows++, .of = allocate(d->runs, sizeof *row->of)};
  for (size_t i = 0; i < d->runs; i++)
    row->of[i].v = d->view[i];
  return row;
}

static int side_of(const struct diff *d, size_t run) {
  return run < d->side[DIFF_A] ? DIFF_A : DIFF_B;
}

/* Where it lay last: in B if it is there. */
static int last_side(const struct diff_row *row) {
  return row->file[DIFF_B] || row->line[DIFF_B] ? DIFF_B : DIFF_A;
}

static void put(struct diff *d, struct diff_row *row, size_t run, const char *file, uint64_t line) {
  row->file[side_of(d, run)] = file;
  row->line[side_of(d, run)] = line;
}

/* -- functions ------------------------------------------------------------------------ */

static void match_functions(const struct diff *d, const struct view *v, size_t *to) {
  bool *taken = allocate(d->rows + 1, sizeof *taken);
  struct item *item = allocate(d->rows + v->functions + 1, sizeof *item);
  for (size_t i = 0; i < v->functions; i++)
    to[i] = SIZE_MAX;
  for (int pass = 0; pass < PASSES; pass++) {
    size_t items = 0;
    for (size_t i = 1; i < d->rows; i++) {
      const struct diff_row *row = &d->row[i];
      int side = last_side(row);
      if (!taken[i])
        item[items++] = (struct item){
            .key = print_string("%s\n%s", row->name, file_key((enum pass)pass, row->file[side])),
            .file = row->file[side],
            .line = row->line[side],
            .index = i,
            .known = true};
    }
    for (size_t i = 0; i < v->functions; i++) {
      const struct view_function *f = &v->function[i];
      if (to[i] == SIZE_MAX)
        item[items++] = (struct item){
            .key = print_string("%s\n%s", f->name, file_key((enum pass)pass, f->file)),
            .file = f->file,
            .line = f->line,
            .column = f->column,
            .index = i};
    }
    pair(item, items, pass == ALONE, to, taken);
  }
  free(item);
  free(taken);
}

static void add_functions(struct diff *d, size_t run) {
  const struct view *v = d->view[run];
  size_t *to = allocate(v->functions + 1, sizeof *to);
  match_functions(d, v, to);
  for (size_t i = 0; i < v->functions; i++) {
    const struct view_function *f = &v->function[i];
    struct diff_row *row = to[i] == SIZE_MAX ? add_row(d) : &d->row[to[i]];
    row->sort = MEASURE_FUNCTION;
    row->name = f->name;
    row->of[run].function = f;
    put(d, row, run, f->file, f->line);
  }
  free(to);
}

/* -- awaits --------------------------------------------------------------------------- */

static char *await_key(const char *callee, const char *kind, bool background, const char *file) {
  return print_string("%d%s\n%s\n%s", background, callee, kind, file ? base_name(file) : "");
}

/* Of the function in row `at`; its awaits of the runs before are the rows from `base` on. */
static void add_awaits(struct diff *d, size_t at, size_t base, size_t run) {
  const struct view_function *f = d->row[at].of[run].function;
  size_t awaits = d->rows - base;
  size_t *to = allocate(f->awaits + 1, sizeof *to), items = 0;
  bool *taken = allocate(awaits + 1, sizeof *taken);
  struct item *item = allocate(awaits + f->awaits + 1, sizeof *item);
  for (size_t i = 0; i < awaits; i++) {
    const struct diff_row *row = &d->row[base + i];
    int side = last_side(row);
    item[items++] =
        (struct item){.key = await_key(row->callee, row->kind, row->background, row->file[side]),
                      .file = row->file[side],
                      .line = row->line[side],
                      .index = i,
                      .known = true};
  }
  for (size_t i = 0; i < f->awaits; i++) {
    const struct view_await *a = &f->await[i];
    to[i] = SIZE_MAX;
    item[items++] = (struct item){.key = await_key(a->callee, a->kind, a->background, a->file),
                                  .file = a->file,
                                  .line = a->line,
                                  .index = i};
  }
  pair(item, items, false, to, taken);
  for (size_t i = 0; i < f->awaits; i++) {
    const struct view_await *a = &f->await[i];
    struct diff_row *row = to[i] == SIZE_MAX ? add_row(d) : &d->row[base + to[i]];
    row->sort = MEASURE_AWAIT;
    row->function = at;
    row->name = d->row[at].name;
    row->callee = a->callee;
    row->kind = a->kind;
    row->background = a->background;
    row->of[run].function = f;
    row->of[run].await = a;
    put(d, row, run, a->file, a->line);
  }
  free(item);
  free(taken);
  free(to);
}

/* -- requests -------------------------------------------------------------------------- */

/* What is called so, of the rows from `base` on; made if it is not there. */
static struct diff_row *named(struct diff *d, size_t base, enum measure_of sort, const char *name,
                              const char *callee, const char *function) {
  for (size_t i = base; i < d->rows; i++) {
    struct diff_row *row = &d->row[i];
    if (row->sort == sort && !strcmp(row->name, name) && !strcmp(row->kind, function) &&
        (!callee || !strcmp(row->callee, callee)))
      return row;
  }
  struct diff_row *row = add_row(d);
  row->sort = sort;
  row->name = name;
  row->callee = callee;
  row->kind = function;
  return row;
}

/* Wherever their functions lie now. */
static void add_requests(struct diff *d, size_t base, size_t run) {
  const struct view *v = d->view[run];
  for (size_t i = 0; i < v->kinds; i++) {
    const struct view_kind *k = &v->kind[i];
    struct diff_row *row = named(d, base, MEASURE_REQUEST, k->kind, NULL, k->function);
    row->of[run].kind = k;
    put(d, row, run, k->file, k->line);
    for (size_t j = 0; j < k->tiers; j++) {
      row = named(d, base, MEASURE_TIER, k->kind, k->tier[j].name, k->function);
      row->of[run].kind = k;
      row->of[run].tier = &k->tier[j];
      put(d, row, run, k->file, k->line);
    }
  }
}

static void match(struct diff *d) {
  add_row(d);
  for (size_t run = 0; run < d->runs; run++)
    add_functions(d, run);
  d->functions = d->rows - 1;
  for (size_t at = 1; at <= d->functions; at++)
    for (size_t run = 0, base = d->rows; run < d->runs; run++)
      if (d->row[at].of[run].function)
        add_awaits(d, at, base, run);
  for (size_t run = 0, base = d->rows; run < d->runs; run++)
    add_requests(d, base, run);
}

/* -- runs ------------------------------------------------------------------------------- */

/* Of one process, and no reset in between: one has all that the other has. */
static bool same_run(const struct view *a, const struct view *b) {
  return view_shares_process(a, b) &&
         (a->processes || b->processes || a->process.reset_epoch == b->process.reset_epoch);
}

static bool are_apart(const struct diff *d) {
  for (size_t i = 0; i < d->runs; i++)
    for (size_t j = 0; j < i; j++) {
      const struct view *a = d->view[j], *b = d->view[i];
      if (!same_run(a, b))
        continue;
      bool merged = a->processes || b->processes, named_alike = !strcmp(a->what, b->what);
      if (a->process.elapsed == b->process.elapsed && (!merged || named_alike))
        complain("%s and %s are the same run: there is nothing to compare", a->what, b->what);
      else if (merged)
        complain("%s and %s have a process in common, which tells nothing of what differs: merge "
                 "one of them without it",
                 a->what, b->what);
      else if (named_alike)
        complain(
            "%s is one process: diff compares two; of two moments of one, as `aprof dump' makes "
            "totals of, `aprof report' shows what happened between them",
            a->what);
      else
        complain("%s and %s are two moments of one process: `aprof report %s %s' shows what "
                 "happened between them",
                 a->what, b->what, a->what, b->what);
      return false;
    }
  return true;
}

static void note(struct diff *d, struct sentence text) {
  d->note = reallocate(d->note, d->notes + 1, sizeof *d->note);
  d->note[d->notes++] = text;
}

static void note_run(struct diff *d, const struct view *v) {
  const struct view_health *h = &v->health;
  if (h->torn_threads)
    note(d, sentence("%s: killed inside an event of %s thread%s, which is in no number", v->what,
                     told_count(h->torn_threads), h->torn_threads > 1 ? "s" : ""));
  if (!h->consistent)
    note(d, sentence("%s: read while busy; its last instants are blurred", v->what));
  if (h->lost_futures || h->lost_events)
    note(d, sentence("%s: lost %s futures and %s events: its sums are too low", v->what,
                     told_count(h->lost_futures), told_count(h->lost_events)));
  if (v->shed)
    note(d, sentence("%s: detail was shed to hold its overhead: ~ marks what lacks something",
                     v->what));
}

static bool differ(const char *a, const char *b) {
  return strcmp(a ? a : "", b ? b : "") != 0;
}

static void describe(struct diff *d) {
  const struct view_process *first = &d->view[0]->process;
  bool hosts = false, programs = false, mixed = false, unknown = false;
  for (size_t i = 0; i < d->runs; i++) {
    const struct view_process *p = &d->view[i]->process;
    const struct view_process *own = &d->view[diff_first(d, side_of(d, i))]->process;
    hosts |= differ(p->host, first->host) || p->processors != first->processors;
    programs |= differ(p->name, first->name);
    mixed |= differ(p->build_id, own->build_id);
    unknown |= !p->build_id;
    note_run(d, d->view[i]);
  }
  if (hosts)
    note(d, sentence("they ran on different machines, or numbers of processors"));
  if (programs)
    note(d, sentence("the programs have different names"));
  if (mixed && !unknown)
    note(d, sentence("the runs of one side are of several builds"));
  bool both = d->side[DIFF_A] && d->side[DIFF_B];
  d->other_build =
      unknown || !both ? -1 : differ(first->build_id, d->view[d->side[DIFF_A]]->process.build_id);
  d->has_spread = both && d->runs > 2;
}

struct diff *diff_new(struct view *const *view, size_t a, size_t b) {
  struct diff *d = allocate(1, sizeof *d);
  d->view = view;
  d->runs = a + b;
  d->side[DIFF_A] = a;
  d->side[DIFF_B] = b;
  if (!are_apart(d)) {
    diff_free(d);
    return NULL;
  }
  match(d);
  describe(d);
  return d;
}

void diff_free(struct diff *d) {
  for (size_t i = 0; d && i < d->rows; i++)
    free(d->row[i].of);
  for (size_t i = 0; d && i < d->notes; i++)
    sentence_free(d->note[i]);
  if (d) {
    free(d->note);
    free(d->row);
  }
  free(d);
}
