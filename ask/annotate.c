/* SPDX-License-Identifier: MIT */
/* Marks on the lines of a file; see annotate.h. */
#include "annotate.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

const char *const mark_names[] = {"function", "await", "create", "blocking", "hold", "check"};

/* -- files ------------------------------------------------------------------------------ */

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *bare(const char *path) {
  while (!strncmp(path, "./", 2) || !strncmp(path, "../", 3))
    path += path[1] == '.' ? 3 : 2;
  return path;
}

/* "src/a.c" ends with "a.c", and not with "c". */
static bool ends_with(const char *path, const char *end) {
  size_t length = strlen(path), tail = strlen(end);
  return tail && tail <= length && !strcmp(path + length - tail, end) &&
         (tail == length || path[length - tail - 1] == '/' || *end == '/');
}

/* -- what a check has found -------------------------------------------------------------- */

static bool are_one(const char *file, const char *other) {
  const char *a = bare(file), *b = bare(other);
  return ends_with(a, b) || ends_with(b, a);
}

/* Files that the view does not name. */
static size_t add_checked(const struct checked *c, const char **file, size_t count) {
  for (size_t i = 0; c && i < c->findings; i++) {
    bool known = false;
    for (size_t k = 0; k < count && !known; k++)
      known = file[k] && are_one(file[k], c->finding[i].file);
    if (!known)
      file[count++] = c->finding[i].file;
  }
  return count;
}

const char **ask_all_files(const struct view *v, size_t *count) {
  size_t room = 1 + (v->checked ? v->checked->findings : 0), all = 0;
  for (size_t i = 0; i < v->functions; i++)
    room += 1 + v->function[i].awaits + v->function[i].blockings;
  const char **file = allocate(room, sizeof *file);
  for (size_t i = 0; i < v->functions; i++) {
    const struct view_function *f = &v->function[i];
    file[all++] = f->file;
    for (size_t j = 0; j < f->awaits; j++)
      file[all++] = f->await[j].file;
    for (size_t j = 0; j < f->blockings; j++)
      file[all++] = f->blocking[j].file;
  }
  all = add_checked(v->checked, file, all);
  *count = 0;
  for (size_t i = 0; i < all; i++)
    if (file[i])
      file[(*count)++] = file[i];
  qsort(file, *count, sizeof *file, by_name);
  all = *count;
  *count = 0;
  for (size_t i = 0; i < all; i++)
    if (!*count || strcmp(file[*count - 1], file[i]) != 0)
      file[(*count)++] = file[i];
  return file;
}

const char **ask_files(const struct view *v, const char *name, size_t *count) {
  size_t all, kept = 0;
  const char **file = ask_all_files(v, &all), *wanted = bare(name);
  *count = 0;
  for (size_t i = 0; i < all; i++) {
    const char *there = bare(file[i]);
    if (!strcmp(file[i], name)) {
      file[0] = file[i];
      *count = 1;
      return file;
    }
    if (ends_with(there, wanted) || ends_with(wanted, there))
      file[kept++] = file[i];
  }
  *count = kept;
  return file;
}

/* -- marks ------------------------------------------------------------------------------- */

struct marks {
  const struct view *v;
  const char *file;
  struct mark *mark;
  size_t count, room;
};

static void add(struct marks *m, const struct view_function *f, struct mark mark) {
  mark.function = f;
  mark.lacks = f ? f->lacks : 0;
  if (!mark.line)
    return;
  if (m->count == m->room) {
    m->room = m->room ? 2 * m->room : 64;
    m->mark = reallocate(m->mark, m->room, sizeof *m->mark);
  }
  m->mark[m->count++] = mark;
}

static bool is_here(const struct marks *m, const char *file) {
  return file && !strcmp(file, m->file);
}

/* The line of a place in this file; 0: it lies elsewhere. */
static uint64_t line_of(const struct marks *m, const char *place) {
  size_t length = strlen(m->file);
  uint64_t line;
  return place && !strncmp(place, m->file, length) && place[length] == ':' &&
                 parse_number(place + length + 1, &line)
             ? line
             : 0;
}

static size_t awaits_like(const struct view_function *f, const struct view_await *a, bool callee) {
  size_t count = 0;
  for (size_t i = 0; i < f->awaits; i++)
    count +=
        !strcmp(f->await[i].kind, a->kind) && (!callee || !strcmp(f->await[i].callee, a->callee));
  return count;
}

