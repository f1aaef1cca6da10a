/* SPDX-License-Identifier: MIT */
/* A directory of totals; see serve-directory.h. */
#include "serve-directory.h"

#include "read/history.h"
#include "read/util.h"
#include "series.h"
#include "show/formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LONGEST ((uint64_t)3 * 3600 * 1000000000)
/* Processes; bytes of each. */
enum { MOST = 32, MEMORY = 16 << 20 };

/* The one that was written about last comes first. */
struct recorded {
  struct recorded *next;
  struct history *history;
};

bool directory_is(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void release(struct recorded *r) {
  history_free(r->history);
  free(r);
}

/* -- reading ------------------------------------------------------------------------------- */

static struct recorded *recorded_of(struct directory *d, const struct view *v) {
  struct recorded **at = &d->first, *found;
  size_t count = 0;
  while (*at && !view_shares_process(history_now((*at)->history), v)) {
    if (++count == MOST) {
      found = *at;
      *at = NULL;
      release(found);
      break;
    }
    at = &(*at)->next;
  }
  found = *at;
  if (found)
    *at = found->next;
  else {
    found = allocate(1, sizeof *found);
    found->history = history_new(LONGEST, MEMORY);
  }
  found->next = d->first;
  return d->first = found;
}

/* Takes the view. One that is older than what is known already has come too late. */
static void add(struct directory *d, struct view *v) {
  if (v->processes) {
    view_free(v);
    return;
  }
  struct recorded *r = recorded_of(d, v);
  const struct view *last = history_now(r->history);
  if (last && last->process.elapsed > v->process.elapsed)
    view_free(v);
  else
    history_add(r->history, v);
}

static void scan(struct directory *d) {
  size_t files;
  struct series_file *file = series_files(d->path, &d->seen, &files);
  complain_never(true);
  for (size_t i = 0; i < files; i++) {
    size_t length;
    char *text = read_text_file(file[i].path, TOTALS_LIMIT, &length);
    struct view *v = text ? view_of_totals(text, length, d->path) : NULL;
    if (v)
      add(d, v);
    free(text);
    free(file[i].path);
  }
  complain_never(false);
  free(file);
}

/* -- what is asked ---------------------------------------------------------------------------- */

struct view *directory_look(struct directory *d, int64_t pid, uint64_t range) {
  scan(d);
  for (struct recorded *r = d->first; r; r = r->next) {
    const struct view *now = history_now(r->history);
    if (now->process.pid != pid)
      continue;
    return history_over(r->history, range);
  }
  return NULL;
}

size_t directory_views(struct directory *d, const struct view ***view) {
  size_t views = 0;
  scan(d);
  *view = allocate(MOST, sizeof **view);
  for (struct recorded *r = d->first; r && views < MOST; r = r->next)
    (*view)[views++] = history_now(r->history);
  return views;
}

void directory_list(struct directory *d, struct listing *list) {
  const struct view **view;
  size_t views = directory_views(d, &view);
  list->row = reallocate(list->row, views, sizeof *list->row);
  for (size_t i = 0; i < views; i++) {
    const struct view *v = view[i];
    double since = counted_since(&v->process);
    struct listed *row = &list->row[list->rows++];
    *row = (struct listed){.name = print_string("%s", v->process.name),
                           .state = "done",
                           .pid = (int32_t)v->process.pid,
                           .started = isnan(since) ? 0 : (int64_t)(since * 1e9),
                           .memory = v->health.memory};
    for (size_t j = 0; j < v->functions; j++) {
      row->created = plus(row->created, v->function[j].created);
      row->live = plus(row->live, v->function[j].live);
    }
  }
  free(view);
}

void directory_close(struct directory *d) {
  for (struct recorded *r = d->first, *next; r; r = next) {
    next = r->next;
    release(r);
  }
}
