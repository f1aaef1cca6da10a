/* SPDX-License-Identifier: MIT */
/* Totals in a directory; see series.h. */
#include "series.h"

#include "cli.h"
#include "progress.h"
#include "read/history.h"
#include "read/util.h"
#include "show/format.h"
#include "show/totals.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* -- files -------------------------------------------------------------------------------- */

static bool is_after(const struct timespec *a, const struct timespec *b) {
  return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

static int by_time(const void *a, const void *b) {
  const struct series_file *x = a, *y = b;
  return is_after(&x->written, &y->written) ? 1 : is_after(&y->written, &x->written) ? -1 : 0;
}

static bool is_json(const char *name) {
  size_t length = strlen(name);
  return length > 5 && !strcmp(name + length - 5, ".json");
}

/* A file that was given its name later than it was written has changed then. */
struct series_file *series_files(const char *path, struct timespec *seen, size_t *count) {
  struct timespec last = *seen;
  struct series_file *file = NULL;
  DIR *directory = opendir(path);
  struct dirent *entry;
  *count = 0;
  while (directory && (entry = readdir(directory))) {
    struct stat st;
    if (!is_json(entry->d_name) || fstatat(dirfd(directory), entry->d_name, &st, 0) ||
        !S_ISREG(st.st_mode) || !is_after(&st.st_ctim, seen))
      continue;
    file = reallocate(file, *count + 1, sizeof *file);
    file[(*count)++] = (struct series_file){print_string("%s/%s", path, entry->d_name), st.st_mtim};
    if (is_after(&st.st_ctim, &last))
      last = st.st_ctim;
  }
  if (directory)
    closedir(directory);
  *seen = last;
  if (file)
    qsort(file, *count, sizeof *file, by_time);
  return file;
}

static void release(struct series_file *file, size_t count) {
  for (size_t i = 0; i < count; i++)
    free(file[i].path);
  free(file);
}

/* `of`: when that process started, or NULL; what does not say so is of another one, and need not be
   read as totals, which takes longer. NULL: it is of no use. */
static struct view *read_file(const char *path, const char *of) {
  size_t length;
  complain_never(true);
  char *text = read_text_file(path, TOTALS_LIMIT, &length);
  struct view *v = text && (!of || strstr(text, of)) ? view_of_totals(text, length, path) : NULL;
  complain_never(false);
  free(text);
  if (v && v->processes) {
    view_free(v);
    v = NULL;
  }
  return v;
}

/* -- the last ------------------------------------------------------------------------------ */

static void tell_which(const char *directory, struct view *const *last, size_t count) {
  complain("%s has totals of %zu processes; name the last of one:", directory, count);
  for (size_t i = 0; i < count; i++)
    complain("  %s  (%s, process %" PRId64 ")", last[i]->what, last[i]->process.name,
             last[i]->process.pid);
}

struct view *series_last(const char *directory) {
  struct timespec seen = {0};
  size_t files, count = 0;
  struct series_file *file = series_files(directory, &seen, &files);
  struct view **last = allocate(files + 1, sizeof *last), *v;
  for (size_t i = files; i-- > 0;) {
    progress_say("aprof: reads %s", file[i].path);
    size_t same = 0;
    if (!(v = read_file(file[i].path, NULL)))
      continue;
    while (same < count && !view_shares_process(last[same], v))
      same++;
    if (same == count)
      last[count++] = v;
    else if (v->process.elapsed > last[same]->process.elapsed) {
      view_free(last[same]);
      last[same] = v;
    } else
      view_free(v);
  }
  progress_end();
  if (count > 1) {
    tell_which(directory, last, count);
    exit(CLI_USAGE);
  }
  if (!count)
    complain("%s is a directory without totals (*.json) of a process", directory);
  v = count ? last[0] : NULL;
  free(last);
  release(file, files);
  return v;
}

/* -- a window ------------------------------------------------------------------------------- */

/* The best of those until the first that is older than the window. */
static struct view *find_begin(const struct view *now, const char *directory, uint64_t ns,
                               uint64_t *off) {
  struct timespec seen = {0};
  size_t files;
  struct series_file *file = series_files(directory, &seen, &files);
  struct view *begin = NULL;
  bool older = false;
  *off = UNKNOWN;
  for (size_t i = files; i-- > 0 && !older;) {
    struct view *v = read_file(file[i].path, now->process.started_at);
    uint64_t its = v ? history_off(now, v, ns) : UNKNOWN;
    older = its != UNKNOWN && history_is_older(now, v, ns);
    if (its < *off) {
      view_free(begin);
      begin = v;
      *off = its;
    } else
      view_free(v);
  }
  release(file, files);
  return begin;
}

bool series_cut(struct view *now, const char *directory, uint64_t ns) {
  uint64_t off;
  if (history_is_whole(now, ns))
    return true;
  struct view *begin = directory ? find_begin(now, directory, ns, &off) : NULL;
  bool near = begin && history_is_near(off, ns);
  const char *instead = now->alive ? "; --for measures from now on" : "";
  if (!begin)
    complain("what happened in the last %s of %s is not known: that takes earlier totals of its "
             "process%s%s%s",
             shown_time(ns), now->what, directory ? " in " : "", directory ? directory : "",
             instead);
  else if (!near)
    complain("what happened in the last %s of %s is not known: of its totals in %s those nearest "
             "are of %s before%s",
             shown_time(ns), now->what, directory,
             shown_time(now->process.elapsed - begin->process.elapsed), instead);
  bool cut = near && view_subtract(now, begin);
  view_free(begin);
  return cut;
}