/* What ran beneath the awaiting function under the callee's name: of this line if no other of the
   function awaits it. Paths do not say by which line they came. */
static uint64_t called_exec(const struct view *v, const struct view_function *f,
                            const struct view_await *a) {
  uint64_t exec = 0;
  bool any = false;
  if (view_is_outside(a->kind) || awaits_like(f, a, true) != 1)
    return UNKNOWN;
  for (size_t i = 0; i < v->paths; i++) {
    const struct view_path *path = &v->path[i];
    const struct view_path *above = path->parent == SIZE_MAX ? NULL : &v->path[path->parent];
    if (path->is_await || view_is_span(path) || !above || above->function >= v->functions ||
        &v->function[above->function] != f || !path->name || strcmp(path->name, a->callee) != 0)
      continue;
    any = true;
    add_to(&exec, plus(path->exec == UNKNOWN ? 0 : path->exec, path->children_exec));
  }
  return any ? exec : UNKNOWN;
}

static void mark_await(struct marks *m, const struct view_function *f, const struct view_await *a) {
  bool create = !strcmp(a->kind, "create");
  if (!is_here(m, a->file) || (!a->count && !a->waiting))
    return; /* before all paths are looked at */
  uint64_t exec = !create                         ? called_exec(m->v, f, a)
                  : awaits_like(f, a, false) == 1 ? f->exec
                                                  : UNKNOWN;
  add(m, f,
      (struct mark){.line = a->line,
                    .what = create ? MARK_CREATE : MARK_AWAIT,
                    .callee = create ? f->name : a->callee,
                    .background = a->background,
                    .count = a->count,
                    .exec = exec,
                    .waiting = a->waiting,
                    .worst = UNKNOWN});
}

static void mark_function(struct marks *m, const struct view_function *f) {
  uint64_t from = line_of(m, f->slice_between[0]), to = line_of(m, f->slice_between[1]);
  if (is_here(m, f->file) && (f->created || f->slices || f->live))
    add(m, f,
        (struct mark){.line = f->line,
                      .what = MARK_FUNCTION,
                      .count = f->created,
                      .exec = f->unmeasured ? UNKNOWN : f->exec,
                      .waiting = UNKNOWN,
                      .worst = f->slice_max});
  if ((from || to) && f->slice_max != UNKNOWN && f->slice_max)
    add(m, f,
        (struct mark){.line = from ? from : to,
                      .to = to,
                      .what = MARK_HOLD,
                      .count = UNKNOWN,
                      .exec = UNKNOWN,
                      .waiting = UNKNOWN,
                      .worst = f->slice_max});
  for (size_t i = 0; i < f->awaits; i++)
    mark_await(m, f, &f->await[i]);
  for (size_t i = 0; i < f->blockings; i++) {
    const struct view_blocking *b = &f->blocking[i];
    if (is_here(m, b->file) && b->count)
      add(m, f,
          (struct mark){.line = b->line,
                        .what = MARK_BLOCKING,
                        .callee = b->callee,
                        .count = b->count,
                        .exec = b->held,
                        .waiting = UNKNOWN,
                        .worst = b->max});
  }
}

static void mark_check(struct marks *m, const struct checked_finding *c) {
  if (are_one(m->file, c->file))
    add(m, NULL,
        (struct mark){.line = c->line,
                      .what = MARK_CHECK,
                      .check = c,
                      .count = UNKNOWN,
                      .exec = UNKNOWN,
                      .waiting = UNKNOWN,
                      .worst = UNKNOWN});
}

static int by_line(const void *a, const void *b) {
  const struct mark *x = a, *y = b;
  if (x->line != y->line)
    return x->line < y->line ? -1 : 1;
  if (x->what != y->what)
    return x->what < y->what ? -1 : 1;
  if (x->check)
    return strcmp(x->check->text, y->check->text);
  return strcmp(x->function->name, y->function->name);
}

struct mark *ask_marks(const struct view *v, const char *file, size_t *count) {
  struct marks m = {.v = v, .file = file};
  for (size_t i = 0; i < v->functions; i++)
    mark_function(&m, &v->function[i]);
  for (size_t i = 0; v->checked && i < v->checked->findings; i++)
    mark_check(&m, &v->checked->finding[i]);
  if (m.count)
    qsort(m.mark, m.count, sizeof *m.mark, by_line);
  *count = m.count;
  return m.mark;
}
