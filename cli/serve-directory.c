/* SPDX-License-Identifier: MIT */
/* A directory of totals; see serve-directory.h. */
#include "serve-directory.h"

#include "read/util.h"
#include "series.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Processes; bytes of all their history. */
enum { MOST = 1000, MEMORY = 512 << 20 };

bool directory_is(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* -- reading ------------------------------------------------------------------------------- */

void directory_scan(struct directory *d) {
  size_t files;
  d->records.most = MOST;
  d->records.memory = MEMORY;
  struct series_file *file = series_files(d->path, &d->seen, &files);
  complain_never(true);
  for (size_t i = 0; i < files; i++) {
    size_t length;
    char *text = read_text_file(file[i].path, TOTALS_LIMIT, &length);
    struct view *v = text ? view_of_totals(text, length, d->path) : NULL;
    if (v && v->processes)
      view_free(v);
    else if (v)
      records_add(&d->records, v, NULL, 0, NULL);
    free(text);
    free(file[i].path);
  }
  complain_never(false);
  free(file);
}

/* -- what is asked ---------------------------------------------------------------------------- */

struct view *directory_look(struct directory *d, const struct process_name *process,
                            uint64_t range, struct looked *is) {
  const struct recorded *r = records_find(&d->records, process);
  is->history = r ? r->history : NULL;
  return r ? history_over(r->history, range) : NULL;
}

size_t directory_views(struct directory *d, const struct view ***view) {
  size_t views = 0;
  directory_scan(d);
  *view = allocate(d->records.count + 1, sizeof **view);
  for (struct recorded *r = d->records.first; r; r = r->next)
    (*view)[views++] = history_now(r->history);
  return views;
}

void directory_names(const struct directory *d, struct process_names *all) {
  for (struct recorded *r = d->records.first; r; r = r->next)
    process_add(all, r->host, r->pid);
}

void directory_list(struct directory *d, struct listing *list) {
  directory_scan(d);
  for (struct recorded *r = d->records.first; r; r = r->next)
    recorded_list(r, list);
}

void directory_close(struct directory *d) {
  records_close(&d->records);
}
